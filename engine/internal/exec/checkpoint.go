package exec

import (
	"cmp"
	"slices"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/state"
)

// SplitState is how far a split was read at a mark.
type SplitState struct {
	Split string
	// Position is where reading goes on, as the source's reader gave it.
	Position  []byte
	Watermark Watermark
	Finished  bool // nothing is left
}

// PortWatermark is the event time that an operator had reached at one of its ports.
type PortWatermark struct {
	Node      *Node
	Port      int
	Watermark Watermark
}

// SplitWatermark is the event time that a split had reached at a mark. The task knows
// it, and the reader the position.
type SplitWatermark struct {
	Node      *Node
	Split     string
	Watermark Watermark
}

// Prepared is what a sink's writer made ready at a checkpoint.
type Prepared struct {
	Sink   *Node
	Shard  int
	Handle []byte
}

// TaskCheckpoint is what one task has for a checkpoint.
type TaskCheckpoint struct {
	Parts      []*state.Part // of its operators' stores
	Watermarks []PortWatermark
	Splits     []SplitWatermark // of the splits that its readers have open
	Prepared   []Prepared
	// Err is that of a sink which could not prepare. There is no checkpoint then, but
	// what else is here belongs to the next.
	Err error
	// Stall is the time for which the task processed nothing.
	Stall time.Duration
}

// Restored is what a graph goes on from.
type Restored struct {
	// Splits are those that were read, by the ID of their node, and by their own.
	Splits map[string]map[string]SplitState
	// Watermarks are those of the ports of a node, by its ID.
	Watermarks map[string][]Watermark
}

// left lists what there is still to read of a source: the splits that were begun,
// then the others.
func (r Restored) left(n *Node, all []connector.Split) ([]splitToRead, error) {
	before := r.Splits[n.ID]
	var begun, fresh []splitToRead
	found := 0
	for _, s := range all {
		was, ok := before[s.ID]
		switch {
		case !ok:
			fresh = append(fresh, splitToRead{Split: s, watermark: NoWatermark})
			continue
		case was.Finished:
		case n.Source.Replayable():
			begun = append(begun, splitToRead{s, was.Position, was.Watermark})
		default:
			begun = append(begun, splitToRead{s, nil, was.Watermark})
		}
		found++
	}
	if found < len(before) {
		for _, id := range sortedKeys(before) {
			if !before[id].Finished && !slices.ContainsFunc(all, func(s connector.Split) bool { return s.ID == id }) {
				return nil, errs.New(errs.Input, errs.Position{}, "input %q, of which the query had read a part, is no longer there", id).
					WithHint("bring it back, or begin without state")
			}
		}
	}
	return append(begun, fresh...), nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// splits are the event times of the splits that are being read.
func (t *Task) splits() []SplitWatermark {
	var out []SplitWatermark
	for _, c := range sortedKeys(t.reading) {
		s := t.reading[c]
		out = append(out, SplitWatermark{t.entries[c].to.node, s.ID(), s.Watermark()})
	}
	return out
}

// checkpoint adds what the operator has for a checkpoint. It has ended the epoch.
func (in *instance) checkpoint(m Mark, c *TaskCheckpoint) error {
	start := time.Since(in.task.made)
	in.task.at = in
	if in.stateful() && (!m.Last || m.Suspended) { // else nobody goes on with it
		part, err := in.store.Copy(m.Epoch)
		if err != nil {
			return in.fail(err)
		}
		if part != nil {
			c.Parts = append(c.Parts, part)
		}
	}
	if in.node.Source == nil {
		for i, p := range in.ports {
			c.Watermarks = append(c.Watermarks, PortWatermark{in.node, i, p.watermark})
		}
	}
	if in.sink != nil {
		number := m.Epoch
		if m.Last && !m.Suspended {
			number = connector.Final
		}
		handle, err := in.sink.writer.Prepare(number)
		switch {
		case err == nil:
			c.Prepared = append(c.Prepared, Prepared{Sink: in.node, Shard: in.shard, Handle: handle})
		case m.Last:
			return in.fail(err)
		case c.Err == nil:
			c.Err = in.fail(err)
		}
	}
	in.task.at = nil
	c.Stall += time.Since(in.task.made) - start
	return nil
}

// restore tells the operator of event time as it was.
func (in *instance) restore() error {
	in.task.at = in
	for i, w := range in.restored {
		if i >= len(in.ports) || w == NoWatermark || w == EndWatermark {
			continue // what has ended ends again, with the first mark
		}
		in.ports[i].watermark = w
		if err := in.op.Advance(i, w, in.out); err != nil {
			return in.fail(err)
		}
		if err := in.store.EndCall(); err != nil {
			return in.fail(err)
		}
	}
	in.task.at = nil
	return nil
}
