// Package exectest is for tests of operators and of graphs of them: it runs an
// operator over all shapes of batches, and a graph on one goroutine in an order
// that a seed decides.
//
// Rows are written as text: a row kind, +I when left out, then the values, as in
// "-D 7 'two words' NULL". Values of a Decimal column are unscaled; nested ones have
// the text of package sqltype, as in "[1,NULL]" or "'(1, x)'".
package exectest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// NewBatch makes a batch of rows written as text. It panics on a bad row.
func NewBatch(p *vector.Pool, kinds []vector.Kind, rows ...string) *vector.Batch {
	b := vector.NewBuilder(p, kinds)
	for _, r := range rows {
		Append(b, r)
	}
	return b.Finish()
}

// Append adds a row written as text to a builder. It panics on a bad row.
func Append(b *vector.Builder, row string) {
	values := fields(row)
	kind := vector.Insert
	if len(values) > 0 {
		if k, ok := vector.ParseRowKind(values[0]); ok {
			kind, values = k, values[1:]
		}
	}
	if len(values) != b.Cols() {
		panic(fmt.Sprintf("exectest: row %q has %d values for %d columns", row, len(values), b.Cols()))
	}
	for i, v := range values {
		if err := appendValue(b.Col(i), v); err != nil {
			panic(fmt.Sprintf("exectest: row %q, column %d: %v", row, i, err))
		}
	}
	b.EndRow(kind)
}

// fields splits a row at spaces outside quotes. Quotes are kept.
func fields(row string) []string {
	var out []string
	for rest := strings.TrimSpace(row); rest != ""; rest = strings.TrimLeft(rest, " ") {
		end := strings.IndexByte(rest, ' ')
		if rest[0] == '\'' {
			end = 1
			for end < len(rest) && (rest[end] != '\'' || strings.HasPrefix(rest[end:], "''")) {
				if rest[end] == '\'' {
					end++
				}
				end++
			}
			if end++; end > len(rest) {
				panic(fmt.Sprintf("exectest: row %q has an open quote", row))
			}
		}
		if end < 0 {
			end = len(rest)
		}
		out = append(out, rest[:end])
		rest = rest[end:]
	}
	return out
}

func appendValue(c *vector.ColumnBuilder, v string) (err error) {
	if v == "NULL" {
		c.AppendNull()
		return nil
	}
	if c.Kind().Variable() {
		if strings.HasPrefix(v, "'") {
			v = strings.ReplaceAll(v[1:len(v)-1], "''", "'")
		}
		c.AppendString(v)
		return nil
	}
	var i int64
	var f float64
	var b bool
	switch c.Kind() {
	case vector.Bool:
		b, err = strconv.ParseBool(v)
		vector.Append(c, b)
	case vector.Int8:
		i, err = strconv.ParseInt(v, 10, 8)
		vector.Append(c, int8(i))
	case vector.Int16:
		i, err = strconv.ParseInt(v, 10, 16)
		vector.Append(c, int16(i))
	case vector.Int32:
		i, err = strconv.ParseInt(v, 10, 32)
		vector.Append(c, int32(i))
	case vector.Int64:
		i, err = strconv.ParseInt(v, 10, 64)
		vector.Append(c, i)
	case vector.Float32:
		f, err = strconv.ParseFloat(v, 32)
		vector.Append(c, float32(f))
	case vector.Float64:
		f, err = strconv.ParseFloat(v, 64)
		vector.Append(c, f)
	case vector.Decimal:
		d, ok := sqltype.ParseDecimal([]byte(v), sqltype.MaxPrecision, 0)
		if !ok {
			err = fmt.Errorf("%q is no decimal", v)
		}
		vector.Append(c, d)
	default:
		text := strings.ReplaceAll(strings.Trim(v, "'"), "''", "'")
		if !sqltype.AppendParsed(c, typeOf(c.Kind()), []byte(text)) {
			err = fmt.Errorf("%q is no %v", v, c.Kind())
		}
	}
	return err
}

// Text writes the live rows of a batch as text, with their row kinds.
func Text(b *vector.Batch) []string {
	out := make([]string, b.Len())
	for i := range out {
		r := b.Row(i)
		out[i] = b.Kind(r).String() + values(b, r)
	}
	return out
}

func values(b *vector.Batch, r int) string {
	var s strings.Builder
	for c := range b.Cols() {
		s.WriteByte(' ')
		s.WriteString(value(b.Col(c), r))
	}
	return s.String()
}

func value(v *vector.Vector, r int) string {
	if v.IsNull(r) {
		return "NULL"
	}
	switch v.Kind() {
	case vector.Bool:
		return strconv.FormatBool(vector.Values[bool](v)[r])
	case vector.Int8:
		return strconv.Itoa(int(vector.Values[int8](v)[r]))
	case vector.Int16:
		return strconv.Itoa(int(vector.Values[int16](v)[r]))
	case vector.Int32:
		return strconv.Itoa(int(vector.Values[int32](v)[r]))
	case vector.Int64:
		return strconv.FormatInt(vector.Values[int64](v)[r], 10)
	case vector.Float32:
		return strconv.FormatFloat(float64(vector.Values[float32](v)[r]), 'g', -1, 32)
	case vector.Float64:
		return strconv.FormatFloat(vector.Values[float64](v)[r], 'g', -1, 64)
	case vector.Decimal:
		return vector.Values[vector.Dec](v)[r].ToString(0)
	}
	var s string
	if v.Kind().Nested() {
		s = string(sqltype.AppendText(nil, typeOf(v.Kind()), v, r))
	} else {
		s = string(v.Bytes(r))
	}
	if s == "" || s == "NULL" || strings.ContainsAny(s, " '") {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// typeOf is a type whose columns have the kind, for the texts of nested values.
func typeOf(k vector.Kind) sqltype.Type {
	var children []sqltype.Type
	for _, c := range k.Children() {
		children = append(children, typeOf(c))
	}
	switch {
	case k.List():
		return sqltype.ArrayOf(children[0])
	case k.Map():
		return sqltype.MapOf(children[0], children[1])
	case k.Struct():
		fields := make([]sqltype.Column, len(children))
		for i, c := range children {
			fields[i].Type = c
		}
		return sqltype.RowOf(fields...)
	}
	return map[vector.Kind]sqltype.Type{
		vector.Bool: sqltype.BoolType, vector.Int8: sqltype.TinyType, vector.Int16: sqltype.SmallType, vector.Int32: sqltype.IntType,
		vector.Int64: sqltype.BigIntType, vector.Float32: sqltype.FloatType, vector.Float64: sqltype.DoubleType,
		vector.Decimal: sqltype.DecimalOf(sqltype.MaxPrecision, 0), vector.String: sqltype.StringType, vector.Bytes: sqltype.BytesType,
	}[k]
}

// Table is what a changelog adds up to: rows as text, without kinds, with the
// number of times that each is there. A number can be negative; none is zero.
type Table map[string]int

// NewTable adds up changes written as text.
func NewTable(changes ...string) Table {
	t := Table{}
	t.Add(changes...)
	return t
}

// Add applies changes written as text.
func (t Table) Add(changes ...string) {
	for _, c := range changes {
		kind, row, _ := strings.Cut(c, " ")
		k, ok := vector.ParseRowKind(kind)
		if !ok {
			k, row = vector.Insert, c
		}
		t.addRow(row, int(k.Sign()))
	}
}

func (t Table) addRow(row string, n int) {
	if t[row] += n; t[row] == 0 {
		delete(t, row)
	}
}

// AddTable adds all rows of u.
func (t Table) AddTable(u Table) {
	for row, n := range u {
		t.addRow(row, n)
	}
}

// Equal reports whether two tables have the same rows.
func (t Table) Equal(u Table) bool { return maps.Equal(t, u) }

// Rows lists the rows in order, each as often as it is there; rows that are there
// less than never are marked with a minus sign.
func (t Table) Rows() []string {
	var out []string
	for _, row := range slices.Sorted(maps.Keys(t)) {
		for range t[row] {
			out = append(out, row)
		}
		for range -t[row] {
			out = append(out, "-"+row)
		}
	}
	return out
}

// Diff says how the table differs from the one wanted, or "".
func (t Table) Diff(want Table) string {
	diff := Table{}
	diff.AddTable(t)
	for row, n := range want {
		diff.addRow(row, -n)
	}
	var s strings.Builder
	for _, row := range slices.Sorted(maps.Keys(diff)) {
		fmt.Fprintf(&s, "\n\t%+d  %s", diff[row], row)
	}
	return s.String()
}
