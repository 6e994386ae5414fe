package output

import (
	"bufio"
	"io"

	"github.com/weirdb/weir/vector"
)

// text shows a result of one STRING column as it is, line breaks and all.
type text struct {
	w    *bufio.Writer
	rows int64
}

// NewText returns a printer of results that are texts, such as plans.
func NewText(w io.Writer) Printer { return &text{w: bufio.NewWriter(w)} }

func (t *text) Print(b *vector.Batch) error {
	for i := range b.Len() {
		t.w.Write(b.Col(0).Bytes(b.Row(i)))
		t.w.WriteByte('\n')
		t.rows++
	}
	return t.w.Flush()
}

func (t *text) Close() error { return t.w.Flush() }
func (t *text) Rows() int64  { return t.rows }
