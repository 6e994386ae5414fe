package op_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
)

var sortInput = schema("k bigint", "s string", "v int")

func sortCase(spec op.SortSpec, events ...exectest.Event) exectest.Case {
	spec.Types = sortInput.Types()
	return inputCase(sortInput, func() exec.Operator { return op.NewSort(spec) }, events)
}

// compareCells compares two values as written, NULL first.
func compareCells(a, b string) int {
	if a == "NULL" || b == "NULL" {
		return cmp.Compare(btoi(a != "NULL"), btoi(b != "NULL"))
	}
	x, err1 := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	if err1 == nil && err2 == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// refSort is the rows, given in the order in which they came, as a Sort has them.
func refSort(spec op.SortSpec, rows []string) []string {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b string) int {
		x, y := strings.Fields(a), strings.Fields(b)
		for _, k := range spec.Order {
			p, q := x[k.Column], y[k.Column]
			if (p == "NULL") != (q == "NULL") {
				if (p == "NULL") == k.NullsLast {
					return 1
				}
				return -1
			}
			c := compareCells(p, q)
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	from := min(spec.Skip, int64(len(out)))
	to := from + min(spec.Count, int64(len(out))-from)
	return out[from:to]
}

func TestSortReference(t *testing.T) {
	t.Parallel()
	k, s, v := op.SortKey{Column: 0}, op.SortKey{Column: 1, Desc: true, NullsLast: true}, op.SortKey{Column: 2, NullsLast: true}
	tests := map[string]op.SortSpec{
		"k":             {Order: []op.SortKey{k}, Count: 5},
		"s desc":        {Order: []op.SortKey{s, k}, Count: 3, Skip: 2},
		"all":           {Order: []op.SortKey{v, s, k}, Count: 7},
		"offset":        {Order: []op.SortKey{k, {Column: 1, Desc: true}, v}, Skip: 3, Count: math.MaxInt64},
		"no limit":      {Order: []op.SortKey{v, k, s}, Count: math.MaxInt64},
		"nothing":       {Order: []op.SortKey{v, k, s}},
		"as it comes":   {Count: 4, Skip: 1},
		"past the rows": {Order: []op.SortKey{k, s, v}, Skip: 1000, Count: 3},
	}
	seed := uint64(0)
	for name, spec := range tests {
		for mode := range 4 {
			seed++
			seed := seed
			spec.Updating, spec.AtEnd = mode&1 != 0, mode&2 != 0
			if spec.Updating {
				// A total order: rows that come again do not say which of them they are.
				for c := range sortInput {
					spec.Order = append(spec.Order[:len(spec.Order):len(spec.Order)], op.SortKey{Column: c})
				}
			}
			t.Run(fmt.Sprintf("%s/updating=%t/end=%t", name, spec.Updating, spec.AtEnd), func(t *testing.T) {
				t.Parallel()
				t.Logf("seed %d", seed)
				testSort(t, rand.New(rand.NewPCG(seed, 7)), spec)
			})
		}
	}
}

func testSort(t *testing.T, r *rand.Rand, spec op.SortSpec) {
	row := func() string {
		return fmt.Sprintf("%s %s %s", maybe(r, r.IntN(6)), maybe(r, pick(r, "a", "b", "bb")), maybe(r, r.IntN(4)-2))
	}
	in := appends(r, 6, 12, row)
	if spec.Updating {
		in = updates(r, 6, 24, row)
	}
	c := sortCase(spec, events(r, in)...)
	c.Events = append(c.Events, exectest.End(0), exectest.Mark())
	got := exectest.Run(t, c)
	var rows []string
	for e, changes := range in {
		for _, change := range changes {
			if !spec.Updating {
				_, row, _ := strings.Cut(change, " ")
				rows = append(rows, row)
			}
		}
		if spec.Updating {
			rows = in.tables()[e].Rows()
		}
		want := refSort(spec, rows)
		if spec.AtEnd {
			want = nil
		}
		checkEpoch(t, got, e, want)
	}
	if !spec.AtEnd {
		return
	}
	want := refSort(spec, rows)
	for i, row := range want {
		want[i] = "+I " + row
	}
	changesEqual(t, got.Last().Changes, want...)
}

// TestSortTies keeps the row that came first when another is equal in the order.
func TestSortTies(t *testing.T) {
	t.Parallel()
	spec := op.SortSpec{Order: []op.SortKey{{Column: 0}}, Count: 2}
	got := exectest.Run(t, sortCase(spec,
		exectest.Rows(0, "3 a 0", "1 b 0"), exectest.Mark(),
		exectest.Rows(0, "3 c 0"), exectest.Mark(),
		exectest.Rows(0, "1 d 0", "1 e 0"), exectest.Mark(),
		exectest.Rows(0, "0 f 0", "0 f 0"), exectest.Mark(),
	))
	changesEqual(t, got.Changes(), "+I 1 b 0", "+I 3 a 0", "-D 3 a 0", "+I 1 d 0", "-D 1 b 0", "-D 1 d 0", "+I 0 f 0", "+I 0 f 0")
	spec.Updating = true
	got = exectest.Run(t, sortCase(spec,
		exectest.Rows(0, "1 a 0"), exectest.Mark(),
		exectest.Rows(0, "1 b 0"), exectest.Mark(),
		exectest.Rows(0, "1 c 0"), exectest.Mark(),
		exectest.Rows(0, "-U 1 b 0", "+U 1 d 0"), exectest.Mark(),
		exectest.Rows(0, "-D 1 a 0", "-D 7 x 0"), exectest.Mark(),
	))
	changesEqual(t, got.Changes(), "+I 1 a 0", "+I 1 b 0", "-D 1 b 0", "+I 1 c 0", "-D 1 a 0", "+I 1 d 0")
	if got.Inconsistent != 1 {
		t.Errorf("%d inconsistencies, want 1", got.Inconsistent)
	}
}
