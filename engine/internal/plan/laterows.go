package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// LateRows are the rows that its input refused because they were late, as the columns of
// the table that takes them. They are no result of the input, but go out beside it.
type LateRows struct {
	unary
	// Exprs are over what the input gives out with a late row: the columns of its own
	// input without WatermarkColumn, then the start and the end of the window that refused
	// the row.
	Exprs []expr.Expr
	Port  int // of the inputs of the input: where the rows came
}

// Op is "LateRows".
func (*LateRows) Op() string { return "LateRows" }

// LateTarget says where the late rows of a node go.
type LateTarget struct {
	sink *Sink // without an input; nil: they are only counted
	// columns are those of the node's input, or lateStart, lateEnd and lateNull, that become
	// columns of the table.
	columns []int
}

const (
	lateStart = -1 - iota
	lateEnd
	lateNull // what rows of the other input have
)

// refusing is a node that refuses rows that are late. It gives them out at exec.LateSide
// with the bounds of the window that is over, or with NULLs.
type refusing interface {
	timed
	late(port int) *LateTarget
}

// reads are the columns of the input that a node has to keep for late rows.
func (t *LateTarget) reads() []int {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c int) bool { return c < 0 })
}

// moved is the target over an input of which there are the given columns.
func (t *LateTarget) moved(have []int) LateTarget {
	out := *t
	out.columns = slices.Clone(t.columns)
	for i, c := range out.columns {
		if c >= 0 {
			out.columns[i] = slices.Index(have, c)
		}
	}
	return out
}

// routeLateRows finds the tables that take late rows. Which nodes refuse any is known when
// the filters are in their places.
func (b *binder) routeLateRows(roots []Node) error {
	var walk func(n Node) error
	walk = func(n Node) error {
		for _, in := range n.Inputs() {
			if err := walk(in); err != nil {
				return err
			}
		}
		r, ok := n.(refusing)
		if k, is := n.(*Rank); !ok || is && !k.refuses() {
			return nil
		}
		for port, in := range n.Inputs() {
			if _, is := n.(*TemporalJoin); is && port == 1 {
				continue // versions that are late hold from then on
			}
			if _, lateness := r.eventTime(port); !lateness {
				continue
			}
			name, err := b.lateTable(in)
			if err == nil && name != "" {
				err = b.routeTo(r, port, name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range roots {
		if err := walk(r); err != nil {
			return err
		}
	}
	return nil
}

// lateTable is the name of the table for rows of n that come late to what is above, or "":
// what the tables say that it reads, or else the session.
func (b *binder) lateTable(n Node) (string, error) {
	option, from := "", ""
	var find func(n Node) error
	find = func(n Node) error {
		if w, ok := n.(*WatermarkAssigner); ok && w.Table.Options.Given(catalog.LateRows) {
			text := w.Table.Options.Text(catalog.LateRows)
			if _, _, err := catalog.ParseLateRows(text); err != nil {
				return w.Table.Options.Errorf(catalog.LateRows, "option '%s': %w", catalog.LateRows, err)
			}
			if option != "" && option != text {
				return errs.New(errs.Option, n.Pos(), "the tables %s and %s want late rows to go to different places", from, w.Table.ID.Object).
					WithHint("SET '%s' for both", catalog.LateRows)
			}
			option, from = text, w.Table.ID.Object
		}
		for _, in := range n.Inputs() {
			if err := find(in); err != nil {
				return err
			}
		}
		return nil
	}
	if err := find(n); err != nil {
		return "", err
	}
	if option == "" {
		option = b.session.Options.LateRows
	}
	name, _, err := catalog.ParseLateRows(option)
	return name, err
}

// routeTo lets the late rows of an input of n go to a table, whose columns are found by
// name.
func (b *binder) routeTo(n refusing, port int, name string) error {
	var path parse.Name
	for _, part := range strings.Split(name, ".") {
		path = append(path, parse.Ident{Place: parse.Place{At: n.Pos()}, Value: part})
	}
	o, err := b.session.Lookup(path)
	if err != nil {
		return err
	}
	table, ok := o.(*catalog.Table)
	if !ok {
		return errs.New(errs.Invalid, n.Pos(), "late rows go to a table, and %s is a view", name)
	}
	target, err := table.Sink()
	if err != nil {
		return placed(err, n.Pos())
	}
	t := n.late(port)
	for _, c := range table.Declaration.Schema {
		at, err := lateColumn(n, port, c, name)
		if err != nil {
			return err
		}
		t.columns = append(t.columns, at)
	}
	t.sink = &Sink{Table: table, Target: target, Keys: table.Declaration.PrimaryKey}
	t.sink.schema, t.sink.at = table.Declaration.Schema, n.Pos()
	b.options(t.sink)
	return nil
}

// lateColumn is where a column of the table for late rows comes from.
func lateColumn(n refusing, port int, c sqltype.Column, table string) (int, error) {
	switch c.Name {
	case "window_start":
		return lateStart, nil
	case "window_end":
		return lateEnd, nil
	}
	in := n.Inputs()[port]
	if at := in.Schema().Index(c.Name); at >= 0 {
		return at, nil
	}
	if _, ok := n.(*WindowAggregate); ok { // of whose rows little is read
		if at := reach(in, c.Name); at >= 0 {
			return at, nil
		}
	}
	var names []string
	for _, in := range n.Inputs() {
		if in.Schema().Index(c.Name) >= 0 {
			return lateNull, nil
		}
		names = append(names, in.Schema().Names()...)
	}
	names = slices.DeleteFunc(names, func(s string) bool {
		return s == WatermarkColumn || s == "window_start" || s == "window_end"
	})
	e := errs.New(errs.NotFound, n.Pos(), "the table %s for late rows has a column %q, and the rows of %s have none", table, c.Name, n.Op())
	return 0, hintNames(e, c.Name, append(names, "window_start", "window_end"), "the columns are")
}

// reach is the column of n with a name, which a projection is made to pass on.
func reach(n Node, name string) int {
	if at := n.Schema().Index(name); at >= 0 {
		return at
	}
	c, ok := n.(*Calc)
	if !ok {
		return -1
	}
	below := reach(c.Input, name)
	if below < 0 {
		return -1
	}
	c.Exprs = append(c.Exprs[:len(c.Exprs):len(c.Exprs)], expr.NewColumn(c.Input.Schema(), below, c.at))
	c.schema = append(c.schema[:len(c.schema):len(c.schema)], c.Input.Schema()[below])
	return len(c.schema) - 1
}

// lateSinks are the roots that write late rows, one for each node that has a table for
// them.
func lateSinks(roots []Node) ([]Node, error) {
	var out []Node
	done := map[Node]bool{}
	var walk func(n Node) error
	walk = func(n Node) error {
		if done[n] {
			return nil
		}
		done[n] = true
		for _, in := range n.Inputs() {
			if err := walk(in); err != nil {
				return err
			}
		}
		r, ok := n.(refusing)
		if k, is := n.(*Rank); !ok || is && !k.refuses() {
			return nil
		}
		var sinks []*Sink
		for port := range n.Inputs() {
			to := r.late(port).sink
			if to == nil {
				continue
			}
			rows, err := newLateRows(r, port)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(sinks, func(s *Sink) bool { return s.Table == to.Table })
			if at >= 0 { // both inputs have one table
				both := slices.Clone(rows.schema)
				for i, c := range sinks[at].Input.Schema() {
					both[i].Type.NotNull = both[i].Type.NotNull && c.Type.NotNull
				}
				sinks[at].Input = newUnion([]Node{sinks[at].Input, rows}, both, rows.at)
				continue
			}
			sink := *to
			sink.Input = rows
			sinks = append(sinks, &sink)
		}
		for _, sink := range sinks {
			for i, c := range sink.schema {
				if c.Type.NotNull && !sink.Input.Schema()[i].Type.NotNull {
					sink.NotNull = append(sink.NotNull, i)
				}
			}
			out = append(out, sink)
		}
		return nil
	}
	for _, r := range roots {
		if err := walk(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newLateRows are the late rows of an input of n.
func newLateRows(n refusing, port int) (*LateRows, error) {
	t := n.late(port)
	var given sqltype.Schema
	place := map[int]int{}
	for i, c := range n.Inputs()[port].Schema() {
		if c.Name != WatermarkColumn {
			place[i] = len(given)
			given = append(given, c)
		}
	}
	bound := sqltype.TimestampOf(3)
	if refusedByWindow(n) {
		bound = bound.Required()
	}
	place[lateStart], place[lateEnd] = len(given), len(given)+1
	given = append(given, sqltype.Column{Name: "window_start", Type: bound}, sqltype.Column{Name: "window_end", Type: bound})
	out := &LateRows{Port: port}
	out.Input, out.at = n, n.Pos()
	for i, c := range t.columns {
		to := t.sink.schema[i]
		var e expr.Expr = expr.Null(to.Type, n.Pos())
		if c != lateNull {
			var err error
			if e, err = assign(expr.NewColumn(given, place[c], n.Pos()), to, t.sink.Table.ID.Object); err != nil {
				return nil, err
			}
		}
		out.Exprs = append(out.Exprs, e)
		out.schema = append(out.schema, sqltype.Column{Name: to.Name, Type: e.Type()})
	}
	return out, nil
}

// refusedByWindow reports whether it is a window that refuses late rows.
func refusedByWindow(n Node) bool {
	switch n := n.(type) {
	case *WindowAggregate, *WindowTable:
		return true
	case *Join:
		return n.Windowed
	case *Rank:
		return n.windowed()
	}
	return false
}
