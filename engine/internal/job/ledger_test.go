package job_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// ledger is an exactly-once sink that outlives the jobs that write it.
type ledger struct {
	mu        sync.Mutex
	writers   int
	prepared  map[string][]string // by handle
	committed map[string]bool
	rows      []string // committed, in order
	finals    int

	// fail may fail a call: "prepare", "commit" before or "committed" after it has
	// happened.
	fail func(call string) error
}

func newLedger() *ledger {
	return &ledger{prepared: map[string][]string{}, committed: map[string]bool{}}
}

// table is what the committed rows add up to.
func (l *ledger) table() exectest.Table {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := exectest.Table{}
	t.Add(l.rows...)
	return t
}

func (l *ledger) called(name string) error {
	if l.fail == nil {
		return nil
	}
	return l.fail(name)
}

func (l *ledger) Mode() sqltype.ChangelogMode    { return sqltype.RetractMode }
func (l *ledger) Guarantee() connector.Guarantee { return connector.ExactlyOnce }
func (l *ledger) MaxWriters() int                { return 0 }

func (l *ledger) Writer(_ context.Context, shard, _ int) (connector.Writer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writers++
	return &ledgerWriter{l: l, run: l.writers, shard: shard}, nil
}

func (l *ledger) Committer(context.Context) (connector.Committer, error) {
	return ledgerCommitter{l}, nil
}

type ledgerWriter struct {
	l          *ledger
	run, shard int
	calls      int
	rows       []string
}

func (w *ledgerWriter) Write(b *vector.Batch) error {
	w.rows = append(w.rows, exectest.Text(b)...)
	return nil
}

func (w *ledgerWriter) EndEpoch() error { return nil }

func (w *ledgerWriter) Prepare(checkpoint uint64) ([]byte, error) {
	if err := w.l.called("prepare"); err != nil {
		return nil, err
	}
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	if checkpoint == connector.Final && w.shard == 0 {
		w.l.finals++
	}
	w.calls++
	handle, _ := json.Marshal(fmt.Sprintf("run %d, shard %d, %d", w.run, w.shard, w.calls))
	w.l.prepared[string(handle)] = w.rows
	w.rows = nil
	return handle, nil
}

func (w *ledgerWriter) Close() error { return nil }

type ledgerCommitter struct{ l *ledger }

func (c ledgerCommitter) Commit(handles [][]byte) error {
	if err := c.l.called("commit"); err != nil {
		return err
	}
	c.l.mu.Lock()
	for _, h := range handles {
		rows, ok := c.l.prepared[string(h)]
		if !ok && !c.l.committed[string(h)] {
			c.l.mu.Unlock()
			return fmt.Errorf("what %s prepared is gone", h)
		}
		delete(c.l.prepared, string(h))
		c.l.committed[string(h)] = true
		c.l.rows = append(c.l.rows, rows...)
	}
	c.l.mu.Unlock()
	return c.l.called("committed")
}

func (c ledgerCommitter) Abort(keep [][]byte) error {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	for h := range c.l.prepared {
		if !slices.ContainsFunc(keep, func(k []byte) bool { return string(k) == h }) {
			delete(c.l.prepared, h)
		}
	}
	return nil
}

func (ledgerCommitter) Close() error { return nil }

// keptSum is exectest.NewSum with its sums in state. It gives net changes at marks.
type keptSum struct {
	exec.Operator
	rt    *exec.Runtime
	table *state.Values
	enc   *rowkey.Encoder
	slots []state.Slot
	fresh []int32
	old   [][2]int64 // by ordinal: rows and sum before the epoch
}

func newKeptSum(int) (exec.Operator, error) { return &keptSum{}, nil }

func (s *keptSum) Open(_ context.Context, rt *exec.Runtime) error {
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	s.rt, s.enc = rt, rowkey.NewEncoder(layout)
	s.table = rt.State.Values("sums", layout, twoInts)
	return nil
}

func (s *keptSum) Process(_ int, b *vector.Batch, _ exec.Output) error {
	s.slots = make([]state.Slot, b.Len())
	if err := s.table.Resolve(s.enc.Encode(b, []int{0}), true, s.slots); err != nil {
		return err
	}
	s.table.Dirty(s.slots)
	s.fresh = s.table.Hold(s.slots, s.fresh[:0])
	rows, sums := state.Col[int64](s.table, 0), state.Col[int64](s.table, 1)
	for _, i := range s.fresh {
		s.old = append(s.old, [2]int64{rows[s.slots[i]], sums[s.slots[i]]})
	}
	for i, slot := range s.slots {
		r := b.Row(i)
		sign := b.Kind(r).Sign()
		rows[slot] += sign
		sums[slot] += sign * vector.Values[int64](b.Col(1))[r]
	}
	return nil
}

func (s *keptSum) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }
func (s *keptSum) End(int, exec.Output) error                             { return nil }
func (s *keptSum) Close() error                                           { return nil }

func (s *keptSum) Flush(out exec.Output) error {
	held := s.table.Held()
	keys, err := s.table.Keys(s.rt.Pool, held)
	if err != nil {
		return err
	}
	defer keys[0].Release()
	b := vector.NewBuilder(s.rt.Pool, twoInts)
	row := func(kind vector.RowKind, key, sum int64) {
		vector.Append(b.Col(0), key)
		vector.Append(b.Col(1), sum)
		b.EndRow(kind)
	}
	for i, slot := range held {
		key := vector.Values[int64](keys[0])[i]
		old, now := s.old[i], [2]int64{state.Col[int64](s.table, 0)[slot], state.Col[int64](s.table, 1)[slot]}
		switch {
		case old == now:
		case old[0] == 0:
			row(vector.Insert, key, now[1])
		case old[1] != now[1]:
			row(vector.UpdateBefore, key, old[1])
			row(vector.UpdateAfter, key, now[1])
		}
	}
	s.old = s.old[:0]
	batch := b.Finish()
	defer batch.Release()
	return out.Emit(batch)
}
