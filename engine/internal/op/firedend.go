package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// firedEnd is the end of the last window that was emitted. It is kept once for each key
// group, so that a restart in other shards finds it wherever it goes on.
type firedEnd struct {
	end     int64
	changed bool
	table   *state.Values
	groups  []int64 // keys, one in each key group of the shard
	enc     *rowkey.Encoder
	pool    *vector.Pool
}

func (f *firedEnd) open(rt *exec.Runtime) error {
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	f.table, f.enc, f.pool = rt.State.Values("fired", layout, []vector.Kind{vector.Int64}), rowkey.NewEncoder(layout), rt.Pool
	f.end = math.MinInt64
	from, to := rowkey.GroupRange(rt.Shard, rt.Shards)
	have := make([]bool, rowkey.Groups)
	for next := int64(0); len(f.groups) < to-from; next++ {
		if g := rowkey.KeyGroup(f.hash(next), rowkey.Groups); g >= from && g < to && !have[g] {
			have[g] = true
			f.groups = append(f.groups, next)
		}
	}
	slots, err := f.resolve(false)
	if err != nil {
		return err
	}
	for _, s := range slots {
		if s != state.None {
			f.end = max(f.end, state.Col[int64](f.table, 0)[s])
		}
	}
	return nil
}

func (f *firedEnd) hash(key int64) uint64 {
	b := vector.NewBatch(1, []*vector.Vector{vector.Of(f.pool, key)}, nil)
	defer b.Release()
	return f.enc.Encode(b, []int{0}).Hash()[0]
}

func (f *firedEnd) resolve(create bool) ([]state.Slot, error) {
	b := vector.NewBatch(len(f.groups), []*vector.Vector{vector.Of(f.pool, f.groups...)}, nil)
	defer b.Release()
	slots := make([]state.Slot, len(f.groups))
	return slots, f.table.Resolve(f.enc.Encode(b, []int{0}), create, slots)
}

func (f *firedEnd) advance(end int64) {
	if end > f.end {
		f.end, f.changed = end, true
	}
}

// flush brings a change into the state.
func (f *firedEnd) flush() error {
	if !f.changed {
		return nil
	}
	slots, err := f.resolve(true)
	if err != nil {
		return err
	}
	for _, s := range slots {
		state.Col[int64](f.table, 0)[s] = f.end
	}
	f.table.Dirty(slots)
	f.changed = false
	return nil
}
