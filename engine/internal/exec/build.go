package exec

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// MaxParallelism is the largest number of shards: one needs a key group at least.
const MaxParallelism = rowkey.Groups

// Options say how a graph is run.
type Options struct {
	Parallelism int // of nodes that do not say; default 1
	BatchSize   int // rows that a source reads at a time; default vector.Target
	// ChannelSize is the number of batches that a channel holds; default 8.
	ChannelSize int
	NewPool     func() *vector.Pool // one for every task and reader; default vector.NewPool
	Now         int64               // processing time of the first epoch
	Hooks       Hooks

	// Restored is where to go on; the zero value is the beginning.
	Restored Restored

	// Ended is called when a reader has read everything, Read at a checkpoint with the
	// splits of which it has read more since the last, before it sends the mark. Passed is
	// called when a task has passed on a mark, with what it has for the checkpoint,
	// or nil when the mark asks for none. All are called on the goroutine where it
	// happens; Read and Passed may be nil.
	Ended  func(r *Reader)
	Read   func(r *Reader, m Mark, splits []SplitState)
	Passed func(t *Task, m Mark, c *TaskCheckpoint)

	// Soft channels do not block: for running all tasks on one goroutine.
	Soft bool
	// Rand, when set, chooses the channels that a task reads from.
	Rand   *rand.Rand
	Faults Faults
}

// Faults are bugs to be put in on purpose, by tests that show that they would be
// noticed.
type Faults struct {
	Unaligned   bool // tasks read on from channels that have brought their mark
	Misroute    bool // shards disagree on where a key belongs
	LatePending bool // exchanges keep gathered rows beyond the epoch's end
}

// Program is a graph laid out in tasks and readers, connected by channels.
type Program struct {
	Tasks   []*Task
	Readers []*Reader

	graph *Graph
	nodes []*layout
}

// layout is how one node of a graph is run.
type layout struct {
	node   *Node
	shards int
	// A node's stage is above those it reads from through channels. Nodes of a
	// stage that are connected directly share a group, which is a task per shard.
	stage     int
	group     *layout // the representative; see root
	instances []*instance
}

// Build lays out a graph. Splits of sources are listed here, so that an input
// that is missing is found; nothing is opened.
func Build(ctx context.Context, g *Graph, opt Options) (*Program, error) {
	if opt.Parallelism <= 0 {
		opt.Parallelism = 1
	}
	if opt.BatchSize <= 0 {
		opt.BatchSize = vector.Target
	}
	if opt.ChannelSize <= 0 {
		opt.ChannelSize = 8
	}
	if opt.NewPool == nil {
		opt.NewPool = vector.NewPool
	}
	b := &builder{Program: Program{graph: g}, opt: &opt, of: map[*Node]*layout{}}
	if err := b.stages(); err != nil {
		return nil, err
	}
	b.tasks()
	b.connect()
	if err := b.sources(ctx); err != nil {
		return nil, err
	}
	return &b.Program, nil
}

type builder struct {
	Program
	opt *Options
	of  map[*Node]*layout
}

// stages checks the graph, and decides which nodes are connected directly.
func (b *builder) stages() error {
	for _, n := range b.graph.Nodes {
		l := &layout{node: n, shards: n.Parallelism}
		if l.shards == 0 {
			l.shards = b.opt.Parallelism
		}
		l.group = l
		if err := b.check(l); err != nil {
			return err
		}
		b.of[n] = l
		b.nodes = append(b.nodes, l)
		for _, e := range n.Inputs {
			from := b.of[e.From]
			if b.callable(from, e, l) {
				l.stage = max(l.stage, from.stage)
			} else {
				l.stage = max(l.stage, from.stage+1)
			}
		}
		for _, e := range n.Inputs {
			if b.direct(b.of[e.From], e, l) {
				b.of[e.From].root().group = l.root()
			}
		}
	}
	return nil
}

func (b *builder) check(l *layout) error {
	n := l.node
	kinds := 0
	for _, set := range []bool{n.Source != nil, n.New != nil, n.Sink != nil} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return bug("node %s is not one of source, operator and sink", n.Name)
	case b.of[n] != nil:
		return bug("node %s is twice in the graph", n.Name)
	case (n.Source != nil) != (len(n.Inputs) == 0):
		return bug("node %s has %d inputs", n.Name, len(n.Inputs))
	case l.shards < 1 || l.shards > MaxParallelism:
		return bug("node %s has parallelism %d; at most %d is possible", n.Name, l.shards, MaxParallelism)
	}
	if n.Sink != nil {
		if limit := n.Sink.MaxWriters(); limit > 0 && l.shards > limit {
			return bug("sink %s takes %d writers, the graph has %d", n.Name, limit, l.shards)
		}
	}
	for _, e := range n.Inputs {
		from := b.of[e.From]
		switch {
		case from == nil:
			return bug("node %s reads from one that does not stand before it", n.Name)
		case e.Exchange.Kind == Forward && from.shards != l.shards:
			return bug("%d shards of %s forward to %d of %s", from.shards, from.node.Name, l.shards, n.Name)
		}
	}
	return nil
}

// callable reports whether an edge keeps every row in its shard.
func (b *builder) callable(from *layout, e Edge, to *layout) bool {
	return e.Exchange.Kind == Forward || from.shards == 1 && to.shards == 1
}

// direct reports whether an edge is a call. A node that waits for another stage
// at one port is not called by those of the stage before at another: that would
// make tasks wait for each other in a circle.
func (b *builder) direct(from *layout, e Edge, to *layout) bool {
	return b.callable(from, e, to) && from.stage == to.stage
}

func (l *layout) root() *layout {
	for l.group != l {
		l.group = l.group.group
		l = l.group
	}
	return l
}

// tasks makes a task for every group and shard.
func (b *builder) tasks() {
	made := map[*layout][]*Task{}
	for _, l := range b.nodes {
		root := l.root()
		ts := made[root]
		if ts == nil {
			for range l.shards {
				t := &Task{inbox: newInbox(b.opt.Rand), pool: b.opt.NewPool(), hooks: &b.opt.Hooks, passed: b.opt.Passed, now: b.opt.Now, made: time.Now(), reading: map[int]*Split{}}
				t.inbox.unaligned = b.opt.Faults.Unaligned
				ts = append(ts, t)
			}
			made[root] = ts
			b.Tasks = append(b.Tasks, ts...)
		}
		for shard, t := range ts {
			in := newInstance(t, l.node, shard, l.shards)
			in.restored = b.opt.Restored.Watermarks[l.node.ID]
			t.instances = append(t.instances, in)
			l.instances = append(l.instances, in)
		}
	}
}

// connect makes the edges.
func (b *builder) connect() {
	for _, to := range b.nodes {
		for p, e := range to.node.Inputs {
			from := b.of[e.From]
			switch {
			case b.direct(from, e, to):
				for i, in := range to.instances {
					out := from.instances[i].side(e.Side)
					out.targets = append(out.targets, direct{in, p})
					in.ports[p].from = out
				}
			case b.callable(from, e, to):
				for i, in := range to.instances {
					b.exchange(from.instances[i], e, []*channel{b.channel(in, p)})
				}
			default:
				for _, sender := range from.instances {
					channels := make([]*channel, len(to.instances))
					for i, in := range to.instances {
						channels[i] = b.channel(in, p)
					}
					b.exchange(sender, e, channels)
				}
			}
		}
	}
}

func (b *builder) exchange(from *instance, e Edge, to []*channel) {
	x := newExchange(from.side(e.Side), e.Exchange, to, from.task.pool, from.shard)
	x.fault = b.opt.Faults
	x.from.targets = append(x.from.targets, x)
	from.task.exchanges = append(from.task.exchanges, x)
}

// channel makes a channel into a port.
func (b *builder) channel(in *instance, p int) *channel {
	c := newChannel(b.opt.ChannelSize, b.opt.Soft)
	t := in.task
	in.ports[p].channels = append(in.ports[p].channels, t.inbox.add(c))
	t.entries = append(t.entries, direct{in, p})
	return c
}

// sources makes the readers. The shards of a bounded source have a reader each,
// which take splits from one list, so that fast ones take more. An endless split
// has a reader to itself.
func (b *builder) sources(ctx context.Context) error {
	for _, l := range b.nodes {
		if l.node.Source == nil {
			continue
		}
		all, err := l.node.Source.Splits(ctx)
		if err != nil {
			return opError(l.node.Name, 0, err)
		}
		left, err := b.opt.Restored.left(l.node, all)
		if err != nil {
			return opError(l.node.Name, 0, err)
		}
		together := &pace{}
		if l.node.Source.Bounded() {
			shared := &splits{left: left}
			for _, in := range l.instances {
				b.reader(in, shared, together)
			}
			continue
		}
		for i := range max(len(left), l.shards) {
			own := &splits{}
			if i < len(left) {
				own.left = left[i : i+1]
			}
			b.reader(l.instances[i%l.shards], own, together)
		}
	}
	if len(b.Readers) == 0 {
		return bug("the graph has no source")
	}
	return nil
}

func (b *builder) reader(in *instance, s *splits, p *pace) {
	r := &Reader{
		node: in.node, shard: in.shard, index: len(b.Readers), splits: s, to: b.channel(in, 0),
		pool: b.opt.NewPool(), limit: b.opt.BatchSize, hooks: &b.opt.Hooks, ended: b.opt.Ended, told: b.opt.Read,
	}
	r.pace = p
	p.join(r)
	b.Readers = append(b.Readers, r)
}

// Open opens the tasks. opt.Memory is what the stores of all operators may take
// together. After an error Close is called as well.
func (p *Program) Open(ctx context.Context, opt state.Options) error {
	stateful := int64(0)
	for _, t := range p.Tasks {
		for _, in := range t.instances {
			if err := in.make(); err != nil {
				return err
			}
			if in.stateful() {
				stateful++
			}
		}
	}
	if opt.Memory > 0 {
		opt.Memory = max(opt.Memory/max(stateful, 1), 1)
	}
	for _, t := range p.Tasks {
		if err := t.Open(ctx, opt); err != nil {
			return err
		}
	}
	return nil
}

// Close closes all tasks and readers that are not closed yet, and releases what
// is left in channels. Nobody runs them any more.
func (p *Program) Close() error {
	var all []error
	for _, r := range p.Readers {
		all = append(all, r.Close())
	}
	for _, t := range p.Tasks {
		all = append(all, t.Close())
	}
	for _, t := range p.Tasks {
		t.inbox.drain()
	}
	return errors.Join(all...)
}

// Bounded reports whether every source ends.
func (p *Program) Bounded() bool {
	for _, n := range p.graph.Nodes {
		if n.Source != nil && !n.Source.Bounded() {
			return false
		}
	}
	return true
}

// Metrics returns the figures of all operators in the order of the graph, shard
// by shard. It may be called at any time from any goroutine.
func (p *Program) Metrics() []Metrics {
	var out []Metrics
	for _, l := range p.nodes {
		for _, in := range l.instances {
			m := Metrics{ID: l.node.ID, Name: l.node.Name, Shard: in.shard, Source: l.node.Source != nil, Sink: l.node.Sink != nil}
			in.metrics(&m)
			in.heldBy(&m)
			if f := in.functions.Load(); f != nil {
				m.Functions = f.Metrics()
			}
			out = append(out, m)
		}
	}
	return out
}
