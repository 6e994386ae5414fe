package vector

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func nestedArrowKind(dt arrow.DataType) Kind {
	switch dt := dt.(type) {
	case *arrow.MapType:
		if k, v := ArrowKind(dt.KeyType()), ArrowKind(dt.ItemType()); k != Invalid && v != Invalid {
			return MapOf(k, v)
		}
	case *arrow.StructType:
		kinds := make([]Kind, dt.NumFields())
		for i, f := range dt.Fields() {
			if kinds[i] = ArrowKind(f.Type); kinds[i] == Invalid {
				return Invalid
			}
		}
		return StructOf(kinds...)
	case arrow.ListLikeType:
		if e := ArrowKind(dt.Elem()); e != Invalid {
			return ListOf(e)
		}
	}
	return Invalid
}

func structFromArrow(p *Pool, a *array.Struct) (*Vector, error) {
	fields := make([]*Vector, 0, a.NumField())
	for i := range a.NumField() {
		f, err := FromArrow(p, a.Field(i))
		if err != nil {
			release(fields)
			return nil, fmt.Errorf("field %q: %w", a.DataType().(*arrow.StructType).Field(i).Name, err)
		}
		fields = append(fields, f)
	}
	return p.NewStruct(a.Len(), fields), nil
}

func listFromArrow(p *Pool, a array.ListLike) (*Vector, error) {
	from, to, err := elementRange(a)
	if err != nil {
		return nil, err
	}
	elems, err := childFromArrow(p, a.ListValues(), from, to)
	if err != nil {
		return nil, err
	}
	v := p.NewList(a.Len(), elems)
	setArrowOffsets(v, a, from)
	return v, nil
}

// mapFromArrow puts entries in order where they are not.
func mapFromArrow(p *Pool, a *array.Map) (*Vector, error) {
	from, to, err := elementRange(a)
	if err != nil {
		return nil, err
	}
	keys, err := childFromArrow(p, a.Keys(), from, to)
	if err != nil {
		return nil, err
	}
	values, err := childFromArrow(p, a.Items(), from, to)
	if err != nil {
		keys.Release()
		return nil, err
	}
	v := p.NewMap(a.Len(), keys, values)
	setArrowOffsets(v, a, from)
	for i := range v.n {
		for e := v.offsets[i] + 1; e < v.offsets[i+1]; e++ {
			if Compare(keys, int(e-1), keys, int(e)) >= 0 {
				defer v.Release()
				return v.ordered(p), nil
			}
		}
	}
	return v, nil
}

// ordered returns the maps of v, whose entries have any order, as they should be.
func (v *Vector) ordered(p *Pool) *Vector {
	b := NewColumnBuilder(p, v.kind)
	for i := range v.n {
		for c, f := range b.children {
			for e := v.offsets[i]; e < v.offsets[i+1]; e++ {
				f.AppendFrom(v.children[c], int(e))
			}
		}
		b.EndValue()
	}
	return b.Finish()
}

// elementRange is the part of the children that the array's rows use.
func elementRange(a array.ListLike) (from, to int64, err error) {
	from, _ = a.ValueOffsets(0)
	to = from
	for i := range a.Len() {
		s, e := a.ValueOffsets(i)
		if s != to || e < s || e > int64(a.ListValues().Len()) {
			return 0, 0, fmt.Errorf("an Arrow array of type %v has offsets that are not ascending within its %d elements", a.DataType(), a.ListValues().Len())
		}
		to = e
	}
	if to-from > 1<<31-1 {
		return 0, 0, fmt.Errorf("an Arrow array of type %v holds %d elements: more than a batch can", a.DataType(), to-from)
	}
	return from, to, nil
}

func setArrowOffsets(v *Vector, a array.ListLike, from int64) {
	for i := range v.n {
		_, end := a.ValueOffsets(i)
		v.offsets[i+1] = int32(end - from)
	}
}

func childFromArrow(p *Pool, arr arrow.Array, from, to int64) (*Vector, error) {
	if from == 0 && to == int64(arr.Len()) {
		return FromArrow(p, arr)
	}
	part := array.NewSlice(arr, from, to)
	defer part.Release()
	return FromArrow(p, part)
}

// arrowChildren are the children of an Arrow array of type dt over v.
func (v *Vector) arrowChildren(dt arrow.DataType) []arrow.ArrayData {
	child := func(c *Vector, dt arrow.DataType) arrow.ArrayData {
		arr := c.Arrow(dt)
		defer arr.Release()
		d := arr.Data()
		d.Retain()
		return d
	}
	switch dt := dt.(type) {
	case *arrow.MapType:
		entries := []arrow.ArrayData{child(v.children[0], dt.KeyType()), child(v.children[1], dt.ItemType())}
		out := array.NewData(dt.Elem(), v.children[0].n, []*memory.Buffer{nil}, entries, 0, 0)
		release(entries)
		return []arrow.ArrayData{out}
	case *arrow.StructType:
		out := make([]arrow.ArrayData, len(v.children))
		for i, c := range v.children {
			out[i] = child(c, dt.Field(i).Type)
		}
		return out
	case *arrow.ListType:
		return []arrow.ArrayData{child(v.children[0], dt.Elem())}
	}
	panic(fmt.Sprintf("vector: a column of %v as Arrow type %v", v.kind, dt))
}

func release[R interface{ Release() }](rs []R) {
	for _, r := range rs {
		r.Release()
	}
}
