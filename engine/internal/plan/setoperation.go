package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// SetOperation is INTERSECT or EXCEPT of two inputs with the same column types.
// Equal rows, among which NULL is equal to NULL, count once, with All apart.
type SetOperation struct {
	base
	Left, Right Node
	Except      bool // else INTERSECT
	All         bool
}

// Op is the word of the statement.
func (n *SetOperation) Op() string {
	if n.Except {
		return "Except"
	}
	return "Intersect"
}

// Inputs are the left and the right one.
func (n *SetOperation) Inputs() []Node { return []Node{n.Left, n.Right} }

func (n *SetOperation) setInput(i int, in Node) {
	if i == 0 {
		n.Left = in
	} else {
		n.Right = in
	}
}

func newSetOperation(left, right Node, except, all bool, schema sqltype.Schema, at errs.Position) *SetOperation {
	n := &SetOperation{Left: left, Right: right, Except: except, All: all}
	n.schema, n.at = schema, at
	return n
}

// setOp binds UNION, INTERSECT and EXCEPT, with and without ALL. A chain of UNIONs
// becomes one node.
func (b *binder) setOp(q *parse.SetOp) (Node, error) {
	var ins []Node
	var places []errs.Position
	var gather func(parse.QueryBody) error
	gather = func(side parse.QueryBody) error {
		if s, ok := side.(*parse.SetOp); ok && q.Kind == parse.Union && s.Kind == parse.Union && (s.All || !q.All) {
			if err := gather(s.Left); err != nil {
				return err
			}
			return gather(s.Right)
		}
		n, err := b.body(side)
		ins, places = append(ins, n), append(places, side.Pos())
		return err
	}
	for _, side := range []parse.QueryBody{q.Left, q.Right} {
		if err := gather(side); err != nil {
			return nil, err
		}
	}
	schema, err := commonSchema(q, ins, places)
	if err != nil {
		return nil, err
	}
	for i, n := range ins {
		ins[i] = convert(n, schema)
	}
	if q.Kind != parse.Union {
		return newSetOperation(ins[0], ins[1], q.Kind == parse.Except, q.All, schema, q.At), nil
	}
	var n Node = newUnion(ins, schema, q.At)
	if !q.All {
		n = newDistinct(n, q.At)
	}
	return n, nil
}

// commonSchema has the names of the first input and types that all inputs can be
// cast to.
func commonSchema(q *parse.SetOp, ins []Node, places []errs.Position) (sqltype.Schema, error) {
	schema := slices.Clone(ins[0].Schema())
	for i, n := range ins {
		if have, want := len(n.Schema()), len(schema); have != want {
			return nil, errs.New(errs.Type, places[i], "this side of %s has %s, the first %d", q.Kind, count(have, "column"), want).
				WithHint("every side of %s %s has the same number of columns", article(q.Kind), q.Kind)
		}
	}
	for c := range schema {
		types := make([]sqltype.Type, len(ins))
		for i, n := range ins {
			types[i] = n.Schema()[c].Type
		}
		t, err := function.CommonType(types...)
		if err != nil {
			return nil, errs.New(errs.Type, q.At, "column %d of %s (%s) has no common type: %s", c+1, q.Kind, schema[c].Name, typeList(types)).
				WithHint("CAST it to one type on every side")
		}
		schema[c].Type = t
	}
	return schema, nil
}

func article(k parse.SetOpKind) string {
	if k == parse.Union {
		return "a"
	}
	return "an"
}

// newDistinct keeps one of equal rows: a group of all columns.
func newDistinct(in Node, at errs.Position) Node {
	return newAggregate(in, upTo(len(in.Schema())), nil, nil, at)
}

// derive: a row of the result is one of the left side, for INTERSECT of the right
// side too. All changes of equal rows come from one shard, removals first.
func (n *SetOperation) derive(t *Traits) {
	t.Mode = sqltype.AppendMode
	if n.Except || !n.Left.Traits().Mode.InsertOnly() || !n.Right.Traits().Mode.InsertOnly() {
		t.Mode = t.Mode.With(remove)
	}
	keys := slices.Clone(n.Left.Traits().Keys)
	if !n.Except {
		keys = append(keys, n.Right.Traits().Keys...)
	}
	if !n.All {
		keys = append(keys, Key{Columns: upTo(len(n.schema))})
	}
	for i, k := range keys {
		keys[i].Ordered = subset(t.Dist.Keys, k.Columns)
	}
	t.Keys = smallest(keys)
}

// placeExchanges brings equal rows of both sides together: by the columns by which
// one side is hashed already, else by all.
func (n *SetOperation) placeExchanges() {
	l, r := n.Left.Traits().Dist, n.Right.Traits().Dist
	if l.Kind == SingleShard && r.Kind == SingleShard {
		return
	}
	keys := upTo(len(n.schema))
	switch {
	case l.Kind == HashShards:
		keys = l.Keys
	case r.Kind == HashShards:
		keys = r.Keys
	}
	for i, in := range n.Inputs() {
		if d := in.Traits().Dist; d.Kind != HashShards || !slices.Equal(d.Keys, keys) {
			n.setInput(i, exchanged(in, HashShards, keys))
		}
	}
}
