package op_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// aggregateInput is the input of the aggregate tests.
var aggregateInput = schema("k bigint", "s string", "t tiny", "v bigint", "w int!", "f double", "e float", "d decimal", "flag bool", "day date")

func aggregateRow(r *rand.Rand) string {
	return fmt.Sprintf("%s %s %s %s %d %s %s %s %s %s",
		maybe(r, r.IntN(4)), pick(r, "x", "y", "zz"), maybe(r, r.IntN(7)-3), maybe(r, r.IntN(9)-4), r.IntN(100),
		maybe(r, float64(r.IntN(40)-20)/4), maybe(r, float64(r.IntN(8))/2), maybe(r, r.IntN(500)-250), maybe(r, r.IntN(2) == 0), maybe(r, r.IntN(5)+19000))
}

// refCall is an aggregate call as the reference computes it.
type refCall struct {
	name     string
	arg      string // "": COUNT(*)
	distinct bool
	filter   bool // WHERE flag
}

func (c refCall) expr() *expr.Aggregate {
	var filter expr.Expr
	if c.filter {
		filter = column(aggregateInput, "flag")
	}
	if c.arg == "" {
		return aggregate(c.name, c.distinct, filter)
	}
	return aggregate(c.name, c.distinct, filter, column(aggregateInput, c.arg))
}

// of computes the call over rows.
func (c refCall) of(rows [][]string) string {
	var vals []string
	for _, row := range rows {
		if c.filter && row[aggregateInput.Index("flag")] != "true" {
			continue
		}
		if c.arg == "" {
			vals = append(vals, "")
		} else if v := row[aggregateInput.Index(c.arg)]; v != "NULL" {
			vals = append(vals, v)
		}
	}
	if c.distinct {
		slices.Sort(vals)
		vals = slices.Compact(vals)
	}
	switch {
	case c.name == "COUNT":
		return strconv.Itoa(len(vals))
	case len(vals) == 0:
		return "NULL"
	case c.name == "MIN":
		return slices.MinFunc(vals, compareText)
	case c.name == "MAX":
		return slices.MaxFunc(vals, compareText)
	}
	sum := new(big.Rat)
	for _, v := range vals {
		sum.Add(sum, number(v))
	}
	if strings.HasPrefix(c.name, "VAR") || strings.HasPrefix(c.name, "STDDEV") {
		return c.spread(sum, vals)
	}
	if c.name == "AVG" {
		sum.Quo(sum, big.NewRat(int64(len(vals)), 1))
	}
	return c.format(sum)
}

// spread is the variance or standard deviation of values with the given sum.
func (c refCall) spread(sum *big.Rat, vals []string) string {
	n := int64(len(vals))
	if strings.HasSuffix(c.name, "_SAMP") {
		n--
	}
	if n == 0 {
		return "NULL"
	}
	mean := sum.Quo(sum, big.NewRat(int64(len(vals)), 1))
	total := new(big.Rat)
	for _, v := range vals {
		d := number(v)
		d.Sub(d, mean)
		total.Add(total, d.Mul(d, d))
	}
	f, _ := total.Quo(total, big.NewRat(n, 1)).Float64()
	if strings.HasPrefix(c.name, "STDDEV") {
		f = math.Sqrt(f)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func number(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("not a number: " + s)
	}
	return r
}

func compareText(a, b string) int {
	if x, err := strconv.ParseFloat(a, 64); err == nil {
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// format is the text of a sum or mean in the result's type.
func (c refCall) format(x *big.Rat) string {
	t := c.expr().T
	switch {
	case t.ID == sqltype.Float:
		f, _ := x.Float32()
		return strconv.FormatFloat(float64(f), 'g', -1, 32)
	case t.IsApprox():
		f, _ := x.Float64()
		return strconv.FormatFloat(f, 'g', -1, 64)
	case t.ID == sqltype.Decimal: // unscaled text: the argument has scale 2
		x = new(big.Rat).Mul(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale-2)), nil)))
		return x.FloatString(0)
	}
	return new(big.Int).Quo(x.Num(), x.Denom()).String()
}

// refAggregate is what GROUP BY keys gives for the rows of a table.
func refAggregate(table exectest.Table, keys []int, calls []refCall) exectest.Table {
	groups := map[string][][]string{}
	if len(keys) == 0 {
		groups[""] = nil
	}
	for _, row := range rowsOf(table) {
		var key []string
		for _, k := range keys {
			key = append(key, row[k])
		}
		id := strings.Join(key, " ")
		groups[id] = append(groups[id], row)
	}
	out := exectest.Table{}
	for key, rows := range groups {
		row := strings.Fields(key)
		for _, c := range calls {
			row = append(row, c.of(rows))
		}
		out[strings.Join(row, " ")]++
	}
	return out
}

// events interleaves the scripts of several ports, epoch by epoch.
func events(r *rand.Rand, ports ...script) []exectest.Event {
	var out []exectest.Event
	for e := range ports[0] {
		rest := make([][]string, len(ports))
		left := 0
		for i, p := range ports {
			rest[i] = p[e]
			left += len(p[e])
		}
		for left > 0 {
			i := r.IntN(len(ports))
			n := min(len(rest[i]), 1+r.IntN(8))
			if n == 0 {
				continue
			}
			out = append(out, exectest.Rows(i, rest[i][:n]...))
			rest[i] = rest[i][n:]
			left -= n
		}
		out = append(out, exectest.Mark())
	}
	return out
}

// tables are what a script adds up to after each epoch.
func (s script) tables() []exectest.Table {
	var out []exectest.Table
	t := exectest.Table{}
	for _, rows := range s {
		t.Add(rows...)
		out = append(out, maps.Clone(t))
	}
	return out
}

func TestGroupAggregateReference(t *testing.T) {
	t.Parallel()
	var everything []refCall
	for _, arg := range []string{"s", "t", "v", "w", "f", "e", "d", "day"} {
		for _, name := range []string{"COUNT", "MIN", "MAX"} {
			everything = append(everything, refCall{name: name, arg: arg})
		}
		if arg != "s" && arg != "day" {
			everything = append(everything, refCall{name: "SUM", arg: arg}, refCall{name: "AVG", arg: arg})
		}
	}
	sets := map[string][]refCall{
		"none":       nil,
		"count":      {{name: "COUNT"}},
		"count sum":  {{name: "COUNT"}, {name: "SUM", arg: "w"}},
		"everything": everything,
		"spread": {
			{name: "VAR_POP", arg: "f"},
			{name: "VAR_SAMP", arg: "v"},
			{name: "STDDEV_POP", arg: "f"},
			{name: "STDDEV_SAMP", arg: "f", filter: true},
			{name: "STDDEV_SAMP", arg: "w", distinct: true},
			{name: "SUM", arg: "f"},
		},
		"filter": {
			{name: "COUNT", filter: true},
			{name: "SUM", arg: "v", filter: true},
			{name: "SUM", arg: "v"},
			{name: "AVG", arg: "d", filter: true},
			{name: "MIN", arg: "s", filter: true},
			{name: "MAX", arg: "f", filter: true},
		},
		"distinct": {
			{name: "COUNT", arg: "v", distinct: true},
			{name: "COUNT", arg: "v", distinct: true, filter: true},
			{name: "SUM", arg: "v", distinct: true},
			{name: "COUNT", arg: "s", distinct: true, filter: true},
			{name: "AVG", arg: "f", distinct: true},
			{name: "COUNT", arg: "v"},
			{name: "MAX", arg: "v", distinct: true},
		},
		"distinct filtered": {{name: "COUNT", arg: "day", distinct: true, filter: true}},
	}
	groupings := map[string][]string{"nothing": nil, "bigint": {"k"}, "string": {"s"}, "two": {"k", "s"}, "three": {"flag", "k", "day"}}
	seed := uint64(0)
	for name, calls := range sets {
		for by, cols := range groupings {
			for _, updating := range []bool{false, true} {
				seed++
				seed := seed
				t.Run(fmt.Sprintf("%s by %s/updating=%t", name, by, updating), func(t *testing.T) {
					t.Parallel()
					testAggregate(t, seed, calls, cols, updating)
				})
			}
		}
	}
}

func testAggregate(t *testing.T, seed uint64, calls []refCall, by []string, updating bool) {
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	in := appends(r, 5, 60, func() string { return aggregateRow(r) })
	if updating {
		in = updates(r, 8, 40, func() string { return aggregateRow(r) })
	}
	spec := op.AggregateSpec{Input: aggregateInput.Types(), Updating: updating}
	for _, c := range by {
		spec.Keys = append(spec.Keys, aggregateInput.Index(c))
	}
	for _, c := range calls {
		spec.Calls = append(spec.Calls, c.expr())
	}
	got := exectest.Run(t, exectest.Case{
		New:     func() (exec.Operator, error) { return op.NewAggregate(spec) },
		Kinds:   [][]vector.Kind{aggregateInput.Kinds()},
		NotNull: [][]int{{aggregateInput.Index("w")}},
		Events:  events(r, in),
	})
	for e, table := range in.tables() {
		if diff := got.Epochs[e].Table.Diff(refAggregate(table, spec.Keys, calls)); diff != "" {
			t.Fatalf("after epoch %d the groups differ by%s", e+1, diff)
		}
		checkChangelog(t, got.Epochs[e].Changes, len(by))
	}
	if got.Inconsistent != 0 {
		t.Errorf("%d inconsistencies in a consistent input", got.Inconsistent)
	}
}

// checkChangelog checks the form of the changes of an epoch whose rows are keyed by
// their first columns: all removals before all additions, at most one of each for a
// key, kinds that go together, no change from a row to itself.
func checkChangelog(t *testing.T, changes []string, keys int) {
	t.Helper()
	removed, added := map[string]string{}, map[string]string{}
	for _, c := range changes {
		f := strings.Fields(c)
		kind, _ := vector.ParseRowKind(f[0])
		key := strings.Join(f[1:1+keys], " ")
		into := removed
		if kind.Adds() {
			into = added
		} else if len(added) > 0 {
			t.Fatalf("a removal after an addition: %q", changes)
		}
		if into[key] != "" {
			t.Fatalf("two changes of one kind of a key: %q", changes)
		}
		into[key] = c
	}
	for key, old := range removed {
		now := added[key]
		if update := strings.HasPrefix(old, "-U"); update != strings.HasPrefix(now, "+U") || now != "" && !update {
			t.Fatalf("%q goes with %q", old, now)
		}
		if now != "" && old[2:] == now[2:] {
			t.Fatalf("%q is replaced by itself", old)
		}
	}
}

func newAggregate(t *testing.T, s sqltype.Schema, keys []int, updating, omitBefore bool, calls ...*expr.Aggregate) exectest.Case {
	return exectest.Case{
		New: func() (exec.Operator, error) {
			return op.NewAggregate(op.AggregateSpec{Input: s.Types(), Keys: keys, Calls: calls, Updating: updating, OmitBefore: omitBefore})
		},
		Kinds: [][]vector.Kind{s.Kinds()},
	}
}

func changesEqual(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("changes\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestGroupAggregateChangelog(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint")
	sum := aggregate("SUM", false, nil, column(s, "v"))
	c := newAggregate(t, s, []int{0}, true, false, aggregate("COUNT", false, nil), sum)
	c.Events = []exectest.Event{
		exectest.Rows(0, "+I a 1", "+I b 2", "+I NULL NULL"), exectest.Mark(),
		exectest.Rows(0, "+I a 5", "-D NULL NULL"), exectest.Mark(),
		exectest.Rows(0, "-U b 2", "+U b 2"), exectest.Mark(), // nothing changes
		exectest.Rows(0, "-D c 7", "+I d 1", "+I c 7", "-D d 1"), exectest.Mark(), // came and went
		exectest.Rows(0, "-D a 5", "-D b 2"), exectest.Mark(),
		exectest.Rows(0, "+I b 9"), exectest.Mark(),
	}
	got := exectest.Run(t, c)
	changesEqual(t, got.Epochs[0].Changes, "+I a 1 1", "+I b 1 2", "+I NULL 1 NULL")
	changesEqual(t, got.Epochs[1].Changes, "-U a 1 1", "-D NULL 1 NULL", "+U a 2 6")
	changesEqual(t, got.Epochs[2].Changes)
	changesEqual(t, got.Epochs[3].Changes)
	changesEqual(t, got.Epochs[4].Changes, "-U a 2 6", "-D b 1 2", "+U a 1 1")
	changesEqual(t, got.Epochs[5].Changes, "+I b 1 9")

	c = newAggregate(t, s, []int{0}, true, true, sum)
	c.Events = []exectest.Event{
		exectest.Rows(0, "+I a 1"), exectest.Mark(),
		exectest.Rows(0, "+I a 2"), exectest.Mark(),
		exectest.Rows(0, "-D a 1", "-D a 2"),
	}
	c.KeepNulls = true
	changesEqual(t, exectest.Run(t, c).Changes(), "+I a 1", "+U a 3", "-D a 3")
}

// TestGroupAggregateRowByRow ends an epoch after every row, as Flink does: the
// changelog is Flink's.
func TestGroupAggregateRowByRow(t *testing.T) {
	t.Parallel()
	s := schema("a bigint", "b bigint")
	c := newAggregate(t, s, []int{1}, false, false, aggregate("COUNT", true, nil, column(s, "a")))
	c.KeepNulls = true
	for _, row := range []string{"1 1", "2 2", "3 2", "3 2", "4 4", "5 2"} {
		c.Events = append(c.Events, exectest.Rows(0, row), exectest.Mark())
	}
	changesEqual(t, exectest.Run(t, c).Changes(), "+I 1 1", "+I 2 1", "-U 2 1", "+U 2 2", "+I 4 1", "-U 2 2", "+U 2 3")
}

// TestGroupAggregateChunks publishes more changes than fit a batch.
func TestGroupAggregateChunks(t *testing.T) {
	t.Parallel()
	s := schema("k bigint", "v bigint")
	o, err := newAggregate(t, s, []int{0}, false, false, aggregate("SUM", false, nil, column(s, "v"))).New()
	d := newDriver(t, o, err)
	const keys = vector.Target + 100
	var rows []string
	for k := range keys {
		rows = append(rows, fmt.Sprintf("%d 1", k))
	}
	b := exectest.NewBatch(d.pool, s.Kinds(), rows...)
	defer b.Release()
	for range 2 {
		if err := cmp.Or(d.process(0, b), d.flush()); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Max(d.sizes) > vector.Target || len(d.rows) != 3*keys {
		t.Errorf("batches of %d rows", d.sizes)
	}
	checkChangelog(t, d.rows[keys:], 1)
}

func TestGlobalAggregate(t *testing.T) {
	t.Parallel()
	s := schema("v bigint", "flag bool")
	c := newAggregate(t, s, nil, true, false, aggregate("COUNT", false, nil), aggregate("SUM", false, nil, column(s, "v")), aggregate("MAX", false, nil, column(s, "v")))
	c.Events = []exectest.Event{
		exectest.Mark(),
		exectest.Rows(0, "+I 1 true"), exectest.Mark(),
		exectest.Rows(0, "-D 1 true"), exectest.Mark(),
		exectest.Mark(),
	}
	c.KeepNulls = true
	changesEqual(t, exectest.Run(t, c).Changes(), "+I 0 NULL NULL", "-U 0 NULL NULL", "+U 1 1 1", "-U 1 1 1", "+U 0 NULL NULL")

	c.Events = []exectest.Event{exectest.Rows(0, "+I 4 true"), exectest.Mark(), exectest.Rows(0, "+I 4 true")}
	changesEqual(t, exectest.Run(t, c).Changes(), "+I 1 4 4", "-U 1 4 4", "+U 2 8 4")
}

// TestCountOfRowsWithoutColumns is COUNT(*) over an input that was projected to
// nothing.
func TestCountOfRowsWithoutColumns(t *testing.T) {
	t.Parallel()
	c := newAggregate(t, nil, nil, true, false, aggregate("COUNT", false, nil))
	got, err := drive(t, c, "+I", "+I", "+I", "-D")
	if err != nil {
		t.Fatal(err)
	}
	changesEqual(t, got, "+I 2")
}

func TestGroupAggregateInconsistent(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint")
	c := newAggregate(t, s, []int{0}, true, false, aggregate("COUNT", false, nil), aggregate("MAX", false, nil, column(s, "v")), aggregate("COUNT", true, nil, column(s, "v")))
	c.KeepNulls = true
	c.Events = []exectest.Event{
		exectest.Rows(0, "-D a 1", "+I b 2"), exectest.Mark(),
		exectest.Rows(0, "+I a 3", "+I a 1"),
	}
	got := exectest.Run(t, c)
	changesEqual(t, got.Changes(), "+I b 1 2 1", "+I a 1 3 1")
	if got.Inconsistent != 3 { // the group, its MAX and its DISTINCT
		t.Errorf("%d inconsistencies", got.Inconsistent)
	}
}

func TestAggregateOverflow(t *testing.T) {
	t.Parallel()
	const big = "9223372036854775807"
	tests := []struct {
		name, typ string
		rows      []string
		call      string
		want      string // a result, or part of an error
	}{
		{"there and back", "bigint", []string{"+I " + big, "+I 1", "-D 1"}, "SUM", big},
		{"taken away first", "bigint", []string{"-D " + big, "-D 5", "+I 5", "+I " + big, "+I 7"}, "SUM", "7"},
		{"least value", "bigint", []string{"-D -9223372036854775808", "+I -9223372036854775808", "+I -9223372036854775808"}, "SUM", "-9223372036854775808"},
		{"at the end", "bigint", []string{"+I " + big, "+I 1"}, "SUM", "SUM"},
		{"below", "bigint", []string{"+I -9223372036854775808", "+I -1"}, "SUM", "SUM"},
		{"narrow", "int", []string{"+I 2147483647", "+I 1"}, "SUM", "SUM"},
		{"narrow and back", "int", []string{"+I 2147483647", "+I 1", "+I -1"}, "SUM", "2147483647"},
		{"mean", "int", []string{"+I 2147483647", "+I 2147483647"}, "AVG", "2147483647"},
		{"float", "double", []string{"+I 1e308", "+I 1e308"}, "SUM", "SUM"},
		{"real", "float", []string{"+I 3e38", "+I 3e38"}, "SUM", "SUM"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := schema("v " + tt.typ)
			c := newAggregate(t, s, nil, true, false, aggregate(tt.call, false, nil, column(s, "v")))
			got, err := drive(t, c, tt.rows...)
			if tt.want == tt.call {
				if errs.CodeOf(err) != errs.Arithmetic || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("%v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			changesEqual(t, got, "+I "+tt.want)
		})
	}
}

// TestFloatSumIsExact takes away, in another order, what was added: nothing of it
// may remain in the sum of what stays.
func TestFloatSumIsExact(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	s := schema("v double")
	var in script
	var epoch, gone []string
	for range 200 {
		v := strconv.FormatFloat(float64(r.IntN(1_000_000_000))/100*[]float64{1, 1000, 1e-3}[r.IntN(3)], 'g', -1, 64)
		epoch, gone = append(epoch, "+I "+v), append(gone, "-D "+v)
	}
	in = append(in, append(epoch, "+I 0.1", "+I 0.2"))
	r.Shuffle(len(gone), func(i, j int) { gone[i], gone[j] = gone[j], gone[i] })
	in = append(in, gone)
	c := newAggregate(t, s, nil, true, false, aggregate("SUM", false, nil, column(s, "v")))
	c.Events = events(r, in)
	c.KeepNulls = true
	got := exectest.Run(t, c)
	changes := got.Last().Changes
	if want := "+U 0.30000000000000004"; changes[len(changes)-1] != want {
		t.Errorf("%q, want %q", changes, want)
	}
}

func TestFloatSumSpecialValues(t *testing.T) {
	t.Parallel()
	s := schema("v double")
	for _, updating := range []bool{false, true} {
		c := newAggregate(t, s, nil, updating, false, aggregate("SUM", false, nil, column(s, "v")), aggregate("MIN", false, nil, column(s, "v")), aggregate("MAX", false, nil, column(s, "v")))
		c.KeepNulls = true
		c.Events = []exectest.Event{
			exectest.Rows(0, "+I 1.5", "+I +Inf"), exectest.Mark(),
			exectest.Rows(0, "+I -Inf"), exectest.Mark(),
			exectest.Rows(0, "+I NaN"), exectest.Mark(),
		}
		want := []string{"+I +Inf 1.5 +Inf", "-U +Inf 1.5 +Inf", "+U NaN -Inf +Inf", "-U NaN -Inf +Inf", "+U NaN -Inf NaN"}
		if updating {
			c.Events = append(c.Events, exectest.Rows(0, "-D NaN", "-D +Inf"), exectest.Mark(), exectest.Rows(0, "-D -Inf"))
			want = append(want, "-U NaN -Inf NaN", "+U -Inf -Inf 1.5", "-U -Inf -Inf 1.5", "+U 1.5 1.5 1.5")
		}
		changesEqual(t, exectest.Run(t, c).Changes(), want...)
	}
}

func TestAggregateUnsupported(t *testing.T) {
	s := schema("v string")
	_, err := op.NewAggregate(op.AggregateSpec{Input: s.Types(), Calls: []*expr.Aggregate{{
		Func: aggregate("SUM", false, nil, integer(1)).Func, Args: []expr.Expr{column(s, "v")}, T: sqltype.StringType,
	}}})
	if errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("%v", err)
	}
}
