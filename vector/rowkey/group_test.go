package rowkey

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirdb/weir/vector"
)

// The group of a key is that of an exchange by the layout's Group, for packed and other
// keys, with NULLs and under a selection; equal keys have equal hashes.
func TestGroupOfSomeColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p := vector.NewCheckedPool()
	kinds := []vector.Kind{vector.Int16, vector.Int32, vector.Int16, vector.String, vector.Int64}
	b := vector.NewBuilder(p, kinds)
	for range 500 {
		for c, k := range kinds {
			switch x := r.IntN(4); {
			case x == 0:
				b.Col(c).AppendNull()
			case k == vector.String:
				b.Col(c).AppendString(string(rune('a' + x)))
			case k == vector.Int16:
				vector.Append(b.Col(c), int16(x-2))
			case k == vector.Int32:
				vector.Append(b.Col(c), int32(x-2))
			default:
				vector.Append(b.Col(c), int64(x-2))
			}
		}
		b.EndRow(vector.Insert)
	}
	all := b.Finish()
	sel := make([]int32, 0, all.Len())
	for i := range all.Len() {
		if r.IntN(3) > 0 {
			sel = append(sel, int32(i))
		}
	}
	some := all.Select(vector.Of(p, sel...))
	for _, b := range []*vector.Batch{all, some} {
		for _, c := range []struct{ cols, group []int }{
			{[]int{0, 1, 2}, []int{1}},
			{[]int{0, 1, 2}, []int{2, 0}},
			{[]int{0, 1, 2}, []int{2, 1, 0}},
			{[]int{3, 4, 0}, []int{0}},
			{[]int{3, 4, 0}, []int{2, 1}},
		} {
			var l, of Layout
			var exchanged []int
			for _, col := range c.cols {
				l.Kinds = append(l.Kinds, kinds[col])
			}
			for _, g := range c.group {
				exchanged = append(exchanged, c.cols[g])
				of.Kinds = append(of.Kinds, kinds[c.cols[g]])
			}
			l = l.GroupedBy(c.group)
			keys := NewEncoder(l).Encode(b, c.cols)
			want := NewEncoder(of).Hash(b, exchanged)
			words, nulls, packed := keys.Packed()
			if packed {
				again := NewEncoder(l).Packed(words, nulls)
				if !slices.Equal(again.Hash(), keys.Hash()) || again.AnyNull() != keys.AnyNull() || again.Len() != keys.Len() {
					t.Fatalf("%v by %v: made of packed words the keys are others", c.cols, c.group)
				}
			}
			seen := map[string]uint64{}
			for i, h := range keys.Hash() {
				if KeyGroup(h, Groups) != KeyGroup(want[i], Groups) {
					t.Fatalf("%v by %v: key %d is in group %d, the exchange says %d", c.cols, c.group, i, KeyGroup(h, Groups), KeyGroup(want[i], Groups))
				}
				if was, ok := seen[string(keys.Bytes(i))]; ok && was != h {
					t.Fatalf("%v by %v: equal keys have hashes %x and %x", c.cols, c.group, was, h)
				}
				seen[string(keys.Bytes(i))] = h
				if packed {
					mask := uint8(0)
					if nulls != nil {
						mask = nulls[i]
					}
					if got := l.HashPacked(words[i], mask); got != h {
						t.Fatalf("%v by %v: the packed key has hash %x, not %x", c.cols, c.group, got, h)
					}
				}
			}
		}
	}
	some.Release()
	all.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestLayoutsByGroup(t *testing.T) {
	l := Layout{Kinds: []vector.Kind{vector.Int64, vector.String}}
	if g := l.GroupedBy([]int{0, 1}).Group; g != nil {
		t.Errorf("all columns in order: %v", g)
	}
	if g := l.GroupedBy([]int{1, 0}).Group; len(g) != 2 {
		t.Errorf("all columns in another order: %v", g)
	}
	if with := l.With(vector.Bool); len(with.Group) != 2 || len(with.Kinds) != 3 || len(l.Kinds) != 2 {
		t.Errorf("with a column: %+v of %+v", with, l)
	}
	if with := l.GroupedBy([]int{1}).With(vector.Bool); len(with.Group) != 1 || with.Group[0] != 1 {
		t.Errorf("grouped, with a column: %+v", with)
	}
	if with := (Layout{}).With(vector.Bool); with.Group != nil {
		t.Errorf("of nothing: %+v", with)
	}
}
