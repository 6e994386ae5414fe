package plan

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// asOf is the table of a join FOR SYSTEM_TIME AS OF, or nil.
func asOf(t parse.TableExpr) *parse.TableName {
	if n, ok := t.(*parse.TableName); ok && n.AsOf != nil {
		return n
	}
	return nil
}

// temporalJoin binds a join of which every left row sees the right table as it was at a
// time of the row.
func (b *binder) temporalJoin(j *parse.Join, ref *parse.TableName) (Node, *scope, error) {
	left, ls, err := b.from(j.Left)
	if err != nil {
		return nil, nil, err
	}
	time, err := b.timeOfLeft(left, ls, ref.AsOf, "FOR SYSTEM_TIME AS OF")
	if err != nil {
		return nil, nil, err
	}
	processing := timeAttribute(left, time) == sqltype.Proctime
	if processing {
		if o, err := b.session.Lookup(ref.Name); err == nil {
			if t, ok := o.(*catalog.Table); ok && canLookUp(t) {
				return b.lookupJoin(j, left, ls, ref, t)
			}
		}
	}
	now := *ref
	now.AsOf = nil
	right, rs, err := b.tableName(&now)
	if err != nil {
		return nil, nil, err
	}
	v, err := b.versioned(right, ref.Name.Last().Value, ref.At, compared(j, ls, rs))
	if err != nil {
		return nil, nil, err
	}
	return b.joinVersions(j, temporalSide{left, ls, time, ref.AsOf.Pos()}, right, rs, v)
}

// compared are the columns of the right side that the condition of a join has to equal
// something.
func compared(j *parse.Join, ls, rs *scope) []string {
	var out []string
	for _, name := range j.Using {
		out = append(out, name.Value)
	}
	if j.On == nil {
		return out
	}
	for _, c := range conjuncts(j.On) {
		eq, ok := c.(*parse.Binary)
		if !ok || eq.Op != "=" {
			continue
		}
		for _, side := range []parse.Expr{eq.Left, eq.Right} {
			col, ok := side.(*parse.ColumnRef)
			if !ok {
				continue
			}
			if _, err := ls.resolve(col.Name); err == nil {
				continue
			}
			if c, err := rs.resolve(col.Name); err == nil {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

// timeOfLeft is the column of the left side that says of which time the right side is to
// be: e, which clause has.
func (b *binder) timeOfLeft(left Node, ls *scope, e parse.Expr, clause string) (int, error) {
	at, err := (&exprBinder{b: b, scope: ls, clause: clause}).bind(e)
	if err != nil {
		return 0, err
	}
	time, ok := at.(*expr.Column)
	if !ok {
		return 0, errs.New(errs.Invalid, e.Pos(), "%s takes a time attribute of the left side, and %s is none", clause, at).
			WithHint("name a column of the left side that has a WATERMARK, or is PROCTIME()")
	}
	return time.Index, needTime(left, time.Index, clause, e.Pos())
}

// temporalSide is the left side of a temporal join: a node, the names of its columns, and
// which of them is the time.
type temporalSide struct {
	node  Node
	scope *scope
	time  int
	at    errs.Position // where the time stands
}

// joinVersions binds a join with the versions of a table: right, whose columns rs names.
func (b *binder) joinVersions(j *parse.Join, l temporalSide, right Node, rs *scope, v versioned) (Node, *scope, error) {
	if j.Kind == parse.RightJoin || j.Kind == parse.FullJoin {
		return nil, nil, errs.New(errs.Invalid, j.At, "%s needs rows of the right side that no left row asks for, and %s has other rows at every time", j.Kind, v.name).
			WithHint("write JOIN or LEFT JOIN, with the table whose rows are all wanted on the left")
	}
	attr := timeAttribute(l.node, l.time)
	if attr == sqltype.Rowtime {
		if err := v.needRowtime(l.at); err != nil {
			return nil, nil, err
		}
		lt, rt := l.node.Schema()[l.time], v.node.Schema()[v.time]
		if lt.Type.ID != rt.Type.ID {
			return nil, nil, errs.New(errs.Type, l.at, "%q is a %s, and the time of %s, %q, is a %s", lt.Name, lt.Type, v.name, rt.Name, rt.Type).
				WithHint("declare both with one type: TIMESTAMP(3) is what a clock shows, TIMESTAMP_LTZ(3) a point in time")
		}
	} else if err := v.needTime(l.at); err != nil {
		return nil, nil, err
	}
	n, both, err := b.pair(l.node, right, l.scope, rs, j)
	if err != nil {
		return nil, nil, err
	}
	return replaceJoin(n, func(j *Join) Node { return newTemporalJoin(j, l.time, attr, v) }), both, nil
}

// replaceJoin puts another node in the place of the join that b.pair made.
func replaceJoin(n Node, by func(*Join) Node) Node {
	if c, ok := n.(*Calc); ok {
		c.Input = replaceJoin(c.Input, by)
		return c
	}
	return by(n.(*Join))
}
