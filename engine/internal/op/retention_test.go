package op_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/vector"
)

// keep is the retention of these tests: what is touched at a time t is forgotten at the
// last multiple of 10 up to t + 20.
var keep = op.Retention{Min: 10 * time.Millisecond, Max: 20 * time.Millisecond}

func deadline(now int64) int64 { return (now + 20) / 10 * 10 }

// at is an epoch with rows of port 0 that ends at a time.
func at(now int64, rows ...string) []exectest.Event {
	if len(rows) == 0 {
		return []exectest.Event{exectest.MarkAt(now)}
	}
	return []exectest.Event{exectest.Rows(0, rows...), exectest.MarkAt(now)}
}

// right is the same for port 1.
func right(now int64, rows ...string) []exectest.Event {
	return []exectest.Event{exectest.Rows(1, rows...), exectest.MarkAt(now)}
}

// want is what the epochs are to publish, in any order.
func want(t *testing.T, c exectest.Case, epochs ...[]string) {
	t.Helper()
	c.KeepNulls = true
	got := exectest.Run(t, c)
	if got.Inconsistent != 0 {
		t.Errorf("%d inconsistencies", got.Inconsistent)
	}
	for e, w := range epochs {
		g, w := slices.Sorted(slices.Values(got.Epochs[e].Changes)), slices.Sorted(slices.Values(w))
		if !slices.Equal(g, w) {
			t.Errorf("epoch %d: got %q, want %q", e+1, g, w)
		}
	}
}

var keyValue = schema("k bigint", "v bigint")

func aggregateCase(updating bool, events []exectest.Event, calls ...*expr.Aggregate) exectest.Case {
	return exectest.Case{
		New: func() (exec.Operator, error) {
			return op.NewAggregate(op.AggregateSpec{Input: keyValue.Types(), Keys: []int{0}, Calls: calls, Updating: updating, Retention: keep})
		},
		Kinds:  [][]vector.Kind{keyValue.Kinds()},
		Events: events,
	}
}

func TestForgetGroups(t *testing.T) {
	t.Parallel()
	v := column(keyValue, "v")
	want(t, aggregateCase(false, slices.Concat(
		at(0, "+I 1 5", "+I 2 5"),
		at(12, "+I 1 7"),
		at(20),           // 2 is forgotten: its deadline was 20, that of 1 is 30
		at(25, "+I 2 1"), // it starts from nothing
		at(29, "+I 1 1"), // just in time
		at(44),           // both, which were due at 40
		at(48, "+I 1 0", "+I 2 0"),
	), aggregate("SUM", false, nil, v), aggregate("COUNT", true, nil, v)),
		[]string{"+I 1 5 1", "+I 2 5 1"}, []string{"-U 1 5 1", "+U 1 12 2"}, nil, []string{"+I 2 1 1"},
		[]string{"-U 1 12 2", "+U 1 13 3"}, nil, []string{"+I 1 0 1", "+I 2 0 1"})

	// A result that stays as it is tells readers that it is still there; without
	// aggregates nothing is updated.
	want(t, aggregateCase(false, slices.Concat(at(0, "+I 1 5"), at(5, "+I 1 4")), aggregate("MAX", false, nil, v)),
		[]string{"+I 1 5"}, []string{"-U 1 5", "+U 1 5"})
	want(t, aggregateCase(false, slices.Concat(at(0, "+I 1 5"), at(15, "+I 1 4"), at(25, "+I 1 4"), at(45, "+I 2 4"), at(46, "+I 1 1"))),
		[]string{"+I 1"}, nil, nil, []string{"+I 2"}, []string{"+I 1"})
}

// What takes away a forgotten row is passed over, as in Flink.
func TestForgetGroupsOfUpdates(t *testing.T) {
	t.Parallel()
	v := column(keyValue, "v")
	calls := []*expr.Aggregate{aggregate("COUNT", false, nil), aggregate("MIN", false, nil, v), aggregate("COUNT", true, nil, v), aggregate("LAST_VALUE", false, nil, v)}
	want(t, aggregateCase(true, slices.Concat(
		at(0, "+I 1 5", "+I 1 3"),
		at(20),
		at(21, "-D 1 5"),
		at(22, "-U 1 3", "+U 1 4"),
		at(23, "-D 1 4"),
		at(24, "+I 1 8", "+I 1 8"),
		at(25, "-D 1 3"), // counted off, though it was never in
		at(26, "-D 1 8"),
		at(27, "+I 1 9"), // nothing of the group before is left
	), calls...),
		[]string{"+I 1 2 3 2 3"}, nil, nil, []string{"+I 1 1 4 1 4"}, []string{"-D 1 1 4 1 4"}, []string{"+I 1 2 8 1 8"})
	got := exectest.Run(t, exectest.Case{New: aggregateCase(true, nil, calls...).New, Kinds: [][]vector.Kind{keyValue.Kinds()}, KeepNulls: true, Events: slices.Concat(
		at(0, "+I 1 3"), at(20), at(24, "+I 1 8"), at(25, "-D 1 3"), at(27, "+I 1 9"))})
	if table := got.Last().Table; !table.Equal(exectest.NewTable("+I 1 1 3 1 3", "+I 1 1 9 1 9")) {
		t.Errorf("got %v", table)
	}
}

// TestForgetGroupsReference compares with groups that are kept in maps.
func TestForgetGroupsReference(t *testing.T) {
	t.Parallel()
	v := column(keyValue, "v")
	type group struct {
		rows     []int
		deadline int64
	}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 5))
		groups := map[int]*group{}
		var events []exectest.Event
		var tables []exectest.Table
		now := int64(0)
		for range 14 {
			var rows []string
			var touched []int
			for range r.IntN(6) {
				k, v := r.IntN(5), r.IntN(6)
				if groups[k] == nil {
					groups[k] = &group{}
				}
				groups[k].rows = append(groups[k].rows, v)
				touched = append(touched, k)
				rows = append(rows, fmt.Sprintf("+I %d %d %d", k, v, v))
			}
			now += int64(r.IntN(15))
			events = append(events, at(now, rows...)...)
			table := exectest.Table{}
			for _, k := range touched {
				groups[k].deadline = deadline(now)
				g := slices.Clone(groups[k].rows)
				text := fmt.Sprintf("%d %d %d", len(g), slices.Min(g), slices.Max(g))
				list := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(g), "[]")), ",")
				slices.Sort(g)
				table[fmt.Sprintf("%d %s %d %s", k, text, len(slices.Compact(g)), list)] = 1
			}
			tables = append(tables, table)
			for k, g := range groups {
				if g.deadline <= now {
					delete(groups, k)
				}
			}
		}
		s := schema("k bigint", "v bigint", "s string")
		for _, updating := range []bool{false, true} {
			got := exectest.Run(t, exectest.Case{
				New: func() (exec.Operator, error) {
					return op.NewAggregate(op.AggregateSpec{Input: s.Types(), Keys: []int{0}, Updating: updating, Retention: keep, Calls: []*expr.Aggregate{
						aggregate("COUNT", false, nil), aggregate("MIN", false, nil, v), aggregate("MAX", false, nil, v),
						aggregate("COUNT", true, nil, v), aggregate("LISTAGG", false, nil, column(s, "s")),
					}})
				},
				Kinds: [][]vector.Kind{s.Kinds()}, Events: events, KeepNulls: true,
			})
			for e, table := range tables {
				now := exectest.Table{}
				for _, c := range got.Epochs[e].Changes {
					if kind, row, _ := strings.Cut(c, " "); kind[0] == '+' {
						now[row] = 1
					}
				}
				if !now.Equal(table) {
					t.Fatalf("seed %d, updating %t, epoch %d: got %v, want %v", seed, updating, e+1, now.Rows(), table.Rows())
				}
			}
		}
	}
}

func TestForgetKeys(t *testing.T) {
	t.Parallel()
	table := func(c func(op.TableSpec) exec.Operator, events []exectest.Event) exectest.Case {
		return exectest.Case{
			New: func() (exec.Operator, error) {
				return c(op.TableSpec{Types: keyValue.Types(), Key: []int{0}, Retention: keep}), nil
			},
			Kinds: [][]vector.Kind{keyValue.Kinds()}, Events: events,
		}
	}
	want(t, table(normalize, slices.Concat(
		at(0, "+U 1 5", "+U 2 5"), at(10, "+U 1 5"), at(20, "+U 1 6"), at(21, "+U 2 7"), at(41), at(42, "-D 2 0", "+U 1 1"))),
		[]string{"+I 1 5", "+I 2 5"}, []string{"-U 1 5", "+U 1 5"}, []string{"-U 1 5", "+U 1 6"}, []string{"+I 2 7"}, nil, []string{"+I 1 1"})
	want(t, table(materialize, slices.Concat(
		at(0, "+I 1 5", "+I 1 6", "+I 2 5"), at(10, "-D 1 6"), at(20), at(21, "-D 2 5"), at(22, "-U 2 5", "+U 2 6"), at(23, "-D 1 5"),
		at(50), at(51, "+I 2 1"), at(52, "-D 2 6"), at(53, "-D 2 1"))),
		[]string{"+I 1 6", "+I 2 5"}, []string{"-U 1 6", "+U 1 5"}, nil, nil, []string{"+I 2 6"}, []string{"-D 1 5"},
		nil, []string{"+I 2 1"}, nil, []string{"-D 2 1"})
	set := func(except, all bool, events []exectest.Event) exectest.Case {
		return exectest.Case{
			New: func() (exec.Operator, error) {
				return op.NewSetOperation(op.SetSpec{Types: keyValue.Types(), Except: except, All: all, Retention: keep}), nil
			},
			Kinds: [][]vector.Kind{keyValue.Kinds(), keyValue.Kinds()}, Events: events,
		}
	}
	want(t, set(false, true, slices.Concat(
		at(0, "+I 1 1", "+I 2 2"), right(9, "+I 2 2"), at(19), right(20, "+I 1 1"), at(29), at(30, "+I 2 2", "-D 1 1"), at(31, "+I 1 1"))),
		nil, []string{"+I 2 2"}, nil, []string{"+I 1 1"}, nil, []string{"-D 1 1"}, []string{"+I 1 1"})
	want(t, set(true, false, slices.Concat(at(0, "+I 1 1"), at(20), right(21, "-D 1 1"), right(22, "+I 1 1"), at(23, "+I 1 1"))),
		[]string{"+I 1 1"}, nil, nil, nil, nil)
}

// joined are two inputs with a key and a value, joined on the key.
func joinCase(kind int, events []exectest.Event) exectest.Case {
	side := op.JoinSide{Types: keyValue.Types(), Keys: []int{0}, Updating: true, Retention: keep}
	return exectest.Case{
		New: func() (exec.Operator, error) {
			spec := op.JoinSpec{Left: side, Right: side, Output: []int{0, 1, 3}}
			if kind < 0 {
				return op.NewJoin(spec)
			}
			if kind >= int(op.SemiJoin) {
				spec.Output = []int{0, 1}
			}
			return op.NewOuterJoin(op.JoinKind(kind), spec)
		},
		Kinds: [][]vector.Kind{keyValue.Kinds(), keyValue.Kinds()}, Events: events,
	}
}

// Rows of joins are forgotten one by one.
func TestForgetRows(t *testing.T) {
	t.Parallel()
	want(t, joinCase(-1, slices.Concat(
		at(0, "+I 1 10"), at(10, "+I 1 11"), right(15, "+I 1 20"), at(20), right(21, "+I 1 21"),
		at(22, "-D 1 10"), // its pairs with rows that are there are taken back
		at(39), right(40, "+I 1 22"))),
		nil, nil, []string{"+I 1 10 20", "+I 1 11 20"}, nil, []string{"+I 1 11 21"}, []string{"-D 1 10 20", "-D 1 10 21"}, nil, nil)
	// Equal rows keep each other.
	want(t, joinCase(-1, slices.Concat(at(0, "+I 1 10"), at(15, "+I 1 10"), right(29, "+I 1 20"), at(30), right(31, "+I 1 21"))),
		nil, nil, []string{"+I 1 10 20", "+I 1 10 20"}, nil, nil)
	// A row whose partner was forgotten is not alone: nobody took the pair back.
	left := slices.Concat(right(0, "+I 1 20"), at(15, "+I 1 10"), at(20), right(21, "+I 1 21"), right(22, "-D 1 21"), right(23, "-D 1 20"), right(24, "+I 1 22"))
	want(t, joinCase(int(op.LeftJoin), left),
		nil, []string{"+I 1 10 20"}, nil, []string{"+I 1 10 21"}, []string{"-D 1 10 21"}, []string{"-D 1 10 20", "+I 1 10 NULL"}, []string{"-D 1 10 NULL", "+I 1 10 22"})
	want(t, joinCase(int(op.SemiJoin), left), nil, []string{"+I 1 10"}, nil, nil, nil, []string{"-D 1 10"}, []string{"+I 1 10"})
	want(t, joinCase(int(op.AntiJoin), left), nil, nil, nil, nil, nil, []string{"+I 1 10"}, []string{"-D 1 10"})
	// A row that is alone is forgotten as it is.
	want(t, joinCase(int(op.FullJoin), slices.Concat(at(0, "+I 1 10"), at(20), right(21, "+I 1 20"), at(22, "-D 1 10"), at(23, "+I 1 11"), at(24, "-D 1 11"), right(25, "-D 1 20"))),
		[]string{"+I 1 10 NULL"}, nil, []string{"+I NULL NULL 20"}, []string{"-D 1 10 20"}, []string{"-D NULL NULL 20", "+I 1 11 20"},
		[]string{"-D 1 11 20", "+I NULL NULL 20"}, []string{"-D NULL NULL 20"})
}

// TestForgetRowsReference compares an inner join with rows that are kept in maps.
func TestForgetRowsReference(t *testing.T) {
	t.Parallel()
	type row struct {
		times    int
		deadline int64
	}
	for seed := range uint64(3) {
		for _, updating := range []bool{false, true} {
			r := rand.New(rand.NewPCG(seed, 6))
			sides := [2]map[[2]int]*row{{}, {}}
			var events []exectest.Event
			var tables []exectest.Table
			now := int64(0)
			table := exectest.Table{}
			for range 12 {
				touched := [2][][2]int{}
				for range r.IntN(7) {
					port, kv, sign := r.IntN(2), [2]int{r.IntN(3), r.IntN(3)}, 1
					own := sides[port]
					if updating && r.IntN(3) == 0 {
						sign = -1
					}
					events = append(events, exectest.Rows(port, fmt.Sprintf("%s %d %d", map[int]string{1: "+I", -1: "-D"}[sign], kv[0], kv[1])))
					for other, o := range sides[1-port] {
						if other[0] == kv[0] && o.times > 0 {
							pair := []int{kv[0], kv[1], other[1]}
							if port == 1 {
								pair = []int{kv[0], other[1], kv[1]}
							}
							text := fmt.Sprintf("%d %d %d", pair[0], pair[1], pair[2])
							if table[text] += sign * o.times; table[text] == 0 {
								delete(table, text)
							}
						}
					}
					if own[kv] == nil {
						own[kv] = &row{}
					}
					own[kv].times = max(own[kv].times+sign, 0)
					touched[port] = append(touched[port], kv)
				}
				now += int64(r.IntN(15))
				events = append(events, exectest.MarkAt(now))
				tables = append(tables, maps.Clone(table))
				for port, own := range sides {
					for _, kv := range touched[port] {
						own[kv].deadline = deadline(now)
					}
					for kv, o := range own {
						if o.deadline <= now {
							delete(own, kv)
						}
					}
				}
			}
			c := joinCase(-1, events)
			if !updating {
				side := op.JoinSide{Types: keyValue.Types(), Keys: []int{0}, Retention: keep}
				c.New = func() (exec.Operator, error) {
					return op.NewJoin(op.JoinSpec{Left: side, Right: side, Output: []int{0, 1, 3}})
				}
			}
			c.KeepNulls = true
			got := exectest.Run(t, c)
			for e, w := range tables {
				if diff := got.Epochs[e].Table.Diff(w); diff != "" {
					t.Fatalf("seed %d, updating %t, epoch %d: the rows differ by%s", seed, updating, e+1, diff)
				}
			}
			for _, kind := range joinKinds { // in all ways alike
				c := joinCase(int(kind), events)
				c.KeepNulls = true
				exectest.Run(t, c)
			}
		}
	}
}

// TestForgetFrees looks at the state of operators after all that they know was
// forgotten.
func TestForgetFrees(t *testing.T) {
	t.Parallel()
	v := column(keyValue, "v")
	for name, c := range map[string]exectest.Case{
		"aggregate": aggregateCase(true, nil, aggregate("COUNT", false, nil), aggregate("MIN", false, nil, v), aggregate("COUNT", true, nil, v), aggregate("LAST_VALUE", false, nil, v)),
		"distinct":  aggregateCase(false, nil, aggregate("COUNT", true, nil, v)),
		"join":      joinCase(-1, nil),
		"left join": joinCase(int(op.LeftJoin), nil),
		"semi join": joinCase(int(op.SemiJoin), nil),
		"normalize": {New: func() (exec.Operator, error) {
			return op.NewNormalize(op.TableSpec{Types: keyValue.Types(), Key: []int{0}, Retention: keep}), nil
		}},
		"materialize": {New: func() (exec.Operator, error) {
			return op.NewMaterialize(op.TableSpec{Types: keyValue.Types(), Key: []int{0}, Retention: keep}, op.KeepLast), nil
		}},
		"except": {New: func() (exec.Operator, error) {
			return op.NewSetOperation(op.SetSpec{Types: keyValue.Types(), Except: true, Retention: keep}), nil
		}},
	} {
		o, err := c.New()
		d := newDriver(t, o, err)
		d.quiet = true
		epoch := func(now int64, from, n int) {
			d.now = now
			if n > 0 {
				rows := make([]string, n)
				for i := range rows {
					rows[i] = "+I " + strconv.Itoa((from+i)/3) + " " + strconv.Itoa(i)
				}
				b := exectest.NewBatch(d.pool, keyValue.Kinds(), rows...)
				defer b.Release()
				if err := d.process(0, b); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.flush(); err != nil {
				t.Fatal(err)
			}
		}
		most, bytes := int64(0), int64(0)
		for i := range 40 { // other keys every 10 ms: those of two or three of them are there
			epoch(int64(10*i), 3000*i, 3000)
			if i < 4 {
				most, bytes = max(most, d.store.Keys()), max(bytes, d.store.Bytes())
			} else if d.store.Keys() > most || d.store.Bytes() > 2*bytes {
				t.Fatalf("%s: %d entries in %d bytes after %d epochs, %d in %d at first", name, d.store.Keys(), d.store.Bytes(), i, most, bytes)
			}
		}
		epoch(1000, 0, 0)
		if n := d.store.Keys(); n != 0 {
			t.Errorf("%s: %d entries are left", name, n)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}
