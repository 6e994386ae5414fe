package csv

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// sampleRows is how many records Infer looks at.
const sampleRows = 1000

// Infer takes the columns' names from the first record, unless 'csv.header' is
// 'false' or a field of it reads as a number: then they are called c1, c2 and so
// on. It takes the types from the first records: BOOLEAN, BIGINT, DOUBLE, DATE,
// TIMESTAMP(6), else STRING.
func (Format) Infer(ctx context.Context, f connector.File, opt connector.Options) (sqltype.Schema, error) {
	d, err := newDialect(opt)
	if err != nil {
		return nil, err
	}
	r := &reader{dialect: d, in: connector.NewInput(f, d.maxLine), line: 1}
	r.header = "false" // start passes the byte order mark only
	if ok, err := r.start(ctx); !ok || err != nil {
		return nil, err
	}
	if err := r.in.FillUp(ctx); err != nil {
		return nil, err
	}
	fields, size, ok, err := r.first(ctx)
	switch {
	case !ok || err != nil:
		return nil, err
	case fields == nil:
		return nil, errs.New(errs.Data, errs.Position{}, "the file is empty: its columns cannot be inferred").In(f.Name()).WithHint("declare the columns")
	}
	named := d.header == "true" || d.header == "skip" || d.header == "auto" && allNames(fields)
	schema := make(sqltype.Schema, len(fields))
	r.fields = len(fields)
	r.slots = make([]int, len(fields))
	r.scan = r.slots
	for i, name := range fields {
		r.slots[i] = i
		schema[i] = sqltype.Column{Name: fmt.Sprintf("c%d", i+1), Type: sqltype.StringType}
		if named && d.header != "skip" {
			schema[i].Name = name
		}
	}
	if named {
		r.pass(size)
	}
	r.schema = schema
	if _, err := r.tokenize(sampleRows); err != nil && r.rows == 0 {
		return nil, err
	}
	for i := range schema {
		schema[i].Type = r.guess(i)
	}
	return schema, nil
}

// allNames reports whether fields can be the names of columns: none empty, none
// twice, none a number.
func allNames(fields []string) bool {
	seen := map[string]bool{}
	for _, f := range fields {
		low := strings.ToLower(f)
		if _, number := sqltype.ParseFloat([]byte(f), 64); number || f == "" || seen[low] || !utf8.ValidString(f) {
			return false
		}
		seen[low] = true
	}
	return true
}

// isCode reports whether digits begin with a zero that a number would lose.
func isCode(b []byte) bool { return len(b) > 1 && b[0] == '0' && b[1] != '.' && b[1]|0x20 != 'e' }

// guess is the narrowest type that all values of a field have.
func (r *reader) guess(slot int) sqltype.Type {
	candidates := []struct {
		t  sqltype.Type
		is func([]byte) bool
	}{
		{sqltype.BoolType, func(b []byte) bool { _, ok := sqltype.ParseBool(b); return ok }},
		{sqltype.BigIntType, func(b []byte) bool { _, ok := sqltype.ParseInt(b); return ok && !isCode(b) }},
		{sqltype.DoubleType, func(b []byte) bool { _, ok := sqltype.ParseFloat(b, 64); return ok && !isCode(b) }},
		{sqltype.DateType, func(b []byte) bool { _, ok := sqltype.ParseDate(b); return ok }},
		{sqltype.TimestampOf(6), func(b []byte) bool { _, ok := sqltype.ParseTimestamp(b, 6); return ok }},
	}
	for _, c := range candidates {
		seen, all := false, true
		for row := 0; row < r.rows && all; row++ {
			if text, ok := r.text(r.in.Bytes(), r.found[row*len(r.scan)+slot], false); ok {
				seen, all = true, c.is(text)
			}
		}
		if seen && all {
			return c.t
		}
	}
	return sqltype.StringType
}
