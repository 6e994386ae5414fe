// Package expr holds typed SQL expressions and evaluates them over batches.
//
// Expressions are immutable trees. The constructors infer types and insert the
// implicit casts; Fold computes what is constant; Compile and CompilePredicate
// turn a tree into code that runs a batch at a time.
package expr

import (
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
)

// Expr is a typed expression over the columns of one input row. The node types of
// this package are the only ones, all of them used as pointers.
type Expr interface {
	Type() sqltype.Type
	// Pos is where the expression stands in the statement; it may be nowhere.
	Pos() errs.Position
	// String is the expression as SQL, with column names, for EXPLAIN and errors.
	String() string
}

// Column is column Index of the input.
type Column struct {
	Index int
	Name  string
	T     sqltype.Type
	At    errs.Position
}

// Literal is a constant. Value is nil for NULL, else a bool, int64 (integers,
// dates, times, timestamps, intervals), float64, vector.Dec, string or []byte.
type Literal struct {
	Value any
	T     sqltype.Type
	At    errs.Position
}

// Call applies a function or operator; AND and OR take any number of arguments.
// The arguments have the types that the function asks for. Make it with NewCall.
type Call struct {
	Func *function.Scalar
	Args []Expr
	T    sqltype.Type
	At   errs.Position
	Zone *time.Location // of the session; nil is UTC. Set by InZone.
}

// Cast converts Arg to T; with Try a value that does not fit becomes NULL.
type Cast struct {
	Arg  Expr
	T    sqltype.Type
	Try  bool
	At   errs.Position
	Zone *time.Location // of the session; nil is UTC. Set by InZone.
}

// Case gives the Then of the first When whose Cond is TRUE, else Else, which is
// never nil. All results have the type T. Make it with NewCase.
type Case struct {
	Whens []When
	Else  Expr
	T     sqltype.Type
	At    errs.Position
}

// When is a branch of a Case.
type When struct{ Cond, Then Expr }

// Aggregate is a call of an aggregate function over the rows of a group. It is no
// Expr: an operator computes it. Args and Filter are over the input row.
type Aggregate struct {
	Func     *function.Aggregate
	Args     []Expr // already coerced; none for COUNT(*)
	Distinct bool
	Filter   Expr // nil: all rows
	T        sqltype.Type
	At       errs.Position
}

// Type implements Expr.
func (e *Column) Type() sqltype.Type { return e.T }

// Type implements Expr.
func (e *Literal) Type() sqltype.Type { return e.T }

// Type implements Expr.
func (e *Call) Type() sqltype.Type { return e.T }

// Type implements Expr.
func (e *Cast) Type() sqltype.Type { return e.T }

// Type implements Expr.
func (e *Case) Type() sqltype.Type { return e.T }

// Pos implements Expr.
func (e *Column) Pos() errs.Position { return e.At }

// Pos implements Expr.
func (e *Literal) Pos() errs.Position { return e.At }

// Pos implements Expr.
func (e *Call) Pos() errs.Position { return e.At }

// Pos implements Expr.
func (e *Cast) Pos() errs.Position { return e.At }

// Pos implements Expr.
func (e *Case) Pos() errs.Position { return e.At }

// NewColumn is a reference to column index of an input with the given schema.
func NewColumn(schema sqltype.Schema, index int, pos errs.Position) *Column {
	return &Column{Index: index, Name: schema[index].Name, T: schema[index].Type, At: pos}
}

// Null is the literal NULL of type t.
func Null(t sqltype.Type, pos errs.Position) *Literal {
	return &Literal{T: t.Optional().Plain(), At: pos}
}

// Bool is the literal TRUE or FALSE.
func Bool(v bool) *Literal { return &Literal{Value: v, T: sqltype.BoolType.Required()} }

// NewCall applies f, or the overload of it that the arguments fit, to args, casting
// them as f wants. The error names what f takes.
func NewCall(f *function.Scalar, pos errs.Position, args ...Expr) (Expr, error) {
	known := make([]function.Arg, len(args))
	for i, a := range args {
		known[i] = argOf(a)
	}
	f, missing, err := f.Choose(known)
	if err != nil {
		return nil, at(err, pos)
	}
	for _, d := range missing {
		args, known = append(args[:len(args):len(args)], &Literal{Value: d.Value, T: d.Type, At: pos}), append(known, d)
	}
	coerced, ret, err := f.Resolve(known)
	if err != nil {
		return nil, at(err, pos)
	}
	cast := make([]Expr, len(args))
	for i, a := range args {
		cast[i] = coerce(a, coerced[i])
	}
	if f.Lazy == function.LazyAnd || f.Lazy == function.LazyOr {
		cast = flatten(f, cast)
	}
	return &Call{Func: f, Args: cast, T: ret, At: pos}, nil
}

// Apply is NewCall by the name of the function.
func Apply(name string, pos errs.Position, args ...Expr) (Expr, error) {
	f, ok := function.LookupScalar(name)
	if !ok {
		e := errs.New(errs.NotFound, pos, "function %s not found", name)
		e.Hint = errs.DidYouMean(name, function.Names())
		return nil, e
	}
	return NewCall(f, pos, args...)
}

// argOf is what the typing of a call may know about an argument. Constants such as -2
// count as literals.
func argOf(e Expr) function.Arg {
	l, ok := e.(*Literal)
	if !ok && len(Columns(e)) == 0 {
		l, ok = Fold(e).(*Literal)
	}
	if ok {
		return function.Arg{Type: e.Type(), Const: true, Value: l.Value}
	}
	return function.Arg{Type: e.Type()}
}

// flatten merges nested ANDs (or ORs) into one.
func flatten(f *function.Scalar, args []Expr) []Expr {
	var out []Expr
	for _, a := range args {
		if c, ok := a.(*Call); ok && c.Func == f {
			out = append(out, c.Args...)
			continue
		}
		out = append(out, a)
	}
	return out
}

// coerce is e as type t, by an implicit cast when it is not. Nullability and time
// attributes are no reason for a cast.
func coerce(e Expr, t sqltype.Type) Expr {
	if e.Type().Equal(t) || sameForm(e.Type(), t) {
		return e
	}
	t.NotNull = e.Type().NotNull
	c := &Cast{Arg: e, T: t.Plain(), At: e.Pos()}
	if _, ok := e.(*Literal); ok && t.ID != sqltype.TimestampLTZ { // an instant depends on the time zone
		return foldNode(c)
	}
	return c
}

// sameForm reports whether every value of from is a value of to, in the same
// physical form, so that widening needs no code.
func sameForm(from, to sqltype.Type) bool {
	switch {
	case from.IsString() && to.ID == sqltype.Varchar, from.IsBinary() && to.ID == sqltype.Varbinary:
		return from.Precision <= to.Precision
	case from.ID == sqltype.Decimal && to.ID == sqltype.Decimal:
		return from.Scale == to.Scale && from.Precision <= to.Precision
	case from.ID == to.ID && (from.IsTimestamp() || from.ID == sqltype.Time):
		return from.UnitDigits() == to.UnitDigits() && from.Precision <= to.Precision
	}
	return false
}

// NewCast is CAST(arg AS t), or TRY_CAST.
func NewCast(arg Expr, t sqltype.Type, try bool, pos errs.Position) (Expr, error) {
	if !function.CanCast(arg.Type(), t, false) {
		e := errs.New(errs.Type, pos, "%s cannot be cast to %s", arg.Type().Optional(), t.Optional())
		if arg.Type().IsNumeric() && t.IsTimestamp() {
			e = e.WithHint("use TO_TIMESTAMP_LTZ(x, 0) for seconds or TO_TIMESTAMP_LTZ(x, 3) for milliseconds")
		}
		return nil, e
	}
	t = likeNull(arg.Type(), t.Plain())
	t.NotNull = arg.Type().NotNull && !try
	return &Cast{Arg: arg, T: t, Try: try, At: pos}, nil
}

// likeNull is to with those children nullable that are so in from: a cast makes no
// value of a NULL.
func likeNull(from, to sqltype.Type) sqltype.Type {
	if !to.IsNested() || from.ID != to.ID {
		return to
	}
	child := func(from, to sqltype.Type) sqltype.Type {
		to = likeNull(from, to)
		to.NotNull = from.NotNull
		return to
	}
	if to.ID == sqltype.Row {
		fields := make([]sqltype.Column, len(to.Fields))
		for i, f := range to.Fields {
			fields[i] = sqltype.Column{Name: f.Name, Type: child(from.Fields[i].Type, f.Type)}
		}
		to.Fields = fields
		return to
	}
	elem := child(*from.Elem, *to.Elem)
	to.Elem = &elem
	if to.Key != nil {
		key := child(*from.Key, *to.Key)
		to.Key = &key
	}
	return to
}

// Coerce is e as a value of type t by the casts that INSERT makes, or an error.
func Coerce(e Expr, t sqltype.Type) (Expr, error) {
	if !function.CanCast(e.Type(), t, true) {
		return nil, errs.New(errs.Type, e.Pos(), "%s has type %s where %s is wanted", e, e.Type().Optional(), t.Optional()).WithHint("CAST it")
	}
	if e.Type().Equal(t) {
		return e, nil
	}
	t.NotNull = e.Type().NotNull
	return &Cast{Arg: e, T: t.Plain(), At: e.Pos()}, nil
}

// NewCase is CASE WHEN ... ELSE ... END. A nil otherwise is ELSE NULL.
func NewCase(whens []When, otherwise Expr, pos errs.Position) (Expr, error) {
	var types []sqltype.Type
	for _, w := range whens {
		if id := w.Cond.Type().ID; id != sqltype.Boolean && id != sqltype.Null {
			return nil, errs.New(errs.Type, w.Cond.Pos(), "a WHEN is a BOOLEAN, not %s", w.Cond.Type().Optional())
		}
		types = append(types, w.Then.Type())
	}
	if otherwise == nil {
		otherwise = Null(sqltype.NullType, pos)
	}
	t, err := function.CommonType(append(types, otherwise.Type())...)
	if err != nil {
		return nil, at(err, pos)
	}
	out := make([]When, len(whens))
	for i, w := range whens {
		out[i] = When{Cond: coerce(w.Cond, sqltype.BoolType), Then: coerce(w.Then, t)}
	}
	return &Case{Whens: out, Else: coerce(otherwise, t), T: t.Plain(), At: pos}, nil
}

// NewAggregate types a call of an aggregate function. DISTINCT is dropped where it
// makes no difference (MIN, MAX).
func NewAggregate(f *function.Aggregate, pos errs.Position, distinct bool, filter Expr, args ...Expr) (*Aggregate, error) {
	known := make([]function.Arg, len(args))
	for i, a := range args {
		known[i] = argOf(a)
	}
	coerced, ret, err := f.Resolve(known)
	if err != nil {
		return nil, at(err, pos)
	}
	if filter != nil && filter.Type().ID != sqltype.Boolean && filter.Type().ID != sqltype.Null {
		return nil, errs.New(errs.Type, filter.Pos(), "a FILTER is a BOOLEAN, not %s", filter.Type().Optional())
	}
	cast := make([]Expr, len(args))
	for i, a := range args {
		cast[i] = coerce(a, coerced[i])
	}
	if f.Kind == function.Min || f.Kind == function.Max {
		distinct = false
	}
	return &Aggregate{Func: f, Args: cast, Distinct: distinct, Filter: filter, T: ret, At: pos}, nil
}

// at gives an error a position where it has none.
func at(err error, pos errs.Position) error {
	if e, ok := err.(*errs.Error); ok && !e.Pos.IsValid() {
		c := *e
		c.Pos = pos
		return &c
	}
	return err
}
