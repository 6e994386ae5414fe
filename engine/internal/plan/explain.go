package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// Text is the plan as EXPLAIN shows it: a tree of operators, each with what it does,
// and what is known of the edge that leaves it.
func (p *Plan) Text() string {
	return Text(p.Roots)
}

// Text draws a forest, complete or between two passes.
func Text(roots []Node) string {
	lines := draw(roots, traitCells)
	text := aligned([]string{"changes", "keys", "shards", "state"}, lines)
	if slices.ContainsFunc(lines, func(l line) bool { return l.cells != nil && strings.Contains(l.cells[1], "*") }) {
		text += "* holds at marks only\n"
	}
	return text + functionLines(roots)
}

// Drawing is the plan as a tree with other columns, and lines below the operators, than
// those of EXPLAIN.
func (p *Plan) Drawing(heads []string, of func(n Node) (cells, below []string)) string {
	return aligned(heads, draw(p.Roots, of))
}

// draw makes the lines of a forest.
func draw(roots []Node, of func(n Node) (cells, below []string)) []line {
	d := drawing{shared: shared(roots), drawn: map[Node]bool{}, of: of}
	for i, r := range roots {
		if i > 0 {
			d.lines = append(d.lines, line{})
		}
		d.node(r, "", "")
	}
	return d.lines
}

// traitCells are the columns of EXPLAIN, and what the operator does.
func traitCells(n Node) (cells, below []string) {
	t := n.Traits()
	state := t.State
	if state == "" {
		state = "none"
	}
	if t.Mode == 0 {
		state = ""
	}
	return []string{t.Mode.String(), keyText(n), t.Dist.text(n), state}, details(n)
}

// aligned puts lines under heads.
func aligned(heads []string, lines []line) string {
	width := make([]int, len(heads)+1)
	head := line{tree: "operator", cells: heads}
	for _, l := range append([]line{head}, lines...) {
		if l.cells == nil {
			continue
		}
		width[0] = max(width[0], utf8.RuneCountInString(l.tree))
		for i := range width[1:] {
			width[i+1] = max(width[i+1], utf8.RuneCountInString(l.cells[i]))
		}
	}
	var b strings.Builder
	for _, l := range append([]line{head}, lines...) {
		text := l.tree
		if l.cells != nil {
			text = pad(text, width[0])
			for i, c := range l.cells {
				if i+1 < len(width) {
					c = pad(c, width[i+1])
				}
				text += "  " + c
			}
		}
		b.WriteString(strings.TrimRight(text, " "))
		b.WriteByte('\n')
	}
	return b.String()
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", width-utf8.RuneCountInString(s))
}

// line is a line of the tree: an operator with its cells, or a detail without.
type line struct {
	tree  string
	cells []string
}

// drawing is a plan being drawn.
type drawing struct {
	lines  []line
	shared map[Node]int
	drawn  map[Node]bool // of those that are shared
	of     func(n Node) (cells, below []string)
}

// shared numbers the nodes that are inputs more than once, in the order in which they
// are drawn.
func shared(roots []Node) map[Node]int {
	numbers, consumers := map[Node]int{}, Consumers(roots)
	var walk func(n Node)
	walk = func(n Node) {
		for _, in := range n.Inputs() {
			if numbers[in] > 0 {
				continue
			}
			if consumers[in] > 1 {
				numbers[in] = len(numbers) + 1
			}
			walk(in)
		}
	}
	for _, r := range roots {
		walk(r)
	}
	return numbers
}

// node adds the subtree of n. first comes before the operator, rest before the lines
// below it. A shared subtree is drawn once.
func (d *drawing) node(n Node, first, rest string) {
	number := d.shared[n]
	if d.drawn[n] {
		d.lines = append(d.lines, line{tree: fmt.Sprintf("%sshared %d", first, number)})
		return
	}
	title := Title(n)
	if number > 0 {
		title += fmt.Sprintf(" (shared %d)", number)
		d.drawn[n] = true
	}
	cells, below := d.of(n)
	d.lines = append(d.lines, line{first + title, cells})
	under := rest + "  "
	if len(n.Inputs()) > 0 {
		under = rest + "│ "
	}
	for _, detail := range below {
		d.lines = append(d.lines, line{tree: under + "  " + detail})
	}
	for i, in := range n.Inputs() {
		if i+1 < len(n.Inputs()) {
			d.node(in, rest+"├─ ", rest+"│  ")
		} else {
			d.node(in, rest+"└─ ", rest+"   ")
		}
	}
}

// Title is an operator with what it works on.
func Title(n Node) string {
	if s := subject(n); s != "" {
		return n.Op() + " " + s
	}
	return n.Op()
}

// keyText lists the upsert keys; one that holds only at marks has a *.
func keyText(n Node) string {
	var out []string
	for _, k := range n.Traits().Keys {
		s := "(" + columnList(n, k.Columns) + ")"
		if !k.Ordered {
			s += "*"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func (d Distribution) text(n Node) string {
	switch d.Kind {
	case HashShards:
		return "by " + columnList(n, d.Keys)
	case SingleShard:
		return "one"
	}
	return "any"
}

// subject is what an operator works on, in a few words.
func subject(n Node) string {
	switch n := n.(type) {
	case *Scan:
		return n.Table.ID.Object
	case *WatermarkAssigner:
		return n.schema[n.Column].Name + timeMark(n, n.Column)
	case *Values:
		return count(len(n.Rows), "row")
	case *Aggregate:
		if len(n.Keys) > 0 {
			return "by " + columnList(n.Input, n.Keys)
		}
	case *WindowTable:
		return n.subject()
	case *WindowAggregate:
		return n.subject()
	case *SetOperation:
		if n.All {
			return "all"
		}
	case *Join:
		if n.Kind != InnerJoin {
			return n.Kind.String()
		}
	case *TemporalJoin:
		if n.Kind != InnerJoin {
			return n.Kind.String()
		}
	case *LookupJoin:
		return n.subject()
	case *Exchange:
		return Distribution{n.Kind, n.Keys}.text(n)
	case *Limit:
		return limitText(n.Offset, n.Count)
	case *Sort:
		return limitText(n.Offset, n.Count)
	case *Rank:
		return n.subject()
	case *Over:
		return n.subject()
	case *Normalize:
		return "by " + columnList(n, n.Keys)
	case *Materialize:
		return "by " + columnList(n, n.Keys) + [...]string{"", ", the first", ", one only"}[n.Keep]
	case *Consolidate:
		return "by " + columnList(n, n.Keys)
	case *Sink:
		return n.Table.ID.Object
	}
	return ""
}

// details are further lines about an operator.
func details(n Node) []string {
	var out []string
	add := func(name string, values ...string) {
		if len(values) > 0 {
			out = append(out, name+": "+strings.Join(values, ", "))
		}
	}
	switch n := n.(type) {
	case *Scan:
		add("columns", scanColumns(n)...)
		add("reads", n.keptText()...)
	case *WatermarkAssigner:
		if n.Expr != nil {
			add("watermark", n.Expr.String())
		} else {
			add("watermark", "SOURCE_WATERMARK()")
		}
		if n.Hidden {
			add("adds", WatermarkColumn)
		}
	case *Calc:
		if n.Filter != nil {
			add("filter", n.Filter.String())
		}
		if !n.forwardsAll() {
			cols := calcColumns(n)
			for i := range cols {
				cols[i] += timeMark(n, i)
			}
			add("columns", cols...)
		}
	case *WindowTable:
		if len(n.Partition) > 0 {
			add("partition by", n.Input.Schema().Project(n.Partition).Names()...)
		}
	case *WindowAggregate:
		add("computes", n.text()...)
	case *Aggregate:
		add("computes", aggregates(n)...)
	case *Join:
		add("on", joinKeyTexts(n)...)
		if len(n.LeftKeys) == 0 {
			add("on", "no equality, every pair is tried")
		}
		if n.Snapshot != nil {
			add("left rows wait until the right has loaded", n.Snapshot.text())
		}
		if n.Interval != nil {
			add("within", n.Interval.text(n))
		}
		if n.Residual != nil {
			add("and", n.residualText())
		}
		if n.Upsert && !n.LeftAppendOnly {
			add("replaces left by", n.Left.Schema().Project(n.LeftUnique).Names()...)
		}
		if n.Upsert && !n.RightAppendOnly {
			add("replaces right by", n.Right.Schema().Project(n.RightUnique).Names()...)
		}
	case *LookupJoin:
		n.details(add)
	case *TemporalJoin:
		add("on", joinKeyTexts(&n.Join)...)
		add("version", n.texts()...)
		if n.Residual != nil {
			add("and", n.residualText())
		}
	case *Expand:
		add("sets", n.text()...)
	case *Unnest:
		add("of", n.text()...)
	case *Sort:
		add("by", orderText(n, n.Order)...)
	case *TemporalSort:
		add("by", orderText(n, n.Order)...)
	case *Over:
		add("by", orderText(n, n.Order)...)
		add("computes", n.texts()...)
		if n.Traits().Mode != 0 {
			add("emits", n.how())
		}
	case *Rank:
		add("by", orderText(n, n.Order)...)
		if n.Number {
			add("number", n.numberText())
		}
		if n.Traits().Mode != 0 {
			add("keeps", n.how())
		}
	case *ToChangelog:
		add("codes", n.Codes.texts()...)
		if n.Partial {
			add("of a deletion", n.Input.Schema().Project(n.Keys).Names()...)
		}
	case *FromChangelog:
		add("codes in "+n.Input.Schema()[n.Code].Name, n.Codes.texts()...)
	case *Sink:
		add("writes", n.describe())
	case *Values:
		for _, r := range n.Rows[:min(len(n.Rows), 3)] {
			vals := make([]string, len(r))
			for i, e := range r {
				vals[i] = e.String()
			}
			if len(r) > 0 {
				out = append(out, "("+strings.Join(vals, ", ")+")")
			}
		}
		if more := len(n.Rows) - 3; more > 0 {
			out = append(out, fmt.Sprintf("and %d more", more))
		}
	}
	return out
}

// timeMark marks a column that is a time attribute.
func timeMark(n Node, col int) string {
	if attr := timeAttribute(n, col); attr != sqltype.NoTime {
		return " *" + attr.String() + "*"
	}
	return ""
}

func scanColumns(n *Scan) []string {
	names := n.schema.Names()
	if all := len(n.Table.Declaration.Schema); len(names) < all {
		if len(names) == 0 {
			names = []string{"none"}
		}
		names[len(names)-1] += fmt.Sprintf(" of %d", all)
	}
	return names
}

func calcColumns(n *Calc) []string {
	out := make([]string, len(n.Exprs))
	for i, e := range n.Exprs {
		if out[i] = e.String(); out[i] != n.schema[i].Name {
			out[i] += " AS " + n.schema[i].Name
		}
	}
	return out
}

func (n *Calc) forwardsAll() bool {
	in := n.Input.Schema()
	return len(n.schema) == len(in) && slices.Equal(calcColumns(n), sqltype.Schema(in).Names())
}

func aggregates(n *Aggregate) []string {
	out := make([]string, len(n.Aggs))
	for i, a := range n.Aggs {
		if out[i] = a.String(); out[i] != n.schema[len(n.Keys)+i].Name {
			out[i] += " AS " + n.schema[len(n.Keys)+i].Name
		}
	}
	return out
}

// residualText is the condition with left. or right. before names that both sides
// have.
func (n *Join) residualText() string {
	left, right := n.Left.Schema(), n.Right.Schema()
	return expr.Rewrite(n.Residual, func(e expr.Expr) expr.Expr {
		c, ok := e.(*expr.Column)
		if !ok {
			return e
		}
		named := *c
		switch at := c.Index - len(left); {
		case at < 0 && right.Index(left[c.Index].Name) >= 0:
			named.Name = "left." + left[c.Index].Name
		case at >= 0 && left.Index(right[at].Name) >= 0:
			named.Name = "right." + right[at].Name
		}
		return &named
	}).String()
}

func joinKeyTexts(n *Join) []string {
	out := make([]string, len(n.LeftKeys))
	for i, l := range n.LeftKeys {
		op := " = "
		if n.NullSafe[i] {
			op = " IS NOT DISTINCT FROM "
		}
		out[i] = n.Left.Schema()[l].Name + op + n.Right.Schema()[n.RightKeys[i]].Name
	}
	return out
}
