package op_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gofunction "github.com/weirdb/weir/engine/function"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// balance sums v*w, encoded as JSON.
type balance struct{ Sum, Rows int64 }

func (b *balance) Accumulate(r gofunction.Row) error {
	b.Sum += r.Int(0) * r.Int(1)
	b.Rows++
	return nil
}

func (b *balance) Retract(r gofunction.Row) error { b.Sum -= r.Int(0) * r.Int(1); b.Rows--; return nil }

func (b *balance) Value() (any, error) {
	if b.Rows == 0 {
		return nil, nil
	}
	return b.Sum, nil
}

// nulls counts rows and NULLs among them, encoded in its own way: no rows at all
// are no bytes.
type nulls struct{ rows, nulls int64 }

func (n *nulls) add(r gofunction.Row, sign int64) error {
	if n.rows += sign; r.IsNull(0) {
		n.nulls += sign
	}
	return nil
}

func (n *nulls) Accumulate(r gofunction.Row) error { return n.add(r, 1) }
func (n *nulls) Retract(r gofunction.Row) error    { return n.add(r, -1) }
func (n *nulls) Value() (any, error)               { return fmt.Sprintf("%d/%d", n.nulls, n.rows), nil }

func (n *nulls) MarshalBinary() ([]byte, error) {
	if *n == (nulls{}) {
		return nil, nil
	}
	return binary.AppendVarint(binary.AppendVarint(nil, n.rows), n.nulls), nil
}

func (n *nulls) UnmarshalBinary(b []byte) error {
	if len(b) > 0 {
		var at int
		n.rows, at = binary.Varint(b)
		n.nulls, _ = binary.Varint(b[at:])
	}
	return nil
}

// failing fails when it sees a negative number, and panics when it sees 0.
type failing struct{}

func (*failing) Accumulate(r gofunction.Row) error {
	if r.Int(0) < 0 {
		return errors.New("it is negative")
	}
	_ = 1 / r.Int(0)
	return nil
}
func (*failing) Value() (any, error) { return "all is well", nil }

func goCall(t testing.TB, f *gofunction.AggregateFunction, distinct bool, filter expr.Expr, args ...expr.Expr) *expr.Aggregate {
	t.Helper()
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	a, err := expr.NewAggregate(function.NewGoAggregate(f), errs.Position{Line: 1, Column: 8}, distinct, filter, args...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var (
	balanceFunction = &gofunction.AggregateFunction{
		Name: "balance", Args: []sqltype.Type{sqltype.BigIntType, sqltype.BigIntType}, Returns: sqltype.BigIntType,
		Create: func() gofunction.Accumulator { return &balance{} },
	}
	sumOnce = &gofunction.AggregateFunction{
		Name: "sum_once", Args: []sqltype.Type{sqltype.BigIntType}, Variadic: true, Returns: sqltype.BigIntType,
		Create: func() gofunction.Accumulator { return &square{} },
	}
	nullsFunction = &gofunction.AggregateFunction{
		Name: "nulls", Args: []sqltype.Type{sqltype.StringType}, Returns: sqltype.StringType, CalledOnNull: true,
		Create: func() gofunction.Accumulator { return &nulls{} },
	}
	failingFunction = &gofunction.AggregateFunction{
		Name: "failing", Args: []sqltype.Type{sqltype.BigIntType}, Returns: sqltype.BigIntType,
		Create: func() gofunction.Accumulator { return &failing{} },
	}
)

// square sums its only argument.
type square struct{ Sum int64 }

func (s *square) Accumulate(r gofunction.Row) error { s.Sum += r.Int(0); return nil }
func (s *square) Retract(r gofunction.Row) error    { s.Sum -= r.Int(0); return nil }
func (s *square) Value() (any, error)               { return s.Sum, nil }

// TestGoAggregate checks functions written in Go against sums made by hand, and that
// their accumulators outlive eviction and restarts.
func TestGoAggregate(t *testing.T) {
	in := schema("k bigint", "s string", "v bigint", "flag bool")
	flag := column(in, "flag")
	for _, updating := range []bool{false, true} {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 7))
			var events []exectest.Event
			live := map[string]int{}
			for range 4 {
				var rows []string
				for range 30 {
					row := fmt.Sprintf("%s %s %s %t", maybe(r, r.IntN(3)), maybe(r, r.IntN(3)), maybe(r, r.IntN(5)), r.IntN(2) == 0)
					if updating && r.IntN(3) == 0 {
						if old := slices.Sorted(maps.Keys(live)); len(old) > 0 {
							row = old[r.IntN(len(old))]
							live[row]--
							rows = append(rows, "-D "+row)
							if live[row] == 0 {
								delete(live, row)
							}
							continue
						}
					}
					live[row]++
					rows = append(rows, "+I "+row)
				}
				events = append(events, exectest.Rows(0, rows...), exectest.Mark())
			}
			res := exectest.Run(t, exectest.Case{
				New: func() (exec.Operator, error) {
					return op.NewAggregate(op.AggregateSpec{Input: in.Types(), Keys: []int{0}, Updating: updating, Calls: []*expr.Aggregate{
						goCall(t, balanceFunction, false, nil, column(in, "v"), column(in, "k")),
						goCall(t, balanceFunction, false, flag, column(in, "v"), integer(2)),
						goCall(t, nullsFunction, false, nil, column(in, "s")),
						goCall(t, sumOnce, true, nil, column(in, "v")),
						aggregate("COUNT", false, nil),
					}})
				},
				Kinds: [][]vector.Kind{in.Kinds()}, Events: events,
			})
			want := exectest.NewTable()
			for k, rows := range groupsOf(live) {
				want.Add("+I " + k + " " + byHand(k, rows))
			}
			if diff := res.Last().Table.Diff(want); diff != "" {
				t.Fatalf("updating %t, seed %d:\n%s", updating, seed, diff)
			}
		}
	}
}

func groupsOf(live map[string]int) map[string][][]string {
	out := map[string][][]string{}
	for _, row := range rowsOf(live) {
		out[row[0]] = append(out[row[0]], row)
	}
	return out
}

// byHand are the results for the rows of a key.
func byHand(k string, rows [][]string) string {
	number := func(s string) (n int64) { fmt.Sscan(s, &n); return n }
	var sum, times, filtered, passed, nulls, once int64
	seen := map[string]bool{}
	for _, r := range rows {
		if r[1] == "NULL" {
			nulls++
		}
		if r[2] == "NULL" {
			continue
		}
		v := number(r[2])
		if k != "NULL" {
			sum += v * number(k)
			times++
		}
		if r[3] == "true" {
			filtered += 2 * v
			passed++
		}
		if !seen[r[2]] {
			seen[r[2]] = true
			once += v
		}
	}
	or := func(v, n int64) string {
		if n == 0 {
			return "NULL"
		}
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%s %s %d/%d %d %d", or(sum, times), or(filtered, passed), nulls, len(rows), once, len(rows))
}

func TestGoAggregateErrors(t *testing.T) {
	in := schema("v bigint")
	for row, want := range map[string]string{
		"+I -1": "line 1:8: function failing: it is negative",
		"+I 0":  "line 1:8: function failing panicked: panic: runtime error: integer divide by zero; the cause has the stack",
		"+I 1":  "line 1:8: function failing: the result all is well of Go's type string does not fit BIGINT",
	} {
		_, err := drive(t, exectest.Case{
			New: func() (exec.Operator, error) {
				return op.NewAggregate(op.AggregateSpec{Input: in.Types(), Calls: []*expr.Aggregate{goCall(t, failingFunction, false, nil, column(in, "v"))}})
			},
			Kinds: [][]vector.Kind{in.Kinds()},
		}, row)
		if err == nil || err.Error() != want || errs.CodeOf(err) != errs.Function {
			t.Errorf("%s: %v, want %s", row, err, want)
		}
		var p *gofunction.Panic
		if errors.As(err, &p) != strings.Contains(want, "panic") {
			t.Errorf("%s: the cause is %v", row, p)
		}
	}
}
