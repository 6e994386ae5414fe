package op

import (
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// groupValue is a number that is kept once for each key group of a shard, so that a restart
// in other shards finds it wherever it goes on.
type groupValue struct {
	table  *state.Values
	groups []int64 // keys, one in each key group of the shard
	enc    *rowkey.Encoder
	pool   *vector.Pool
}

// open finds the table and returns what it has, and whether that is a number for each key
// group.
func (g *groupValue) open(rt *exec.Runtime, name string) (have []int64, all bool, err error) {
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	g.table, g.enc, g.pool, g.groups = rt.State.Values(name, layout, []vector.Kind{vector.Int64}), rowkey.NewEncoder(layout), rt.Pool, nil
	from, to := rowkey.GroupRange(rt.Shard, rt.Shards)
	seen := make([]bool, rowkey.Groups)
	for next := int64(0); len(g.groups) < to-from; next++ {
		if k := rowkey.KeyGroup(g.hash(next), rowkey.Groups); k >= from && k < to && !seen[k] {
			seen[k] = true
			g.groups = append(g.groups, next)
		}
	}
	slots, err := g.resolve(false)
	if err != nil {
		return nil, false, err
	}
	for _, s := range slots {
		if s != state.None {
			have = append(have, state.Col[int64](g.table, 0)[s])
		}
	}
	return have, len(have) == len(slots), nil
}

func (g *groupValue) hash(key int64) uint64 {
	b := vector.NewBatch(1, []*vector.Vector{vector.Of(g.pool, key)}, nil)
	defer b.Release()
	return g.enc.Encode(b, []int{0}).Hash()[0]
}

func (g *groupValue) resolve(create bool) ([]state.Slot, error) {
	b := vector.NewBatch(len(g.groups), []*vector.Vector{vector.Of(g.pool, g.groups...)}, nil)
	defer b.Release()
	slots := make([]state.Slot, len(g.groups))
	return slots, g.table.Resolve(g.enc.Encode(b, []int{0}), create, slots)
}

// set brings a number into the state.
func (g *groupValue) set(v int64) error {
	slots, err := g.resolve(true)
	if err != nil {
		return err
	}
	for _, s := range slots {
		state.Col[int64](g.table, 0)[s] = v
	}
	g.table.Dirty(slots)
	return nil
}
