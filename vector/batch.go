package vector

import "fmt"

// Target is the number of rows that producers aim for in a batch.
const Target = 8192

// Batch is a set of rows stored by column, each with a row kind.
//
// Rows are addressed by physical position. When the batch has a selection only
// the selected positions are live, in selection order: use Len and Row, or Rows
// and Sel. See the package comment for ownership.
type Batch struct {
	cols  []*Vector
	kinds *Vector // Int8 of RowKind; nil: every row is an Insert
	sel   *Vector // Int32 positions; nil: every row is live
	rows  int
}

// NewBatch makes a batch of n rows, taking over the caller's reference to every
// column and to kinds, which is nil when all rows are inserts.
func NewBatch(n int, cols []*Vector, kinds *Vector) *Batch {
	for i, c := range cols {
		if c.n != n {
			panic(fmt.Sprintf("vector: column %d has %d rows, the batch %d", i, c.n, n))
		}
	}
	if kinds != nil && (kinds.kind != Int8 || kinds.n != n) {
		panic("vector: row kinds do not fit the batch")
	}
	return &Batch{cols: cols, kinds: kinds, rows: n}
}

// Len is the number of live rows.
func (b *Batch) Len() int {
	if b.sel != nil {
		return b.sel.n
	}
	return b.rows
}

// Rows is the number of physical rows, live or not.
func (b *Batch) Rows() int { return b.rows }

// Row is the physical position of live row i.
func (b *Batch) Row(i int) int {
	if b.sel != nil {
		return int(as[int32](b.sel.fixed, b.sel.n)[i])
	}
	return i
}

// Sel returns the live positions, or false when every row is live.
func (b *Batch) Sel() ([]int32, bool) {
	if b.sel == nil {
		return nil, false
	}
	return as[int32](b.sel.fixed, b.sel.n), true
}

// Cols is the number of columns.
func (b *Batch) Cols() int { return len(b.cols) }

// Col is column i, borrowed.
func (b *Batch) Col(i int) *Vector { return b.cols[i] }

// InsertOnly reports whether every row is an Insert; Kinds is nil then.
func (b *Batch) InsertOnly() bool { return b.kinds == nil }

// Kinds are the row kinds by physical position, or nil when InsertOnly.
func (b *Batch) Kinds() []RowKind {
	if b.kinds == nil {
		return nil
	}
	return as[RowKind](b.kinds.fixed, b.kinds.n)
}

// KindVector is the column behind Kinds, borrowed; nil when InsertOnly.
func (b *Batch) KindVector() *Vector { return b.kinds }

// Kind is the row kind at physical position r.
func (b *Batch) Kind(r int) RowKind {
	if b.kinds == nil {
		return Insert
	}
	return as[RowKind](b.kinds.fixed, b.kinds.n)[r]
}

// NewKinds returns a column of row kinds to be filled and given to NewBatch.
func (p *Pool) NewKinds(n int) (*Vector, []RowKind) {
	v := p.New(Int8, n)
	return v, as[RowKind](v.fixed, n)
}

// Select returns a new batch that shares b's columns and has only the rows at
// the given physical positions live. It takes over the reference to sel.
func (b *Batch) Select(sel *Vector) *Batch {
	if sel.kind != Int32 {
		panic("vector: a selection is a column of int32")
	}
	return &Batch{cols: retainAll(b.cols), kinds: retain(b.kinds), sel: sel, rows: b.rows}
}

// Project returns a new batch of the given columns of b, in that order, with b's
// row kinds and selection.
func (b *Batch) Project(cols []int) *Batch {
	out := make([]*Vector, len(cols))
	for i, c := range cols {
		out[i] = b.cols[c].Retain()
	}
	return &Batch{cols: out, kinds: retain(b.kinds), sel: retain(b.sel), rows: b.rows}
}

// WithKinds returns a new batch of b's columns and selection under other row
// kinds (nil: all inserts), whose reference it takes over.
func (b *Batch) WithKinds(kinds *Vector) *Batch {
	return &Batch{cols: retainAll(b.cols), kinds: kinds, sel: retain(b.sel), rows: b.rows}
}

// Dense returns a batch without a selection that the caller must Release: b's
// own columns when every row is live, else the live rows gathered into p.
func (b *Batch) Dense(p *Pool) *Batch {
	sel, some := b.Sel()
	if !some {
		return &Batch{cols: retainAll(b.cols), kinds: retain(b.kinds), rows: b.rows}
	}
	return b.take(p, sel)
}

// Take gathers the rows at the given physical positions into a batch of p.
func (b *Batch) Take(p *Pool, rows []int32) *Batch { return b.take(p, rows) }

func (b *Batch) take(p *Pool, rows []int32) *Batch {
	cols := make([]*Vector, len(b.cols))
	for i, c := range b.cols {
		cols[i] = c.Take(p, rows)
	}
	var kinds *Vector
	if b.kinds != nil {
		kinds = b.kinds.Take(p, rows)
	}
	return &Batch{cols: cols, kinds: kinds, rows: len(rows)}
}

// Keep returns a batch that outlives the call in which b was lent, and that the
// caller must Release. It has no selection and refers to no foreign memory: rows
// are gathered, and columns of another pool are copied into p.
func (b *Batch) Keep(p *Pool) *Batch {
	if sel, some := b.Sel(); some {
		return b.take(p, sel)
	}
	keep := func(v *Vector) *Vector {
		if v.ownedBy(p) {
			return v.Retain()
		}
		return v.Slice(p, 0, v.n)
	}
	cols := make([]*Vector, len(b.cols))
	for i, c := range b.cols {
		cols[i] = keep(c)
	}
	var kinds *Vector
	if b.kinds != nil {
		kinds = keep(b.kinds)
	}
	return &Batch{cols: cols, kinds: kinds, rows: b.rows}
}

// Slice copies live rows [from, to) into a batch of p.
func (b *Batch) Slice(p *Pool, from, to int) *Batch {
	if sel, some := b.Sel(); some {
		return b.take(p, sel[from:to])
	}
	cols := make([]*Vector, len(b.cols))
	for i, c := range b.cols {
		cols[i] = c.Slice(p, from, to)
	}
	var kinds *Vector
	if b.kinds != nil {
		kinds = b.kinds.Slice(p, from, to)
	}
	return &Batch{cols: cols, kinds: kinds, rows: to - from}
}

// Retain returns a second batch over the same columns, to be released by itself.
// It is for handing one batch to several owners; it does not gather or copy.
func (b *Batch) Retain() *Batch {
	return &Batch{cols: retainAll(b.cols), kinds: retain(b.kinds), sel: retain(b.sel), rows: b.rows}
}

// Release gives back the batch's references. The batch must not be used after.
func (b *Batch) Release() {
	for _, c := range b.cols {
		c.Release()
	}
	if b.kinds != nil {
		b.kinds.Release()
	}
	if b.sel != nil {
		b.sel.Release()
	}
	b.cols, b.kinds, b.sel, b.rows = nil, nil, nil, 0
}

func retain(v *Vector) *Vector {
	if v != nil {
		v.Retain()
	}
	return v
}

func retainAll(vs []*Vector) []*Vector {
	out := make([]*Vector, len(vs))
	for i, v := range vs {
		out[i] = v.Retain()
	}
	return out
}
