package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// images are copies of the columns of entries: first of those that an epoch
// touches, as it found them, in the order of state.Values.Held; when the epoch
// ends, of the same entries as it leaves them.
type images struct {
	cols []savedColumn
}

// savedColumn copies one column.
type savedColumn interface {
	save(v *state.Values, slots []state.Slot)
	reset()
}

// newImages returns empty images of a table with the given columns.
func newImages(kinds []vector.Kind) images {
	im := images{}
	for i, k := range kinds {
		im.cols = append(im.cols, newSavedColumn(i, k))
	}
	return im
}

func newSavedColumn(col int, k vector.Kind) savedColumn {
	switch k {
	case vector.Bool:
		return &savedFixed[bool]{col: col}
	case vector.Int8:
		return &savedFixed[int8]{col: col}
	case vector.Int16:
		return &savedFixed[int16]{col: col}
	case vector.Int32:
		return &savedFixed[int32]{col: col}
	case vector.Int64:
		return &savedFixed[int64]{col: col}
	case vector.Float32:
		return &savedFixed[float32]{col: col}
	case vector.Float64:
		return &savedFixed[float64]{col: col}
	case vector.Decimal:
		return &savedFixed[vector.Dec]{col: col}
	}
	return &savedBytes{col: col}
}

// save appends the entries in slots.
func (im *images) save(v *state.Values, slots []state.Slot) {
	for _, c := range im.cols {
		c.save(v, slots)
	}
}

// reset forgets all entries and keeps the memory.
func (im *images) reset() {
	for _, c := range im.cols {
		c.reset()
	}
}

// savedValues are the copies of a column of fixed width.
func savedValues[T vector.Fixed](im *images, col int) []T { return im.cols[col].(*savedFixed[T]).vals }

// savedFixed copies a column of fixed width.
type savedFixed[T vector.Fixed] struct {
	col  int
	vals []T
}

func (c *savedFixed[T]) save(v *state.Values, slots []state.Slot) {
	from := state.Col[T](v, c.col)
	at := len(c.vals)
	c.vals = slices.Grow(c.vals, len(slots))[:at+len(slots)]
	to := c.vals[at:]
	for i, s := range slots {
		to[i] = from[s]
	}
}

func (c *savedFixed[T]) reset() { c.vals = c.vals[:0] }

// column is a vector of the copies.
func (c *savedFixed[T]) column(p *vector.Pool) *vector.Vector { return vector.Of(p, c.vals...) }

// savedBytes copies a column of variable width.
type savedBytes struct {
	col  int
	ends []int32
	data []byte
}

func (c *savedBytes) save(v *state.Values, slots []state.Slot) {
	for _, s := range slots {
		c.data = append(c.data, v.Bytes(c.col, s)...)
		c.ends = append(c.ends, int32(len(c.data)))
	}
}

func (c *savedBytes) reset() { c.ends, c.data = c.ends[:0], c.data[:0] }

// at is copy i, in place.
func (c *savedBytes) at(i int) []byte {
	from := int32(0)
	if i > 0 {
		from = c.ends[i-1]
	}
	return c.data[from:c.ends[i]]
}

// column is a vector of the copies, of kind String, Bytes or a nested one.
func (c *savedBytes) column(p *vector.Pool, kind vector.Kind) *vector.Vector {
	if kind.Nested() {
		return c.nested(p, kind)
	}
	v := p.NewVariable(kind, len(c.ends), len(c.data))
	copy(v.Data(), c.data)
	copy(v.Offsets()[1:], c.ends)
	return v
}

// nested reads the copies as storeColumn wrote them; one never written is NULL.
func (c *savedBytes) nested(p *vector.Pool, kind vector.Kind) *vector.Vector {
	b := vector.NewColumnBuilder(p, kind)
	for i := range c.ends {
		if enc := c.at(i); len(enc) == 0 {
			b.AppendNull()
		} else if err := rowkey.DecodeValue(enc, b); err != nil {
			panic("op: a stored value of " + kind.String() + " cannot be read: " + err.Error())
		}
	}
	return b.Finish()
}

// column is a vector of the copies of a column of the given kind, without NULLs.
func (im *images) column(p *vector.Pool, col int, kind vector.Kind) *vector.Vector {
	switch c := im.cols[col].(type) {
	case *savedBytes:
		return c.column(p, kind)
	case interface {
		column(*vector.Pool) *vector.Vector
	}:
		return c.column(p)
	}
	panic("op: an image of an unknown kind")
}
