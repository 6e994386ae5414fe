package op_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Rows of the tests are text, as package exectest has them, without quotes.

// script is the input of one port: the rows of each epoch.
type script [][]string

// appends is a script of inserts.
func appends(r *rand.Rand, epochs, rows int, row func() string) script {
	s := make(script, epochs)
	for e := range s {
		for range r.IntN(rows + 1) {
			s[e] = append(s[e], "+I "+row())
		}
	}
	return s
}

// updates is a script in which rows are added and taken away. Within an epoch a
// removal may come before the addition that it takes back.
func updates(r *rand.Rand, epochs, rows int, row func() string) script {
	s := make(script, epochs)
	var live []string
	for e := range s {
		for range r.IntN(rows + 1) {
			if len(live) > 0 && r.IntN(5) < 2 {
				i := r.IntN(len(live))
				s[e] = append(s[e], [...]string{"-D ", "-U "}[r.IntN(2)]+live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
				continue
			}
			row := row()
			s[e] = append(s[e], [...]string{"+I ", "+U "}[r.IntN(2)]+row)
			live = append(live, row)
		}
		r.Shuffle(len(s[e]), func(i, j int) { s[e][i], s[e][j] = s[e][j], s[e][i] })
	}
	return s
}

// pick is one of several values at random.
func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// maybe is v, or NULL one time in five.
func maybe(r *rand.Rand, v any) string {
	if r.IntN(5) == 0 {
		return "NULL"
	}
	return fmt.Sprint(v)
}

// schema is a schema from "name TYPE" declarations in the tests' short forms.
func schema(cols ...string) sqltype.Schema {
	types := map[string]sqltype.Type{
		"bool": sqltype.BoolType, "tiny": sqltype.TinyType, "int": sqltype.IntType, "bigint": sqltype.BigIntType,
		"float": sqltype.FloatType, "double": sqltype.DoubleType, "string": sqltype.StringType, "date": sqltype.DateType,
		"timestamp": sqltype.TimestampOf(3), "decimal": sqltype.DecimalOf(10, 2),
	}
	var s sqltype.Schema
	for _, c := range cols {
		name, t, _ := strings.Cut(c, " ")
		t, required := strings.CutSuffix(t, "!")
		typ, ok := types[t]
		if !ok {
			panic("no type " + t)
		}
		typ.NotNull = required
		s = append(s, sqltype.Column{Name: name, Type: typ})
	}
	return s
}

// column is a reference to the column of s called name.
func column(s sqltype.Schema, name string) expr.Expr {
	return expr.NewColumn(s, s.Index(name), errs.Position{})
}

func integer(n int64) expr.Expr { return &expr.Literal{Value: n, T: sqltype.BigIntType.Required()} }

// apply calls a function or operator by name.
func apply(name string, args ...expr.Expr) expr.Expr {
	e, err := expr.Apply(name, errs.Position{}, args...)
	if err != nil {
		panic(err)
	}
	return e
}

// aggregate is a call of an aggregate function; args has at most one element.
func aggregate(name string, distinct bool, filter expr.Expr, args ...expr.Expr) *expr.Aggregate {
	f, ok := function.LookupAggregate(name)
	if !ok {
		panic("no aggregate " + name)
	}
	a, err := expr.NewAggregate(f, errs.Position{}, distinct, filter, args...)
	if err != nil {
		panic(err)
	}
	return a
}

// rowsOf lists the rows of a table as values, each as often as it is there.
func rowsOf(table map[string]int) [][]string {
	var out [][]string
	for row, n := range table {
		for range n {
			out = append(out, strings.Fields(row))
		}
	}
	return out
}

// inputCase is a case of an operator with one input.
func inputCase(in sqltype.Schema, o func() exec.Operator, events []exectest.Event) exectest.Case {
	return exectest.Case{
		New:       func() (exec.Operator, error) { return o(), nil },
		Kinds:     [][]vector.Kind{in.Kinds()},
		Events:    events,
		KeepNulls: true,
	}
}

// checkEpoch compares what is there after epoch e with rows, and looks at its changes.
func checkEpoch(t *testing.T, got *exectest.Result, e int, want []string) {
	t.Helper()
	if diff := got.Epochs[e].Table.Diff(exectest.NewTable(want...)); diff != "" {
		t.Fatalf("after epoch %d the table differs by%s", e+1, diff)
	}
	checkNet(t, got.Epochs[e])
}
