package exectest

import (
	"context"
	"maps"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/vector"
)

// NewSum returns an operator for tests of graphs: it reads rows of a key and a
// value, both BIGINT and never NULL, and keeps the sum of the values by key, whose
// net changes it publishes at marks. What it knows is not in its store.
func NewSum(int) (exec.Operator, error) { return &sum{}, nil }

type sum struct {
	exec.Stateless
	rt     *exec.Runtime
	now    map[int64]total
	before map[int64]total // of the keys that changed in this epoch
}

type total struct{ rows, sum int64 }

func (s *sum) Open(_ context.Context, rt *exec.Runtime) error {
	s.rt, s.now, s.before = rt, map[int64]total{}, map[int64]total{}
	return nil
}

func (s *sum) Process(_ int, b *vector.Batch, _ exec.Output) error {
	keys, vals := vector.Values[int64](b.Col(0)), vector.Values[int64](b.Col(1))
	for i := range b.Len() {
		r := b.Row(i)
		k, sign := keys[r], b.Kind(r).Sign()
		t := s.now[k]
		if _, ok := s.before[k]; !ok {
			s.before[k] = t
		}
		s.now[k] = total{t.rows + sign, t.sum + sign*vals[r]}
	}
	return nil
}

func (s *sum) Flush(out exec.Output) error {
	b := vector.NewBuilder(s.rt.Pool, []vector.Kind{vector.Int64, vector.Int64})
	row := func(kind vector.RowKind, key int64, t total) {
		vector.Append(b.Col(0), key)
		vector.Append(b.Col(1), t.sum)
		b.EndRow(kind)
	}
	for _, k := range slices.Sorted(maps.Keys(s.before)) {
		old, now := s.before[k], s.now[k]
		if now.rows < 0 {
			s.rt.Inconsistent(1)
		}
		switch {
		case old == now:
		case old.rows <= 0 && now.rows > 0:
			row(vector.Insert, k, now)
		case old.rows > 0 && now.rows <= 0:
			row(vector.Delete, k, old)
		case old.rows > 0 && old.sum != now.sum:
			row(vector.UpdateBefore, k, old)
			row(vector.UpdateAfter, k, now)
		}
		if now == (total{}) {
			delete(s.now, k)
		}
	}
	clear(s.before)
	batch := b.Finish()
	defer batch.Release()
	return out.Emit(batch)
}
