package udf

import (
	"context"
	"fmt"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/vector"
)

// Rows are result rows of a function that makes tables.
type Rows struct {
	Len     int
	Columns []*vector.Vector // the fields of Function.Returns
	Parent  []int32          // row of the call (or group) that each row comes from, ascending
	Retract []bool           // rows that no longer hold; nil: none
}

// Release gives the columns back.
func (r *Rows) Release() {
	for _, v := range r.Columns {
		v.Release()
	}
	r.Columns = nil
}

// CallTable evaluates a table or a temporal function. It yields the rows piece by piece,
// each owned by yield, while the guest has more to give. Rows that were yielded before an
// error must not be used: who cannot take them back waits for the end. An error of yield
// ends the call and the instance.
func (i *Instance) CallTable(ctx context.Context, c *Call, yield func(*Rows) error) error {
	i.enter()
	defer i.leave()
	i.must(abi.Table, abi.Temporal)
	i.open(ctx, c)
	x := &i.x
	x.begin(abi.PartBody, i.layout(abi.PartBody, len(c.Args)))
	x.parents = true
	sent := *c
	var rows []int32 // of c that are sent; nil: all
	if i.fn.Strict {
		rows = i.withoutNulls(&sent)
	}
	i.gather(&sent)
	defer x.drop()
	e := emission{yield: yield, left: i.module.limits.RowsOut, rows: rows, once: i.fn.Kind == abi.Temporal}
	for from := 0; from < sent.Rows || from == 0; {
		n, err := i.tablePiece(&sent, from)
		if err == nil {
			e.from = from
			err = i.emit(&e, sent.Pool, n)
		}
		if err != nil {
			return shifted(err, from, rows)
		}
		from += n
		if n == 0 {
			break
		}
		i.seed = pieceSeed(i.seed)
	}
	return nil
}

// tablePiece is piece for a function whose results have no fixed number of rows.
func (i *Instance) tablePiece(c *Call, from int) (int, error) {
	x := &i.x
	return i.cut(min(c.Rows-from, abi.MaxRows), "row", func(n int, small bool) int {
		x.rowsOf(c, from, from+n)
		return x.measureRows(n, small)
	})
}

// measureRows is measure with room for about two rows a parent.
func (x *exchange) measureRows(parents int, small bool) int {
	x.outRows = abi.MinRowsOut
	if !small {
		x.outRows = max(abi.MinRowsOut, min(2*parents, vector.Target))
	}
	return x.measure(small)
}

// withoutNulls takes the rows of c out that have a NULL in an argument that a strict
// function cannot see, and lists those that stay; nil when all do.
func (i *Instance) withoutNulls(c *Call) []int32 {
	some := false
	for k, v := range c.Args {
		some = some || v.Valid() != nil && i.fn.strictInputs(k)
	}
	if !some {
		return nil
	}
	s := &i.scratch
	s.rows, s.sel = s.rows[:0], s.sel[:0]
	for r := range c.Rows {
		at := r
		if c.Sel != nil {
			at = int(c.Sel[r])
		}
		null := false
		for k, v := range c.Args {
			if v.Valid() == nil || !i.fn.strictInputs(k) {
				continue
			}
			if c.Constant != nil && c.Constant[k] {
				null = null || v.IsNull(0)
			} else {
				null = null || v.IsNull(at)
			}
		}
		if !null {
			s.rows = append(s.rows, int32(r))
			s.sel = append(s.sel, int32(at))
		}
	}
	if len(s.rows) == c.Rows {
		return nil
	}
	c.Sel, c.Rows = s.sel, len(s.rows)
	return s.rows
}

// emission is where the rows of a batch go.
type emission struct {
	yield func(*Rows) error
	left  int64   // rows that the batch may still make
	from  int     // what the parents of this piece count from
	rows  []int32 // what they stand for; nil: themselves
	once  bool    // at most one row for each parent
}

// emit calls the guest until it has no more rows of the piece, which has so many parents.
func (i *Instance) emit(e *emission, p *vector.Pool, parents int) error {
	x := &i.x
	name := i.fn.names[x.part]
	status, err := i.call()
	last := int64(-1)
	for {
		if err != nil {
			return err
		}
		n := int(x.call().OutRows)
		switch {
		case x.call().OutRows > uint32(x.outRows):
			return i.fail(name, Broken, fmt.Sprintf("it made %d rows in a call for at most %d", x.call().OutRows, x.outRows))
		case status == abi.More && n == 0:
			return i.fail(name, Broken, "it asked to be called again without a row")
		}
		if e.left -= int64(n); e.left < 0 {
			return i.fail(name, Overflow, fmt.Sprintf("it made more than the %d rows that a batch may", i.module.limits.RowsOut))
		}
		cursor := x.call().Cursor
		if n > 0 {
			rows, err := i.rowsOut(e, p, n, parents, &last)
			if err != nil {
				return err
			}
			i.count.RowsOut += int64(n)
			err = e.yield(rows)
			i.fuel.resume()
			if err != nil {
				i.dead = true
				return err
			}
		}
		if status == abi.OK {
			return nil
		}
		x.prepare(cursor)
		status, err = i.again()
	}
}

// rowsOut checks the rows of a call and copies them out. Last is the parent of the row
// before.
func (i *Instance) rowsOut(e *emission, p *vector.Pool, n, parents int, last *int64) (*Rows, error) {
	x := &i.x
	name := i.fn.names[x.part]
	r := &Rows{Len: n, Parent: make([]int32, n)}
	for k, g := range view[uint32](x.arena.mem[x.parentAt:], n) {
		if int64(g) < *last || int64(g) >= int64(parents) || e.once && int64(g) == *last {
			return nil, i.fail(name, Broken, fmt.Sprintf("row %d of the result belongs to row %d, after one of row %d, of %d", k, g, *last, parents))
		}
		*last = int64(g)
		r.Parent[k] = int32(int(g) + e.from)
		if e.rows != nil {
			r.Parent[k] = e.rows[r.Parent[k]]
		}
	}
	if x.kinds {
		some := false
		retract := make([]bool, n)
		for k, kind := range x.arena.mem[x.kindAt:][:n] {
			if kind > abi.RowRetract {
				return nil, i.fail(name, Broken, fmt.Sprintf("row %d of the result has the kind %d", k, kind))
			}
			retract[k] = kind == abi.RowRetract
			some = some || retract[k]
		}
		if some {
			r.Retract = retract
		}
	}
	var err error
	r.Columns, err = i.result(p, n)
	return r, err
}
