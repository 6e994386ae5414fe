package exectest

import (
	"context"
	"io"
	"strconv"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Source gives rows written as text. It is bounded, and never waits.
type Source struct {
	Kinds  []vector.Kind
	Splits [][]string
	// Fail, when set, may fail a call: "splits", "open", "read" or "close".
	Fail func(call, split string) error
}

var _ connector.Source = (*rowSource)(nil)

// Connect returns the source for a graph.
func (s *Source) Connect() connector.Source { return &rowSource{s} }

type rowSource struct{ s *Source }

func (r *rowSource) Mode() sqltype.ChangelogMode { return sqltype.RetractMode }
func (r *rowSource) Bounded() bool               { return true }
func (r *rowSource) Replayable() bool            { return true }

func (s *Source) call(name, split string) error {
	if s.Fail == nil {
		return nil
	}
	return s.Fail(name, split)
}

func (r *rowSource) Splits(context.Context) ([]connector.Split, error) {
	out := make([]connector.Split, len(r.s.Splits))
	for i, rows := range r.s.Splits {
		out[i] = connector.Split{ID: strconv.Itoa(i), Size: int64(len(rows)), Data: i}
	}
	return out, r.s.call("splits", "")
}

func (r *rowSource) Open(_ context.Context, split connector.Split, _ connector.Scan, _ []byte) (connector.Reader, error) {
	if err := r.s.call("open", split.ID); err != nil {
		return nil, err
	}
	return &rowReader{s: r.s, split: split.ID, rows: r.s.Splits[split.Data.(int)]}, nil
}

type rowReader struct {
	s     *Source
	split string
	rows  []string
	at    int
}

func (r *rowReader) Read(_ context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if err := r.s.call("read", r.split); err != nil {
		return nil, err
	}
	if r.at == len(r.rows) {
		return nil, io.EOF
	}
	n := min(limit, len(r.rows)-r.at)
	r.at += n
	return NewBatch(p, r.s.Kinds, r.rows[r.at-n:r.at]...), nil
}

func (r *rowReader) Position() []byte { return strconv.AppendInt(nil, int64(r.at), 10) }

func (r *rowReader) Close() error { return r.s.call("close", r.split) }

// Feed is an endless source of one split that gives the rows put into it.
type Feed struct {
	kinds []vector.Kind

	mu    sync.Mutex
	rows  []string
	ended bool
	more  chan struct{} // closed when something changes
}

// NewFeed returns a feed of rows with columns of the given kinds.
func NewFeed(kinds ...vector.Kind) *Feed { return &Feed{kinds: kinds, more: make(chan struct{})} }

// Put adds rows. It does not wait.
func (f *Feed) Put(rows ...string) { f.change(func() { f.rows = append(f.rows, rows...) }) }

// End says that no rows follow.
func (f *Feed) End() { f.change(func() { f.ended = true }) }

func (f *Feed) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.more)
	f.more = make(chan struct{})
}

// Mode is all row kinds.
func (f *Feed) Mode() sqltype.ChangelogMode { return sqltype.RetractMode }

// Bounded is false.
func (f *Feed) Bounded() bool { return false }

// Replayable is false.
func (f *Feed) Replayable() bool { return false }

// Splits is one split.
func (f *Feed) Splits(context.Context) ([]connector.Split, error) {
	return []connector.Split{{ID: "feed"}}, nil
}

// Open returns the only reader.
func (f *Feed) Open(context.Context, connector.Split, connector.Scan, []byte) (connector.Reader, error) {
	return feedReader{f}, nil
}

type feedReader struct{ f *Feed }

func (r feedReader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	for {
		r.f.mu.Lock()
		n, ended, more := min(limit, len(r.f.rows)), r.f.ended, r.f.more
		rows := r.f.rows[:n]
		r.f.rows = r.f.rows[n:]
		r.f.mu.Unlock()
		switch {
		case n > 0:
			return NewBatch(p, r.f.kinds, rows...), nil
		case ended:
			return nil, io.EOF
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

func (r feedReader) Position() []byte { return nil }

func (r feedReader) Close() error { return nil }
