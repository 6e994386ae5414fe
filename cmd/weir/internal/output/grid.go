package output

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// grid writes lines of aligned cells.
type grid struct {
	w      *bufio.Writer
	names  []string
	right  []bool // align right: numbers
	widths []int
}

func newGrid(w io.Writer, names []string, right []bool) *grid {
	g := &grid{w: bufio.NewWriterSize(w, 64<<10), right: right, widths: make([]int, len(names))}
	for _, n := range names {
		g.names = append(g.names, printable(n))
	}
	g.fit(g.names)
	return g
}

// fit widens columns to the cells. Lines already written stay as they are.
func (g *grid) fit(cells []string) {
	for i, c := range cells {
		g.widths[i] = max(g.widths[i], runewidth.StringWidth(c))
	}
}

func (g *grid) header() {
	g.line(g.names)
	for i, n := range g.widths {
		if i > 0 {
			g.w.WriteByte('+')
		}
		g.w.WriteString(strings.Repeat("-", n+2))
	}
	g.w.WriteByte('\n')
}

// line writes a line of cells. Errors are kept by the writer until flush.
func (g *grid) line(cells []string) {
	for i, c := range cells {
		if i > 0 {
			g.w.WriteString(" |")
		}
		g.w.WriteByte(' ')
		pad := max(0, g.widths[i]-runewidth.StringWidth(c))
		switch {
		case g.right[i]:
			g.pad(pad)
			g.w.WriteString(c)
		case i == len(cells)-1:
			g.w.WriteString(c)
		default:
			g.w.WriteString(c)
			g.pad(pad)
		}
	}
	g.w.WriteByte('\n')
}

func (g *grid) pad(n int) {
	for range n {
		g.w.WriteByte(' ')
	}
}

func (g *grid) flush() error { return g.w.Flush() }

// alignRight says which columns hold numbers.
func alignRight(s sqltype.Schema) []bool {
	out := make([]bool, len(s))
	for i, c := range s {
		out[i] = c.Type.IsNumeric()
	}
	return out
}

// cellReader turns rows into the texts of their cells.
type cellReader struct {
	schema sqltype.Schema
	buf    []byte
}

// read writes the texts of row r of b to cells.
func (c *cellReader) read(b *vector.Batch, r int, cells []string) {
	for i, col := range c.schema {
		c.buf = sqltype.AppendText(c.buf[:0], col.Type, b.Col(i), r)
		cells[i] = printable(string(c.buf))
	}
}

// printable keeps a value on its line and harmless to a terminal: control
// characters and bytes that are no UTF-8 are shown as escapes.
func printable(s string) string {
	plain := true
	for _, r := range s {
		if unicode.IsControl(r) || r == utf8.RuneError {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
