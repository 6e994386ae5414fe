package json

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// nested appends the next value of d, of any type, to c, or reports that it is none
// of that type; c then may have half a value.
func (r *reader) nested(d *jsontext.Decoder, c *vector.ColumnBuilder, t sqltype.Type) (ok bool, err error) {
	open := jsontext.Kind('{')
	switch k := d.PeekKind(); {
	case k == 'n':
		c.AppendNull()
		_, err := d.ReadToken()
		return !t.NotNull, err
	case !t.IsNested():
		v, err := d.ReadValue()
		if err != nil {
			return false, err
		}
		return r.plain(c, t, v)
	case t.ID == sqltype.Array:
		open = '['
		fallthrough
	default:
		if k != open {
			return false, nil
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return false, err
	}
	types := t.Children()
	for k := d.PeekKind(); k != '}' && k != ']'; k = d.PeekKind() {
		switch t.ID {
		case sqltype.Array:
			ok, err = r.nested(d, c.Child(0), types[0])
		case sqltype.Row:
			ok, err = r.field(d, c, t)
		default:
			ok, err = r.entry(d, c, types)
		}
		if !ok || err != nil {
			return false, err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return false, err
	}
	if t.ID == sqltype.Row {
		for i, f := range t.Fields {
			if c.Child(i).Len() > c.Len() {
				continue
			}
			if f.Type.NotNull || r.missing {
				return false, nil
			}
			c.Child(i).AppendNull()
		}
	}
	c.EndValue()
	return true, nil
}

// field reads a member of an object that is a ROW. One that comes twice counts the
// last time.
func (r *reader) field(d *jsontext.Decoder, c *vector.ColumnBuilder, t sqltype.Type) (bool, error) {
	name, err := r.name(d)
	if err != nil {
		return false, err
	}
	i := sqltype.Schema(t.Fields).Index(string(name))
	if i < 0 {
		return true, d.SkipValue()
	}
	c.Child(i).Truncate(c.Len())
	return r.nested(d, c.Child(i), t.Fields[i].Type)
}

// entry reads a member of an object that is a MAP or MULTISET.
func (r *reader) entry(d *jsontext.Decoder, c *vector.ColumnBuilder, types []sqltype.Type) (bool, error) {
	name, err := r.name(d)
	if err != nil || !sqltype.AppendParsed(c.Child(0), types[0], name) {
		return false, err
	}
	return r.nested(d, c.Child(1), types[1])
}

func (r *reader) name(d *jsontext.Decoder) ([]byte, error) {
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	return r.text(v)
}

// nested writes an array, or an object of the fields or entries.
func (c *encoder) nested(t sqltype.Type, v *vector.Vector, row int) (err error) {
	types := t.Children()
	if t.ID == sqltype.Row {
		c.buf = append(c.buf, '{')
		first := true
		for i, f := range t.Fields {
			if c.omitNull && v.Child(i).IsNull(row) {
				continue
			}
			c.comma(first)
			first = false
			if c.buf, err = jsontext.AppendQuote(c.buf, f.Name); err != nil {
				return err
			}
			c.buf = append(c.buf, ':')
			if err := c.child(f.Type, v.Child(i), row); err != nil {
				return err
			}
		}
		c.buf = append(c.buf, '}')
		return nil
	}
	first, last := byte('{'), byte('}')
	if t.ID == sqltype.Array {
		first, last = '[', ']'
	}
	c.buf = append(c.buf, first)
	from, to := int(v.Offsets()[row]), int(v.Offsets()[row+1])
	for e := from; e < to; e++ {
		c.comma(e == from)
		if t.ID != sqltype.Array {
			key := sqltype.AppendText(nil, types[0], v.Child(0), e)
			if c.buf, err = jsontext.AppendQuote(c.buf, key); err != nil {
				return err
			}
			c.buf = append(c.buf, ':')
		}
		if err := c.child(types[len(types)-1], v.Child(v.Children()-1), e); err != nil {
			return err
		}
	}
	c.buf = append(c.buf, last)
	return nil
}

func (c *encoder) comma(first bool) {
	if !first {
		c.buf = append(c.buf, ',')
	}
}

func (c *encoder) child(t sqltype.Type, v *vector.Vector, row int) error {
	if v.IsNull(row) {
		c.buf = append(c.buf, "null"...)
		return nil
	}
	return c.value(t, v, row)
}
