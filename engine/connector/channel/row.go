package channel

import (
	"fmt"
	"math"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Row is a row with its kind. Values are nil for NULL, Go's integers, floats, bool,
// string, []byte, vector.Dec (of the column's scale) and time.Time; a string is read
// as the column's type where that is no text.
type Row struct {
	Kind   vector.RowKind
	Values []any
}

// Insert is the row of the given values as an insert.
func Insert(values ...any) Row { return Row{Kind: vector.Insert, Values: values} }

// Delete takes such a row away.
func Delete(values ...any) Row { return Row{Kind: vector.Delete, Values: values} }

// build makes a batch of rows.
func build(p *vector.Pool, schema sqltype.Schema, mode sqltype.ChangelogMode, rows []Row) (*vector.Batch, error) {
	b := vector.NewBuilder(p, schema.Kinds())
	fail := func(e *errs.Error) (*vector.Batch, error) {
		b.Discard()
		return nil, e
	}
	for i, row := range rows {
		if len(row.Values) != len(schema) {
			return fail(errs.New(errs.Type, errs.Position{}, "row %d has %d values for %d columns", i, len(row.Values), len(schema)))
		}
		if !mode.Has(row.Kind) {
			return fail(errs.New(errs.Changelog, errs.Position{}, "row %d is of kind %v; the input takes %v", i, row.Kind, mode))
		}
		for c, v := range row.Values {
			if err := appendValue(b.Col(c), schema[c].Type, v); err != nil {
				return fail(errs.New(errs.Data, errs.Position{}, "row %d, column %q: %w", i, schema[c].Name, err))
			}
		}
		b.EndRow(row.Kind)
	}
	return b.Finish(), nil
}

func appendValue(c *vector.ColumnBuilder, t sqltype.Type, v any) error {
	switch v := v.(type) {
	case nil:
		if t.NotNull {
			return fmt.Errorf("NULL in a column that is NOT NULL")
		}
		c.AppendNull()
		return nil
	case bool:
		if t.ID == sqltype.Boolean {
			vector.Append(c, v)
			return nil
		}
	case string:
		if sqltype.AppendParsed(c, t, []byte(v)) {
			return nil
		}
		return fmt.Errorf("%q is not a value of type %v", v, t.Optional())
	case []byte:
		if t.IsBinary() && len(v) <= t.Precision {
			c.AppendBytes(v)
			return nil
		}
	case vector.Dec:
		if t.ID == sqltype.Decimal && v.FitsInPrecision(int32(t.Precision)) {
			vector.Append(c, v)
			return nil
		}
	case time.Time:
		return appendTime(c, t, v)
	case float32:
		if t.ID == sqltype.Float {
			vector.Append(c, v)
			return nil
		}
		return appendFloat(c, t, float64(v))
	case float64:
		return appendFloat(c, t, v)
	case int:
		return appendInt(c, t, int64(v))
	case int8:
		return appendInt(c, t, int64(v))
	case int16:
		return appendInt(c, t, int64(v))
	case int32:
		return appendInt(c, t, int64(v))
	case int64:
		return appendInt(c, t, v)
	case uint8:
		return appendInt(c, t, int64(v))
	case uint16:
		return appendInt(c, t, int64(v))
	case uint32:
		return appendInt(c, t, int64(v))
	}
	return fmt.Errorf("a Go value of type %T is no %v", v, t.Optional())
}

func appendInt(c *vector.ColumnBuilder, t sqltype.Type, v int64) error {
	if (t.IsNumeric() || t.ID == sqltype.Decimal) && sqltype.AppendParsed(c, t, fmt.Append(nil, v)) {
		return nil
	}
	return fmt.Errorf("the integer %d is no %v", v, t.Optional())
}

func appendFloat(c *vector.ColumnBuilder, t sqltype.Type, v float64) error {
	switch {
	case t.ID == sqltype.Double:
		vector.Append(c, v)
		return nil
	case t.ID == sqltype.Float && (math.Abs(v) <= math.MaxFloat32 || math.IsInf(v, 0) || math.IsNaN(v)):
		vector.Append(c, float32(v))
		return nil
	}
	return fmt.Errorf("the number %v is no %v", v, t.Optional())
}

// appendTime takes the date and clock that v shows for types without a zone, and
// the instant for TIMESTAMP_LTZ.
func appendTime(c *vector.ColumnBuilder, t sqltype.Type, v time.Time) error {
	if t.ID != sqltype.TimestampLTZ {
		v = time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), time.UTC)
	}
	layout := "2006-01-02 15:04:05.000000000"
	switch t.ID {
	case sqltype.Date:
		layout = time.DateOnly
	case sqltype.Time:
		layout = "15:04:05.000000000"
	}
	text := v.UTC().AppendFormat(nil, layout)
	if t.ID != sqltype.Char && t.ID != sqltype.Varchar && sqltype.AppendParsed(c, t, text) {
		return nil
	}
	return fmt.Errorf("the time %v is no %v", v, t.Optional())
}
