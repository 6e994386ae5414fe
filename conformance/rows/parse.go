package rows

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

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
	switch t.ID {
	case sqltype.Boolean:
		v, err := strconv.ParseBool(strings.ToLower(text))
		vector.Append(c, v)
		return err
	case sqltype.TinyInt, sqltype.SmallInt, sqltype.Integer, sqltype.BigInt:
		v, err := strconv.ParseInt(text, 10, t.Kind().Width()*8)
		appendInt(c, v)
		return err
	case sqltype.Float:
		v, err := strconv.ParseFloat(text, 32)
		vector.Append(c, float32(v))
		return err
	case sqltype.Double:
		v, err := strconv.ParseFloat(text, 64)
		vector.Append(c, v)
		return err
	case sqltype.Decimal:
		v, err := parseDecimal(text, t.Scale)
		vector.Append(c, v)
		return err
	case sqltype.Char, sqltype.Varchar:
		c.AppendString(text)
		return nil
	case sqltype.Binary, sqltype.Varbinary:
		raw, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(text, "x'"), "'"))
		c.AppendBytes(raw)
		return err
	case sqltype.Date:
		v, err := time.Parse(time.DateOnly, text)
		appendInt(c, v.Unix()/86400)
		return err
	case sqltype.Time:
		v, err := time.Parse("15:04:05", text)
		midnight := time.Date(v.Year(), v.Month(), v.Day(), 0, 0, 0, 0, time.UTC)
		appendInt(c, int64(v.Sub(midnight))/unit(t))
		return err
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		v, err := parseTimestamp(text)
		appendInt(c, v.Unix()*(1e9/unit(t))+int64(v.Nanosecond())/unit(t))
		return err
	}
	c.AppendNull()
	return fmt.Errorf("no values of type %v", t)
}

// unit is the number of nanoseconds in the unit of a time type.
func unit(t sqltype.Type) int64 {
	u := int64(1e9)
	for range t.UnitDigits() {
		u /= 10
	}
	return u
}

func appendInt(c *vector.ColumnBuilder, v int64) {
	switch c.Kind() {
	case vector.Int8:
		vector.Append(c, int8(v))
	case vector.Int16:
		vector.Append(c, int16(v))
	case vector.Int32:
		vector.Append(c, int32(v))
	default:
		vector.Append(c, v)
	}
}

func parseTimestamp(text string) (time.Time, error) {
	text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z")
	if !strings.Contains(text, "-") {
		text = epoch + text
	}
	return time.Parse(time.DateTime, text) // a fraction may follow the seconds
}

func parseDecimal(text string, scale int) (vector.Dec, error) {
	whole, frac, _ := strings.Cut(text, ".")
	if len(frac) > scale {
		if strings.Trim(frac[scale:], "0") != "" {
			return vector.Dec{}, fmt.Errorf("%s has more than %d digits after the point", text, scale)
		}
		frac = frac[:scale]
	}
	digits := whole + frac + strings.Repeat("0", scale-len(frac))
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok || n.BitLen() > 127 {
		return vector.Dec{}, fmt.Errorf("%q is no decimal", text)
	}
	return decimal128.FromBigInt(n), nil
}
