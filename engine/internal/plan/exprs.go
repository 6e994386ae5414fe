package plan

import (
	"fmt"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
)

// exprBinder binds scalar expressions over the columns of a scope.
type exprBinder struct {
	b      *binder
	scope  *scope
	clause string // where the expression stands, for messages
	// aggs collects aggregates; nil: the clause can have none.
	aggs *grouping
	// overs collects calls with OVER; nil: the clause can have none.
	overs *overs
	// aliases are names of the SELECT list, which the clause does not know.
	aliases map[string]bool
	// outer are the columns of the query around a subquery, or nil. Those of scope
	// come behind them.
	outer *scope
	// values are those of subqueries that were joined before.
	values map[parse.Expr]expr.Expr
	// outputs are the items of the SELECT list, which ORDER BY may name.
	outputs []item
}

// condition binds a BOOLEAN expression.
func (x *exprBinder) condition(e parse.Expr) (expr.Expr, error) {
	cond, err := x.bind(e)
	if err != nil {
		return nil, err
	}
	if !boolType(cond.Type()) {
		err := errs.New(errs.Type, e.Pos(), "%s takes a condition, and %s is %s", x.clause, parse.Format(e), cond.Type().Optional())
		if cond.Type().IsNumeric() {
			return nil, err.WithHint("compare it: %s <> 0", parse.Format(e))
		}
		return nil, err
	}
	return cond, nil
}

func (x *exprBinder) bindAll(es ...parse.Expr) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		var err error
		if out[i], err = x.bind(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// apply binds the arguments and calls the function or operator of that name.
func (x *exprBinder) apply(name string, pos errs.Position, es ...parse.Expr) (expr.Expr, error) {
	args, err := x.bindAll(es...)
	if err != nil {
		return nil, err
	}
	return x.call(name, pos, args...)
}

// call is expr.Apply in the session's time zone. A name that the engine itself
// writes but has no function for is something it does not execute.
func (x *exprBinder) call(name string, pos errs.Position, args ...expr.Expr) (expr.Expr, error) {
	f, ok := function.LookupScalar(name)
	if !ok {
		return nil, unsupported(pos, "%s is", name)
	}
	return expr.NewCall(f, pos, args...)
}

// bind binds one expression.
func (x *exprBinder) bind(e parse.Expr) (expr.Expr, error) {
	if v, ok := x.values[e]; ok {
		return v, nil
	}
	switch e := e.(type) {
	case *parse.ColumnRef:
		return x.column(e)
	case *parse.Literal:
		return literal(e, false, x.b.session.Options.TimeZone)
	case *parse.Interval:
		return interval(e)
	case *parse.Unary:
		return x.unary(e)
	case *parse.Binary:
		return x.binary(e)
	case *parse.Logic:
		return x.logic(e)
	case *parse.Test:
		return x.test(e)
	case *parse.Between:
		return x.between(e)
	case *parse.In:
		return x.in(e)
	case *parse.Match:
		return x.match(e)
	case *parse.Case:
		return x.caseOf(e)
	case *parse.Cast:
		return x.cast(e)
	case *parse.Call:
		return x.function(e)
	case *parse.Symbol:
		return text(e.Name, e.At), nil
	case *parse.Row:
		return x.row(e)
	case *parse.Array:
		return x.array(e)
	case *parse.Map:
		return x.mapOf(e)
	case *parse.Index:
		return x.index(e)
	case *parse.FieldRef:
		return x.fieldRef(e)
	}
	return nil, x.refuse(e)
}

// refuse is the error for expressions that are understood but not executed.
func (x *exprBinder) refuse(e parse.Expr) error {
	switch e := e.(type) {
	case *parse.Exists:
		return unsupported(e.At, "EXISTS, in %s, is", x.clause).WithHint("compute it in a query in FROM, whose WHERE or SELECT list has the subquery")
	case *parse.Subquery:
		return unsupported(e.At, "a subquery as a value, in %s, is", x.clause).WithHint("compute it in a query in FROM, whose WHERE or SELECT list has the subquery")
	case *parse.Quantified:
		return unsupported(e.At, "a comparison with ANY or ALL is")
	case *parse.AtTimeZone:
		return unsupported(e.At, "AT TIME ZONE is")
	case *parse.NamedArg:
		return unsupported(e.At, "a named argument is").WithHint("give the arguments in order")
	case *parse.TableArg, *parse.Descriptor:
		return errs.New(errs.Invalid, e.Pos(), "%s is an argument of table functions only", parse.Format(e))
	case *parse.TypeArg:
		return unsupported(e.At, "a type as an argument is")
	}
	panic(fmt.Sprintf("plan: expression %T", e))
}

func (x *exprBinder) column(e *parse.ColumnRef) (expr.Expr, error) {
	if x.outer != nil {
		return x.correlated(e)
	}
	if out, err := x.output(e); out != nil || err != nil {
		return out, err
	}
	c, err := x.scope.resolve(e.Name)
	if err == nil {
		return c, nil
	}
	if field, path := x.path(e.Name); field != nil || path != nil {
		return field, path
	}
	if d := x.scope.domain; d != nil {
		c, outside := d.column(x, e)
		if outside == nil || len(e.Name) > 1 && len(d.outer.match(e.Name[:len(e.Name)-1])) > 0 {
			return c, outside
		}
	}
	if x.scope.ungrouped != nil {
		if c, known := x.scope.ungrouped.resolve(e.Name); known == nil {
			return nil, errs.New(errs.Invalid, e.At, "column %q is neither grouped nor aggregated, in %s", c.Name, x.clause).
				WithHint("add it to GROUP BY, or aggregate it: MAX(%s)", c.Name)
		}
	}
	if len(e.Name) == 1 && x.aliases[e.Name[0].Value] {
		return nil, errs.New(errs.NotFound, e.At, "column %q not found", e.Name[0].Value).
			WithHint("%s is evaluated before the SELECT list that gives the alias: repeat the expression, or put the SELECT in a subquery", x.clause)
	}
	return nil, err
}

func (x *exprBinder) unary(e *parse.Unary) (expr.Expr, error) {
	if lit, ok := e.Arg.(*parse.Literal); ok && e.Op == parse.Negate {
		switch lit.Kind {
		case parse.IntLiteral, parse.DecimalLiteral, parse.ApproxLiteral:
			// With its sign, the smallest BIGINT is one.
			return literal(&parse.Literal{Place: e.Place, Kind: lit.Kind, Text: lit.Text}, true, nil)
		}
	}
	switch e.Op {
	case parse.Negate:
		return x.apply("NEG", e.At, e.Arg)
	case parse.Plus:
		arg, err := x.bind(e.Arg)
		if err == nil && !arg.Type().IsNumeric() {
			return nil, errs.New(errs.Type, e.At, "no operator + %s", arg.Type().Optional())
		}
		return arg, err
	}
	return x.apply("NOT", e.At, e.Arg)
}

func (x *exprBinder) binary(e *parse.Binary) (expr.Expr, error) {
	args, err := x.bindAll(e.Left, e.Right)
	if err != nil {
		return nil, err
	}
	return x.call(string(e.Op), e.OpAt, args...)
}

func (x *exprBinder) logic(e *parse.Logic) (expr.Expr, error) {
	args, err := x.bindAll(e.Args...)
	if err != nil {
		return nil, err
	}
	for i, a := range args {
		if !boolType(a.Type()) {
			return nil, errs.New(errs.Type, e.Args[i].Pos(), "%s joins conditions, and %s is %s", e.Op, parse.Format(e.Args[i]), a.Type().Optional())
		}
	}
	return x.call(string(e.Op), e.At, args...)
}

func (x *exprBinder) test(e *parse.Test) (expr.Expr, error) {
	kind, not := e.Kind, "IS "
	if e.Not {
		not = "IS NOT "
	}
	if kind == parse.IsUnknown {
		arg, err := x.bind(e.Arg)
		if err != nil {
			return nil, err
		}
		if !boolType(arg.Type()) {
			return nil, errs.New(errs.Type, e.At, "IS UNKNOWN tests a condition, and %s is %s", parse.Format(e.Arg), arg.Type().Optional()).WithHint("write IS NULL")
		}
		return x.call(not+"NULL", e.At, arg)
	}
	return x.apply(not+string(kind), e.At, e.Arg)
}

func (x *exprBinder) between(e *parse.Between) (expr.Expr, error) {
	args, err := x.bindAll(e.Arg, e.Low, e.High)
	if err != nil {
		return nil, err
	}
	within := func(low, high expr.Expr) (expr.Expr, error) {
		above, err := x.call(">=", e.At, args[0], low)
		if err != nil {
			return nil, err
		}
		below, err := x.call("<=", e.At, args[0], high)
		if err != nil {
			return nil, err
		}
		return x.call("AND", e.At, above, below)
	}
	in, err := within(args[1], args[2])
	if err != nil {
		return nil, err
	}
	if e.Symmetric {
		swapped, err := within(args[2], args[1])
		if err != nil {
			return nil, err
		}
		if in, err = x.call("OR", e.At, in, swapped); err != nil {
			return nil, err
		}
	}
	return x.negated(in, e.Not, e.At)
}

func (x *exprBinder) negated(e expr.Expr, not bool, pos errs.Position) (expr.Expr, error) {
	if !not {
		return e, nil
	}
	return x.call("NOT", pos, e)
}

func (x *exprBinder) in(e *parse.In) (expr.Expr, error) {
	if e.Query != nil {
		return nil, unsupported(e.At, "IN with a subquery, in %s, is", x.clause).WithHint("compute it in a query in FROM, whose WHERE or SELECT list has the subquery")
	}
	arg, err := x.bind(e.Arg)
	if err != nil {
		return nil, err
	}
	list, err := x.bindAll(e.List...)
	if err != nil {
		return nil, err
	}
	var in expr.Expr
	if f, ok := function.LookupScalar("IN"); ok {
		if in, err = expr.NewCall(f, e.At, append([]expr.Expr{arg}, list...)...); err != nil {
			return nil, err
		}
		return x.negated(in, e.Not, e.At)
	}
	equal := make([]expr.Expr, len(list))
	for i, v := range list {
		if equal[i], err = x.call("=", e.List[i].Pos(), arg, v); err != nil {
			return nil, err
		}
	}
	if in = equal[0]; len(equal) > 1 {
		if in, err = x.call("OR", e.At, equal...); err != nil {
			return nil, err
		}
	}
	return x.negated(in, e.Not, e.At)
}

func (x *exprBinder) match(e *parse.Match) (expr.Expr, error) {
	args := []parse.Expr{e.Arg, e.Pattern}
	if e.Escape != nil {
		args = append(args, e.Escape)
	}
	m, err := x.apply(string(e.Kind), e.At, args...)
	if err != nil {
		return nil, err
	}
	return x.negated(m, e.Not, e.At)
}

func (x *exprBinder) caseOf(e *parse.Case) (expr.Expr, error) {
	var operand, otherwise expr.Expr
	var err error
	if e.Operand != nil {
		if operand, err = x.bind(e.Operand); err != nil {
			return nil, err
		}
	}
	whens := make([]expr.When, len(e.Whens))
	for i, w := range e.Whens {
		if whens[i].Cond, err = x.bind(w.Cond); err != nil {
			return nil, err
		}
		if operand != nil {
			if whens[i].Cond, err = x.call("=", w.Cond.Pos(), operand, whens[i].Cond); err != nil {
				return nil, err
			}
		}
		if whens[i].Then, err = x.bind(w.Then); err != nil {
			return nil, err
		}
	}
	if e.Else != nil {
		if otherwise, err = x.bind(e.Else); err != nil {
			return nil, err
		}
	}
	return expr.NewCase(whens, otherwise, e.At)
}

func (x *exprBinder) cast(e *parse.Cast) (expr.Expr, error) {
	arg, err := x.bind(e.Arg)
	if err != nil {
		return nil, err
	}
	t, err := typeOf(e.Type)
	if err != nil {
		return nil, err
	}
	return expr.NewCast(arg, t, e.Try, e.At)
}

// function binds a call by name: of an aggregate or a scalar function.
func (x *exprBinder) function(e *parse.Call) (expr.Expr, error) {
	if e.Over != nil {
		return x.over(e)
	}
	name := strings.ToUpper(e.Name.Last().Value)
	scalar, aggregate := x.b.session.FunctionOf(e.Name)
	if f, ok := x.b.session.LookupFunction(e.Name); ok && f.Temporal != nil {
		return nil, errs.New(errs.Invalid, e.At, "%s is a temporal table function, which gives rows and no value", e.Name).
			WithHint("write FROM o, LATERAL TABLE(%s(o.rowtime)) AS r WHERE ..", e.Name)
	}
	if len(e.Name) > 1 && scalar == nil {
		err := errs.New(errs.NotFound, e.At, "function %s not found", e.Name)
		if scalar, aggregate = x.b.session.FunctionOf(e.Name[len(e.Name)-1:]); scalar != nil || aggregate != nil {
			return nil, err.WithHint("%s alone is one", e.Name.Last())
		}
		return nil, err.WithHint("SHOW FUNCTIONS lists those that need no database")
	}
	switch name {
	case "GROUPING", "GROUPING_ID", "GROUP_ID":
		return x.groupingFunction(name, e)
	}
	if bound, ok, err := x.windowBound(name, e); ok {
		return bound, err
	}
	if aggregate != nil {
		return x.aggregate(aggregate, e)
	}
	if scalar != nil {
		what := ""
		switch {
		case e.Star:
			what = "*"
		case e.Distinct:
			what = "DISTINCT"
		case e.Filter != nil:
			what = "FILTER"
		}
		if what != "" {
			return nil, errs.New(errs.Invalid, e.At, "%s is for aggregates, and %s is a scalar function", what, name)
		}
	}
	switch {
	case len(e.OrderBy) > 0:
		return nil, unsupported(e.At, "ORDER BY inside a function is")
	case e.IgnoreNulls:
		return nil, unsupported(e.At, "IGNORE NULLS is")
	}
	if scalar == nil {
		return nil, noFunction(e, x.b.session.Functions(true))
	}
	args, err := x.bindAll(e.Args...)
	if err != nil {
		return nil, err
	}
	return expr.NewCall(scalar, e.At, args...)
}

// noFunction is the error for an unknown function: one of Flink's that is to come,
// or one that nobody knows.
func noFunction(e *parse.Call, have []string) error {
	name := strings.ToUpper(e.Name.Last().Value)
	switch name {
	case "TUMBLE", "TUMBLE_START", "TUMBLE_END", "TUMBLE_ROWTIME", "TUMBLE_PROCTIME", "HOP", "HOP_START", "HOP_END", "HOP_ROWTIME", "HOP_PROCTIME",
		"SESSION", "SESSION_START", "SESSION_END", "SESSION_ROWTIME", "SESSION_PROCTIME", "CUMULATE":
		return unsupported(e.At, "the window function %s is", name)
	case "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD", "NTH_VALUE":
		return errs.New(errs.Invalid, e.At, "%s looks at the rows of a window, and no window is given", name).WithHint("write %s(..) OVER (PARTITION BY .. ORDER BY ..)", name)
	case "PROCTIME", "CURRENT_WATERMARK", "COLLECT", "JSON_VALUE", "JSON_QUERY", "JSON_EXISTS":
		return unsupported(e.At, "the function %s is", name)
	}
	err := errs.New(errs.NotFound, e.At, "function %s not found", e.Name)
	if hint := errs.DidYouMean(name, have); hint != "" {
		return err.WithHint("%s", hint)
	}
	return err.WithHint("SHOW FUNCTIONS lists them")
}

func (x *exprBinder) aggregate(f *function.Aggregate, e *parse.Call) (expr.Expr, error) {
	if x.aggs == nil {
		err := errs.New(errs.Invalid, e.At, "the aggregate %s cannot stand in %s", f.Name, x.clause)
		switch x.clause {
		case "WHERE":
			return nil, err.WithHint("WHERE filters rows before they are grouped: use HAVING")
		case insideAggregate:
			return nil, err.WithHint("aggregate the inner one in a subquery")
		case "ON", "GROUP BY":
			return nil, err.WithHint("compute it in a subquery")
		}
		return nil, err
	}
	switch {
	case len(e.OrderBy) > 0:
		return nil, unsupported(e.At, "ORDER BY inside an aggregate is")
	case e.IgnoreNulls:
		return nil, unsupported(e.At, "IGNORE NULLS is")
	case e.Star && f.Kind != function.Count:
		return nil, errs.New(errs.Invalid, e.At, "%s(*) has no meaning", f.Name).WithHint("%s takes a column; only COUNT takes *", f.Name)
	case e.Star && e.Distinct:
		return nil, errs.New(errs.Invalid, e.At, "COUNT(DISTINCT *) has no meaning").WithHint("count the rows of a SELECT DISTINCT")
	}
	if g := f.Go; g != nil && e.Distinct && (len(e.Args) != 1 || g.CalledOnNull()) {
		return nil, unsupported(e.At, "DISTINCT of a function that takes several arguments or NULL, such as %s, is", f.Name)
	}
	inner := &exprBinder{b: x.b, scope: x.scope, clause: insideAggregate}
	args, err := inner.bindAll(e.Args...)
	if err != nil {
		return nil, err
	}
	var filter expr.Expr
	if e.Filter != nil {
		inner.clause = "FILTER"
		if filter, err = inner.condition(e.Filter); err != nil {
			return nil, err
		}
	}
	if f.Kind == function.Count && len(args) == 1 && args[0].Type().NotNull && !e.Distinct {
		args = nil // it counts all rows
	}
	if x.scope.domain.aggregates(args) {
		return nil, unsupported(e.At, "%s, which reads nothing but columns of the rows around the subquery and so is an aggregate of those, is", parse.Format(e)).
			WithHint("compute it where those rows are grouped")
	}
	a, err := expr.NewAggregate(f, e.At, e.Distinct, filter, args...)
	if err != nil {
		return nil, err
	}
	return x.aggs.add(a), nil
}

const insideAggregate = "the argument of an aggregate"
