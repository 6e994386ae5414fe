// Package csv is the format of comma-separated values.
//
// Lines end with LF or CRLF; a byte order mark and blank lines are skipped. Fields
// may be quoted, and then hold delimiters, line ends and doubled quotes. A field
// that is empty and not quoted is NULL for every type but text, where it is the
// empty string unless 'csv.null-literal' says otherwise.
package csv

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Format is the connector.Format "csv".
type Format struct{}

// Name is "csv".
func (Format) Name() string { return "csv" }

// Doc describes the format.
func (Format) Doc() string { return "comma-separated values, one row a line" }

// Options are named as in Flink, but for csv.header.
func (Format) Options() []connector.Option {
	return []connector.Option{
		{Name: "csv.header", Default: "auto", Choices: []string{"auto", "true", "false", "skip"}, Doc: "whether the first line names the columns, which are then matched by name ('true'), holds data ('false') or is passed over ('skip'); 'auto' takes it for names when more than half of the table's columns are among them, or half and it cannot be a row, and writes a header"},
		{Name: "csv.field-delimiter", Default: ",", Doc: "the character between fields; '\\t' is a tab"},
		{Name: "csv.quote-character", Default: `"`, Doc: "the character around fields that hold delimiters or line ends"},
		{Name: "csv.disable-quote-character", Type: connector.BoolOption, Default: "false", Doc: "whether quotes are characters like others"},
		{Name: "csv.escape-character", Doc: "a character that takes the meaning from the next one; none by default"},
		{Name: "csv.null-literal", Doc: "the text, not quoted, that stands for NULL"},
		{Name: "csv.allow-comments", Type: connector.BoolOption, Default: "false", Doc: "whether lines that begin with # are passed over"},
		{Name: "csv.ignore-parse-errors", Type: connector.BoolOption, Default: "false", Doc: "whether a field that cannot be read becomes NULL and a broken line is passed over, instead of an error"},
		{Name: "max-line-bytes", Type: connector.SizeOption, Default: "16 mb", Doc: "the largest size of a record of a text format"},
	}
}

// dialect is what the options say.
type dialect struct {
	header   string
	delim    byte
	quote    int // a byte, or -1
	escape   int // a byte, or -1
	comments bool
	ignore   bool
	null     string
	hasNull  bool
	maxLine  int64
}

func newDialect(opt connector.Options) (dialect, error) {
	d := dialect{
		header:   opt.Text("csv.header"),
		comments: opt.Bool("csv.allow-comments"),
		ignore:   opt.Bool("csv.ignore-parse-errors"),
		null:     opt.Text("csv.null-literal"),
		hasNull:  opt.Given("csv.null-literal"),
		maxLine:  opt.Size("max-line-bytes"),
		quote:    -1,
		escape:   -1,
	}
	delim, err := oneByte(opt, "csv.field-delimiter")
	if err != nil {
		return d, err
	}
	d.delim = byte(delim)
	if !opt.Bool("csv.disable-quote-character") {
		if d.quote, err = oneByte(opt, "csv.quote-character"); err != nil {
			return d, err
		}
	}
	if opt.Given("csv.escape-character") {
		if d.escape, err = oneByte(opt, "csv.escape-character"); err != nil {
			return d, err
		}
	}
	if int(d.delim) == d.quote || int(d.delim) == d.escape || d.escape >= 0 && d.escape == d.quote {
		return d, opt.Errorf("csv.field-delimiter", "delimiter, quote and escape character must differ")
	}
	return d, nil
}

func oneByte(opt connector.Options, key string) (int, error) {
	text := opt.Text(key)
	s := strings.NewReplacer(`\t`, "\t", `\\`, `\`, `\u0001`, "\x01", `\001`, "\x01", `\0`, "\x00").Replace(text)
	if len(s) != 1 || s[0] >= 0x80 || s == "\n" || s == "\r" {
		return 0, opt.Errorf(key, "option '%s': '%s' is not one ASCII character", key, text)
	}
	return int(s[0]), nil
}

// supported lists the families of types that have a text form here.
func supported(t sqltype.Type) bool {
	switch t.ID {
	case sqltype.Null, sqltype.IntervalDay, sqltype.IntervalMonth:
		return false
	}
	return t.Kind() != vector.Invalid && !t.Kind().Nested()
}

func checkSchema(t *connector.Table) error {
	if i := slices.IndexFunc(t.Schema, func(c sqltype.Column) bool { return !supported(c.Type) }); i >= 0 {
		return errs.New(errs.Unsupported, t.Pos, "format csv cannot hold column %q of type %v", t.Schema[i].Name, t.Schema[i].Type)
	}
	return nil
}

// Decoding checks the table for reading.
func (Format) Decoding(t *connector.Table, opt connector.Options) (connector.Decoding, error) {
	d, err := newDialect(opt)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(t); err != nil {
		return nil, err
	}
	return &decoding{schema: t.Schema, dialect: d}, nil
}

// Encoding checks the table for writing.
func (Format) Encoding(t *connector.Table, opt connector.Options) (connector.Encoding, error) {
	d, err := newDialect(opt)
	if err != nil {
		return nil, err
	}
	if d.header == "skip" {
		return nil, opt.Errorf("csv.header", "'csv.header' = 'skip' is for reading only").WithHint("use 'true' or 'false'")
	}
	if err := checkSchema(t); err != nil {
		return nil, err
	}
	return &encoding{schema: t.Schema, dialect: d}, nil
}
