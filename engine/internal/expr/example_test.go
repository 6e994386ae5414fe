package expr_test

import (
	"fmt"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// A condition and a value over a batch with the columns auction and price.
func Example() {
	schema := sqltype.Schema{{Name: "auction", Type: sqltype.BigIntType}, {Name: "price", Type: sqltype.BigIntType}}
	pos := errs.Position{}
	number := func(v int64) expr.Expr { return &expr.Literal{Value: v, T: sqltype.IntType.Required()} }
	auction, price := expr.NewColumn(schema, 0, pos), expr.NewColumn(schema, 1, pos)
	must := func(e expr.Expr, err error) expr.Expr {
		if err != nil {
			panic(err)
		}
		return e
	}
	where := must(expr.Apply("=", pos, must(expr.Apply("MOD", pos, auction, number(123))), number(0)))
	value := must(expr.Apply("*", pos, price, number(2)))
	fmt.Println(where, "|", value, value.Type())

	p := vector.NewPool()
	b := vector.NewBatch(3, []*vector.Vector{vector.Of[int64](p, 123, 124, 246), vector.Of[int64](p, 10, 20, 30)}, nil)
	predicate, err := expr.CompilePredicate(where)
	if err != nil {
		panic(err)
	}
	sel, err := predicate.Select(p, b)
	if err != nil {
		panic(err)
	}
	some := b.Select(sel)
	evaluator, err := expr.Compile(value)
	if err != nil {
		panic(err)
	}
	v, err := evaluator.Eval(p, some)
	if err != nil {
		panic(err)
	}
	fmt.Println(vector.Values[int64](v))
	// Output:
	// MOD(auction, 123) = 0 | price * 2 BIGINT
	// [20 60]
}
