package op_test

import (
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
	"github.com/weirdb/weir/vector"
)

// rankInput has a partition, two columns to order by, and one that tells rows apart in
// their partition when they replace each other.
var rankInput = schema("k bigint", "s string", "v int", "id int")

func rankCase(spec op.RankSpec, events ...exectest.Event) exectest.Case {
	spec.Types = rankInput.Types()
	return inputCase(rankInput, func() exec.Operator { return newRank(spec) }, events)
}

func newRank(spec op.RankSpec) exec.Operator {
	if spec.Few() {
		return op.NewTopN(spec)
	}
	return op.NewRank(spec)
}

// refRank numbers rows, given in the order in which they came, and picks those that a
// Rank passes on.
func refRank(spec op.RankSpec, rows []string) []string {
	parts := map[string][]string{}
	for _, row := range rows {
		key := ""
		for _, c := range spec.Partition {
			key += strings.Fields(row)[c] + " "
		}
		parts[key] = append(parts[key], row)
	}
	var out []string
	for _, rows := range parts {
		rows = refSort(op.SortSpec{Order: spec.Order, Count: math.MaxInt64}, rows)
		rank, dense := 0, 0
		for i, row := range rows {
			peer := i > 0
			for _, k := range spec.Order {
				peer = peer && strings.Fields(rows[i-1])[k.Column] == strings.Fields(row)[k.Column]
			}
			if !peer {
				rank, dense = i+1, dense+1
			}
			n := [...]int{i + 1, rank, dense}[spec.Function]
			to := spec.To
			if spec.ToColumn >= 0 {
				to, _ = strconv.ParseInt(strings.Fields(row)[spec.ToColumn], 10, 64) // NULL is 0
			}
			if int64(n) < spec.From || int64(n) > to {
				continue
			}
			if spec.Number {
				row += fmt.Sprint(" ", n)
			}
			out = append(out, row)
		}
	}
	return out
}

func TestRankReference(t *testing.T) {
	t.Parallel()
	s, v := op.SortKey{Column: 1, Desc: true, NullsLast: true}, op.SortKey{Column: 2}
	type bounds struct {
		from, to int64
		column   int
	}
	seed := uint64(0)
	for _, b := range []bounds{{1, 3, -1}, {1, 1, -1}, {2, 4, -1}, {1, math.MaxInt64, -1}, {3, math.MaxInt64, -1}, {1, math.MaxInt64, 0}, {2, 2, -1}} {
		for _, f := range []op.RankFunction{op.RowNumber, op.RankWithGaps, op.DenseRank} {
			for _, input := range []op.RankInput{op.RankAppend, op.RankReplacing, op.RankUpdating} {
				for _, number := range []bool{false, true} {
					seed++
					spec := op.RankSpec{
						Partition: []int{0}, Order: []op.SortKey{s, v}, Function: f, From: b.from, To: b.to, ToColumn: b.column, Number: number, Input: input,
						InPlace: b.from == b.to && !number && f == op.RowNumber && input != op.RankUpdating,
					}
					if input == op.RankReplacing && (b.to == math.MaxInt64 && b.column < 0 || f == op.DenseRank) {
						continue // who gets better may make room for one who does not
					}
					seed := seed
					t.Run(fmt.Sprintf("%d-%d,%d/function=%d/input=%d/number=%t", b.from, b.to, b.column, f, input, number), func(t *testing.T) {
						t.Parallel()
						t.Logf("seed %d", seed)
						testRank(t, rand.New(rand.NewPCG(seed, 7)), spec)
					})
				}
			}
		}
	}
}

func testRank(t *testing.T, r *rand.Rand, spec op.RankSpec) {
	row := func() string {
		return fmt.Sprintf("%s %s %s %d", maybe(r, r.IntN(4)), maybe(r, pick(r, "a", "b", "bb")), maybe(r, r.IntN(4)-2), r.IntN(3))
	}
	var in script
	switch spec.Input {
	case op.RankAppend:
		in = appends(r, 5, 16, row)
	case op.RankReplacing:
		spec.Identity = []int{0, 3}
		in = improvements(r, spec)
	case op.RankUpdating:
		in = updates(r, 5, 20, row)
	}
	if spec.Input != op.RankAppend {
		// A total order: rows that come again do not say which of them they are.
		if spec.Function == op.RowNumber {
			spec.Order = append(spec.Order[:len(spec.Order):len(spec.Order)], op.SortKey{Column: 3})
		}
	}
	got := exectest.Run(t, rankCase(spec, events(r, in)...))
	var rows []string
	for e, changes := range in {
		for _, change := range changes {
			_, row, _ := strings.Cut(change, " ")
			switch spec.Input {
			case op.RankReplacing:
				rows = slices.DeleteFunc(rows, func(have string) bool { return identity(have) == identity(row) })
				rows = append(rows, row)
			case op.RankAppend:
				rows = append(rows, row)
			}
		}
		if spec.Input == op.RankUpdating {
			rows = in.tables()[e].Rows()
		}
		checkEpoch(t, got, e, refRank(spec, rows))
	}
}

func identity(row string) string { f := strings.Fields(row); return f[0] + " " + f[3] }

// improvements is a script of rows that replace each other for better places.
func improvements(r *rand.Rand, spec op.RankSpec) script {
	out := make(script, 5)
	have := map[string]string{}
	for e := range out {
		for range r.IntN(24) {
			row := fmt.Sprintf("%s %s %d %d", maybe(r, r.IntN(4)), pick(r, "a", "b", "bb"), r.IntN(4)-2, r.IntN(5))
			kind := "+I "
			if old, ok := have[identity(row)]; ok {
				if refSort(op.SortSpec{Order: spec.Order, Count: 1}, []string{row, old})[0] != row {
					continue
				}
				kind = pick(r, "+I ", "+U ")
				if kind == "+U " && r.IntN(2) == 0 {
					out[e] = append(out[e], "-U "+old)
				}
			}
			have[identity(row)] = row
			out[e] = append(out[e], kind+row)
		}
	}
	return out
}

// TestTopNOrders has orders of which words say all, all but NULL, or only the beginning.
func TestTopNOrders(t *testing.T) {
	t.Parallel()
	in := schema("k bigint!", "n bigint", "w bigint!", "s string", "d decimal", "f double", "i int")
	values := [][]string{
		{"NULL", "-9223372036854775808", "9223372036854775807", "0", "-1"},
		{"-9223372036854775808", "0", "9223372036854775807"},
		{"NULL", "a", "ab", "abcdefghij", "abcdefghik"},
		{"NULL", "-5", "7", "0"},
		{"NULL", "0.5", "-0.5", "1e300"},
		{"NULL", "1", "2"},
	}
	for c := 1; c < len(in); c++ {
		for mode := range 8 {
			desc, last := mode&1 != 0, mode&2 != 0
			order := []op.SortKey{{Column: c, Desc: desc, NullsLast: last}}
			if mode&4 != 0 {
				order = append(order, op.SortKey{Column: 6, Desc: last})
			}
			t.Run(fmt.Sprintf("%s/desc=%t/last=%t/%d", in[c].Name, desc, last, len(order)), func(t *testing.T) {
				t.Parallel()
				seed := uint64(100*c + mode)
				t.Logf("seed %d", seed)
				r := rand.New(rand.NewPCG(seed, 7))
				script := appends(r, 4, 14, func() string {
					row := fmt.Sprint(r.IntN(2))
					for _, v := range values {
						row += " " + v[r.IntN(len(v))]
					}
					return row
				})
				spec := op.RankSpec{Types: in.Types(), Partition: []int{0}, Order: order, From: 1, To: 3, ToColumn: -1, Number: mode&1 != 0}
				if !spec.Few() {
					t.Fatal("not few")
				}
				run := func(o func() exec.Operator) *exectest.Result {
					c := inputCase(in, o, events(rand.New(rand.NewPCG(seed, 8)), script))
					c.NotNull = [][]int{{0, 2}}
					return exectest.Run(t, c)
				}
				got, want := run(func() exec.Operator { return op.NewTopN(spec) }), run(func() exec.Operator { return op.NewRank(spec) })
				for e := range script {
					checkEpoch(t, got, e, want.Epochs[e].Table.Rows())
				}
			})
		}
	}
}

// TestRankChangelog shows the kinds of changes, and which rows ties keep.
func TestRankChangelog(t *testing.T) {
	t.Parallel()
	input := []exectest.Event{
		exectest.Rows(0, "1 a 5 0", "1 b 3 0"), exectest.Mark(),
		exectest.Rows(0, "1 c 3 0"), exectest.Mark(), // comes later
		exectest.Rows(0, "1 d 2 0"), exectest.Mark(),
		exectest.Rows(0, "2 e NULL 0"), exectest.Mark(),
	}
	top := op.RankSpec{Partition: []int{0}, Order: []op.SortKey{{Column: 2}}, From: 1, To: 2, ToColumn: -1}
	got := exectest.Run(t, rankCase(top, input...))
	changesEqual(t, got.Changes(), "+I 1 b 3 0", "+I 1 a 5 0", "-D 1 a 5 0", "+I 1 c 3 0", "-D 1 c 3 0", "+I 1 d 2 0", "+I 2 e NULL 0")
	top.Number = true
	got = exectest.Run(t, rankCase(top, input...))
	changesEqual(t, got.Changes(), "+I 1 b 3 0 1", "+I 1 a 5 0 2", "-U 1 a 5 0 2", "+U 1 c 3 0 2",
		"-U 1 b 3 0 1", "-U 1 c 3 0 2", "+U 1 d 2 0 1", "+U 1 b 3 0 2", "+I 2 e NULL 0 1")
	top.OmitBefore = true
	got = exectest.Run(t, rankCase(top, input...))
	changesEqual(t, got.Changes()[2:], "+U 1 c 3 0 2", "+U 1 d 2 0 1", "+U 1 b 3 0 2", "+I 2 e NULL 0 1")
	top.Input = op.RankUpdating
	top.OmitBefore = false
	got = exectest.Run(t, rankCase(top,
		exectest.Rows(0, "1 a 5 0", "1 b 3 0", "1 c 4 0"), exectest.Mark(),
		exectest.Rows(0, "-D 1 b 3 0"), exectest.Mark(),
		exectest.Rows(0, "-D 1 a 5 0", "-D 9 x 0 0"), exectest.Mark(),
		exectest.Rows(0, "-U 1 c 4 0", "+U 1 c 4 7"), exectest.Mark(),
		exectest.Rows(0, "-D 1 c 4 7"), exectest.Mark(),
	))
	changesEqual(t, got.Changes(), "+I 1 b 3 0 1", "+I 1 c 4 0 2", "-U 1 b 3 0 1", "-U 1 c 4 0 2", "+U 1 c 4 0 1", "+U 1 a 5 0 2",
		"-D 1 a 5 0 2", "-U 1 c 4 0 1", "+U 1 c 4 7 1", "-D 1 c 4 7 1")
	if got.Inconsistent != 1 {
		t.Errorf("%d inconsistencies, want 1", got.Inconsistent)
	}
}

func TestFirstRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	t.Log("seed 1")
	for _, spec := range []op.RankSpec{
		{From: 1, To: 1, ToColumn: -1},
		{From: 2, To: 3, ToColumn: -1, Number: true},
		{From: 1, To: math.MaxInt64, ToColumn: 0, Number: true},
	} {
		spec.Types, spec.Partition = rankInput.Types(), []int{0}
		in := appends(r, 5, 12, func() string { return fmt.Sprintf("%s a %d 0", maybe(r, r.IntN(4)), r.IntN(5)) })
		got := exectest.Run(t, inputCase(rankInput, func() exec.Operator { return op.NewFirstRows(spec) }, events(r, in)))
		var rows []string
		for e, changes := range in {
			for _, change := range changes {
				rows = append(rows, strings.TrimPrefix(change, "+I "))
			}
			checkEpoch(t, got, e, refRank(spec, rows))
		}
		for _, change := range got.Changes() {
			if !strings.HasPrefix(change, "+I ") {
				t.Errorf("%s is no insertion", change)
			}
		}
	}
}

func TestDeduplicate(t *testing.T) {
	t.Parallel()
	s := schema("k string", "at timestamp!", "v int", "w bigint")
	at, v, w := op.SortKey{Column: 1}, op.SortKey{Column: 2, NullsLast: true}, op.SortKey{Column: 3, Desc: true}
	late := at
	late.Desc = true
	r := rand.New(rand.NewPCG(2, 7))
	t.Log("seed 2")
	for name, spec := range map[string]op.DeduplicateSpec{
		"first":       {Order: []op.SortKey{at}},
		"last":        {Order: []op.SortKey{late}, Last: true},
		"last, first": {Order: []op.SortKey{late}},
		"further":     {Order: []op.SortKey{late, v, w}},
		"nullable":    {Order: []op.SortKey{w}},
		"latest":      {Last: true},
		"by two":      {Key: []int{2, 0}, Order: []op.SortKey{late}, Last: true},
	} {
		spec.Types = s.Types()
		t.Log(name)
		if spec.Key == nil {
			spec.Key = []int{0}
		}
		in := appends(r, 5, 12, func() string {
			return fmt.Sprintf("%s %d %s %s", maybe(r, pick(r, "a", "b", "cc")), r.IntN(5), maybe(r, r.IntN(3)), maybe(r, r.IntN(2)))
		})
		got := exectest.Run(t, exectest.Case{
			New:       func() (exec.Operator, error) { return op.NewDeduplicate(spec), nil },
			Kinds:     [][]vector.Kind{s.Kinds()},
			Events:    events(r, in),
			NotNull:   [][]int{{1}},
			KeepNulls: true,
		})
		var rows []string
		for e, changes := range in {
			for _, change := range changes {
				row := strings.TrimPrefix(change, "+I ")
				if rows = append(rows, row); spec.Last { // of equal ones the last is first
					rows = slices.Insert(rows[:len(rows)-1], 0, row)
				}
			}
			checkEpoch(t, got, e, refRank(op.RankSpec{Partition: spec.Key, Order: spec.Order, From: 1, To: 1, ToColumn: -1}, rows))
		}
	}
}
