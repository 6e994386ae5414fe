package op_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// The inputs of temporal joins end with the watermark before a row.
var (
	probeInput   = schema("id bigint", "k string", "at timestamp", "mark bigint!")
	versionInput = schema("k string", "v int", "at timestamp", "mark bigint!")
)

func temporalSpec(updating, outer bool, residual bool) op.TemporalJoinSpec {
	spec := op.TemporalJoinSpec{
		Left:  op.TemporalSide{Types: probeInput.Types()[:3], Keys: []int{1}, Time: 2, Watermark: 3, Updating: updating},
		Right: op.TemporalSide{Types: versionInput.Types()[:3], Keys: []int{0}, Time: 2, Watermark: 3, Updating: true},
		Outer: outer, Output: []int{0, 2, 3, 4, 5},
	}
	if residual {
		pair := append(slices.Clone(probeInput[:3]), versionInput[:3]...)
		spec.Residual = apply("<", expr.NewColumn(pair, 0, column(pair, "id").Pos()), apply("*", integer(7), expr.NewColumn(pair, 4, column(pair, "id").Pos())))
	}
	return spec
}

// version is a change of the right.
type version struct {
	key, v   string
	at, from int64
	deleted  bool
	old      bool
}

// probe is a row of the left.
type probe struct {
	kind, key string
	id        int64
	at, mark  int64
	late      bool
}

// temporalScript draws what comes on both sides, in some disorder, with watermarks.
func temporalScript(r *rand.Rand, updating bool) (events []exectest.Event, probes []probe, versions []version, lows []int64) {
	now := [2]int64{100, 100}
	mark := [2]int64{math.MinInt64, math.MinInt64}
	disorder := int64(1 + r.IntN(20))
	var live []probe
	for range 8 {
		for range r.IntN(12) {
			side := r.IntN(2)
			now[side] += int64(r.IntN(6))
			at := now[side] - r.Int64N(disorder)
			key := string(rune('a' + r.IntN(4)))
			if r.IntN(15) == 0 {
				key = "NULL"
			}
			if side == 0 {
				p := probe{kind: "+I", key: key, id: int64(r.IntN(20)), at: at, mark: mark[0]}
				if len(live) > 0 && updating && r.IntN(3) == 0 {
					p = live[r.IntN(len(live))]
					p.kind, p.mark = "-D", mark[0]
				} else {
					live = append(live, p)
				}
				p.late = p.at < p.mark
				probes = append(probes, p)
				events = append(events, exectest.Rows(0, fmt.Sprintf("%s %d %s %d %d", p.kind, p.id, p.key, p.at, p.mark)))
				mark[0] = max(mark[0], at-disorder/2)
				continue
			}
			v := version{key: key, v: fmt.Sprint(r.IntN(5)), at: at, deleted: r.IntN(5) == 0}
			kind := "+I"
			switch {
			case v.deleted:
				kind = "-D"
			case r.IntN(6) == 0:
				kind, v.old = "-U", true
			}
			if r.IntN(8) == 0 {
				v.v = "NULL"
			}
			v.from = v.at
			if mark[1] >= v.at {
				v.from = mark[1] + 1
			}
			versions = append(versions, v)
			events = append(events, exectest.Rows(1, fmt.Sprintf("%s %s %s %d %d", kind, v.key, v.v, v.at, mark[1])))
			mark[1] = max(mark[1], at-disorder/2)
		}
		for side, m := range mark {
			if m > math.MinInt64 {
				events = append(events, exectest.Watermark(side, exec.Watermark(m)))
			}
		}
		events = append(events, exectest.Mark())
		lows = append(lows, min(mark[0], mark[1]))
	}
	for side := range mark {
		events = append(events, exectest.Watermark(side, exec.EndWatermark), exectest.End(side))
	}
	return append(events, exectest.Mark()), probes, versions, append(lows, math.MaxInt64)
}

// holds is the version that holds for a key at a time.
func holds(versions []version, key string, at int64) (v version, ok bool) {
	var of []version
	for _, v := range versions {
		if v.key == key && v.from <= at && !v.old {
			of = append(of, v)
		}
	}
	slices.SortStableFunc(of, func(a, b version) int { return cmp.Compare(a.from, b.from) })
	for _, next := range of {
		if ok && next.at < v.at {
			continue
		}
		v, ok = next, !next.deleted
	}
	return v, ok
}

func TestTemporalJoin(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		updating, outer, residual := seed&1 > 0, seed&2 > 0, seed&4 > 0
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			events, probes, versions, _ := temporalScript(rand.New(rand.NewPCG(seed, 11)), updating)
			got := exectest.Run(t, exectest.Case{
				New:       func() (exec.Operator, error) { return op.NewTemporalJoin(temporalSpec(updating, outer, residual)) },
				Kinds:     [][]vector.Kind{probeInput.Kinds(), versionInput.Kinds()},
				Events:    events,
				NotNull:   [][]int{{3}, {3}},
				KeepNulls: true,
			})
			var want []string
			for _, p := range probes {
				if p.late {
					continue
				}
				v, ok := holds(versions, p.key, p.at)
				ok = ok && p.key != "NULL"
				if ok && residual {
					var n int64 = -1
					fmt.Sscan(v.v, &n)
					ok = v.v != "NULL" && p.id < 7*n
				}
				switch {
				case ok:
					want = append(want, fmt.Sprintf("%s %d %d %s %s %d", p.kind, p.id, p.at, v.key, v.v, v.at))
				case outer:
					want = append(want, fmt.Sprintf("%s %d %d NULL NULL NULL", p.kind, p.id, p.at))
				}
			}
			changes := got.Changes()
			slices.Sort(want)
			slices.Sort(changes)
			if !slices.Equal(changes, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(changes, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestTemporalJoinFreesVersions holds the versions in memory to one of each key behind the
// watermark.
func TestTemporalJoinFreesVersions(t *testing.T) {
	o, err := op.NewTemporalJoin(temporalSpec(false, false, false))
	d := newDriver(t, o, err)
	for epoch := range 50 {
		at := 1000 * int64(epoch)
		b := exectest.NewBatch(d.pool, versionInput.Kinds(),
			fmt.Sprintf("+I a 1 %d %d", at, at-1000), fmt.Sprintf("+I b 2 %d %d", at+1, at-1000), fmt.Sprintf("+I a 3 %d %d", at+2, at-1000))
		if err := d.process(1, b); err != nil {
			t.Fatal(err)
		}
		b.Release()
		for port := range 2 {
			if err := d.op.Advance(port, exec.Watermark(at+500), d); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.flush(); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.store.Keys(); n != 2 {
		t.Errorf("%d entries are kept, not 2", n)
	}
	b := exectest.NewBatch(d.pool, versionInput.Kinds(), "-D a 3 60000 50000", "-D b 2 60000 50000")
	defer b.Release()
	if err := d.process(1, b); err != nil {
		t.Fatal(err)
	}
	for port := range 2 {
		if err := d.op.Advance(port, 60000, d); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.flush(); err != nil {
		t.Fatal(err)
	}
	if n := d.store.Keys(); n != 0 {
		t.Errorf("%d entries are kept of what was deleted", n)
	}
}

// What a row found stays, also when the row is taken away: it takes away what came out.
func TestLatestJoinTakesBack(t *testing.T) {
	t.Parallel()
	for _, outer := range []bool{false, true} {
		spec := temporalSpec(true, outer, false)
		got := exectest.Run(t, exectest.Case{
			New:   func() (exec.Operator, error) { return op.NewLatestJoin(spec) },
			Kinds: [][]vector.Kind{probeInput.Kinds(), versionInput.Kinds()},
			Events: []exectest.Event{
				exectest.Rows(0, "+I 1 a 5 0", "+I 1 a 5 0"), exectest.Mark(),
				exectest.Rows(1, "+I a 1 10 0"), exectest.Mark(),
				exectest.Rows(0, "+I 1 a 5 3"), exectest.Mark(),
				exectest.Rows(1, "+I a 2 20 0"), exectest.Mark(),
				exectest.Rows(0, "-D 1 a 5 4"), exectest.Mark(), // of the first
				exectest.Rows(0, "-U 1 a 5 4", "+U 2 a 5 4"), exectest.Mark(),
				exectest.Rows(0, "-D 1 a 5 5", "-D 2 a 5 5"), exectest.Mark(),
				exectest.Rows(0, "+I 3 NULL 5 5", "+I 4 c 6 5"), exectest.Mark(),
				exectest.Rows(0, "-D 3 NULL 5 6"), exectest.Mark(),
			},
			NotNull:   [][]int{{3}, {3}},
			KeepNulls: true,
		})
		want := []string{"+I 1 5 NULL NULL NULL", "+I 1 5 NULL NULL NULL", "+I 1 5 a 1 10", "-D 1 5 NULL NULL NULL", "-D 1 5 NULL NULL NULL", "+I 2 5 a 2 20", "-D 1 5 a 1 10", "-D 2 5 a 2 20", "+I 3 5 NULL NULL NULL", "+I 4 6 NULL NULL NULL", "-D 3 5 NULL NULL NULL"}
		if !outer {
			want = slices.DeleteFunc(want, func(row string) bool { return strings.HasSuffix(row, "NULL") })
		}
		if changes := got.Changes(); !slices.Equal(changes, want) {
			t.Errorf("outer %t: got %q, want %q", outer, changes, want)
		}
	}
}

func TestLatestJoin(t *testing.T) {
	t.Parallel()
	spec := temporalSpec(false, true, false)
	spec.Replacing = true
	got := exectest.Run(t, exectest.Case{
		New:   func() (exec.Operator, error) { return op.NewLatestJoin(spec) },
		Kinds: [][]vector.Kind{probeInput.Kinds(), versionInput.Kinds()},
		Events: []exectest.Event{
			exectest.Rows(0, "1 a 5 0"), exectest.Mark(),
			exectest.Rows(1, "+U a 1 10 0", "+U a 2 30 0", "+U a 3 20 0", "+U b NULL 10 0"), exectest.Mark(),
			exectest.Rows(0, "2 a 5 0", "3 b 6 0", "4 NULL 7 0"), exectest.Mark(),
			exectest.Rows(1, "-D a NULL NULL 0"), exectest.Mark(),
			exectest.Rows(0, "5 a 5 0"), exectest.Watermark(0, 5), exectest.Mark(),
		},
		NotNull:   [][]int{{3}, {3}},
		KeepNulls: true,
	})
	want := []string{"+I 1 5 NULL NULL NULL", "+I 2 5 a 2 30", "+I 3 6 b NULL 10", "+I 4 7 NULL NULL NULL", "+I 5 5 NULL NULL NULL"}
	if changes := got.Changes(); !slices.Equal(changes, want) {
		t.Errorf("got %q, want %q", changes, want)
	}
	if w := got.Last().Watermark; w != 5 {
		t.Errorf("watermark %v", w)
	}
}
