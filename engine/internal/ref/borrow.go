package ref

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// borrowed computes a function or cast with the engine's own evaluator, one row at
// a time: those that the reference has no version of. What such an expression means
// is then not checked, only what the operators around it make of it. e must be a
// node of its own, whose arguments are the columns of args. Functions that do not
// depend on their arguments alone stay unsupported: why says so.
func borrowed(e expr.Expr, types []sqltype.Type, args []any, why error) (any, error) {
	if !expr.Deterministic(e) {
		return nil, why
	}
	ev, err := expr.Compile(e)
	if err != nil {
		return nil, err
	}
	p := vector.NewPool()
	cols := make([]*vector.Vector, len(types))
	for i, t := range types {
		b := vector.NewColumnBuilder(p, t.Kind())
		Append(b, t, args[i])
		cols[i] = b.Finish()
	}
	row := vector.NewBatch(1, cols, nil)
	defer row.Release()
	v, err := ev.Eval(p, row)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	return valueOf(e.Type(), v, 0), nil
}

// columnsFor are columns that stand for the arguments of a call, and their types.
func columnsFor(args ...expr.Expr) ([]expr.Expr, []sqltype.Type) {
	schema := make(sqltype.Schema, len(args))
	for i, a := range args {
		schema[i].Type = a.Type()
	}
	cols := make([]expr.Expr, len(args))
	for i, a := range args {
		cols[i] = expr.NewColumn(schema, i, a.Pos())
		if _, constant := a.(*expr.Literal); constant {
			cols[i] = a // patterns and units are compiled once
		}
	}
	return cols, schema.Types()
}

func isUnsupported(err error) bool { return err != nil && errs.CodeOf(err) == errs.Unsupported }
