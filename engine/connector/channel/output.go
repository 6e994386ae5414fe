package channel

import (
	"context"
	"io"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Output is where a Go program takes the changelog of a table that a query writes.
// Rows come when their epoch has ended, so what was taken up to an epoch's last
// batch is always a consistent state. The query waits while the program is behind.
// It implements connector.Sink.
type Output struct {
	schema  sqltype.Schema
	mode    sqltype.ChangelogMode
	batches chan *vector.Batch
	ended   chan struct{} // by the query
	left    chan struct{} // by the program

	mu   sync.Mutex
	err  error // why the query ended; nil: well
	over bool  // ended is closed
	gone bool  // left is closed
}

// NewOutput returns an output of rows with the given columns. mode says which row
// kinds the program understands.
func NewOutput(schema sqltype.Schema, mode sqltype.ChangelogMode) *Output {
	return &Output{
		schema:  schema,
		mode:    mode,
		batches: make(chan *vector.Batch, queueBatches),
		ended:   make(chan struct{}),
		left:    make(chan struct{}),
	}
}

// Schema lists the columns.
func (o *Output) Schema() sqltype.Schema { return o.schema }

// Next waits for the next batch, which the caller must Release. It returns io.EOF
// after the last row of a query that ended well, an error when it did not, and
// ctx's error when ctx ends first: then Next can be called again.
func (o *Output) Next(ctx context.Context) (*vector.Batch, error) {
	select {
	case b := <-o.batches:
		return b, nil
	default:
	}
	select {
	case b := <-o.batches:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-o.left:
		return nil, errs.New(errs.Canceled, errs.Position{}, "the output was closed")
	case <-o.ended:
	}
	select {
	case b := <-o.batches:
		return b, nil
	default:
	}
	if o.err != nil {
		return nil, o.err
	}
	return nil, io.EOF
}

// Close says that the program takes no more rows. A query that still writes fails
// with an error of code errs.Canceled.
func (o *Output) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.gone {
		o.gone = true
		close(o.left)
	}
	o.drain()
}

func (o *Output) drain() {
	for {
		select {
		case b := <-o.batches:
			b.Release()
		default:
			return
		}
	}
}

// End says how the query ended, once no writer is left. The first call counts; a
// writer that is closed before the end makes it, without the query's error.
func (o *Output) End(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.over {
		o.over, o.err = true, err
		close(o.ended)
	}
}

// Mode is the set of row kinds given to NewOutput.
func (o *Output) Mode() sqltype.ChangelogMode { return o.mode }

// Guarantee is at-least-once: what was taken cannot be taken back.
func (o *Output) Guarantee() connector.Guarantee { return connector.AtLeastOnce }

// MaxWriters is one, so that epochs stay whole.
func (o *Output) MaxWriters() int { return 1 }

// Committer does nothing.
func (o *Output) Committer(context.Context) (connector.Committer, error) {
	return connector.NopCommitter{}, nil
}

// Writer returns the output's writer.
func (o *Output) Writer(ctx context.Context, _, _ int) (connector.Writer, error) {
	return &writer{out: o, ctx: ctx, pool: vector.NewPool()}, nil
}

// writer holds the rows of the epoch.
type writer struct {
	out   *Output
	ctx   context.Context // of the query, for waiting
	pool  *vector.Pool
	epoch []*vector.Batch
	final bool
}

func (w *writer) Write(b *vector.Batch) error {
	if b.Len() > 0 {
		w.epoch = append(w.epoch, b.Keep(w.pool))
	}
	return nil
}

func (w *writer) EndEpoch() error {
	for len(w.epoch) > 0 {
		b := w.epoch[0]
		w.epoch[0] = nil
		w.epoch = w.epoch[1:]
		if err := w.send(b); err != nil {
			b.Release()
			return err
		}
	}
	w.epoch = w.epoch[:0]
	return nil
}

func (w *writer) send(b *vector.Batch) error {
	select {
	case <-w.out.left: // before a place that is free
		return errs.New(errs.Canceled, errs.Position{}, "the program takes no more rows")
	default:
	}
	select {
	case w.out.batches <- b:
		return nil
	case <-w.out.left:
		return errs.New(errs.Canceled, errs.Position{}, "the program takes no more rows")
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

func (w *writer) Prepare(checkpoint uint64) ([]byte, error) {
	if err := w.EndEpoch(); err != nil {
		return nil, err
	}
	w.final = checkpoint == connector.Final
	return nil, nil
}

func (w *writer) Close() error {
	for _, b := range w.epoch {
		b.Release()
	}
	w.epoch = nil
	if w.final {
		w.out.End(nil)
	} else {
		w.out.End(errs.New(errs.Canceled, errs.Position{}, "the query ended before its last row"))
	}
	w.out.mu.Lock()
	defer w.out.mu.Unlock()
	if w.out.gone { // nobody will take what a send put after Close
		w.out.drain()
	}
	return nil
}
