package rows

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Field is one value of a line: its text without quotes, and whether it had any.
type Field struct {
	Text   string
	Quoted bool
}

// Fields splits a line at blanks, except inside '...'.
func Fields(line string) ([]Field, error) {
	var out []Field
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return out, nil
		}
		if line[0] != '\'' {
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			out = append(out, Field{Text: line[:end]})
			line = line[end:]
			continue
		}
		var text strings.Builder
		rest := line[1:]
		for {
			head, tail, ok := strings.Cut(rest, "'")
			if !ok {
				return nil, fmt.Errorf("a ' is missing in %s", line)
			}
			text.WriteString(head)
			rest = tail
			if !strings.HasPrefix(rest, "'") {
				break
			}
			text.WriteByte('\'')
			rest = rest[1:]
		}
		out = append(out, Field{Text: text.String(), Quoted: true})
		line = rest
	}
}

// ParseRow reads "+I 1 'a b' NULL" and adds it to b, whose columns are those of
// the schema.
func ParseRow(b *vector.Builder, schema sqltype.Schema, line string) error {
	fields, err := Fields(line)
	if err != nil {
		return err
	}
	if len(fields) != len(schema)+1 {
		return fmt.Errorf("%d values for %d columns: %s", len(fields)-1, len(schema), line)
	}
	kind, ok := vector.ParseRowKind(fields[0].Text)
	if !ok {
		return fmt.Errorf("%q is no row kind", fields[0].Text)
	}
	for i, c := range schema {
		if f := fields[i+1]; f.Text == "NULL" && !f.Quoted {
			b.Col(i).AppendNull()
		} else if err := AppendValue(b.Col(i), c.Type, f.Text); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	b.EndRow(kind)
	return nil
}

// AppendValue reads a value of type t from text, in the forms that
// sqltype.AppendText writes; the date of a timestamp may be left out.
func AppendValue(c *vector.ColumnBuilder, t sqltype.Type, text string) error {
	switch {
	case t.IsBinary():
		raw, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(text, "x'"), "'"))
		c.AppendBytes(raw)
		return err
	case t.IsTimestamp() && !strings.Contains(text, "-"):
		text = epoch + text
	}
	if !sqltype.AppendParsed(c, t, []byte(text)) {
		return fmt.Errorf("%q is no %v", text, t)
	}
	return nil
}

// ParseTime reads a time such as 00:00:10, of 1970-01-01, or 2020-01-01 00:00:10, as
// milliseconds since 1970. It may stand in quotes.
func ParseTime(text string) (int64, error) {
	text = strings.Trim(text, "'")
	if !strings.Contains(text, "-") {
		text = epoch + text
	}
	v, ok := sqltype.ParseTimestamp([]byte(text), 3)
	if !ok {
		return 0, fmt.Errorf("%q is no time", text)
	}
	return v, nil
}
