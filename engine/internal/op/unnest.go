package op

import (
	"context"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// UnnestSpec says what rows an Unnest makes of one.
type UnnestSpec struct {
	Types       []sqltype.Type // of the input
	Collections []int          // input columns: ARRAYs, MAPs, MULTISETs
	Forward     []int          // input columns
	Outer       bool           // a row without elements is passed on, with NULLs
	Ordinality  bool           // a column behind the elements has their number, from 1
}

// Unnest makes of every row one for each element of a collection: the element, then the
// forwarded columns. An element is one column of an ARRAY or a MULTISET, two of a MAP, and
// of an ARRAY of ROWs one for each field. Several collections go side by side, the shorter
// ones filled up with NULL. As a row and what replaces it may have another
// number of elements, an update is a removal and an addition.
type Unnest struct {
	exec.Stateless
	spec UnnestSpec
	pool *vector.Pool

	rows     []int32   // of the input, by row of the output
	elements [][]int32 // by collection: the element of that row, or -1
	numbers  []int32   // 0: none
}

// NewUnnest returns an Unnest.
func NewUnnest(spec UnnestSpec) *Unnest {
	return &Unnest{spec: spec, elements: make([][]int32, len(spec.Collections))}
}

// Open keeps the pool.
func (u *Unnest) Open(_ context.Context, rt *exec.Runtime) error {
	u.pool = rt.Pool
	return nil
}

// Process emits the elements of the rows of b.
func (u *Unnest) Process(_ int, b *vector.Batch, out exec.Output) error {
	cols := make([]*vector.Vector, len(u.spec.Collections))
	for i, c := range u.spec.Collections {
		cols[i] = b.Col(c)
	}
	for i := range b.Len() {
		r := b.Row(i)
		longest := 0
		for k, c := range cols {
			longest = max(longest, u.count(k, c, r))
		}
		if longest == 0 && u.spec.Outer {
			u.add(r, 0)
			for k := range cols {
				u.elements[k] = append(u.elements[k], -1)
			}
		}
		for from := 0; from < longest; from += vector.Target {
			to := min(longest, from+vector.Target)
			for e := from; e < to; e++ {
				u.add(r, int32(e+1))
			}
			for k, c := range cols {
				u.elementsOf(k, c, r, from, to)
			}
			if len(u.rows) >= vector.Target {
				if err := u.emit(b, cols, out); err != nil {
					return err
				}
			}
		}
	}
	return u.emit(b, cols, out)
}

func (u *Unnest) add(row int, number int32) {
	u.rows = append(u.rows, int32(row))
	if u.spec.Ordinality {
		u.numbers = append(u.numbers, number)
	}
}

func (u *Unnest) multiset(k int) bool {
	return u.spec.Types[u.spec.Collections[k]].ID == sqltype.Multiset
}

// count is the number of elements of row r of collection k.
func (u *Unnest) count(k int, c *vector.Vector, r int) int {
	if c.IsNull(r) {
		return 0
	}
	from, to := c.Offsets()[r], c.Offsets()[r+1]
	if !u.multiset(k) {
		return int(to - from)
	}
	n := 0
	for _, times := range vector.Values[int32](c.Child(1))[from:to] {
		n += int(times)
	}
	return n
}

// elementsOf notes elements from up to to of row r of collection k, and where there are
// fewer that there is none.
func (u *Unnest) elementsOf(k int, c *vector.Vector, r, from, to int) {
	list := u.elements[k]
	have := min(to, u.count(k, c, r))
	first := int(c.Offsets()[r])
	switch {
	case !u.multiset(k):
		for e := from; e < have; e++ {
			list = append(list, int32(first+e))
		}
	case from < have:
		at := 0
		for e, times := range vector.Values[int32](c.Child(1))[first:c.Offsets()[r+1]] {
			for range times {
				if at >= from && at < have {
					list = append(list, int32(first+e))
				}
				at++
			}
		}
	}
	for range to - max(from, have) {
		list = append(list, -1)
	}
	u.elements[k] = list
}

func (u *Unnest) emit(b *vector.Batch, collections []*vector.Vector, out exec.Output) error {
	if len(u.rows) == 0 {
		return nil
	}
	var cols []*vector.Vector
	for k, c := range collections {
		cols = append(cols, u.parts(k, c)...)
		u.elements[k] = u.elements[k][:0]
	}
	if u.spec.Ordinality {
		cols = append(cols, u.ordinality())
		u.numbers = u.numbers[:0]
	}
	for _, c := range u.spec.Forward {
		cols = append(cols, b.Col(c).Take(u.pool, u.rows))
	}
	var kinds *vector.Vector
	if !b.InsertOnly() {
		var k []vector.RowKind
		kinds, k = u.pool.NewKinds(len(u.rows))
		from := b.Kinds()
		for i, r := range u.rows {
			k[i] = vector.Insert
			if from[r] == vector.UpdateBefore || from[r] == vector.Delete {
				k[i] = vector.Delete
			}
		}
	}
	res := vector.NewBatch(len(u.rows), cols, kinds)
	defer res.Release()
	u.rows = u.rows[:0]
	return out.Emit(res)
}

// parts are the columns that the elements of collection k make.
func (u *Unnest) parts(k int, c *vector.Vector) []*vector.Vector {
	elements := u.elements[k]
	t := u.spec.Types[u.spec.Collections[k]]
	switch {
	case t.ID == sqltype.Map:
		return []*vector.Vector{kernel.TakeOrNull(u.pool, c.Child(0), elements), kernel.TakeOrNull(u.pool, c.Child(1), elements)}
	case t.Elem.ID != sqltype.Row:
		return []*vector.Vector{kernel.TakeOrNull(u.pool, c.Child(0), elements)}
	}
	of := c.Child(0)
	for i, e := range elements { // of a ROW that is NULL every field is
		if e >= 0 && of.IsNull(int(e)) {
			elements[i] = -1
		}
	}
	var cols []*vector.Vector
	for f := range of.Children() {
		cols = append(cols, kernel.TakeOrNull(u.pool, of.Child(f), elements))
	}
	return cols
}

func (u *Unnest) ordinality() *vector.Vector {
	v := u.pool.New(vector.Int32, len(u.numbers))
	copy(vector.Values[int32](v), u.numbers)
	if u.spec.Outer {
		valid := v.NewValid(true)
		for i, n := range u.numbers {
			if n == 0 {
				valid.Clear(i)
			}
		}
	}
	return v
}
