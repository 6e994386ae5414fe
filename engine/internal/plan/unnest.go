package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// Unnest makes of every row one for each element of a collection: the columns of the
// element, then its number if it is asked for, then the forwarded columns. Several
// collections go side by side.
type Unnest struct {
	unary
	Collections []int // input columns
	Forward     []int // input columns
	Outer       bool  // a row without elements is passed on, with NULLs
	Ordinality  bool
	names       []string // of the elements' columns, the number's last
}

// Op is "Unnest".
func (*Unnest) Op() string { return "Unnest" }

// elementColumns are the columns that an element of a collection makes.
func elementColumns(t sqltype.Type) sqltype.Schema {
	name := func(types ...sqltype.Type) (s sqltype.Schema) {
		names := []string{"EXPR$0"}
		if t.ID == sqltype.Map {
			names = []string{"KEY", "VALUE"}
		}
		for i, typ := range types {
			s = append(s, sqltype.Column{Name: names[i], Type: typ})
		}
		return s
	}
	switch {
	case t.ID == sqltype.Map:
		return name(t.Children()...)
	case t.Elem.ID == sqltype.Row:
		s := slices.Clone(sqltype.Schema(t.Elem.Fields))
		for i := range s {
			if !t.Elem.NotNull {
				s[i].Type = s[i].Type.Optional()
			}
		}
		return s
	}
	return name(t.Children()[0])
}

// newUnnest sets the schema of n, whose other fields are given.
func newUnnest(in Node, like *Unnest) *Unnest {
	n := *like
	n.traits = Traits{}
	n.Input = in
	n.schema = nil
	for _, c := range n.Collections {
		n.schema = append(n.schema, elementColumns(in.Schema()[c].Type)...)
	}
	pads := n.Outer || len(n.Collections) > 1
	for i := range n.schema {
		if pads {
			n.schema[i].Type = n.schema[i].Type.Optional()
		}
	}
	if n.Ordinality {
		t := sqltype.IntType.Required()
		t.NotNull = !n.Outer
		n.schema = append(n.schema, sqltype.Column{Name: "ORDINALITY", Type: t})
	}
	for i, name := range n.names {
		n.schema[i].Name = name
	}
	n.schema = append(n.schema, in.Schema().Project(n.Forward)...)
	return &n
}

// elements is the number of columns before the forwarded ones.
func (n *Unnest) elements() int { return len(n.schema) - len(n.Forward) }

// unnest binds UNNEST of collections that may name columns of n, which sc names; outer
// says that rows without elements stay.
func (b *binder) unnest(n Node, sc *scope, u *parse.Unnest, outer bool) (Node, *scope, error) {
	x := &exprBinder{b: b, scope: sc, clause: "UNNEST"}
	args, err := x.bindAll(u.Args...)
	if err != nil {
		return nil, nil, err
	}
	out := &Unnest{Forward: upTo(len(n.Schema())), Outer: outer, Ordinality: u.Ordinality}
	out.at = u.At
	exprs, names := columns(n), n.Schema().Names()
	for _, a := range args {
		if id := a.Type().ID; id != sqltype.Array && id != sqltype.Map && id != sqltype.Multiset {
			return nil, nil, errs.New(errs.Type, a.Pos(), "UNNEST takes an ARRAY, a MAP or a MULTISET, and %s is %s", a, a.Type().Optional())
		}
		if c, ok := a.(*expr.Column); ok {
			out.Collections = append(out.Collections, c.Index)
			continue
		}
		out.Collections = append(out.Collections, len(exprs))
		exprs, names = append(exprs, a), append(names, a.String())
	}
	in := n
	if len(exprs) > len(n.Schema()) {
		in = newCalc(n, nil, exprs, names, u.At)
	}
	un := newUnnest(in, out)
	right, err := un.scope(u)
	if err != nil {
		return nil, nil, err
	}
	both, err := sc.join(right)
	if err != nil {
		return nil, nil, err
	}
	order := append(un.forwarded(un.Forward), upTo(un.elements())...)
	return newProjection(un, order), both, nil
}

// scope names the columns of the elements. The alias of one column without names is that
// of the column too.
func (n *Unnest) scope(u *parse.Unnest) (*scope, error) {
	elements := n.schema[:n.elements()]
	ref := tableRef{pos: u.At}
	if u.Alias != nil {
		columns := u.Alias.Columns
		if len(columns) == 0 && len(elements) == 1 {
			columns = []parse.Ident{u.Alias.Name}
		}
		var err error
		if elements, err = rename(elements, columns, "alias "+u.Alias.Name.Value); err != nil {
			return nil, err
		}
		ref = tableRef{name: u.Alias.Name.Value, pos: u.Alias.Name.At, alias: true}
	}
	n.names = elements.Names()
	return scopeOf(ref, elements), nil
}

// derive: with its number an element of a row with a key has a key.
func (n *Unnest) derive(t *Traits) {
	in := n.Input.Traits()
	t.Keys = nil
	t.Mode = sqltype.AppendMode
	if !in.Mode.InsertOnly() {
		t.Mode = t.Mode.With(remove)
	}
	if !n.Ordinality {
		return
	}
	for _, k := range in.Keys {
		if subset(k.Columns, n.Forward) {
			cols := append(n.forwarded(k.Columns), n.elements()-1)
			t.Keys = append(t.Keys, Key{Columns: union(cols), Ordered: k.Ordered})
		}
	}
	t.Keys = smallest(t.Keys)
}

// forwarded are the results that are the given input columns as they are.
func (n *Unnest) forwarded(cols []int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = n.elements() + slices.Index(n.Forward, c)
	}
	return out
}

func (n *Unnest) distribution() Distribution {
	d := n.Input.Traits().Dist
	if d.Kind != HashShards {
		return d
	}
	if !subset(d.Keys, n.Forward) {
		return Distribution{}
	}
	return Distribution{Kind: HashShards, Keys: n.forwarded(d.Keys)}
}

// carry passes the hidden column of a watermark on, as the last.
func (n *Unnest) carry(below int) {
	n.Forward = append(n.Forward[:len(n.Forward):len(n.Forward)], below)
	n.schema = append(n.schema[:len(n.schema):len(n.schema)], n.Input.Schema()[below])
}

// prune keeps the elements, and of the forwarded columns those that are needed.
func (n *Unnest) prune(need []int) (Node, []int) {
	have := upTo(n.elements())
	out := *n
	out.Forward, out.names = nil, n.schema[:n.elements()].Names()
	for i, c := range n.Forward {
		if at := n.elements() + i; slices.Contains(need, at) {
			have, out.Forward = append(have, at), append(out.Forward, c)
		}
	}
	reads := union(n.Collections, out.Forward)
	in := exactly(n.Input, reads)
	out.Collections, out.Forward = positions(n.Collections, reads), positions(out.Forward, reads)
	return newUnnest(in, &out), have
}

// pushDown lets conditions on the forwarded columns go below, where they see a row once.
func (n *Unnest) pushDown(conds []expr.Expr) Node {
	below, above := split(conds, func(e expr.Expr) bool { return within(e, n.elements(), len(n.schema)) })
	for i, c := range below {
		below[i] = expr.Remap(c, func(k int) int { return n.Forward[k-n.elements()] })
	}
	n.Input = pushDown(n.Input, below)
	return filtered(n, above)
}

// text says what is taken apart.
func (n *Unnest) text() []string {
	out := n.Input.Schema().Project(n.Collections).Names()
	if n.Ordinality {
		out = append(out, "with ordinality")
	}
	if n.Outer {
		out = append(out, "rows without elements stay")
	}
	return out
}
