package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// functions are those that cases describe in words and call by these names.
func functions() []function.Function {
	str, integer, big, ts := sqltype.StringType, sqltype.IntType, sqltype.BigIntType, sqltype.TimestampOf(3)
	return []function.Function{
		scalar("double_negative", big, func(r function.Row) (any, error) { return -2 * r.Int(0), nil }, big),
		scalar("udf1", big.Required(), func(r function.Row) (any, error) { return r.Int(0) + 1, nil }, big),
		&function.ScalarFunction{
			Name: "udf2", Args: []sqltype.Type{integer, integer, ts}, Returns: str, CalledOnNull: true,
			Eval: function.EachRow(func(r function.Row) (any, error) {
				words := []string{"null", "null", "null"}
				for i := range words {
					switch v := r.Value(i).(type) {
					case int64:
						words[i] = fmt.Sprint(v)
					case time.Time:
						words[i] = fmt.Sprint(v.UnixMilli())
					}
				}
				return strings.Join(words, " and "), nil
			}),
		},
		&function.ScalarFunction{
			Name: "udf3", Args: []sqltype.Type{str, integer}, Variadic: true, Returns: str,
			Eval: function.EachRow(func(r function.Row) (any, error) {
				product := int64(1)
				for i := 1; i < r.Len(); i++ {
					product *= r.Int(i)
				}
				return r.Text(0) + fmt.Sprint(product), nil
			}),
		},
		scalar("udf4", str, func(r function.Row) (any, error) { return "$" + r.Text(0), nil }, str),
		scalar("udf5", ts, func(r function.Row) (any, error) {
			return r.Time(0).Add(-time.Duration(r.Int(1)) * time.Millisecond), nil
		}, ts, integer),
		scalar("count_char", integer, func(r function.Row) (any, error) {
			return strings.Count(r.Text(0), r.Text(1)), nil
		}, str, str),
		aggregate("my_avg", big, func() function.Accumulator { return &weightedMean{} }, big, integer),
		aggregate("my_concat", str, func() function.Accumulator { return &distinctList{} }, str),
		variadic("my_sum1", func() function.Accumulator { return &sum{} }),
		variadic("my_sum2", func() function.Accumulator { return &nothing{} }),
		aggregate("LTCNT", big, func() function.Accumulator { return &largerCount{} }, big, big),
	}
}

func scalar(name string, returns sqltype.Type, f func(function.Row) (any, error), args ...sqltype.Type) function.Function {
	return &function.ScalarFunction{Name: name, Args: args, Returns: returns, Eval: function.EachRow(f)}
}

func aggregate(name string, returns sqltype.Type, create func() function.Accumulator, args ...sqltype.Type) function.Function {
	return &function.AggregateFunction{Name: name, Args: args, Returns: returns, Create: create}
}

// variadic is an aggregate of any number of INT, NULL among them, to a BIGINT.
func variadic(name string, create func() function.Accumulator) function.Function {
	return &function.AggregateFunction{
		Name: name, Args: []sqltype.Type{sqltype.IntType}, Variadic: true, Returns: sqltype.BigIntType, CalledOnNull: true, Create: create,
	}
}

const temporalTableFunction = "temporal_table_function"

// functions are the case's own. One of a kind that the engine does not have, or
// that nobody has written yet, is a reason to skip the case.
func (c *Case) functions() ([]function.Function, error) {
	known := functions()
	var out []function.Function
	for _, want := range c.Functions {
		if want.Kind == temporalTableFunction {
			continue // it is made when there are tables
		}
		if want.Kind != "scalar" && want.Kind != "aggregate" {
			return nil, skip("user-defined function (" + want.Kind + ")")
		}
		i := slices.IndexFunc(known, func(f function.Function) bool { return f.Signature().Name == want.Name })
		if i < 0 {
			return nil, skip("the case's function " + want.Name)
		}
		out = append(out, known[i])
	}
	return out, nil
}

// weightedMean is the sum of v*w by the sum of w, truncated.
type weightedMean struct{ Sum, Weight int64 }

func (m *weightedMean) add(r function.Row, sign int64) error {
	m.Sum += sign * r.Int(0) * r.Int(1)
	m.Weight += sign * r.Int(1)
	return nil
}

func (m *weightedMean) Accumulate(r function.Row) error { return m.add(r, 1) }
func (m *weightedMean) Retract(r function.Row) error    { return m.add(r, -1) }

func (m *weightedMean) Merge(other function.Accumulator) error {
	o := other.(*weightedMean)
	m.Sum, m.Weight = m.Sum+o.Sum, m.Weight+o.Weight
	return nil
}

func (m *weightedMean) Value() (any, error) {
	if m.Weight == 0 {
		return nil, nil
	}
	return m.Sum / m.Weight, nil
}

// distinctList is the different strings in the order in which they came.
type distinctList struct{ Texts []string }

func (l *distinctList) Accumulate(r function.Row) error {
	if s := r.Text(0); !slices.Contains(l.Texts, s) {
		l.Texts = append(l.Texts, s)
	}
	return nil
}

func (l *distinctList) Value() (any, error) {
	if len(l.Texts) == 0 {
		return nil, nil
	}
	return strings.Join(l.Texts, "|"), nil
}

// sum is the sum of all arguments of all rows.
type sum struct{ Sum int64 }

func (s *sum) Accumulate(r function.Row) error {
	for i := range r.Len() {
		if !r.IsNull(i) {
			s.Sum += r.Int(i)
		}
	}
	return nil
}

func (s *sum) Value() (any, error) { return s.Sum, nil }

// nothing is 0 whatever it sees.
type nothing struct{}

func (*nothing) Accumulate(function.Row) error { return nil }
func (*nothing) Retract(function.Row) error    { return nil }
func (*nothing) Value() (any, error)           { return 0, nil }

// largerCount counts the rows with a > b.
type largerCount struct{ Rows int64 }

func (l *largerCount) add(r function.Row, sign int64) error {
	if r.Int(0) > r.Int(1) {
		l.Rows += sign
	}
	return nil
}

func (l *largerCount) Accumulate(r function.Row) error { return l.add(r, 1) }
func (l *largerCount) Retract(r function.Row) error    { return l.add(r, -1) }
func (l *largerCount) Value() (any, error)             { return l.Rows, nil }
