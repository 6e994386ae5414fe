// Package json is the format of JSON objects, one for each row: JSON lines, objects
// one after another, or one array of objects.
//
// Members are matched to columns by name; those without a column are passed over,
// and a column without a member is NULL. Text and numbers are converted to the
// column's type where the value is exactly one of that type; a text column takes
// any value as its JSON. A ROW is an object, matched as a whole row is, an ARRAY an
// array, a MAP an object whose names are the keys, a MULTISET one of counts.
package json

import (
	"slices"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Format is the connector.Format "json".
type Format struct{}

// Name is "json".
func (Format) Name() string { return "json" }

// Doc describes the format.
func (Format) Doc() string { return "JSON objects, one row each" }

// opField is the member that carries the row kind of a changelog.
const opField = "op"

// Options are named as in Flink, but for json.changelog.
func (Format) Options() []connector.Option {
	return []connector.Option{
		{Name: "json.ignore-parse-errors", Type: connector.BoolOption, Default: "false", Doc: "whether a value that cannot be read becomes NULL and a broken object is passed over, instead of an error"},
		{Name: "json.fail-on-missing-field", Type: connector.BoolOption, Default: "false", Doc: "whether every column must have its member"},
		{Name: "json.timestamp-format.standard", Default: "SQL", Choices: []string{"SQL", "ISO-8601"}, Doc: "how timestamps are written: '2026-01-31 12:00:00' or '2026-01-31T12:00:00'; both are read"},
		{Name: "json.encode.ignore-null-fields", Type: connector.BoolOption, Default: "false", Doc: "whether NULLs are left out when writing"},
		{Name: "json.changelog", Type: connector.BoolOption, Default: "false", Doc: "whether the member \"op\" carries the row kind: +I, -U, +U or -D"},
		{Name: "max-line-bytes", Type: connector.SizeOption, Default: "16 mb", Doc: "the largest size of a record of a text format"},
	}
}

// settings are what the options say.
type settings struct {
	ignore    bool
	missing   bool // fails
	iso       bool
	omitNull  bool
	changelog bool
	maxLine   int64
}

func newSettings(t *connector.Table, opt connector.Options) (settings, error) {
	s := settings{
		ignore:    opt.Bool("json.ignore-parse-errors"),
		missing:   opt.Bool("json.fail-on-missing-field"),
		iso:       opt.Text("json.timestamp-format.standard") == "ISO-8601",
		omitNull:  opt.Bool("json.encode.ignore-null-fields"),
		changelog: opt.Bool("json.changelog"),
		maxLine:   opt.Size("max-line-bytes"),
	}
	if s.ignore && s.missing {
		return s, opt.Errorf("json.fail-on-missing-field", "'json.fail-on-missing-field' and 'json.ignore-parse-errors' exclude each other")
	}
	if s.changelog && t.Schema.Index(opField) >= 0 {
		return s, opt.Errorf("json.changelog", "with 'json.changelog' a column cannot be called %q", opField)
	}
	if i := slices.IndexFunc(t.Schema, func(c sqltype.Column) bool { return !supported(c.Type) }); i >= 0 {
		return s, errs.New(errs.Unsupported, t.Pos, "format json cannot hold column %q of type %v", t.Schema[i].Name, t.Schema[i].Type)
	}
	return s, nil
}

// supported lists the families of types that have a JSON form here.
func supported(t sqltype.Type) bool {
	switch t.ID {
	case sqltype.Null, sqltype.IntervalDay, sqltype.IntervalMonth:
		return false
	case sqltype.Map, sqltype.Multiset:
		if t.Children()[0].IsNested() { // it is the name of a member
			return false
		}
	}
	for _, c := range t.Children() {
		if !supported(c) {
			return false
		}
	}
	return t.Kind() != vector.Invalid
}

func (s settings) mode() sqltype.ChangelogMode {
	if s.changelog {
		return sqltype.RetractMode
	}
	return sqltype.AppendMode
}

// Decoding checks the table for reading.
func (Format) Decoding(t *connector.Table, opt connector.Options) (connector.Decoding, error) {
	s, err := newSettings(t, opt)
	if err != nil {
		return nil, err
	}
	return &decoding{schema: t.Schema, settings: s}, nil
}

// Encoding checks the table for writing.
func (Format) Encoding(t *connector.Table, opt connector.Options) (connector.Encoding, error) {
	s, err := newSettings(t, opt)
	if err != nil {
		return nil, err
	}
	return &encoding{schema: t.Schema, settings: s}, nil
}
