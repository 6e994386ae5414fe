package json

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// value reads one member's value into column col, whose row is number row. A
// member that comes twice counts the last time.
func (r *reader) value(c *vector.ColumnBuilder, col, row int) error {
	v, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	c.Truncate(row)
	t := r.schema[col].Type
	if v.Kind() != 'n' {
		ok := false
		if t.IsNested() {
			r.inner.Reset(bytes.NewBuffer(v), jsontext.AllowDuplicateNames(true))
			if ok, err = r.nested(&r.inner, c, t); !ok {
				c.Truncate(row)
			}
		} else {
			ok, err = r.plain(c, t, v)
		}
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		if !r.ignore {
			return r.failed(r.offset()-len(v), fmt.Sprintf("member %s: %s is not a value of type %v", jsonName(r.schema[col].Name), cut(v), t.Optional()))
		}
	}
	if t.NotNull {
		if r.ignore {
			return errSkip
		}
		return r.failed(r.offset()-len(v), fmt.Sprintf("member %s: NULL in a column that is NOT NULL", jsonName(r.schema[col].Name)))
	}
	c.AppendNull()
	return nil
}

// plain appends a value, other than null, of a type that is not nested, or reports
// that it is none of that type.
func (r *reader) plain(c *vector.ColumnBuilder, t sqltype.Type, v jsontext.Value) (ok bool, err error) {
	switch k := v.Kind(); {
	case k == '"':
		text, err := r.text(v)
		return err == nil && sqltype.AppendParsed(c, t, text), err
	case k == '0' && t.ID == sqltype.BigInt:
		i, ok := sqltype.ParseInt(v)
		if ok {
			vector.Append(c, i)
		}
		return ok || appendWhole(c, t, v), nil
	case k == '0' && (t.IsNumeric() || t.IsString()):
		return sqltype.AppendParsed(c, t, v) || t.IsInteger() && appendWhole(c, t, v), nil
	case (k == 't' || k == 'f') && (t.ID == sqltype.Boolean || t.IsString()):
		return sqltype.AppendParsed(c, t, v), nil
	case (k == '{' || k == '[') && t.IsString():
		return sqltype.AppendParsed(c, t, compact(v)), nil
	}
	return false, nil
}

// text is what a JSON string stands for; valid until the next call.
func (r *reader) text(v jsontext.Value) ([]byte, error) {
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1], nil
	}
	var err error
	r.scratch, err = jsontext.AppendUnquote(r.scratch[:0], v)
	return r.scratch, err
}

// appendWhole takes numbers as 12.0 or 1e3 for integers, when they are exactly one.
func appendWhole(c *vector.ColumnBuilder, t sqltype.Type, v []byte) bool {
	f, ok := sqltype.ParseFloat(v, 64)
	if !ok || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return false
	}
	return sqltype.AppendParsed(c, t, strconv.AppendInt(nil, int64(f), 10))
}

func compact(v jsontext.Value) []byte {
	c := v.Clone()
	if err := c.Compact(); err != nil { // it was parsed before
		return v
	}
	return c
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	}
	return "an array"
}

func jsonName(s string) string { return strconv.Quote(s) }

func itoa(i int) string { return strconv.Itoa(i) }

// cut is a value for a message.
func cut(v []byte) string {
	const most = 60
	if len(v) > most {
		return string(bytes.ToValidUTF8(v[:most], nil)) + "..."
	}
	return string(v)
}
