package channel

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Input is where a Go program hands rows to a table that a query reads. Sending
// waits while the query has much to read. It is safe for concurrent use; rows of
// one goroutine stay in order. It implements connector.Source.
//
// What a query has read is gone: when it goes on after a crash, rows that came after the
// last checkpoint are not in its result. An input made by NewReplayable, whose program
// can send rows again, loses none.
type Input struct {
	schema  sqltype.Schema
	mode    sqltype.ChangelogMode
	batches chan message
	closed  chan struct{} // no more rows come
	left    chan struct{} // the query has ended
	opened  chan struct{} // there is a reader
	replays bool          // the program says positions

	start   []byte // where the query begins, when it is opened
	mu      sync.Mutex
	pool    *vector.Pool // of Send, under mu
	sending sync.WaitGroup
	err     error // given to Fail
	done    bool  // closed is closed
	open    bool  // a reader is open
	gone    bool  // left is closed
}

// queueBatches is how many batches wait between a program and a query.
const queueBatches = 16

// NewInput returns an input of rows with the given columns. mode says which row
// kinds the program will send.
func NewInput(schema sqltype.Schema, mode sqltype.ChangelogMode) *Input {
	return &Input{
		schema:  schema,
		mode:    mode,
		batches: make(chan message, queueBatches),
		closed:  make(chan struct{}),
		left:    make(chan struct{}),
		opened:  make(chan struct{}),
		pool:    vector.NewPool(),
	}
}

// Schema lists the columns.
func (in *Input) Schema() sqltype.Schema { return in.schema }

// message is what the query is sent: a batch, a watermark, or a position.
type message struct {
	batch     *vector.Batch // nil: the watermark, or the position
	watermark int64
	place     bool
	position  []byte
}

// SendWatermark says that every row that is sent from now on is later than t: it is the
// event time of a table with WATERMARK FOR ts AS SOURCE_WATERMARK(). A row that comes
// later all the same is late. For a TIMESTAMP, t counts as UTC.
func (in *Input) SendWatermark(ctx context.Context, t time.Time) error {
	return in.send(ctx, message{watermark: t.UnixMilli()})
}

// Send hands over rows, all or, when ctx ends first or a value does not fit its
// column, none.
func (in *Input) Send(ctx context.Context, rows ...Row) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	in.mu.Lock()
	b, err := build(in.pool, in.schema, in.mode, rows)
	in.mu.Unlock()
	if err != nil {
		return err
	}
	defer b.Release()
	return in.SendBatch(ctx, b)
}

// SendBatch hands over the live rows of a batch whose columns are those of the
// schema. The batch stays the caller's; its columns are held until the query has
// read them.
func (in *Input) SendBatch(ctx context.Context, b *vector.Batch) error {
	if err := in.check(b); err != nil {
		return err
	}
	if b.Len() == 0 {
		return nil
	}
	held := b.Retain()
	err := in.send(ctx, message{batch: held})
	if err != nil {
		held.Release()
	}
	return err
}

func (in *Input) send(ctx context.Context, m message) error {
	in.mu.Lock()
	if in.done {
		in.mu.Unlock()
		return errs.New(errs.Canceled, errs.Position{}, "rows were sent to an input that is closed")
	}
	in.sending.Add(1)
	in.mu.Unlock()
	defer in.sending.Done()
	select {
	case in.batches <- m:
		return nil
	case <-in.left:
		return errs.New(errs.Canceled, errs.Position{}, "the query that reads the input has ended")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (in *Input) check(b *vector.Batch) error {
	if b.Cols() != len(in.schema) {
		return errs.New(errs.Type, errs.Position{}, "a batch of %d columns was sent to an input of %d", b.Cols(), len(in.schema))
	}
	for i, c := range in.schema {
		if b.Col(i).Kind() != c.Type.Kind() {
			return errs.New(errs.Type, errs.Position{}, "column %q of a batch holds %v, not %v", c.Name, b.Col(i).Kind(), c.Type)
		}
		if c.Type.NotNull && b.Col(i).Valid() != nil {
			for r := range b.Len() {
				if row := b.Row(r); b.Col(i).IsNull(row) && !(in.mode.DeletesByKey() && b.Kind(row) == vector.Delete) {
					return errs.New(errs.Data, errs.Position{}, "column %q: NULL in a column that is NOT NULL", c.Name)
				}
			}
		}
	}
	if b.InsertOnly() {
		return nil
	}
	for r := range b.Len() {
		if k := b.Kind(b.Row(r)); !in.mode.Has(k) {
			return errs.New(errs.Changelog, errs.Position{}, "a row of kind %v was sent to an input of kinds %v", k, in.mode)
		}
	}
	return nil
}

// Close says that no more rows come: the query reads those that were sent and then
// the input has ended. It waits for sends that have begun. Closing twice does nothing.
func (in *Input) Close() { in.end(nil) }

// Fail ends the input with an error, which fails the query after it has read the
// rows that were sent.
func (in *Input) Fail(err error) { in.end(err) }

func (in *Input) end(err error) {
	in.mu.Lock()
	if in.done {
		in.mu.Unlock()
		return
	}
	in.done, in.err = true, err
	in.mu.Unlock()
	in.sending.Wait()
	close(in.closed)
}

// Mode is the set of row kinds given to NewInput.
func (in *Input) Mode() sqltype.ChangelogMode { return in.mode }

// Bounded is false: only the program knows whether it will close the input.
func (in *Input) Bounded() bool { return false }

// Timed is true: see SendWatermark.
func (in *Input) Timed() bool { return true }

// Replayable is true of inputs made by NewReplayable.
func (in *Input) Replayable() bool { return in.replays }

// Splits is one.
func (in *Input) Splits(context.Context) ([]connector.Split, error) {
	return []connector.Split{{ID: "channel"}}, nil
}

// Open returns the input's reader. There is one at a time.
func (in *Input) Open(_ context.Context, _ connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.open || in.gone {
		return nil, errs.New(errs.Unsupported, errs.Position{}, "a channel can be read by one query, once").WithHint("make an input for each query")
	}
	r := &reader{in: in, cols: scan.Of(len(in.schema))}
	if in.replays {
		if err := r.resume(position); err != nil {
			return nil, err
		}
	}
	in.open = true
	close(in.opened)
	return r, nil
}

// reader is the connector.Reader of an input.
type reader struct {
	in   *Input
	cols []int
	cur  *vector.Batch // projected; nil: none
	at   int           // live rows of cur that were read

	watermark int64
	timed     bool // there is a watermark
	rose      bool // it came in this Read

	place []byte // the last position before rows that were not read; nil: the beginning
	since int64  // rows read since
	again int64  // rows to come that were read before
}

var (
	_ connector.Timed       = (*Input)(nil)
	_ connector.TimedReader = (*reader)(nil)
)

// Watermark is the last one that was sent before rows that were not read.
func (r *reader) Watermark() (int64, bool) { return r.watermark, r.timed }

// Read joins batches that wait, so that rows sent one by one cost little. A watermark
// ends the batch, which may be empty.
func (r *reader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	r.rose = false
	kinds := r.in.schema.Project(r.cols).Kinds()
	if err := r.next(ctx); err != nil || r.cur == nil && !r.rose {
		return nil, err
	}
	if r.cur == nil {
		return vector.NewBuilder(p, kinds).Finish(), nil
	}
	if n := r.cur.Len() - r.at; n >= limit || len(r.in.batches) == 0 {
		n = min(n, limit)
		out := r.cur.Slice(p, r.at, r.at+n)
		r.take(n)
		return out, nil
	}
	b := vector.NewBuilder(p, kinds)
	for b.Len() < limit && r.cur != nil {
		n := min(r.cur.Len()-r.at, limit-b.Len())
		for i := r.at; i < r.at+n; i++ {
			row := r.cur.Row(i)
			b.AppendRow(r.cur, row, r.cur.Kind(row))
		}
		r.take(n)
		for r.cur == nil && !r.rose && r.poll() {
		}
	}
	return b.Finish(), nil
}

// take counts n rows of the current batch as read.
func (r *reader) take(n int) {
	r.since += int64(n)
	if r.at += n; r.at == r.cur.Len() {
		r.cur.Release()
		r.cur = nil
	}
}

func (r *reader) set(m message) {
	switch {
	case m.place:
		r.place, r.since = m.position, r.again
		return
	case m.batch == nil:
		r.watermark, r.timed, r.rose = m.watermark, true, true
		return
	}
	if int64(m.batch.Len()) > r.again {
		r.cur, r.at = m.batch.Project(r.cols), int(r.again)
	}
	r.again = max(r.again-int64(m.batch.Len()), 0)
	m.batch.Release()
}

// poll takes the next message if one waits.
func (r *reader) poll() bool {
	select {
	case m := <-r.in.batches:
		r.set(m)
		return true
	default:
		return false
	}
}

// next waits for a batch until ctx ends.
func (r *reader) next(ctx context.Context) error {
	for r.cur == nil && !r.rose {
		if r.poll() {
			continue
		}
		select {
		case m := <-r.in.batches:
			r.set(m)
		case <-ctx.Done():
			return nil
		case <-r.in.closed:
			if r.poll() {
				continue
			}
			if err := r.in.err; err != nil {
				return errs.New(errs.Input, errs.Position{}, "the program that sends rows failed: %w", err)
			}
			return io.EOF
		}
	}
	return nil
}

// Close lets senders go and drops what they sent.
func (r *reader) Close() error {
	in := r.in
	in.mu.Lock()
	in.open, in.gone = false, true
	in.mu.Unlock()
	close(in.left)
	if r.cur != nil {
		r.cur.Release()
		r.cur = nil
	}
	in.end(nil)
	in.sending.Wait() // for senders, which see left
	for {
		select {
		case m := <-in.batches:
			if m.batch != nil {
				m.batch.Release()
			}
		default:
			return nil
		}
	}
}
