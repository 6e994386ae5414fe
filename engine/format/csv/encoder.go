package csv

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// encoding is the connector.Encoding of one table.
type encoding struct {
	schema  sqltype.Schema
	dialect dialect
}

func (*encoding) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }

func (*encoding) Extension() string { return ".csv" }

func (e *encoding) Encoder(w io.Writer) (connector.Encoder, error) {
	c := &encoder{dialect: e.dialect, schema: e.schema, w: w}
	if c.header != "false" {
		for i, col := range e.schema {
			if i > 0 {
				c.buf = append(c.buf, c.delim)
			}
			c.text([]byte(col.Name))
		}
		c.buf = append(c.buf, '\n')
	}
	return c, nil
}

// headerLine is the first line of a file, or empty.
func (e *encoding) headerLine() ([]byte, error) {
	c, err := e.Encoder(io.Discard)
	if err != nil {
		return nil, err
	}
	return c.(*encoder).buf, nil
}

// Accepts compares the header.
func (e *encoding) Accepts(file io.ReadSeeker) error {
	header, err := e.headerLine()
	if err != nil {
		return err
	}
	return skipHeader(file, header)
}

// skipHeader moves behind the header of a file that is not empty.
func skipHeader(file io.ReadSeeker, header []byte) error {
	have := make([]byte, len(header))
	n, err := io.ReadFull(file, have)
	switch {
	case n == 0 || bytes.Equal(have[:n], header):
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return fmt.Errorf("it does not begin with the header %q", bytes.TrimSpace(header))
}

// Join copies the parts behind one header.
func (e *encoding) Join(w io.Writer, parts []io.ReadSeeker) error {
	header, err := e.headerLine()
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := skipHeader(p, header); err != nil {
			return err
		}
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	return connector.JoinLines(w, parts)
}

// encoder is the connector.Encoder of one file.
type encoder struct {
	dialect
	schema sqltype.Schema
	w      io.Writer
	buf    []byte
}

const flushSize = 64 << 10

func (c *encoder) Write(b *vector.Batch) error {
	for i := range b.Len() {
		row := b.Row(i)
		for f, col := range c.schema {
			if f > 0 {
				c.buf = append(c.buf, c.delim)
			}
			c.value(col.Type, b.Col(f), row)
		}
		c.buf = append(c.buf, '\n')
		if len(c.buf) >= flushSize {
			if err := c.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *encoder) value(t sqltype.Type, v *vector.Vector, row int) {
	switch {
	case v.IsNull(row):
		c.buf = append(c.buf, c.null...)
	case t.IsString():
		c.text(v.Bytes(row))
	case t.IsBinary():
		c.text(base64.StdEncoding.AppendEncode(nil, v.Bytes(row)))
	case t.ID == sqltype.Boolean && vector.Values[bool](v)[row]:
		c.buf = append(c.buf, "true"...)
	case t.ID == sqltype.Boolean:
		c.buf = append(c.buf, "false"...)
	default:
		start := len(c.buf)
		c.buf = sqltype.AppendText(c.buf, t, v, row)
		if bytes.IndexByte(c.buf[start:], c.delim) >= 0 { // a decimal point, say
			value := bytes.Clone(c.buf[start:])
			c.buf = c.buf[:start]
			c.text(value)
		}
	}
}

// text appends a value, in quotes where it would be read as something else.
func (c *encoder) text(value []byte) {
	if c.quote < 0 {
		c.escaped(value, -1)
		return
	}
	if !c.needsQuotes(value) {
		c.buf = append(c.buf, value...)
		return
	}
	c.buf = append(c.buf, byte(c.quote))
	c.escaped(value, c.quote)
	c.buf = append(c.buf, byte(c.quote))
}

// escaped appends a value with quote characters doubled, and with the escape
// character where there is one.
func (c *encoder) escaped(value []byte, quote int) {
	for _, b := range value {
		switch {
		case int(b) == quote:
			c.buf = append(c.buf, b)
		case int(b) == c.escape, c.escape >= 0 && quote < 0 && (b == c.delim || b == '\n'):
			c.buf = append(c.buf, byte(c.escape))
		}
		c.buf = append(c.buf, b)
	}
}

func (c *encoder) needsQuotes(value []byte) bool {
	if len(value) == 0 || c.hasNull && string(value) == c.null || c.comments && value[0] == '#' {
		return true
	}
	for _, b := range value {
		if b == c.delim || b == '\n' || b == '\r' || int(b) == c.quote || int(b) == c.escape {
			return true
		}
	}
	return value[0] == ' ' || value[len(value)-1] == ' '
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
