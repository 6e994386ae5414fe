package udf

import "github.com/weirdb/weir/vector"

// pieces puts the result of a batch together from those of its calls.
type pieces struct {
	pool    *vector.Pool
	rows    int                   // of the batch
	inPlace bool                  // calls write where their rows belong
	whole   *vector.Vector        // of the only call, or in place
	some    *vector.ColumnBuilder // of several
}

// taker is for the results of the call at hand, whose first row is that one of the batch.
func (i *Instance) taker(p *vector.Pool, from int) taker {
	return taker{mem: i.mem.bytes(), base: i.arenaAt, pool: p, from: from, left: int64(i.mem.size)}
}

// take checks the result of the call at hand, for n rows from there on, and adds it.
func (i *Instance) take(p *pieces, from, n int) error {
	t := i.taker(p.pool, from)
	err := p.add(&t, &i.x.layout.out[0], n, i.x.counts())
	if err != nil {
		return i.broken(0, err)
	}
	i.count.BytesOut += t.took
	return nil
}

func (p *pieces) add(t *taker, c *column, n int, counts vector.Bitmap) error {
	if p.inPlace && p.rows > 0 {
		if p.whole == nil {
			p.whole = p.pool.New(c.kind, p.rows)
		}
		return t.place(c, p.whole, n, counts)
	}
	v, err := t.column(c, n, counts)
	if err != nil {
		return err
	}
	restrict(v, 0, counts, n)
	if n == p.rows {
		p.whole = v
		return nil
	}
	if p.some == nil {
		p.some = vector.NewColumnBuilder(p.pool, v.Kind())
	}
	rows := make([]int32, n)
	for r := range rows {
		rows[r] = int32(r)
	}
	p.some.AppendTake(v, rows)
	v.Release()
	return nil
}

// finish is the result, owned by the caller.
func (p *pieces) finish() *vector.Vector {
	if p.some != nil {
		return p.some.Finish()
	}
	return p.whole
}

// drop frees what there is of it.
func (p *pieces) drop() {
	if v := p.finish(); v != nil {
		v.Release()
	}
}
