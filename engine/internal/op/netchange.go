package op

import (
	"bytes"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/vector"
)

// netChange is what an epoch did to n keyed rows: row i of the columns is key i
// when the epoch began, row n+i the same key now.
type netChange struct {
	keys []*vector.Vector // n rows each: the columns of the key, which come first
	cols []*vector.Vector // 2n rows each: the other columns
	live []bool           // 2n: whether there was a row, is one
	// order says for each column of the output its place in keys, followed by cols;
	// nil: they are in that order.
	order []int
	// refresh publishes rows that stay as they are, too: who keeps them for a time only
	// is to know that they are still there.
	refresh bool

	same []bool
	rows []int32
	kind []vector.RowKind
}

// reset forgets the rows and keeps the scratch memory.
func (c *netChange) reset() {
	releaseAll(c.keys)
	releaseAll(c.cols)
	c.keys, c.cols, c.live = nil, nil, c.live[:0]
}

// publish emits the changes, all removals before all additions, each in the order
// of the keys: +I for a new row, -U and +U for one that changed, -D for one that is
// gone, nothing where old and new are equal. Without before there are no -U.
func (c *netChange) publish(out exec.Output, p *vector.Pool, before bool) error {
	n := len(c.live) / 2
	c.compare(n)
	c.rows, c.kind = c.rows[:0], c.kind[:0]
	for i, was := range c.live[:n] {
		switch {
		case !was || c.same[i]:
		case !c.live[n+i]:
			c.rows, c.kind = append(c.rows, int32(i)), append(c.kind, vector.Delete)
		case before:
			c.rows, c.kind = append(c.rows, int32(i)), append(c.kind, vector.UpdateBefore)
		}
	}
	insertOnly := len(c.rows) == 0
	for i, is := range c.live[n:] {
		switch {
		case !is || c.same[i]:
		case c.live[i]:
			c.rows, c.kind = append(c.rows, int32(n+i)), append(c.kind, vector.UpdateAfter)
			insertOnly = false
		default:
			c.rows, c.kind = append(c.rows, int32(n+i)), append(c.kind, vector.Insert)
		}
	}
	for at := 0; at < len(c.rows); at += vector.Target {
		to := min(at+vector.Target, len(c.rows))
		if err := c.emit(out, p, n, at, to, insertOnly); err != nil {
			return err
		}
	}
	return nil
}

func (c *netChange) emit(out exec.Output, p *vector.Pool, n, at, to int, insertOnly bool) error {
	rows := c.rows[at:to]
	taken := make([]*vector.Vector, len(c.keys)+len(c.cols))
	for i, v := range c.cols {
		taken[len(c.keys)+i] = v.Take(p, rows)
	}
	for i, r := range rows { // from here on they are positions among the keys
		if int(r) >= n {
			rows[i] = r - int32(n)
		}
	}
	for i, v := range c.keys {
		taken[i] = v.Take(p, rows)
	}
	cols := taken
	if c.order != nil {
		cols = make([]*vector.Vector, len(c.order))
		for i, o := range c.order {
			cols[i] = taken[o]
		}
	}
	var kinds *vector.Vector
	if !insertOnly {
		v, k := p.NewKinds(len(rows))
		copy(k, c.kind[at:to])
		kinds = v
	}
	b := vector.NewBatch(len(rows), cols, kinds)
	defer b.Release()
	return out.Emit(b)
}

// compare fills same: whether key i has equal rows before and after.
func (c *netChange) compare(n int) {
	c.same = resize(c.same, n)
	for i := range c.same {
		c.same[i] = c.live[i] && c.live[n+i]
	}
	if c.refresh {
		clear(c.same)
		return
	}
	for _, v := range c.cols {
		compareHalves(v, c.same)
	}
}

// compareHalves clears same[i] where rows i and len(same)+i of v differ. NULLs are
// equal, and so are NaNs.
func compareHalves(v *vector.Vector, same []bool) {
	n := len(same)
	if v.Valid() != nil {
		for i := range same {
			a, b := v.IsNull(i), v.IsNull(n+i)
			same[i] = same[i] && a == b
		}
	}
	switch v.Kind() {
	case vector.Bool:
		compareFixed(v, vector.Values[bool](v), same)
	case vector.Int8:
		compareFixed(v, vector.Values[int8](v), same)
	case vector.Int16:
		compareFixed(v, vector.Values[int16](v), same)
	case vector.Int32:
		compareFixed(v, vector.Values[int32](v), same)
	case vector.Int64:
		compareFixed(v, vector.Values[int64](v), same)
	case vector.Float32:
		compareFixed(v, vector.Values[float32](v), same)
	case vector.Float64:
		compareFixed(v, vector.Values[float64](v), same)
	case vector.Decimal:
		compareFixed(v, vector.Values[vector.Dec](v), same)
	case vector.String, vector.Bytes:
		for i := range same {
			if same[i] && !v.IsNull(i) && !bytes.Equal(v.Bytes(i), v.Bytes(n+i)) {
				same[i] = false
			}
		}
	default:
		for i := range same {
			same[i] = same[i] && vector.Compare(v, i, v, n+i) == 0
		}
	}
}

func compareFixed[T vector.Fixed](v *vector.Vector, vals []T, same []bool) {
	old, now := vals[:len(same)], vals[len(same):]
	now = now[:len(old)]
	if v.Valid() == nil {
		for i, x := range old {
			same[i] = same[i] && (x == now[i] || x != x && now[i] != now[i])
		}
		return
	}
	for i, x := range old {
		if same[i] && !v.IsNull(i) {
			same[i] = x == now[i] || x != x && now[i] != now[i]
		}
	}
}

// resize returns s with length n; its content is arbitrary.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
