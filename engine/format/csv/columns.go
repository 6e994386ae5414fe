package csv

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// convert makes a batch of the fields found by tokenize.
func (r *reader) convert(p *vector.Pool) (*vector.Batch, error) {
	cols := make([]*vector.Vector, 0, len(r.scan))
	for slot := range r.scan {
		v, err := r.column(p, slot)
		if err != nil {
			for _, c := range cols {
				c.Release()
			}
			return nil, err
		}
		cols = append(cols, v)
	}
	b := vector.NewBatch(r.rows, cols, nil)
	if len(r.drop) == 0 {
		return b, nil
	}
	dropped := make([]bool, r.rows)
	for _, row := range r.drop {
		dropped[row] = true
	}
	keep := make([]int32, 0, r.rows)
	for i, d := range dropped {
		if !d {
			keep = append(keep, int32(i))
		}
	}
	defer b.Release()
	return b.Take(p, keep), nil
}

func (r *reader) column(p *vector.Pool, slot int) (*vector.Vector, error) {
	t := r.schema[r.scan[slot]].Type
	switch t.ID {
	case sqltype.Boolean:
		return fixed(r, p, slot, sqltype.ParseBool)
	case sqltype.TinyInt:
		return fixed(r, p, slot, parseInt[int8])
	case sqltype.SmallInt:
		return fixed(r, p, slot, parseInt[int16])
	case sqltype.Integer:
		return fixed(r, p, slot, parseInt[int32])
	case sqltype.BigInt:
		return fixed(r, p, slot, sqltype.ParseInt)
	case sqltype.Float:
		return fixed(r, p, slot, func(b []byte) (float32, bool) {
			v, ok := sqltype.ParseFloat(b, 32)
			return float32(v), ok
		})
	case sqltype.Double:
		return fixed(r, p, slot, func(b []byte) (float64, bool) { return sqltype.ParseFloat(b, 64) })
	case sqltype.Decimal:
		return fixed(r, p, slot, func(b []byte) (vector.Dec, bool) { return sqltype.ParseDecimal(b, t.Precision, t.Scale) })
	case sqltype.Date:
		return fixed(r, p, slot, sqltype.ParseDate)
	case sqltype.Time:
		digits := t.UnitDigits()
		return fixed(r, p, slot, func(b []byte) (int64, bool) { return sqltype.ParseTime(b, digits) })
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		digits := t.UnitDigits()
		return fixed(r, p, slot, func(b []byte) (int64, bool) { return sqltype.ParseTimestamp(b, digits) })
	}
	return r.variable(p, slot, t)
}

func parseInt[T int8 | int16 | int32](b []byte) (T, bool) {
	v, ok := sqltype.ParseInt(b)
	return T(v), ok && int64(T(v)) == v
}

// text is the text of a field, or false when it is NULL. empty says what an empty
// one is.
func (r *reader) text(w []byte, f field, empty bool) ([]byte, bool) {
	if f == noField {
		return nil, false
	}
	b := w[f.begin():f.end()]
	if f&escapedField != 0 {
		b = r.unescape(w, f)
	}
	if f&quotedField != 0 {
		return b, true
	}
	if len(b) == 0 && !empty || r.hasNull && string(b) == r.null {
		return nil, false
	}
	return b, true
}

// fixed makes a column of fixed-width values.
func fixed[T vector.Fixed](r *reader, p *vector.Pool, slot int, parse func([]byte) (T, bool)) (*vector.Vector, error) {
	v := p.New(vector.KindOf[T](), r.rows)
	dst := vector.Values[T](v)
	var valid vector.Bitmap
	w, found := r.in.Bytes(), r.found
	for row := range dst {
		text, ok := r.text(w, found[row*len(r.scan)+slot], false)
		if ok {
			if dst[row], ok = parse(text); ok {
				continue
			}
			if !r.ignore {
				v.Release()
				return nil, r.notOfType(slot, row, text)
			}
		}
		if err := r.mayBeNull(slot, row); err != nil {
			v.Release()
			return nil, err
		}
		if valid == nil {
			valid = v.NewValid(true)
		}
		valid.Clear(row)
		var zero T
		dst[row] = zero
	}
	return v, nil
}

func (r *reader) variable(p *vector.Pool, slot int, t sqltype.Type) (*vector.Vector, error) {
	if v := r.plainText(p, slot, t); v != nil {
		return v, nil
	}
	c := vector.NewColumnBuilder(p, t.Kind())
	w := r.in.Bytes()
	for row := range r.rows {
		text, ok := r.text(w, r.found[row*len(r.scan)+slot], true)
		if ok {
			value, why := check(t, text)
			if why == "" {
				c.AppendBytes(value)
				continue
			}
			if !r.ignore {
				c.Finish().Release()
				return nil, r.badText(slot, row, text, why)
			}
		}
		if err := r.mayBeNull(slot, row); err != nil {
			c.Finish().Release()
			return nil, err
		}
		c.AppendNull()
	}
	return c.Finish(), nil
}

// plainText makes a column of text of any length that needs no checks: all ASCII,
// no NULL, no escapes. It returns nil when that is not so.
func (r *reader) plainText(p *vector.Pool, slot int, t sqltype.Type) *vector.Vector {
	if t.ID != sqltype.Varchar || t.Precision != sqltype.MaxLength || r.escaped || r.hasNull {
		return nil
	}
	w, cols, size := r.in.Bytes(), len(r.scan), 0
	for i := slot; i < r.rows*cols; i += cols {
		f := r.found[i]
		if f == noField {
			return nil
		}
		size += f.end() - f.begin()
	}
	v := p.NewVariable(vector.String, r.rows, size)
	data, off, at := v.Data(), v.Offsets()[1:], 0
	for row := range off {
		f := r.found[row*cols+slot]
		at += copy(data[at:], w[f.begin():f.end()])
		off[row] = int32(at)
	}
	if !ascii(data) {
		v.Release()
		return nil
	}
	return v
}

func ascii(b []byte) bool {
	var or uint64
	for len(b) >= 8 {
		or |= binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	for _, c := range b {
		or |= uint64(c)
	}
	return or&0x8080808080808080 == 0
}

// check returns the value that text is of a type of variable width, or why it is
// none.
func check(t sqltype.Type, text []byte) (value []byte, why string) {
	if t.IsBinary() {
		value, err := base64.StdEncoding.AppendDecode(nil, text)
		switch {
		case err != nil:
			return nil, "the value is not base64"
		case len(value) > t.Precision:
			return nil, "the value is too long for " + t.String()
		}
		return value, ""
	}
	switch {
	case !utf8.Valid(text):
		return nil, invalidUTF8
	case !t.Holds(text):
		return nil, "the value is too long for " + t.String()
	}
	return text, ""
}

const invalidUTF8 = "the value is not valid UTF-8"

func (r *reader) badText(slot, row int, text []byte, why string) error {
	if why != invalidUTF8 {
		return r.badValue(slot, row, text, why+": "+quoteText(text))
	}
	// The place of the first bad byte, which is in the window unless quotes were
	// taken out before it.
	good := 0
	for good < len(text) {
		c, n := utf8.DecodeRune(text[good:])
		if c == utf8.RuneError && n == 1 {
			break
		}
		good += n
	}
	at := r.at(r.in.Bytes()[:r.found[row*len(r.scan)+slot].begin()+good])
	return errs.New(errs.Data, at, "column %q: invalid UTF-8 at byte %d of the file: %s", r.schema[r.scan[slot]].Name, at.Offset, quoteText(text)).
		In(r.in.Name()).WithHint("the file must be in UTF-8")
}

func (r *reader) notOfType(slot, row int, text []byte) error {
	t := r.schema[r.scan[slot]].Type
	return r.badValue(slot, row, text, quoteText(text)+" is not a value of type "+t.Optional().String())
}

// mayBeNull checks that the row may be NULL. When it may not and errors are ignored,
// the row is dropped.
func (r *reader) mayBeNull(slot, row int) error {
	col := r.schema[r.scan[slot]]
	switch {
	case !col.Type.NotNull:
		return nil
	case r.ignore:
		r.drop = append(r.drop, int32(row))
		return nil
	}
	return r.badValue(slot, row, nil, "NULL in a column that is NOT NULL")
}
