package state

import (
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// nested is a column of lists, maps or structs: of their canonical encodings.
type nested struct {
	texts
	scratch []byte
}

func (c *nested) empty() column { return &nested{texts: texts{kind: c.kind}} }

func (c *nested) store(v *vector.Vector, rows, at []int32) {
	for i, p := range at {
		r := i
		if rows != nil {
			r = int(rows[i])
		}
		if !v.IsNull(r) {
			c.scratch = rowkey.AppendValue(c.scratch[:0], v, r)
			c.refs[p] = c.arena.put(p, c.scratch)
		}
	}
	c.arena.compact(c.refs)
	c.storeNulls(v, rows, at)
}

func (c *nested) differ(v *vector.Vector, rows, at []int32, diff []bool) {
	for i, p := range at {
		if r := int(rows[i]); !v.IsNull(r) {
			c.scratch = rowkey.AppendValue(c.scratch[:0], v, r)
			if string(c.scratch) != string(c.get(p)) {
				diff[i] = true
			}
		}
	}
	c.differNulls(v, rows, at, diff)
}

func (c *nested) take(p *vector.Pool, at []int32) *vector.Vector {
	b := vector.NewColumnBuilder(p, c.kind)
	for _, r := range at {
		enc := c.get(r)
		if c.isNull(r) || len(enc) == 0 { // one never stored has no encoding
			b.AppendNull()
			continue
		}
		if err := rowkey.DecodeValue(enc, b); err != nil {
			panic("state: a stored value of " + c.kind.String() + " cannot be read: " + err.Error())
		}
	}
	return b.Finish()
}

// load also checks that take can read the value: data may come from outside.
func (c *nested) load(data []byte, at int32) ([]byte, error) {
	rest, err := c.texts.load(data, at)
	if err != nil || len(c.get(at)) == 0 {
		return rest, err
	}
	b := vector.NewColumnBuilder(vector.NewPool(), c.kind)
	if rowkey.DecodeValue(c.get(at), b) != nil {
		return nil, errCorrupt
	}
	return rest, nil
}
