package output

import (
	"encoding/base64"
	"encoding/csv"
	"io"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// csvFile writes a header and a record a row. NULL is an empty field. The row kind
// is the first column, op, when the result can have other kinds than +I.
type csvFile struct {
	w      *csv.Writer
	schema sqltype.Schema
	ops    int // columns before the first of the schema
	record []string
	buf    []byte
	rows   int64
	begun  bool
}

func newCSV(w io.Writer, schema sqltype.Schema, mode sqltype.ChangelogMode) *csvFile {
	c := &csvFile{w: csv.NewWriter(w), schema: schema}
	if !mode.InsertOnly() {
		c.ops = 1
	}
	c.record = make([]string, c.ops+len(schema))
	return c
}

func (c *csvFile) header() {
	if c.begun {
		return
	}
	c.begun = true
	copy(c.record[c.ops:], c.schema.Names())
	if c.ops > 0 {
		c.record[0] = "op"
	}
	c.w.Write(c.record) // the error comes with Flush
}

func (c *csvFile) Print(b *vector.Batch) error {
	c.header()
	for i := range b.Len() {
		r := b.Row(i)
		if c.ops > 0 {
			c.record[0] = b.Kind(r).String()
		}
		for k, col := range c.schema {
			c.record[c.ops+k] = c.field(col.Type, b.Col(k), r)
		}
		c.w.Write(c.record)
		c.rows++
	}
	return c.flush()
}

func (c *csvFile) field(t sqltype.Type, v *vector.Vector, i int) string {
	if v.IsNull(i) || t.ID == sqltype.Null {
		return ""
	}
	if t.IsBinary() {
		return base64.StdEncoding.EncodeToString(v.Bytes(i))
	}
	c.buf = sqltype.AppendText(c.buf[:0], t, v, i)
	return string(c.buf)
}

func (c *csvFile) flush() error {
	c.w.Flush()
	return c.w.Error()
}

func (c *csvFile) Close() error {
	c.header()
	return c.flush()
}

func (c *csvFile) Rows() int64 { return c.rows }
