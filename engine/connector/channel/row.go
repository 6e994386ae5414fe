package channel

import (
	"errors"
	"fmt"
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

// Delete takes such a row away. For an input of sqltype.ChangelogMode.WithDeletesByKey
// values that are not in the key may be nil.
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
			t := schema[c].Type
			if row.Kind == vector.Delete && mode.DeletesByKey() {
				t = t.Optional()
			}
			if err := appendValue(b.Col(c), t, v); err != nil {
				return fail(errs.New(errs.Data, errs.Position{}, "row %d, column %q: %w", i, schema[c].Name, err))
			}
		}
		b.EndRow(row.Kind)
	}
	return b.Finish(), nil
}

// appendValue is sqltype.AppendGo, except that a string is read as the column's type.
func appendValue(c *vector.ColumnBuilder, t sqltype.Type, v any) error {
	if text, ok := v.(string); ok {
		if sqltype.AppendParsed(c, t, []byte(text)) {
			return nil
		}
		return fmt.Errorf("%q is not a value of type %v", text, t.Optional())
	}
	if sqltype.AppendGo(c, t, v) {
		return nil
	}
	switch v.(type) {
	case nil:
		return errors.New("NULL in a column that is NOT NULL")
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Errorf("the integer %d is no %v", v, t.Optional())
	case float32, float64:
		return fmt.Errorf("the number %v is no %v", v, t.Optional())
	case time.Time:
		return fmt.Errorf("the time %v is no %v", v, t.Optional())
	}
	return fmt.Errorf("a Go value of type %T is no %v", v, t.Optional())
}
