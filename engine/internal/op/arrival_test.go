package op_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var arrivalInput = schema("k bigint", "s string", "v bigint")

func arrivalCalls() []*expr.Aggregate {
	s, v := column(arrivalInput, "s"), column(arrivalInput, "v")
	list := aggregate("LISTAGG", false, nil, s)
	list.Args = append(list.Args, &expr.Literal{Value: "; ", T: sqltype.StringType.Required()})
	return []*expr.Aggregate{
		aggregate("FIRST_VALUE", false, nil, v),
		aggregate("LAST_VALUE", false, nil, v),
		aggregate("FIRST_VALUE", false, nil, s),
		aggregate("LAST_VALUE", false, nil, s),
		aggregate("LISTAGG", false, nil, s),
		list,
		aggregate("LISTAGG", true, nil, s),
	}
}

// arrived is the reference: by key the number of rows, and the values of each column
// in the order in which they came.
type arrived map[string]*arrivedGroup

type arrivedGroup struct {
	rows   int
	values [3][]string
}

func (a arrived) apply(changes []string) {
	for _, adds := range []bool{true, false} { // what goes was there, or comes in the epoch
		for _, c := range changes {
			kind, row, _ := strings.Cut(c, " ")
			if k, _ := vector.ParseRowKind(kind); k.Adds() != adds {
				continue
			}
			cells := strings.Fields(row)
			g := a[cells[0]]
			if g == nil {
				g = &arrivedGroup{}
				a[cells[0]] = g
			}
			for col, v := range cells {
				i := slices.Index(g.values[col], v)
				switch {
				case v == "NULL":
				case adds:
					g.values[col] = append(g.values[col], v)
				default:
					g.values[col] = slices.Delete(g.values[col], i, i+1)
				}
			}
			if adds {
				g.rows++
			} else {
				g.rows--
			}
		}
	}
}

func (a arrived) table(distinct bool) exectest.Table {
	out := exectest.Table{}
	for key, g := range a {
		if g.rows == 0 {
			continue
		}
		row := []string{key}
		for _, col := range []int{2, 1} {
			if vals := g.values[col]; len(vals) > 0 {
				row = append(row, vals[0], vals[len(vals)-1])
			} else {
				row = append(row, "NULL", "NULL")
			}
		}
		list := func(vals []string, by string) string {
			switch text := strings.Join(vals, by); {
			case len(vals) == 0:
				return "NULL"
			case strings.Contains(text, " "):
				return "'" + text + "'"
			default:
				return text
			}
		}
		vals := g.values[1]
		row = append(row, list(vals, ","), list(vals, "; "))
		if distinct {
			var once []string
			for _, v := range vals {
				if !slices.Contains(once, v) {
					once = append(once, v)
				}
			}
			row = append(row, list(once, ","))
		}
		out.Add("+I " + strings.Join(row, " "))
	}
	return out
}

func TestArrivalReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		updating := seed%2 == 1
		t.Run(fmt.Sprintf("seed=%d/updating=%t", seed, updating), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 8))
			row := func() string {
				return fmt.Sprintf("%s %s %s", maybe(r, r.IntN(3)), maybe(r, pick(r, "a", "b", "cc")), maybe(r, r.IntN(4)))
			}
			in, calls := appends(r, 6, 20, row), arrivalCalls()
			if updating {
				// Which of several rows a value came from first, the values do not say.
				in, calls = updates(r, 8, 30, row), calls[:6]
			}
			c := newAggregate(t, arrivalInput, []int{0}, updating, false, calls...)
			c.Events = events(r, in)
			got := exectest.Run(t, c)
			ref := arrived{}
			for e := range in {
				ref.apply(in[e])
				if diff := got.Epochs[e].Table.Diff(ref.table(!updating)); diff != "" {
					t.Fatalf("after epoch %d the groups differ by%s", e+1, diff)
				}
				checkNoUpdateToItself(t, got.Epochs[e].Changes)
			}
			if got.Inconsistent != 0 {
				t.Errorf("%d inconsistencies in a consistent input", got.Inconsistent)
			}
		})
	}
}

// checkNoUpdateToItself checks that no change takes back what another adds.
func checkNoUpdateToItself(t *testing.T, changes []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range changes {
		if seen[c[2:]] {
			t.Fatalf("%q is taken away and added: %q", c[2:], changes)
		}
		seen[c[2:]] = true
	}
}

func TestArrivalChangelog(t *testing.T) {
	t.Parallel()
	c := newAggregate(t, arrivalInput, []int{0}, true, false, arrivalCalls()...)
	c.KeepNulls = true
	c.Events = []exectest.Event{
		exectest.Rows(0, "1 a 1", "1 b 2", "1 a 3"), exectest.Mark(),
		exectest.Rows(0, "-D 1 a 1"), exectest.Mark(),
		exectest.Rows(0, "-D 1 a 3", "-D 1 b 2", "1 NULL NULL"), exectest.Mark(),
		exectest.Rows(0, "-D 1 c 5"), exectest.Mark(), // it comes later
		exectest.Rows(0, "1 c 5", "1 d 6"), exectest.Mark(),
		exectest.Rows(0, "-D 1 d 6", "-D 1 NULL NULL"), exectest.Mark(),
	}
	got := exectest.Run(t, c)
	changesEqual(t, got.Epochs[0].Changes, "+I 1 1 3 a a a,b,a 'a; b; a' a,b")
	changesEqual(t, got.Epochs[1].Changes, "-U 1 1 3 a a a,b,a 'a; b; a' a,b", "+U 1 2 3 b a b,a 'b; a' a,b")
	changesEqual(t, got.Epochs[2].Changes, "-U 1 2 3 b a b,a 'b; a' a,b", "+U 1 NULL NULL NULL NULL NULL NULL NULL")
	changesEqual(t, got.Epochs[5].Changes, "-D 1 6 6 d d d d d")
	if got.Inconsistent == 0 {
		t.Error("no inconsistency")
	}
}
