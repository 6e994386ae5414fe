package output

import (
	"io"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// changelog shows every change as it comes. Columns start at a width that suits
// their type, and widen when a value needs it.
type changelog struct {
	g     *grid
	cells cellReader
	line  []string
	rows  int64
	begun bool
}

func newChangelog(w io.Writer, schema sqltype.Schema) *changelog {
	names := append([]string{"op"}, schema.Names()...)
	right := append([]bool{false}, alignRight(schema)...)
	c := &changelog{
		g:     newGrid(w, names, right),
		cells: cellReader{schema: schema},
		line:  make([]string, len(names)),
	}
	for i, col := range schema {
		c.g.widths[i+1] = max(c.g.widths[i+1], usualWidth(col.Type))
	}
	return c
}

func usualWidth(t sqltype.Type) int {
	switch t.ID {
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		return len("2001-01-01 06:55:00.000")
	case sqltype.Date:
		return len("2001-01-01")
	case sqltype.BigInt, sqltype.Double, sqltype.Decimal:
		return 10
	case sqltype.Varchar:
		return 12
	}
	return 6
}

func (c *changelog) Print(b *vector.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	for i := range b.Len() {
		c.cells.read(b, b.Row(i), c.line[1:])
		c.g.fit(c.line)
	}
	c.begin()
	for i := range b.Len() {
		r := b.Row(i)
		c.line[0] = b.Kind(r).String()
		c.cells.read(b, r, c.line[1:])
		c.g.line(c.line)
		c.rows++
	}
	return c.g.flush()
}

func (c *changelog) begin() {
	if !c.begun {
		c.g.header()
		c.begun = true
	}
}

func (c *changelog) Close() error {
	c.begin()
	return c.g.flush()
}

func (c *changelog) Rows() int64 { return c.rows }
