package expr

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// call applies a function and panics when it does not take the arguments.
func call(name string, args ...Expr) Expr {
	e, err := Apply(name, errs.Position{Line: 1, Column: 1}, args...)
	if err != nil {
		panic(err)
	}
	return e
}

func num(v int64) Expr { return &Literal{Value: v, T: sqltype.IntType.Required()} }

func str(s string) Expr { return &Literal{Value: s, T: sqltype.StringType.Required()} }

func lit(v any, t sqltype.Type) Expr { return &Literal{Value: v, T: t.Required()} }

func null() Expr { return Null(sqltype.NullType, errs.Position{}) }

// caseOf is CASE WHEN of its arguments in pairs, and the last.
func caseOf(args ...Expr) Expr {
	var whens []When
	for i := 0; i+1 < len(args); i += 2 {
		whens = append(whens, When{Cond: args[i], Then: args[i+1]})
	}
	e, err := NewCase(whens, args[len(args)-1], errs.Position{})
	if err != nil {
		panic(err)
	}
	return e
}

func cast(e Expr, t sqltype.Type) Expr {
	c, err := NewCast(e, t, false, errs.Position{Line: 1, Column: 1})
	if err != nil {
		panic(err)
	}
	return c
}

func decOf(v int64) vector.Dec { return kernel.DecOf(v) }
