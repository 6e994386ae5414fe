package sqldb

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// readable reports whether values of a type can be read from databases.
func readable(t sqltype.Type) bool {
	switch t.ID {
	case sqltype.Boolean, sqltype.Decimal, sqltype.Date, sqltype.Time:
		return true
	}
	return t.IsInteger() || t.IsApprox() || t.IsString() || t.IsBinary() || t.IsTimestamp()
}

// cell takes the value of a column that is read.
func cell(t sqltype.Type) any {
	switch {
	case t.ID == sqltype.Boolean:
		return new(sql.NullBool)
	case t.IsInteger():
		return new(sql.NullInt64)
	case t.IsApprox():
		return new(sql.NullFloat64)
	case t.IsBinary():
		return new([]byte)
	case t.ID == sqltype.Date, t.IsTimestamp():
		return new(sql.NullTime)
	}
	return new(sql.NullString)
}

// take is the value in a cell as sqltype.AppendGo takes it.
func take(c any, t sqltype.Type) (any, error) {
	switch c := c.(type) {
	case *sql.NullBool:
		if c.Valid {
			return c.Bool, nil
		}
	case *sql.NullInt64:
		if c.Valid {
			return c.Int64, nil
		}
	case *sql.NullFloat64:
		if c.Valid {
			return c.Float64, nil
		}
	case *[]byte:
		if *c != nil {
			return *c, nil
		}
	case *sql.NullTime:
		if c.Valid {
			return c.Time, nil
		}
	case *sql.NullString:
		switch {
		case !c.Valid:
		case t.ID == sqltype.Decimal:
			d, ok := sqltype.ParseDecimal([]byte(c.String), t.Precision, t.Scale)
			if !ok {
				return nil, fmt.Errorf("%s is no %v", c.String, t.Optional())
			}
			return d, nil
		case t.ID == sqltype.Time:
			return clock(c.String)
		default:
			return c.String, nil
		}
	}
	return nil, nil
}

// clock reads a time of day, which drivers give as text or as a moment.
func clock(text string) (time.Duration, error) {
	if _, rest, ok := strings.Cut(text, "T"); ok { // 0000-01-01T10:20:30Z
		text = strings.TrimSuffix(rest, "Z")
	}
	at, err := time.Parse("15:04:05.999999999", text)
	if err != nil {
		return 0, fmt.Errorf("%q is no time of day", text)
	}
	return at.Sub(at.Truncate(24 * time.Hour)), nil
}

// row is what was read of a row, one value for each column.
type row []any

// scanner reads rows of given columns.
type scanner struct {
	table *table
	cols  []int
	cells []any
}

func (t *table) scanner(cols []int) *scanner {
	s := &scanner{table: t, cols: cols}
	for _, c := range cols {
		s.cells = append(s.cells, cell(t.schema[c].Type))
	}
	if len(cols) == 0 {
		s.cells = []any{new(any)} // the constant that stands for columns
	}
	return s
}

// next reads the row at which rows stands.
func (s *scanner) next(rows *sql.Rows) (row, error) {
	if err := rows.Scan(s.cells...); err != nil {
		return nil, s.misfit(err)
	}
	out := make(row, len(s.cols))
	for i, c := range s.cols {
		v, err := take(s.cells[i], s.table.schema[c].Type)
		if err != nil {
			return nil, s.misfit(fmt.Errorf("column %q: %w", s.table.schema[c].Name, err))
		}
		if b, ok := v.([]byte); ok {
			v = append([]byte(nil), b...)
		}
		out[i] = v
	}
	return out, nil
}

func (s *scanner) misfit(err error) error {
	return errs.New(errs.Data, s.table.pos, "a row of table %s does not fit the columns that were declared: %w", s.table.name, err).
		WithHint("declare the column with the type that it has in the database")
}

// append adds a row to a batch.
func (s *scanner) append(b *vector.Builder, r row) error {
	for i, c := range s.cols {
		col := s.table.schema[c]
		if sqltype.AppendGo(b.Col(i), col.Type, r[i]) {
			continue
		}
		if r[i] == nil {
			return s.misfit(fmt.Errorf("column %q: NULL in a column that is NOT NULL", col.Name))
		}
		return s.misfit(fmt.Errorf("column %q: %v is no %v", col.Name, r[i], col.Type.Optional()))
	}
	b.EndRow(vector.Insert)
	return nil
}

// argument is value i of a column as drivers take it.
func argument(v *vector.Vector, i int, t sqltype.Type) any {
	switch {
	case t.ID == sqltype.Boolean:
		return vector.Values[bool](v)[i]
	case t.IsInteger():
		return sqltype.Int(v, i)
	case t.ID == sqltype.Float:
		return float64(vector.Values[float32](v)[i])
	case t.ID == sqltype.Double:
		return vector.Values[float64](v)[i]
	case t.ID == sqltype.Decimal:
		return string(sqltype.AppendDecimal(nil, vector.Values[vector.Dec](v)[i], t.Scale))
	case t.ID == sqltype.Date:
		return time.Unix(int64(vector.Values[int32](v)[i])*24*60*60, 0).UTC()
	case t.ID == sqltype.Time:
		return clockText(time.Duration(vector.Values[int64](v)[i]) * t.Unit())
	case t.IsTimestamp():
		return moment(vector.Values[int64](v)[i], t.Unit())
	case t.IsBinary():
		return append([]byte(nil), v.Bytes(i)...)
	}
	return v.Text(i)
}

func clockText(d time.Duration) string {
	return time.Unix(0, int64(d)).UTC().Format("15:04:05.999999999")
}

// moment is a number of units since 1970.
func moment(n int64, unit time.Duration) time.Time {
	per := int64(time.Second / unit)
	seconds := n / per
	if n%per < 0 {
		seconds--
	}
	return time.Unix(seconds, (n-seconds*per)*int64(unit)).UTC()
}

// constant is a constant of a filter as drivers take it.
func constant(v any) any {
	if d, ok := v.(time.Duration); ok {
		return clockText(d)
	}
	return v
}
