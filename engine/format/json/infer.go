package json

import (
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// sampleRows is how many objects Infer looks at.
const sampleRows = 1000

// Infer takes the members of the first objects as columns, in the order in which
// they are first seen: BOOLEAN, BIGINT, DOUBLE, DATE or TIMESTAMP(6) when all
// values are, else STRING.
func (Format) Infer(ctx context.Context, f connector.File, opt connector.Options) (sqltype.Schema, error) {
	s, err := newSettings(&connector.Table{}, opt)
	if err != nil {
		return nil, err
	}
	r := newReader(s, nil, f)
	if err := r.in.FillUp(ctx); err != nil {
		return nil, err
	}
	var schema sqltype.Schema
	w, size := r.in.Bytes(), 0
	if len(w) >= 3 && string(w[:3]) == "\xef\xbb\xbf" {
		size = 3
	}
	for range sampleRows {
		n, found, err := r.between(w, size)
		if err != nil {
			return nil, err
		}
		size += n
		if found == again {
			continue
		}
		if found == more {
			break
		}
		r.seek(w, size)
		if r.dec.PeekKind() != '{' {
			return nil, r.failed(size, "a row must be an object")
		}
		if schema, err = r.members(schema); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) && !r.in.EOF() && len(schema) > 0 {
				break
			}
			return nil, r.explain(err, size)
		}
		size = r.offset()
		if r.shape == arrayStart {
			r.shape = array
		}
	}
	if len(schema) == 0 {
		return nil, errs.New(errs.Data, errs.Position{}, "the file has no object with members: its columns cannot be inferred").In(f.Name()).WithHint("declare the columns")
	}
	for i := range schema {
		if schema[i].Type.ID == sqltype.Null {
			schema[i].Type = sqltype.StringType
		}
	}
	return schema, nil
}

// members adds the members of one object to what is known of the columns.
func (r *reader) members(schema sqltype.Schema) (sqltype.Schema, error) {
	if _, err := r.dec.ReadToken(); err != nil {
		return schema, err
	}
	for r.dec.PeekKind() != '}' {
		quoted, err := r.dec.ReadValue()
		if err != nil {
			return schema, err
		}
		_, name, err := r.lookup(quoted)
		if err != nil {
			return schema, err
		}
		key := string(name)
		v, err := r.dec.ReadValue()
		if err != nil {
			return schema, err
		}
		if r.changelog && key == opField {
			continue
		}
		i := schema.Index(key)
		if i < 0 {
			i = len(schema)
			schema = append(schema, sqltype.Column{Name: key, Type: sqltype.NullType})
		}
		schema[i].Type = widen(schema[i].Type, guess(v))
	}
	_, err := r.dec.ReadToken()
	return schema, err
}

func guess(v jsontext.Value) sqltype.Type {
	switch v.Kind() {
	case 'n':
		return sqltype.NullType
	case 't', 'f':
		return sqltype.BoolType
	case '0':
		if _, ok := sqltype.ParseInt(v); ok {
			return sqltype.BigIntType
		}
		return sqltype.DoubleType
	case '"':
		text := v[1 : len(v)-1]
		if _, ok := sqltype.ParseDate(text); ok {
			return sqltype.DateType
		}
		if _, ok := sqltype.ParseTimestamp(text, 6); ok {
			return sqltype.TimestampOf(6)
		}
	}
	return sqltype.StringType
}

// widen is the narrowest of the inferred types that holds both.
func widen(a, b sqltype.Type) sqltype.Type {
	switch {
	case a.ID == sqltype.Null || a.Equal(b):
		return b
	case b.ID == sqltype.Null:
		return a
	case a.IsNumeric() && b.IsNumeric():
		return sqltype.DoubleType
	case a.ID == sqltype.Date && b.ID == sqltype.Timestamp || a.ID == sqltype.Timestamp && b.ID == sqltype.Date:
		return sqltype.TimestampOf(6)
	}
	return sqltype.StringType
}
