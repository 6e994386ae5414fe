package scenario

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// ledger says by whom each row of a table was written, so that those can be taken back
// which come again.
type ledger struct {
	writers []string // the query of each
	writer  []int    // of each row
	count   []int    // of each writer's rows
	settled []int    // those of them that no restart brings again
}

// sink is a table that is written. Rows are seen from the end of their epoch on. A query
// that goes on from its state gives those again that came after its last checkpoint:
// they are taken back before.
type sink struct {
	t     *table
	query string // "": its state is not kept
}

func (s *sink) Mode() sqltype.ChangelogMode    { return s.t.Mode }
func (s *sink) Guarantee() connector.Guarantee { return connector.ExactlyOnce }
func (s *sink) MaxWriters() int                { return 0 }
func (s *sink) Resume(query string)            { s.query = query }

func (s *sink) Writer(context.Context, int, int) (connector.Writer, error) {
	w := &writer{t: s.t}
	s.t.update(func() {
		l := &s.t.ledger
		w.number = len(l.writers)
		l.writers, l.count, l.settled = append(l.writers, s.query), append(l.count, 0), append(l.settled, 0)
	})
	return w, nil
}

func (s *sink) Committer(context.Context) (connector.Committer, error) {
	if s.query == "" {
		return connector.NopCommitter{}, nil
	}
	return committer{sink: s}, nil
}

type committer struct {
	connector.NopCommitter
	*sink
}

// handle says how many rows a writer has written.
type handle struct{ Writer, Rows int }

func (c committer) Commit(handles [][]byte) error {
	var err error
	c.t.update(func() {
		for _, raw := range handles {
			var h handle
			if err = json.Unmarshal(raw, &h); err != nil {
				return
			}
			c.t.ledger.settled[h.Writer] = max(c.t.ledger.settled[h.Writer], h.Rows)
		}
	})
	return err
}

// Abort takes back what no checkpoint has.
func (c committer) Abort([][]byte) error {
	t, l := c.t, &c.t.ledger
	t.update(func() {
		seen := make([]int, len(l.writers))
		var out []rows.Row
		var writer []int
		for i, w := range l.writer {
			if seen[w]++; l.writers[w] == c.query && seen[w] > l.settled[w] {
				continue
			}
			out, writer = append(out, t.out[i]), append(writer, w)
		}
		t.out, l.writer = out, writer
		for w, query := range l.writers {
			if query == c.query {
				l.count[w] = l.settled[w]
			}
		}
	})
	return nil
}

type writer struct {
	t       *table
	number  int
	pending []rows.Row
}

func (w *writer) Write(b *vector.Batch) error {
	w.pending = rows.FromBatch(w.pending, w.t.schema, b)
	return nil
}

func (w *writer) EndEpoch() error {
	w.t.update(func() {
		l := &w.t.ledger
		w.t.out = append(w.t.out, w.pending...)
		l.writer = append(l.writer, slices.Repeat([]int{w.number}, len(w.pending))...)
		l.count[w.number] += len(w.pending)
	})
	w.pending = nil
	return nil
}

func (w *writer) Prepare(uint64) ([]byte, error) {
	if err := w.EndEpoch(); err != nil {
		return nil, err
	}
	return json.Marshal(handle{w.number, w.t.ledger.count[w.number]})
}

func (w *writer) Close() error { return nil }
