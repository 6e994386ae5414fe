package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// SortKey is a column to order by.
type SortKey struct {
	Column    int
	Desc      bool
	NullsLast bool
}

// Sort is ORDER BY, with or without LIMIT and OFFSET, on a single shard: it passes
// Count rows after the first Offset. It also is LIMIT over rows that change, which
// are in the order in which they come.
type Sort struct {
	unary
	Order         []SortKey
	Offset, Count int64 // without LIMIT Count is math.MaxInt64
	// AtEnd says that the input ends, and the rows come then, in order. Otherwise the
	// rows that are among the first come and go.
	AtEnd bool
	// InputAppendOnly says that nothing is ever taken back.
	InputAppendOnly bool
}

// Op is TopN for the first rows of an input that goes on.
func (n *Sort) Op() string {
	if n.AtEnd {
		return "Sort"
	}
	return "TopN"
}

func newSort(in Node, order []SortKey, offset, count int64, atEnd bool, at errs.Position) *Sort {
	n := &Sort{Order: order, Offset: offset, Count: count, AtEnd: atEnd}
	n.Input, n.schema, n.at = in, in.Schema(), at
	return n
}

// ordered is a node with what ORDER BY said of it.
type ordered struct {
	Node
	keys  []SortKey
	width int // number of columns of the result; those behind are only for the order
	// domain are the columns with the values of the domain, in a query that has one.
	domain []int
}

// sorted applies ORDER BY, LIMIT and OFFSET. Tables have no order: only a result
// has, so without LIMIT the order of a subquery is left out.
func (b *binder) sorted(o ordered, q *parse.Query, result bool) (Node, error) {
	offset, count, pos, err := b.limits(q)
	if err != nil {
		return nil, err
	}
	limited := offset > 0 || count < math.MaxInt64
	n := o.Node
	switch {
	case b.domain != nil && limited:
		if n, err = o.limited(offset, count, pos); err != nil {
			return nil, err
		}
	case b.domain != nil:
	case len(q.OrderBy) > 0 && (result || limited):
		at := q.OrderBy[0].Expr.Pos()
		if !limited && len(o.keys) > 0 && !bounded(n) && !b.session.Options.SortAtEnd {
			if t, ok := newTemporalSort(n, o.keys, at); ok {
				n = t
				break
			}
		}
		n = newSort(n, o.keys, offset, count, bounded(n) || b.session.Options.SortAtEnd && !limited, at)
	case limited:
		n = newLimit(n, offset, count, pos)
	}
	if o.width < len(n.Schema()) {
		n = newProjection(n, append(upTo(o.width), o.domain...))
	}
	return n, nil
}

// limits binds LIMIT and OFFSET.
func (b *binder) limits(q *parse.Query) (offset, count int64, pos errs.Position, err error) {
	count, pos = math.MaxInt64, q.At
	if q.Offset != nil {
		pos = q.Offset.Pos()
		if offset, err = b.rowCount(q.Offset, "OFFSET"); err != nil {
			return 0, 0, pos, err
		}
	}
	if q.Limit != nil {
		pos = q.Limit.Pos()
		if count, err = b.rowCount(q.Limit, "LIMIT"); err != nil {
			return 0, 0, pos, err
		}
	}
	return offset, count, pos, nil
}

// bounded reports whether all that n reads comes to an end.
func bounded(n Node) bool { return endless(n) == nil }

// endless is a table below n that does not end, or nil.
func endless(n Node) *Scan {
	if s, ok := n.(*Scan); ok && !s.Source.Bounded() {
		return s
	}
	for _, in := range n.Inputs() {
		if s := endless(in); s != nil {
			return s
		}
	}
	return nil
}

// orderBy binds ORDER BY: positions and names of the SELECT list, which go before
// columns of FROM, and expressions over both. What the list does not have is added
// to the items.
func (x *exprBinder) orderBy(order []parse.OrderItem, items []item) ([]item, []SortKey, error) {
	var keys []SortKey
	x.outputs = items
	for _, o := range order {
		at, e, err := x.orderItem(o.Expr, items)
		if err != nil {
			return nil, nil, err
		}
		if at < 0 {
			at = slices.IndexFunc(items, func(it item) bool { return expr.Equal(it.expr, e) })
		}
		if at < 0 {
			at = len(items)
			items = append(items[:at:at], item{expr: e, name: e.String()})
		}
		if slices.ContainsFunc(keys, func(k SortKey) bool { return k.Column == at }) {
			continue // rows that are equal in it once are equal in it again
		}
		last := o.Nulls == parse.NullsLast || o.Nulls == parse.NullsDefault && o.Desc
		keys = append(keys, SortKey{Column: at, Desc: o.Desc, NullsLast: last})
	}
	return items, keys, nil
}

// orderItem is the position of an item of the SELECT list, or -1 and an expression.
func (x *exprBinder) orderItem(e parse.Expr, items []item) (int, expr.Expr, error) {
	if lit, ok := e.(*parse.Literal); ok && lit.Kind == parse.IntLiteral {
		n, err := strconv.Atoi(lit.Text)
		if width := len(x.outputs); err != nil || n < 1 || n > width {
			return 0, nil, errs.New(errs.Invalid, lit.At, "ORDER BY %s is no position in the SELECT list", lit.Text).WithHint("it has %s", count(width, "column"))
		}
		return n - 1, nil, nil
	}
	bound, err := x.bind(e)
	return -1, bound, err
}

// output is the item of the SELECT list that a name means, in ORDER BY.
func (x *exprBinder) output(e *parse.ColumnRef) (expr.Expr, error) {
	if len(e.Name) != 1 {
		return nil, nil
	}
	var found expr.Expr
	for _, it := range x.outputs {
		switch {
		case it.name != e.Name[0].Value:
		case found != nil && !expr.Equal(found, it.expr):
			return nil, errs.New(errs.Ambiguous, e.At, "%s %s: the SELECT list has two columns of this name", x.clause, e.Name).WithHint("order by position, or give one of them an alias")
		default:
			found = it.expr
		}
	}
	return found, nil
}

// ordering binds ORDER BY over the columns of a query that is no SELECT.
func (b *binder) ordering(n Node, order []parse.OrderItem) (ordered, error) {
	total := len(n.Schema())
	width := total - len(b.domain.columns())
	items := make([]item, total)
	for i, c := range n.Schema() {
		items[i] = item{expr: expr.NewColumn(n.Schema(), i, n.Pos()), name: c.Name}
	}
	x := &exprBinder{b: b, scope: scopeOf(tableRef{}, n.Schema()), clause: "ORDER BY"}
	items, keys, err := x.orderBy(order, items)
	domain := upTo(total)[width:]
	if err != nil || len(items) == total {
		return ordered{n, keys, width, domain}, err
	}
	exprs, names := itemExprs(items)
	return ordered{newCalc(n, nil, exprs, names, n.Pos()), keys, width, domain}, nil
}

func itemExprs(items []item) ([]expr.Expr, []string) {
	exprs, names := make([]expr.Expr, len(items)), make([]string, len(items))
	for i, it := range items {
		exprs[i], names[i] = it.expr, it.name
	}
	return exprs, names
}

// check refuses what would need all rows of an input that goes on.
func (n *Sort) check() error {
	if n.AtEnd || n.Count < math.MaxInt64 {
		return nil
	}
	table := endless(n.Input).Table.ID.Object
	if len(n.Order) == 0 {
		return errs.New(errs.Changelog, n.at, "OFFSET of rows that change needs all of them, and table %q does not end", table).WithHint("add LIMIT")
	}
	return errs.New(errs.Changelog, n.at, "ORDER BY needs all rows, and table %q does not end", table).
		WithHint("add LIMIT to keep the first rows, or sort where the result is read")
}

// derive: what comes at the end is never taken back. While the input goes on, rows
// that are pushed out of the first ones are removed before others take their place.
func (n *Sort) derive(t *Traits) {
	in := n.Input.Traits()
	n.InputAppendOnly = in.Mode.InsertOnly()
	t.Mode = sqltype.AppendMode
	if !n.AtEnd {
		t.Mode = t.Mode.With(remove)
	}
	t.Keys = slices.Clone(in.Keys)
	if n.Count <= 1 {
		t.Keys = []Key{{}}
	}
	for i := range t.Keys {
		t.Keys[i].Ordered = true
	}
	t.Keys = smallest(t.Keys)
}

// prune keeps the columns that are needed and those of the order.
func (n *Sort) prune(need []int) (Node, []int) {
	reads := slices.Clone(need)
	for _, k := range n.Order {
		reads = append(reads, k.Column)
	}
	in, have := prune(n.Input, union(reads))
	order := slices.Clone(n.Order)
	for i, k := range order {
		order[i].Column = slices.Index(have, k.Column)
	}
	return newSort(in, order, n.Offset, n.Count, n.AtEnd, n.at), have
}

// limitText is LIMIT and OFFSET in a few words, or empty.
func limitText(offset, rows int64) string {
	switch {
	case rows == math.MaxInt64 && offset == 0:
		return ""
	case rows == math.MaxInt64:
		return fmt.Sprintf("from row %d", offset+1)
	case offset > 0:
		return fmt.Sprintf("%d from row %d", rows, offset+1)
	}
	return fmt.Sprint(rows)
}

// orderText is the order of n as it is written, with what is not the default.
func orderText(n Node, order []SortKey) []string {
	out := make([]string, len(order))
	for i, k := range order {
		out[i] = n.Schema()[k.Column].Name
		if k.Desc {
			out[i] += " DESC"
		}
		if k.NullsLast != k.Desc {
			out[i] += [...]string{" NULLS FIRST", " NULLS LAST"}[btoi(k.NullsLast)]
		}
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
