package json

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// encoding is the connector.Encoding of one table.
type encoding struct {
	schema   sqltype.Schema
	settings settings
}

func (e *encoding) Mode() sqltype.ChangelogMode { return e.settings.mode() }

func (*encoding) Extension() string { return ".json" }

func (e *encoding) Encoder(w io.Writer) (connector.Encoder, error) {
	c := &encoder{settings: e.settings, schema: e.schema, w: w, names: make([][]byte, len(e.schema))}
	for i, col := range e.schema {
		name, err := jsontext.AppendQuote(nil, col.Name)
		if err != nil {
			return nil, errs.New(errs.Invalid, errs.Position{}, "the column name %q is not valid UTF-8", col.Name)
		}
		c.names[i] = append(name, ':')
	}
	return c, nil
}

// Accepts refuses an array, behind which nothing can stand.
func (*encoding) Accepts(file io.ReadSeeker) error {
	for r := bufio.NewReader(file); ; {
		c, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case c == '[':
			return errors.New("it is a JSON array, not JSON lines")
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			return nil
		}
	}
}

// Join copies the parts one after another.
func (*encoding) Join(w io.Writer, parts []io.ReadSeeker) error { return connector.JoinLines(w, parts) }

// encoder is the connector.Encoder of one file. It writes JSON lines.
type encoder struct {
	settings
	schema sqltype.Schema
	names  [][]byte // as JSON, with the colon
	w      io.Writer
	buf    []byte
}

const flushSize = 64 << 10

func (c *encoder) Write(b *vector.Batch) error {
	for i := range b.Len() {
		row := b.Row(i)
		start := len(c.buf)
		c.buf = append(c.buf, '{')
		if c.changelog {
			c.buf = append(c.buf, `"op":"`...)
			c.buf = append(c.buf, b.Kind(row).String()...)
			c.buf = append(c.buf, '"')
		}
		for f, col := range c.schema {
			v := b.Col(f)
			null := v.IsNull(row)
			if null && c.omitNull {
				continue
			}
			if c.buf[len(c.buf)-1] != '{' {
				c.buf = append(c.buf, ',')
			}
			c.buf = append(c.buf, c.names[f]...)
			if null {
				c.buf = append(c.buf, "null"...)
				continue
			}
			if err := c.value(col.Type, v, row); err != nil {
				c.buf = c.buf[:start]
				return errs.New(errs.Data, errs.Position{}, "column %q cannot be written as JSON: %w", col.Name, err)
			}
		}
		c.buf = append(c.buf, '}', '\n')
		if len(c.buf) >= flushSize {
			if err := c.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *encoder) value(t sqltype.Type, v *vector.Vector, row int) (err error) {
	switch t.ID {
	case sqltype.Boolean:
		if vector.Values[bool](v)[row] {
			c.buf = append(c.buf, "true"...)
		} else {
			c.buf = append(c.buf, "false"...)
		}
	case sqltype.Char, sqltype.Varchar:
		c.buf, err = jsontext.AppendQuote(c.buf, v.Bytes(row))
	case sqltype.Binary, sqltype.Varbinary:
		c.buf = append(c.buf, '"')
		c.buf = base64.StdEncoding.AppendEncode(c.buf, v.Bytes(row))
		c.buf = append(c.buf, '"')
	case sqltype.Float:
		c.float(float64(vector.Values[float32](v)[row]), 32)
	case sqltype.Double:
		c.float(vector.Values[float64](v)[row], 64)
	case sqltype.Date, sqltype.Time:
		c.buf = append(c.buf, '"')
		c.buf = sqltype.AppendText(c.buf, t, v, row)
		c.buf = append(c.buf, '"')
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		c.buf = append(c.buf, '"')
		start := len(c.buf)
		c.buf = sqltype.AppendText(c.buf, t, v, row)
		if c.iso {
			for i := start; i < len(c.buf); i++ {
				if c.buf[i] == ' ' {
					c.buf[i] = 'T'
				}
			}
		}
		c.buf = append(c.buf, '"')
	case sqltype.Array, sqltype.Map, sqltype.Multiset, sqltype.Row:
		return c.nested(t, v, row)
	default:
		c.buf = sqltype.AppendText(c.buf, t, v, row)
	}
	return err
}

// float writes what JSON has no number for as text, which is read back.
func (c *encoder) float(f float64, bits int) {
	special := math.IsNaN(f) || math.IsInf(f, 0)
	if special {
		c.buf = append(c.buf, '"')
	}
	c.buf = sqltype.AppendFloat(c.buf, f, bits)
	if special {
		c.buf = append(c.buf, '"')
	}
}

func (c *encoder) Flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

func (c *encoder) Close() error { return c.Flush() }
