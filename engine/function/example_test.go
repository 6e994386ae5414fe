package function_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// print shows the changelog of a query, row by row.
func print(functions []function.Function, sql string) {
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Config{Parallelism: 1, BatchSize: 1, Functions: functions})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	q, err := e.ExecuteSQL(ctx, sql)
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		b, err := q.Changelog().Next(ctx)
		if err != nil {
			if err != io.EOF {
				fmt.Println(err)
			}
			return
		}
		for i := range b.Len() {
			r := b.Row(i)
			fmt.Print(b.Kind(r))
			for c := range b.Cols() {
				if b.Col(c).IsNull(r) {
					fmt.Print(" NULL")
				} else {
					fmt.Print(" ", b.Col(c).Text(r))
				}
			}
			fmt.Println()
		}
		b.Release()
	}
}

// A scalar function of each row, the short way.
func ExampleScalarFunction() {
	countChar := &function.ScalarFunction{
		Name:    "count_char",
		Doc:     "how often a character occurs in a string",
		Args:    []sqltype.Type{sqltype.StringType, sqltype.StringType},
		Returns: sqltype.StringType.Required(),
		Eval: function.EachRow(func(row function.Row) (any, error) {
			return fmt.Sprint(strings.Count(row.Text(0), row.Text(1))), nil
		}),
	}
	print([]function.Function{countChar}, "SELECT s, count_char(s, 'a') FROM (VALUES ('banana'), ('kiwi'), (CAST(NULL AS STRING))) AS t(s)")
	// Output:
	// +I banana 3
	// +I kiwi 0
	// +I NULL NULL
}

// A scalar function that computes whole batches: the loop has no calls and
// allocates nothing for a row.
func ExampleScalarFunction_batch() {
	celsius := &function.ScalarFunction{
		Name:    "celsius",
		Args:    []sqltype.Type{sqltype.DoubleType},
		Returns: sqltype.DoubleType,
		Eval: func(c *function.Call) (*vector.Vector, error) {
			out := c.Pool.New(vector.Float64, c.N)
			to, from := vector.Values[float64](out), vector.Values[float64](c.Args[0])
			for i, f := range from {
				to[i] = (f - 32) / 1.8
			}
			return out, nil
		},
	}
	print([]function.Function{celsius}, "SELECT CAST(celsius(f) AS STRING) FROM (VALUES (212), (32)) AS t(f)")
	// Output:
	// +I 100.0
	// +I 0.0
}

// weighted is the accumulator of a weighted mean. Its fields are exported, so state
// keeps them.
type weighted struct{ Sum, Weight int64 }

func (w *weighted) Accumulate(row function.Row) error {
	w.Sum += row.Int(0) * row.Int(1)
	w.Weight += row.Int(1)
	return nil
}

func (w *weighted) Retract(row function.Row) error {
	w.Sum -= row.Int(0) * row.Int(1)
	w.Weight -= row.Int(1)
	return nil
}

func (w *weighted) Value() (any, error) {
	if w.Weight == 0 {
		return nil, nil
	}
	return fmt.Sprint(w.Sum / w.Weight), nil
}

// An aggregate function with a typed accumulator that can take rows away.
func ExampleAggregateFunction() {
	mean := &function.AggregateFunction{
		Name:    "weighted_mean",
		Args:    []sqltype.Type{sqltype.BigIntType, sqltype.BigIntType},
		Returns: sqltype.StringType,
		Create:  func() function.Accumulator { return &weighted{} },
	}
	print([]function.Function{mean}, `
		SELECT weighted_mean(points, n) FROM (
			SELECT player, MAX(points) AS points, COUNT(*) AS n
			FROM (VALUES ('ann', 10), ('bob', 20), ('ann', 50)) AS games(player, points)
			GROUP BY player)`)
	// Output:
	// +I 10
	// -U 10
	// +U 15
	// -U 15
	// +U 40
}

// longest cannot take a string away: it has forgotten the second longest.
type longest struct{ Text string }

func (l *longest) Accumulate(row function.Row) error {
	if s := row.Text(0); len(s) > len(l.Text) {
		l.Text = s
	}
	return nil
}

func (l *longest) Value() (any, error) { return l.Text, nil }

// An accumulator without Retract is refused where rows are taken away.
func ExampleAccumulator() {
	f := &function.AggregateFunction{
		Name:    "longest",
		Args:    []sqltype.Type{sqltype.StringType},
		Returns: sqltype.StringType,
		Create:  func() function.Accumulator { return &longest{} },
	}
	print([]function.Function{f}, "SELECT longest(s) FROM (SELECT MAX(s) AS s FROM (VALUES ('a', 1)) AS t(s, k) GROUP BY k)")
	// Output:
	// line 1:8: longest cannot take rows away, but GROUP BY k (line 1:87) updates its results; give its accumulator a method Retract, or aggregate rows that are only added
}
