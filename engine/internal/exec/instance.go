package exec

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync/atomic"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// instance is a node in one shard: its operator, its store, what it reads and
// writes. It belongs to one task.
type instance struct {
	counters
	node  *Node
	shard int
	task  *Task
	op    Operator
	sink  *writing // the operator of a sink, or nil
	store *state.Store
	rt    Runtime
	ports []port
	out   *output
	sides map[string]*output
	said  bool // idle, said the operator itself
	open  bool

	restored []Watermark // of the ports, as they were at the checkpoint to go on from

	functions atomic.Pointer[function.Instances] // of rt, for metrics
}

// port is one input of an instance.
type port struct {
	from     *output // an operator of the same task; nil: the channels
	channels []int   // in the task's inbox

	watermark Watermark // what the operator knows
	idle      bool
	ended     bool // the operator knows
}

func newInstance(t *Task, n *Node, shard, shards int) *instance {
	in := &instance{node: n, shard: shard, task: t, ports: make([]port, max(len(n.Inputs), 1))}
	for i := range in.ports {
		in.ports[i].watermark = NoWatermark
	}
	in.out = in.newOutput()
	in.rt = Runtime{
		Name: n.Name, ID: n.ID, Shard: shard, Shards: shards, Pool: t.pool,
		Now:          t.Now,
		side:         func(name string) Output { return in.side(name) },
		inconsistent: in.reportInconsistent,
		expired:      func(n int64) { in.expired += n },
		late:         func(rows, retractions int64) { in.late, in.lateRemoved = in.late+rows, in.lateRemoved+retractions },
		split:        func() *Split { return t.split },
		setIdle:      func(idle bool) { in.said = idle },
		figures:      &in.figures,
	}
	in.held.watermark = NoWatermark
	in.publish(NoWatermark, 0, 0)
	return in
}

func (in *instance) newOutput() *output { return &output{from: in, watermark: NoWatermark} }

func (in *instance) side(name string) *output {
	if name == "" {
		return in.out
	}
	o := in.sides[name]
	if o == nil {
		if in.sides == nil {
			in.sides = map[string]*output{}
		}
		o = in.newOutput()
		in.sides[name] = o
	}
	return o
}

func (in *instance) reportInconsistent(n int64) {
	in.inconsistent += n
	if h := in.task.hooks.Inconsistent; h != nil {
		h(in.node, in.shard, n)
	}
}

// make makes the operator, once.
func (in *instance) make() (err error) {
	switch {
	case in.op != nil:
	case in.node.Source != nil:
		in.op = scan{mode: in.node.Source.Mode()}
	case in.node.Sink != nil:
		in.sink = &writing{to: in.node.Sink}
		in.op = in.sink
	default:
		if in.op, err = in.node.New(in.shard); err != nil {
			return in.fail(err)
		}
	}
	return nil
}

// stateful reports whether the operator may have state.
func (in *instance) stateful() bool { return isStateful(in.op) }

func isStateful(op Operator) bool {
	_, none := op.(interface{ stateless() })
	return !none
}

// start makes and opens the operator.
func (in *instance) start(ctx context.Context, opt state.Options) error {
	if err := in.make(); err != nil {
		return err
	}
	opt.Operator, opt.Name = in.node.ID, in.node.Name
	opt.From, opt.To = rowkey.GroupRange(in.shard, in.rt.Shards)
	if !in.stateful() {
		opt.DB = nil
	}
	in.store = state.NewStore(opt)
	in.rt.State = in.store
	in.rt.Functions = function.NewInstances(ctx, seedOf(in.node.ID, in.shard))
	in.functions.Store(in.rt.Functions)
	in.open = true
	if err := in.op.Open(ctx, &in.rt); err != nil {
		return in.fail(err)
	}
	return in.fail(in.store.EndCall())
}

func (in *instance) close() error {
	if !in.open {
		return nil
	}
	in.open = false
	in.task.at = in
	defer in.rt.Functions.Close()
	err := in.op.Close()
	in.task.at = nil
	return in.fail(err)
}

// seedOf is a number of the operator's own, the same in every run.
func seedOf(id string, shard int) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%d", id, shard) // a hash takes everything
	return h.Sum64()
}

func (in *instance) fail(err error) error { return opError(in.node.Name, in.shard, err) }

// process hands a batch to the operator. Its calls nest as the operators do.
func (in *instance) process(port int, b *vector.Batch) error {
	in.rowsIn += int64(b.Len())
	in.batchesIn++
	t := in.task
	outer := t.at
	t.at = in
	var err error
	if t.weight > 0 {
		start, others := time.Since(t.made), t.inner
		t.inner = 0
		err = in.op.Process(port, b, in.out)
		d := time.Since(t.made) - start
		in.busy += (d - t.inner) * t.weight
		t.inner = others + d
	} else {
		err = in.op.Process(port, b, in.out)
	}
	if err == nil {
		err = in.store.EndCall()
	}
	t.at = outer
	if err != nil {
		return in.fail(err)
	}
	return nil
}

// mark brings the operator to the end of an epoch, when all those before it in
// the task are there.
func (in *instance) mark(m Mark) error {
	in.task.at = in
	start := time.Since(in.task.made)
	in.task.inner = 0
	if err := in.endEpoch(); err != nil {
		return in.fail(err)
	}
	in.busy += time.Since(in.task.made) - start - in.task.inner
	in.task.at = nil
	return nil
}

func (in *instance) endEpoch() error {
	var buf [4]port
	now := append(buf[:0], in.ports...)
	in.look(now)
	for i := range now {
		if now[i].watermark > in.ports[i].watermark {
			in.ports[i].watermark = now[i].watermark
			if err := in.op.Advance(i, now[i].watermark, in.out); err != nil {
				return err
			}
			if err := in.store.EndCall(); err != nil {
				return err
			}
		}
	}
	for i := range now {
		in.ports[i].idle = now[i].idle
		if now[i].ended && !in.ports[i].ended {
			in.ports[i].ended = true
			if err := in.op.End(i, in.out); err != nil {
				return err
			}
			if err := in.store.EndCall(); err != nil {
				return err
			}
		}
	}
	if err := in.op.Flush(in.out); err != nil {
		return err
	}
	if err := in.store.EndEpoch(); err != nil {
		return err
	}
	in.settle()
	return nil
}

// look finds how far the inputs of the ports are.
func (in *instance) look(ports []port) {
	low, some := EndWatermark, false
	for i := range ports {
		p := &ports[i]
		if p.from != nil {
			p.watermark, p.idle, p.ended = max(p.watermark, p.from.watermark), p.from.idle, p.from.ended
		} else {
			w, idle, ended := in.task.inbox.combine(p.channels)
			p.watermark, p.idle, p.ended = max(p.watermark, w), idle, ended
		}
		if !p.idle && !p.ended {
			low, some = min(low, p.watermark), true
		}
	}
	// An idle port holds back nobody: its event time follows the others'.
	for i := range ports {
		if p := &ports[i]; some && p.idle && !p.ended {
			p.watermark = max(p.watermark, low)
		}
	}
}

// settle brings the outputs to where the ports are.
func (in *instance) settle() {
	idle, ended, low := true, true, EndWatermark
	for _, p := range in.ports {
		ended = ended && p.ended
		idle = idle && (p.idle || p.ended)
		low = min(low, p.watermark)
	}
	if ended {
		in.out.watermark = EndWatermark
	}
	in.out.idle, in.out.ended = (idle || in.said) && !ended, ended
	for _, o := range in.sides {
		o.watermark, o.idle, o.ended = in.out.watermark, in.out.idle, in.out.ended
	}
	in.hold(low)
	in.publish(low, in.store.Keys(), in.store.Bytes())
}

// scan is the operator of a source: its rows come from readers. Operators rely on the
// kinds of rows that the source declares, so others are an error, a -U before a +U by
// key apart, which says nothing more.
type scan struct {
	Stateless
	mode sqltype.ChangelogMode
}

func (s scan) Process(_ int, b *vector.Batch, out Output) error {
	if b.Kinds() != nil && s.mode != sqltype.RetractMode {
		for i := range b.Len() {
			if k := b.Kind(b.Row(i)); !s.mode.Has(k) && (k != vector.UpdateBefore || !s.mode.Has(vector.UpdateAfter)) {
				return errs.New(errs.Inconsistent, errs.Position{}, "the source sent a row of kind %s, and declares only %s", k, s.mode).
					WithHint("declare how the table changes, or leave such rows out where they come from")
			}
		}
	}
	return out.Emit(b)
}

// writing is the operator of a sink.
type writing struct {
	Stateless
	to     connector.Sink
	writer connector.Writer
}

func (w *writing) Open(ctx context.Context, rt *Runtime) (err error) {
	w.writer, err = w.to.Writer(ctx, rt.Shard, rt.Shards)
	return err
}

func (w *writing) Process(_ int, b *vector.Batch, _ Output) error { return w.writer.Write(b) }

func (w *writing) Flush(Output) error { return w.writer.EndEpoch() }

func (w *writing) Close() error {
	if w.writer == nil {
		return nil
	}
	return w.writer.Close()
}
