package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// Expand makes of every row one for each grouping set: the keys, of which those that
// are not in the set are NULL, the number of the set, and other columns as they are.
type Expand struct {
	unary
	Keys    []int   // input columns
	Sets    [][]int // by set: positions in Keys, ascending
	Forward []int   // input columns
}

// Op is the operator's name.
func (*Expand) Op() string { return "Expand" }

// setColumn is the name of the column with the number of a grouping set.
const setColumn = "$set"

func newExpand(in Node, keys []int, sets [][]int, forward []int, at errs.Position) *Expand {
	n := &Expand{Keys: keys, Sets: sets, Forward: forward}
	n.Input, n.at = in, at
	for i, c := range in.Schema().Project(keys) {
		if slices.ContainsFunc(sets, func(set []int) bool { return !slices.Contains(set, i) }) {
			c.Type = c.Type.Optional()
		}
		n.schema = append(n.schema, c)
	}
	n.schema = append(n.schema, sqltype.Column{Name: setColumn, Type: sqltype.BigIntType.Required()})
	n.schema = append(n.schema, in.Schema().Project(forward)...)
	return n
}

// derive: of a row that is there once, each set has one.
func (n *Expand) derive(t *Traits) {
	in := n.Input.Traits()
	t.Mode, t.Keys = in.Mode, nil
	for _, k := range in.Keys {
		if subset(k.Columns, n.Forward) {
			cols := append(n.forwarded(k.Columns), len(n.Keys))
			t.Keys = append(t.Keys, Key{Columns: union(cols), Ordered: k.Ordered})
		}
	}
	t.Keys = smallest(t.Keys)
}

// forwarded are the results that are the given input columns as they are.
func (n *Expand) forwarded(cols []int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = len(n.Keys) + 1 + slices.Index(n.Forward, c)
	}
	return out
}

// distribution of what leaves the node.
func (n *Expand) distribution() Distribution {
	d := n.Input.Traits().Dist
	if d.Kind != HashShards {
		return d
	}
	if !subset(d.Keys, n.Forward) {
		return Distribution{}
	}
	return Distribution{Kind: HashShards, Keys: n.forwarded(d.Keys)}
}

// prune keeps keys and set, and of the other columns those that are needed.
func (n *Expand) prune(need []int) (Node, []int) {
	have := upTo(len(n.Keys) + 1)
	var forward []int
	for i, c := range n.Forward {
		if at := len(n.Keys) + 1 + i; slices.Contains(need, at) {
			have, forward = append(have, at), append(forward, c)
		}
	}
	reads := union(n.Keys, forward)
	in := exactly(n.Input, reads)
	return newExpand(in, positions(n.Keys, reads), n.Sets, positions(forward, reads), n.at), have
}

// text lists the sets.
func (n *Expand) text() []string {
	names := n.Input.Schema().Project(n.Keys).Names()
	out := make([]string, len(n.Sets))
	for i, set := range n.Sets {
		out[i] = "(" + strings.Join(pick(names, set), ", ") + ")"
	}
	return out
}

// maxGroupingSets bounds what CUBE and products of ROLLUPs come to.
const maxGroupingSets = 1024

// groupBy binds GROUP BY: expressions over FROM, ordinals and aliases of the
// SELECT list. A column of FROM goes before an alias. Several items are the product
// of their grouping sets.
func (b *binder) groupBy(s *parse.Select, sc *scope, items []item, g *grouping) error {
	sets := [][]int{upTo(len(g.keys))} // those of the domain are there already
	for _, gi := range s.GroupBy {
		more, err := b.groupItem(s, sc, items, g, gi)
		if err != nil {
			return err
		}
		if sets, err = product(sets, more, gi.At); err != nil {
			return err
		}
	}
	switch {
	case len(sets) > 1:
		g.sets = sets
	case len(sets) == 1:
		g.keys = pick(g.keys, sets[0]) // GROUPING SETS with one set is that set
	}
	return nil
}

func product(a, b [][]int, at errs.Position) ([][]int, error) {
	if len(a)*len(b) > maxGroupingSets {
		return nil, errs.New(errs.Limit, at, "GROUP BY has more than %d grouping sets", maxGroupingSets).WithHint("list those that are wanted: GROUPING SETS ((a, b), (a), ..)")
	}
	var out [][]int
	for _, x := range a {
		for _, y := range b {
			out = append(out, union(x, y))
		}
	}
	return out, nil
}

// groupItem returns the grouping sets of an item of GROUP BY, as positions in the
// keys, to which it adds.
func (b *binder) groupItem(s *parse.Select, sc *scope, items []item, g *grouping, gi parse.GroupItem) ([][]int, error) {
	if gi.Kind == parse.GroupExprs {
		var set []int
		for _, e := range gi.Exprs {
			if c, ok := e.(*parse.Call); ok && isWindowCall(c) {
				x := &exprBinder{b: b, scope: sc, clause: "GROUP BY"}
				keys, err := x.groupWindowKeys(c)
				if err != nil {
					return nil, err
				}
				for _, k := range keys {
					set = append(set, position(&g.keys, k))
				}
				continue
			}
			key, err := b.groupKey(s, sc, items, g, e)
			if err != nil {
				return nil, err
			}
			set = append(set, position(&g.keys, key))
		}
		return [][]int{union(set)}, nil
	}
	parts := make([][][]int, len(gi.Items))
	for i, it := range gi.Items {
		var err error
		if parts[i], err = b.groupItem(s, sc, items, g, it); err != nil {
			return nil, err
		}
	}
	switch gi.Kind {
	case parse.GroupRollup:
		return rollup(parts), nil
	case parse.GroupCube:
		out := [][]int{nil}
		for _, p := range parts {
			var err error
			if out, err = product(out, append(p[:1:1], nil), gi.At); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return slices.Concat(parts...), nil
}

// rollup is all items, then all but the last, down to none.
func rollup(parts [][][]int) [][]int {
	var out [][]int
	for n := len(parts); n >= 0; n-- {
		var set []int
		for _, p := range parts[:n] {
			set = append(set, p[0]...)
		}
		out = append(out, union(set))
	}
	return out
}

// groupingCall is GROUPING, GROUPING_ID or GROUP_ID. While a SELECT is bound, call i
// stands as column -1-i.
type groupingCall struct {
	name string
	args []expr.Expr
	at   errs.Position
}

// groupingFunction binds the functions that tell grouping sets apart.
func (x *exprBinder) groupingFunction(name string, e *parse.Call) (expr.Expr, error) {
	if x.aggs == nil {
		return nil, errs.New(errs.Invalid, e.At, "%s cannot stand in %s", name, x.clause).WithHint("it tells the groups of GROUP BY apart, in SELECT, HAVING or ORDER BY")
	}
	args, err := x.bindAll(e.Args...)
	if err != nil {
		return nil, err
	}
	if (len(args) == 0) != (name == "GROUP_ID") || name == "GROUPING" && len(args) > 63 {
		return nil, errs.New(errs.Type, e.At, "%s takes %s", name, map[bool]string{true: "no argument", false: "columns of GROUP BY"}[name == "GROUP_ID"])
	}
	g := x.aggs
	g.calls = append(g.calls, groupingCall{name, args, e.At})
	return &expr.Column{Index: -len(g.calls), Name: parse.Format(e), T: sqltype.BigIntType.Required(), At: e.At}, nil
}

// groupingValue is a grouping function over the output of the Aggregate, whose
// column len(keys) has the number of the set.
func (g *grouping) groupingValue(c groupingCall) (expr.Expr, error) {
	at := make([]int, len(c.args))
	for i, a := range c.args {
		if at[i] = slices.IndexFunc(g.keys, func(k expr.Expr) bool { return expr.Equal(k, a) }); at[i] < 0 {
			return nil, errs.New(errs.Invalid, a.Pos(), "%s(%s): %s is not in GROUP BY", c.name, a, a)
		}
	}
	// The sets with a value by the value. Without an argument in each set it is 0.
	value := func(set int) int64 {
		bits := int64(0)
		if c.name == "GROUP_ID" {
			for _, earlier := range g.sets[:set] {
				if slices.Equal(earlier, g.sets[set]) {
					bits++
				}
			}
		}
		for _, k := range at {
			bits <<= 1
			if !slices.Contains(g.sets[set], k) {
				bits |= 1
			}
		}
		return bits
	}
	number := func(n int64) expr.Expr {
		return &expr.Literal{Value: n, T: sqltype.BigIntType.Required(), At: c.at}
	}
	if len(g.sets) == 0 {
		return number(0), nil
	}
	var whens []expr.When
	for set := range g.sets[1:] {
		id := &expr.Column{Index: len(g.keys), Name: setColumn, T: sqltype.BigIntType.Required(), At: c.at}
		cond, err := expr.Apply("=", c.at, id, number(int64(set)))
		if err != nil {
			return nil, err
		}
		whens = append(whens, expr.When{Cond: cond, Then: number(value(set))})
	}
	return expr.NewCase(whens, number(value(len(g.sets)-1)), c.at)
}

// expanded is the input of an Aggregate over grouping sets, the keys in it, and what
// has become of the columns that the aggregates read.
func (g *grouping) expanded(in Node, keys []int, aggs []*expr.Aggregate, at errs.Position) (Node, []int, []*expr.Aggregate) {
	forward := upTo(len(in.Schema()))
	n := newExpand(in, keys, g.sets, forward, at)
	moved := func(e expr.Expr) expr.Expr {
		return expr.Remap(e, func(i int) int { return len(keys) + 1 + i })
	}
	for i, a := range aggs {
		c := *a
		c.Args = slices.Clone(a.Args)
		for k, arg := range c.Args {
			c.Args[k] = moved(arg)
		}
		if a.Filter != nil {
			c.Filter = moved(a.Filter)
		}
		aggs[i] = &c
	}
	return n, upTo(len(keys) + 1), aggs
}

// keyType is the type of a key in the output of the Aggregate: NULL where a grouping
// set is without it.
func (g *grouping) keyType(i int) sqltype.Type {
	t := g.keys[i].Type()
	if slices.ContainsFunc(g.sets, func(set []int) bool { return !slices.Contains(set, i) }) {
		return t.Optional()
	}
	return t
}

// width is the number of columns of the Aggregate's output before the aggregates.
func (g *grouping) width() int {
	if len(g.sets) > 0 {
		return len(g.keys) + 1
	}
	return len(g.keys)
}
