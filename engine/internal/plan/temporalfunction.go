package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// CreateTemporalFunction executes CREATE TEMPORAL TABLE FUNCTION.
func CreateTemporalFunction(ctx context.Context, stmt *parse.CreateTemporalFunction, s *catalog.Session) error {
	f, err := DefineTemporalFunction(ctx, stmt, s)
	if err != nil {
		return err
	}
	if !f.Temporary && s.Catalog().IsDurable() {
		if o, err := s.Permanent().Lookup(stmt.Table); err != nil || o.IsTemporary() {
			return errs.New(errs.Invalid, stmt.Name.Pos(), "function %q is kept in the state directory, but reads a temporary table or view", f.ID.Object).
				WithHint("CREATE TEMPORARY TEMPORAL TABLE FUNCTION, or create %s permanently", stmt.Table)
		}
	}
	return s.CreateFunction(f, stmt.Name, onExisting(stmt.IfNotExists, stmt.OrReplace), true)
}

// DefineTemporalFunction checks what a temporal table function is made of, without
// creating it.
func DefineTemporalFunction(ctx context.Context, stmt *parse.CreateTemporalFunction, s *catalog.Session) (*catalog.Function, error) {
	id, err := s.Qualify(stmt.Name)
	if err != nil {
		return nil, err
	}
	o, err := s.Lookup(stmt.Table)
	if err != nil {
		return nil, err
	}
	t := &catalog.TemporalFunction{Table: o.Identifier(), Time: stmt.Time.Value}
	for _, k := range stmt.Key {
		t.Key = append(t.Key, k.Value)
	}
	f := &catalog.Function{ID: id, Temporary: stmt.Temporary, Temporal: t}
	b := &binder{ctx: ctx, session: s}
	_, _, _, err = b.temporalVersions(f, temporalPlaces{table: stmt.Table.Pos(), time: stmt.Time.At, key: stmt.Key})
	return f, err
}

// temporalPlaces are where the parts of a temporal table function stand, for errors.
type temporalPlaces struct {
	table, time errs.Position
	key         []parse.Ident
}

func (p temporalPlaces) keyAt(i int) errs.Position {
	if p.key == nil {
		return p.table
	}
	return p.key[i].At
}

// temporalCall is the temporal table function that a table in FROM calls, or nil.
func (b *binder) temporalCall(t parse.TableExpr) (*parse.TableFunction, *catalog.Function) {
	call, ok := t.(*parse.TableFunction)
	if !ok {
		return nil, nil
	}
	f, ok := b.session.LookupFunction(call.Call.Name)
	if !ok || f.Temporal == nil {
		return nil, nil
	}
	return call, f
}

// temporalVersions binds the table of a temporal table function, and finds its versions.
func (b *binder) temporalVersions(f *catalog.Function, at temporalPlaces) (Node, *scope, versioned, error) {
	t := f.Temporal
	var v versioned
	n, sc, err := b.tableName(&parse.TableName{Place: parse.Place{At: at.table}, Name: t.Table.Name()})
	if err != nil {
		return nil, nil, v, placed(err, at.table)
	}
	v = versioned{name: f.ID.Object, pos: at.table, node: n, function: f, adds: true}
	column := func(name string, at errs.Position) (int, error) {
		if i := n.Schema().Index(name); i >= 0 {
			return i, nil
		}
		e := errs.New(errs.NotFound, at, "the table %s has no column %q", t.Table.Object, name)
		return 0, hintNames(e, name, n.Schema().Names(), "it has")
	}
	if v.time, err = column(t.Time, at.time); err != nil {
		return nil, nil, v, err
	}
	for i, k := range t.Key {
		c, err := column(k, at.keyAt(i))
		if err != nil {
			return nil, nil, v, err
		}
		v.key = append(v.key, c)
	}
	if err := needTime(n, v.time, "TIME of a temporal table function", at.time); err != nil {
		return nil, nil, v, err
	}
	if v.attr = timeAttribute(n, v.time); !addsOnly(n) {
		if err := b.updatedVersions(&v, n, t); err != nil {
			return nil, nil, v, err
		}
	}
	if v.attr == sqltype.Proctime {
		v.time = -1
	}
	return n, sc, v, nil
}

// updatedVersions finds the versions of a table that changes: those of its own key.
func (b *binder) updatedVersions(v *versioned, n Node, t *catalog.TemporalFunction) error {
	own := versionsOf(pushDown(simplifier{b.session.Options.TimeZone}.node(n), nil))
	time := own.time
	if v.attr == sqltype.Proctime {
		time = v.time
	}
	if len(own.key) == 0 || !slices.Equal(union(own.key), union(v.key)) || time != v.time {
		return errs.New(errs.Changelog, v.pos, "the rows of %s change, so that they are versions of its own key only: %s, not %s", t.Table.Object,
			cmpOr(columnList(own.node, own.key), "and it has none"), strings.Join(t.Key, ", ")).
			WithHint("write KEY with the PRIMARY KEY of the table, or read a table whose rows are only added")
	}
	v.node, v.live, v.adds = own.node, own.live, own.adds
	return nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// functionArgument is the one argument of a call.
func functionArgument(call *parse.TableFunction) (parse.Expr, error) {
	if len(call.Call.Args) == 1 {
		return call.Call.Args[0], nil
	}
	return nil, errs.New(errs.Invalid, call.At, "the temporal table function %s takes one argument, the time, and got %s", call.Call.Name, count(len(call.Call.Args), "argument")).
		WithHint("write %s(o.rowtime), or %s(TIMESTAMP '2024-01-01 00:00:00')", call.Call.Name, call.Call.Name)
}

// functionJoin binds a join with the versions that a temporal table function gives at a
// time of the left row.
func (b *binder) functionJoin(left Node, ls *scope, j *parse.Join, call *parse.TableFunction, f *catalog.Function) (Node, *scope, error) {
	arg, err := functionArgument(call)
	if err != nil {
		return nil, nil, err
	}
	if _, constant := b.constantTime(arg); constant {
		right, rs, err := b.versionsAt(call, f)
		if err != nil {
			return nil, nil, err
		}
		return b.pair(left, right, ls, rs, j)
	}
	time, err := b.timeOfLeft(left, ls, arg, "the temporal table function "+f.ID.Object)
	if err != nil {
		return nil, nil, err
	}
	right, _, v, err := b.temporalVersions(f, temporalPlaces{table: call.At, time: call.At})
	if err != nil {
		return nil, nil, err
	}
	right, rs, err := b.named(right, tableRef{name: f.ID.Object, pos: call.At}, call.Alias)
	if err != nil {
		return nil, nil, err
	}
	return b.joinVersions(j, temporalSide{left, ls, time, arg.Pos()}, right, rs, v)
}

// constantTime is an argument that names no column.
func (b *binder) constantTime(arg parse.Expr) (expr.Expr, bool) {
	e, err := (&exprBinder{b: b, scope: &scope{}, clause: "an argument of a table function"}).bind(arg)
	return e, err == nil && len(expr.Columns(e)) == 0
}

// versionsAt binds the call of a temporal table function at a constant time, with its
// alias: the last row of each key up to then.
func (b *binder) versionsAt(call *parse.TableFunction, f *catalog.Function) (Node, *scope, error) {
	arg, err := functionArgument(call)
	if err != nil {
		return nil, nil, err
	}
	at, constant := b.constantTime(arg)
	if !constant {
		return nil, nil, errs.New(errs.Invalid, call.At, "the temporal table function %s stands alone, and its argument is no constant", f.ID.Object).
			WithHint("write FROM orders AS o, LATERAL TABLE(%[1]s(o.rowtime)) AS r WHERE .., or %[1]s(TIMESTAMP '2024-01-01 00:00:00')", f.ID.Object)
	}
	_, _, v, err := b.temporalVersions(f, temporalPlaces{table: call.At, time: call.At})
	if err != nil {
		return nil, nil, err
	}
	width := len(v.node.Schema()) - len(v.live)
	if v.attr != sqltype.Rowtime {
		return nil, nil, errs.New(errs.Invalid, arg.Pos(), "%s has versions of processing time, and nothing is known of what they were at another time than now", f.ID.Object).
			WithHint("create the function with TIME of event time")
	}
	if !v.adds {
		return nil, nil, unsupported(arg.Pos(), "%s at a constant time, over a table whose rows change, is", f.ID.Object).
			WithHint("create the function over a history, whose rows are only added")
	}
	if n := b.keptVersions(f, v, at, call.At); n != nil {
		return b.named(n, tableRef{name: f.ID.Object, pos: call.At}, call.Alias)
	}
	until, err := expr.Apply("<=", arg.Pos(), expr.NewColumn(v.node.Schema(), v.time, call.At), at)
	if err != nil {
		return nil, nil, err
	}
	n := (&Rank{
		Partition: v.key, Order: []SortKey{{Column: v.time, Desc: true}}, From: 1, To: unbounded, ToColumn: -1, Time: sqltype.Rowtime, Watermark: -1,
	}).over(newFilter(v.node, until, call.At), "rownum")
	n.at = call.At
	first, err := expr.Apply("=", call.At, expr.NewColumn(n.schema, n.Width(), call.At), &expr.Literal{Value: int64(1), T: sqltype.BigIntType.Required(), At: call.At})
	if err != nil {
		return nil, nil, err
	}
	last := newCalc(n, first, columns(n)[:width], n.schema.Names()[:width], call.At)
	return b.named(last, tableRef{name: f.ID.Object, pos: call.At}, call.Alias)
}
