// Package print is the connector of tables that show their changelog, a line for
// each row: +I[1, apple], -D[1, apple].
package print

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Connector is the connector "print".
type Connector struct {
	Out io.Writer // nil: standard output
	Err io.Writer // what 'standard-error' = 'true' writes to; nil: standard error
}

// Name is "print".
func (Connector) Name() string { return "print" }

// Doc describes the connector.
func (Connector) Doc() string { return "prints its changelog, one row a line" }

// Options are named as in Flink.
func (Connector) Options() []connector.Option {
	return []connector.Option{
		{Name: "print-identifier", Doc: "a text to begin every line with"},
		{Name: "standard-error", Type: connector.BoolOption, Default: "false", Doc: "whether lines go to standard error"},
	}
}

// Source fails: there is nothing to read.
func (Connector) Source(t *connector.Table, _ connector.Options) (connector.Source, error) {
	return nil, errs.New(errs.Unsupported, t.Pos, "table %q cannot be read: connector print is only written to", t.Name)
}

// Infer fails: columns must be declared.
func (Connector) Infer(_ context.Context, t *connector.Table, _ connector.Options) (sqltype.Schema, error) {
	return nil, errs.New(errs.Unsupported, t.Pos, "table %q needs columns", t.Name)
}

// Sink takes rows of every kind.
func (c Connector) Sink(t *connector.Table, opt connector.Options) (connector.Sink, error) {
	s := &sink{schema: t.Schema, w: c.Out}
	switch {
	case opt.Bool("standard-error") && c.Err != nil:
		s.w = c.Err
	case opt.Bool("standard-error"):
		s.w = os.Stderr
	case s.w == nil:
		s.w = os.Stdout
	}
	if id := opt.Text("print-identifier"); id != "" {
		s.prefix = id + "> "
	}
	return s, nil
}

// sink is shared by the writers of all shards.
type sink struct {
	schema sqltype.Schema
	prefix string

	mu sync.Mutex // one writer writes whole lines at a time
	w  io.Writer
}

func (*sink) Mode() sqltype.ChangelogMode    { return sqltype.RetractMode }
func (*sink) Guarantee() connector.Guarantee { return connector.AtLeastOnce }
func (*sink) MaxWriters() int                { return 0 }

func (s *sink) Writer(context.Context, int, int) (connector.Writer, error) {
	return &writer{sink: s}, nil
}

func (*sink) Committer(context.Context) (connector.Committer, error) {
	return connector.NopCommitter{}, nil
}

// writer holds the lines of the epoch.
type writer struct {
	*sink
	buf []byte
}

func (w *writer) Write(b *vector.Batch) error {
	for i := range b.Len() {
		w.buf = append(w.buf, w.prefix...)
		w.buf = AppendRow(w.buf, w.schema, b, b.Row(i))
		w.buf = append(w.buf, '\n')
	}
	return nil
}

// AppendRow appends physical row r as a changelog shows it: +I[1, apple].
func AppendRow(dst []byte, schema sqltype.Schema, b *vector.Batch, r int) []byte {
	dst = append(dst, b.Kind(r).String()...)
	dst = append(dst, '[')
	for i, c := range schema {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = sqltype.AppendText(dst, c.Type, b.Col(i), r)
	}
	return append(dst, ']')
}

func (w *writer) EndEpoch() error {
	if len(w.buf) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.w.Write(w.buf)
	w.buf = w.buf[:0]
	if err != nil {
		return errs.New(errs.Output, errs.Position{}, "printing failed: %w", err)
	}
	return nil
}

func (w *writer) Prepare(uint64) ([]byte, error) { return nil, w.EndEpoch() }

func (w *writer) Close() error { return nil }
