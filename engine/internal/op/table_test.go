package op_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var tableInput = schema("k bigint", "s string", "v bigint", "b bool", "t tiny!", "f double", "d decimal")

func tableRow(r *rand.Rand, keys int) string {
	return fmt.Sprintf("%d %s %s %s %d %s %s", r.IntN(keys), maybe(r, pick(r, "x", "y", "zz")), maybe(r, r.IntN(3)),
		maybe(r, r.IntN(2) == 0), r.IntN(3), maybe(r, float64(r.IntN(4))/2), maybe(r, r.IntN(3)))
}

func tableCase(c func(op.TableSpec) exec.Operator, s sqltype.Schema, omitBefore bool, key ...int) exectest.Case {
	return exectest.Case{
		New: func() (exec.Operator, error) {
			return c(op.TableSpec{Types: s.Types(), Key: key, OmitBefore: omitBefore}), nil
		},
		Kinds: [][]vector.Kind{s.Kinds()},
	}
}

func normalize(s op.TableSpec) exec.Operator   { return op.NewNormalize(s) }
func materialize(s op.TableSpec) exec.Operator { return op.NewMaterialize(s, op.KeepLast) }
func consolidate(s op.TableSpec) exec.Operator { return op.NewConsolidate(s) }

func TestNormalizeReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			table := map[string]string{}
			var want []exectest.Table
			in := make(script, 8)
			for e := range in {
				for range r.IntN(40) {
					row := tableRow(r, 12)
					key := strings.Fields(row)[0]
					if r.IntN(3) == 0 {
						row = key + " NULL NULL NULL 0 NULL NULL"
						in[e] = append(in[e], "-D "+row)
						delete(table, key)
						continue
					}
					in[e] = append(in[e], pick(r, "+I ", "+U ")+row)
					table[key] = row
				}
				now := exectest.Table{}
				for _, row := range table {
					now.Add(row)
				}
				want = append(want, now)
			}
			c := tableCase(normalize, tableInput, false, 0)
			c.Events, c.NotNull = events(r, in), [][]int{{0, 4}}
			got := exectest.Run(t, c)
			for e := range want {
				if diff := got.Epochs[e].Table.Diff(want[e]); diff != "" {
					t.Fatalf("after epoch %d the table differs by%s", e+1, diff)
				}
				checkChangelog(t, got.Epochs[e].Changes, 1)
			}
		})
	}
}

func TestNormalizeChangelog(t *testing.T) {
	t.Parallel()
	s := schema("v bigint", "k string", "w bigint")
	c := tableCase(normalize, s, false, 1)
	c.KeepNulls = true
	c.Events = []exectest.Event{
		exectest.Rows(0, "+U 1 a 10", "+I 2 b NULL"), exectest.Mark(),
		exectest.Rows(0, "+I 3 a 10", "+U 2 b NULL", "-D NULL c NULL"), exectest.Mark(),
		exectest.Rows(0, "-U 3 a 10", "+U 3 a 11"), exectest.Mark(),
		exectest.Rows(0, "-D NULL a NULL", "-D 2 b 99"), exectest.Mark(),
		exectest.Rows(0, "+U 1 a 10", "-D 1 a 10"), exectest.Mark(),
	}
	got := exectest.Run(t, c)
	changesEqual(t, got.Epochs[0].Changes, "+I 1 a 10", "+I 2 b NULL")
	changesEqual(t, got.Epochs[1].Changes, "-U 1 a 10", "+U 3 a 10")
	changesEqual(t, got.Epochs[2].Changes, "-U 3 a 10", "+U 3 a 11")
	changesEqual(t, got.Epochs[3].Changes, "-D 3 a 11", "-D 2 b NULL")
	changesEqual(t, got.Epochs[4].Changes)
}

// TestNormalizeManyNulls has more columns than a word of NULL bits.
func TestNormalizeManyNulls(t *testing.T) {
	t.Parallel()
	cols := []string{"k bigint"}
	for i := range 70 {
		cols = append(cols, fmt.Sprintf("c%d tiny", i))
	}
	s := schema(cols...)
	r := rand.New(rand.NewPCG(1, 1))
	row := func(k int) string {
		out := fmt.Sprint(k)
		for range 70 {
			out += " " + maybe(r, r.IntN(3))
		}
		return out
	}
	a, b, other := row(1), row(1), row(2)
	c := tableCase(normalize, s, true, 0)
	c.KeepNulls = true
	c.Events = []exectest.Event{exectest.Rows(0, "+I "+a, "+I "+other), exectest.Mark(), exectest.Rows(0, "+U "+b), exectest.Mark(), exectest.Rows(0, "-D "+b)}
	changesEqual(t, exectest.Run(t, c).Changes(), "+I "+a, "+I "+other, "+U "+b, "-D "+b)
}

// materialized is the reference: the rows of each key in the order of their last
// additions.
type materialized map[string][]string

func (m materialized) apply(changes []string) {
	for _, adds := range []bool{false, true} { // removals first
		for _, c := range changes {
			kind, row, _ := strings.Cut(c, " ")
			k, _ := vector.ParseRowKind(kind)
			if k.Adds() != adds {
				continue
			}
			key := strings.Fields(row)[0]
			if adds {
				m[key] = append(m[key], row)
				continue
			}
			for i, old := range m[key] {
				if old == row {
					m[key] = append(m[key][:i:i], m[key][i+1:]...)
					break
				}
			}
		}
	}
}

func (m materialized) table() exectest.Table {
	out := exectest.Table{}
	for _, rows := range m {
		if len(rows) > 0 {
			out.Add(rows[len(rows)-1])
		}
	}
	return out
}

func TestMaterializeReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 4))
			in := updates(r, 10, 30, func() string { return tableRow(r, 4) })
			for e := range in { // no row comes back in the epoch in which it goes: the order would decide
				in[e] = net(in[e])
			}
			c := tableCase(materialize, tableInput, false, 0)
			c.Events = events(r, in)
			got := exectest.Run(t, c)
			ref := materialized{}
			for e := range in {
				ref.apply(in[e])
				if diff := got.Epochs[e].Table.Diff(ref.table()); diff != "" {
					t.Fatalf("after epoch %d the table differs by%s", e+1, diff)
				}
				checkChangelog(t, got.Epochs[e].Changes, 1)
			}
		})
	}
}

// net drops the changes of rows that are both added and taken away.
func net(changes []string) []string {
	table := exectest.NewTable(changes...)
	var out []string
	for _, c := range changes {
		kind, row, _ := strings.Cut(c, " ")
		k, _ := vector.ParseRowKind(kind)
		if n := table[row]; n != 0 && (n > 0) == k.Adds() {
			table[row] -= int(k.Sign())
			out = append(out, c)
		}
	}
	return out
}

func TestMaterializeChangelog(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint")
	c := tableCase(materialize, s, true, 0)
	c.KeepNulls = true
	c.Events = []exectest.Event{
		exectest.Rows(0, "+I a 1", "+I b 1"), exectest.Mark(),
		exectest.Rows(0, "+I a 2"), exectest.Mark(),
		exectest.Rows(0, "+I a 0"), exectest.Mark(),
		exectest.Rows(0, "+I a 1", "-D a 1"), exectest.Mark(), // added last once more
		exectest.Rows(0, "-D a 2"), exectest.Mark(), // not the one that stands for a
		exectest.Rows(0, "-U a 1"), exectest.Mark(),
		exectest.Rows(0, "+U c 5", "-D a 0", "-D c 5"), exectest.Mark(),
		exectest.Rows(0, "-U b 1", "+U b 1"), exectest.Mark(),
	}
	got := exectest.Run(t, c)
	changesEqual(t, got.Changes(), "+I a 1", "+I b 1", "+U a 2", "+U a 0", "+U a 1", "+U a 0", "-D a 0")

	c.Events = []exectest.Event{exectest.Rows(0, "-D a 1"), exectest.Mark(), exectest.Rows(0, "+I a 1")}
	if got := exectest.Run(t, c); got.Inconsistent != 1 || len(got.Changes()) != 0 {
		t.Errorf("%d inconsistencies, %q", got.Inconsistent, got.Changes())
	}
}

func TestConsolidate(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint")
	rows := []exectest.Event{
		exectest.Rows(0, "+I a 1", "+I b 1", "+I a 1"), exectest.Mark(),
		exectest.Rows(0, "+U a 3", "-U a 2", "+U a 2", "-U a 1"), exectest.Mark(),
		exectest.Rows(0, "-U b 1", "+I c 1", "-D c 1"), exectest.Mark(),
	}
	c := tableCase(consolidate, s, false)
	c.Events, c.KeepNulls = rows, true
	got := exectest.Run(t, c)
	changesEqual(t, got.Epochs[0].Changes, "+I a 1", "+I a 1", "+I b 1")
	changesEqual(t, got.Epochs[1].Changes, "-U a 1", "+U a 3")
	changesEqual(t, got.Epochs[2].Changes, "-U b 1")

	rows[0] = exectest.Rows(0, "+I a 1", "+I b 1")
	c = tableCase(consolidate, s, false, 0)
	c.Events, c.KeepNulls = rows, true
	got = exectest.Run(t, c)
	changesEqual(t, got.Epochs[0].Changes, "+I a 1", "+I b 1")
	changesEqual(t, got.Epochs[1].Changes, "-U a 1", "+U a 3")
	changesEqual(t, got.Epochs[2].Changes, "-D b 1")

	c = tableCase(consolidate, s, true, 0)
	c.Events, c.KeepNulls = rows, true
	got = exectest.Run(t, c)
	changesEqual(t, got.Epochs[1].Changes, "+U a 3")
	changesEqual(t, got.Epochs[2].Changes, "-D b 1")
}

func TestConsolidateReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 5))
		in := updates(r, 6, 60, func() string { return tableRow(r, 2) })
		c := tableCase(consolidate, tableInput, false)
		c.Events = events(r, in)
		got := exectest.Run(t, c)
		for e := range in {
			want := exectest.NewTable(in[e]...)
			if diff := got.Epochs[e].Net.Diff(want); diff != "" {
				t.Fatalf("seed %d: the changes of epoch %d differ by%s", seed, e+1, diff)
			}
			n := 0
			for _, k := range want {
				n += max(k, -k)
			}
			if len(got.Epochs[e].Changes) != n {
				t.Errorf("seed %d: %d changes, want %d", seed, len(got.Epochs[e].Changes), n)
			}
		}
	}
}

func TestMaterializeFirst(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint")
	first := func(s op.TableSpec) exec.Operator { return op.NewMaterialize(s, op.KeepFirst) }
	c := tableCase(first, s, false, 0)
	c.KeepNulls = true
	c.Events = []exectest.Event{
		exectest.Rows(0, "+I a 1", "+I b 1"), exectest.Mark(),
		exectest.Rows(0, "+I a 2", "+I a 1"), exectest.Mark(), // neither is the first
		exectest.Rows(0, "-D a 1"), exectest.Mark(), // it is still there once
		exectest.Rows(0, "-U a 1", "+U a 3"), exectest.Mark(),
		exectest.Rows(0, "-D a 3", "-D a 2", "-D b 1"), exectest.Mark(),
	}
	got := exectest.Run(t, c)
	changesEqual(t, got.Changes(), "+I a 1", "+I b 1", "-U a 1", "+U a 2", "-D a 2", "-D b 1")
}

func TestMaterializeOnly(t *testing.T) {
	t.Parallel()
	s := schema("k string", "v bigint")
	only := func(s op.TableSpec) exec.Operator { return op.NewMaterialize(s, op.KeepOnly) }
	c := tableCase(only, s, false, 0)
	c.KeepNulls = true
	c.Events = []exectest.Event{
		exectest.Rows(0, "+I a 1", "+I b 1", "+I a 1"), exectest.Mark(), // equal rows do not conflict
		exectest.Rows(0, "+U a 2", "-U a 1", "-U a 1"), exectest.Mark(),
	}
	changesEqual(t, exectest.Run(t, c).Changes(), "+I a 1", "+I b 1", "-U a 1", "+U a 2")
	_, err := drive(t, c, "+I a 1", "+I b 1", "+I a 2")
	if errs.CodeOf(err) != errs.Data || !strings.Contains(err.Error(), "the primary key (a)") {
		t.Error(err)
	}
}
