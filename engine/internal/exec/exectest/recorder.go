package exectest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Recorder notes the changes that pass a place in a graph, by epoch. It is put
// there as an operator (Tap) or as a sink (Sink). It may be read while the graph
// runs.
type Recorder struct {
	mu     sync.Mutex
	shards []*recording

	// Fail, when set, may fail a call of the sink. The calls are "writer",
	// "write", "end-epoch", "prepare", "close", "commit" and "abort".
	Fail  func(call string, shard int) error
	calls []string
}

type recording struct {
	epochs  [][]string // that ended
	current []string
}

func (r *Recorder) shard(i int) *recording {
	for len(r.shards) <= i {
		r.shards = append(r.shards, &recording{})
	}
	return r.shards[i]
}

func (r *Recorder) add(shard int, b *vector.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.shard(shard)
	s.current = append(s.current, Text(b)...)
}

func (r *Recorder) endEpoch(shard int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.shard(shard)
	s.epochs = append(s.epochs, s.current)
	s.current = nil
}

// Epochs is the number of epochs that all shards have ended.
func (r *Recorder) Epochs() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.shards) == 0 {
		return 0
	}
	n := len(r.shards[0].epochs)
	for _, s := range r.shards[1:] {
		n = min(n, len(s.epochs))
	}
	return n
}

// Changes are the changes of an epoch, counted from 1, shard after shard.
func (r *Recorder) Changes(epoch int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, s := range r.shards {
		if epoch <= len(s.epochs) {
			out = append(out, s.epochs[epoch-1]...)
		}
	}
	return out
}

// All are the changes of all epochs.
func (r *Recorder) All() []string {
	var out []string
	for e := range r.Epochs() {
		out = append(out, r.Changes(e+1)...)
	}
	return out
}

// Table is what the changes up to the end of an epoch add up to.
func (r *Recorder) Table(epoch int) Table {
	t := Table{}
	for e := range epoch {
		t.Add(r.Changes(e + 1)...)
	}
	return t
}

// Final is what all changes add up to.
func (r *Recorder) Final() Table { return r.Table(r.Epochs()) }

// Calls lists the calls of the sink apart from "write" and "end-epoch", in order:
// "commit 0:12 1:12" has the handles.
func (r *Recorder) Calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *Recorder) call(name string, shard int, note string) error {
	if note != "" {
		r.mu.Lock()
		r.calls = append(r.calls, note)
		r.mu.Unlock()
	}
	if r.Fail != nil {
		return r.Fail(name, shard)
	}
	return nil
}

// Tap returns a constructor of an operator that records what it passes on.
func (r *Recorder) Tap() func(int) (exec.Operator, error) {
	return func(shard int) (exec.Operator, error) { return &tap{r: r, shard: shard}, nil }
}

type tap struct {
	exec.Stateless
	r     *Recorder
	shard int
}

func (t *tap) Process(_ int, b *vector.Batch, out exec.Output) error {
	t.r.add(t.shard, b)
	return out.Emit(b)
}

func (t *tap) Flush(exec.Output) error {
	t.r.endEpoch(t.shard)
	return nil
}

// Sink returns a sink that records what it is given.
func (r *Recorder) Sink() connector.Sink { return recorderSink{r} }

type recorderSink struct{ r *Recorder }

func (recorderSink) Mode() sqltype.ChangelogMode    { return sqltype.RetractMode }
func (recorderSink) Guarantee() connector.Guarantee { return connector.ExactlyOnce }
func (recorderSink) MaxWriters() int                { return 0 }

func (s recorderSink) Writer(_ context.Context, shard, _ int) (connector.Writer, error) {
	if err := s.r.call("writer", shard, ""); err != nil {
		return nil, err
	}
	return &recorderWriter{r: s.r, shard: shard}, nil
}

func (s recorderSink) Committer(context.Context) (connector.Committer, error) {
	return &recorderCommitter{r: s.r}, nil
}

type recorderWriter struct {
	r      *Recorder
	shard  int
	closed bool
}

func (w *recorderWriter) Write(b *vector.Batch) error {
	w.r.add(w.shard, b)
	return w.r.call("write", w.shard, "")
}

func (w *recorderWriter) EndEpoch() error {
	w.r.endEpoch(w.shard)
	return w.r.call("end-epoch", w.shard, "")
}

func (w *recorderWriter) Prepare(checkpoint uint64) ([]byte, error) {
	name := fmt.Sprint(checkpoint)
	if checkpoint == connector.Final {
		name = "final"
	}
	handle := fmt.Sprintf("%d:%s", w.shard, name)
	return []byte(handle), w.r.call("prepare", w.shard, "prepare "+handle)
}

func (w *recorderWriter) Close() error {
	if w.closed {
		return errors.New("exectest: a writer was closed twice")
	}
	w.closed = true
	return w.r.call("close", w.shard, fmt.Sprintf("close %d", w.shard))
}

type recorderCommitter struct{ r *Recorder }

func (c *recorderCommitter) Commit(handles [][]byte) error {
	note := "commit"
	for _, h := range handles {
		note += " " + string(h)
	}
	return c.r.call("commit", 0, note)
}

func (c *recorderCommitter) Abort([][]byte) error { return c.r.call("abort", 0, "abort") }

func (c *recorderCommitter) Close() error { return c.r.call("close committer", 0, "close committer") }
