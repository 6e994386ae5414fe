package parse

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// String is the type as DDL writes it.
func (t *DataType) String() string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	switch t.Name {
	case "ARRAY", "MULTISET":
		b.WriteString(t.Name + "<" + t.Elem.String() + ">")
	case "MAP":
		b.WriteString("MAP<" + t.Key.String() + ", " + t.Elem.String() + ">")
	case "ROW":
		b.WriteString("ROW<")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Name.String() + " " + f.Type.String())
		}
		b.WriteString(">")
	case "INTERVAL":
		b.WriteString("INTERVAL " + string(t.From) + t.params(0))
		if t.To != "" {
			b.WriteString(" TO " + string(t.To) + t.params(1))
		}
	default:
		b.WriteString(t.Name)
		if len(t.Params) > 0 {
			b.WriteString("(")
			for i, n := range t.Params {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(itoa(n))
			}
			b.WriteString(")")
		}
	}
	if t.NotNull {
		b.WriteString(" NOT NULL")
	}
	return b.String()
}

// params is the precision of one unit of an interval.
func (t *DataType) params(i int) string {
	if i < len(t.Params) {
		return "(" + itoa(t.Params[i]) + ")"
	}
	return ""
}

// callWords stand between the arguments of calls that have keywords.
var callWords = map[string]string{"EXTRACT": " FROM ", "TRIM": " FROM ", "FLOOR": " TO ", "CEIL": " TO ", "CEILING": " TO ", "POSITION": " IN "}

func (p *printer) call(e *Call) {
	p.write(functionName(e.Name))
	if e.NoParens {
		return
	}
	p.write("(")
	if e.Distinct {
		p.write("DISTINCT ")
	}
	if e.Star {
		p.write("*")
	}
	p.args(e)
	within := e.OrderBy != nil && len(e.Name) == 1 && strings.EqualFold(e.Name[0].Value, "LISTAGG")
	if e.OrderBy != nil && !within {
		if len(e.Args) > 0 || e.Star {
			p.write(" ")
		}
		p.orderBy(e.OrderBy)
	}
	p.write(")")
	if within {
		p.write(" WITHIN GROUP (")
		p.orderBy(e.OrderBy)
		p.write(")")
	}
	if e.Filter != nil {
		p.write(" FILTER (WHERE ")
		p.expr(e.Filter, 0)
		p.write(")")
	}
	if e.IgnoreNulls {
		p.write(" IGNORE NULLS")
	}
	if e.Over != nil {
		p.write(" OVER ")
		if e.Over.isName() {
			p.write(e.Over.Base.String())
		} else {
			p.windowSpec(e.Over)
		}
	}
}

// functionName is the name as written, without the quotes that a reserved word
// needs when it is no function.
func functionName(n Name) string {
	if len(n) == 1 && callable[strings.ToUpper(n[0].Value)] {
		return n[0].Value
	}
	return n.String()
}

// args writes the arguments, with the keywords of EXTRACT and the like.
func (p *printer) args(e *Call) {
	word := ""
	if len(e.Name) == 1 {
		word = callWords[strings.ToUpper(e.Name[0].Value)]
	}
	symbols := 0
	for _, a := range e.Args {
		if _, ok := a.(*Symbol); ok {
			symbols++
		}
	}
	switch {
	case word == " IN " && len(e.Args) == 2:
		p.expr(e.Args[0], concatLevel)
		p.write(word)
		p.expr(e.Args[1], concatLevel)
	case word == " FROM " && symbols == 1 && len(e.Args) == 3: // TRIM(BOTH x FROM s)
		p.expr(e.Args[0], 0)
		p.write(" ")
		p.expr(e.Args[1], 0)
		p.write(word)
		p.expr(e.Args[2], 0)
	case word != "" && word != " IN " && symbols == 1 && len(e.Args) == 2:
		p.expr(e.Args[0], 0)
		p.write(word)
		p.expr(e.Args[1], 0)
	default:
		for i, a := range e.Args {
			if n, ok := a.(*NamedArg); ok && p.jsonClause(n) {
				continue
			}
			if i > 0 {
				p.write(", ")
			}
			p.expr(a, 0)
		}
	}
}

// jsonClause writes a clause of a JSON function, which is a named argument with
// a name that no user can give.
func (p *printer) jsonClause(n *NamedArg) bool {
	switch n.Name.Value {
	case "ON EMPTY", "ON ERROR", "ON NULL":
		p.write(" ")
		if _, ok := n.Value.(*Symbol); !ok {
			p.write("DEFAULT ")
		}
		p.expr(n.Value, 0)
		p.write(" ", n.Name.Value)
	case "WRAPPER":
		p.write(" ")
		p.expr(n.Value, 0)
		p.write(" WRAPPER")
	case "RETURNING":
		if _, ok := n.Value.(*TypeArg); !ok {
			return false
		}
		p.write(" RETURNING ")
		p.expr(n.Value, 0)
	default:
		return false
	}
	return true
}

func (p *printer) tableArg(e *TableArg) {
	p.write("TABLE ")
	switch t := e.Table.(type) {
	case *TableName:
		p.write(t.Name.String())
	case *DerivedTable:
		p.write("(")
		p.query(t.Query)
		p.write(")")
	case *TableFunction:
		p.write("(")
		p.call(t.Call)
		p.write(")")
	}
	if e.PartitionBy != nil {
		p.write(" PARTITION BY ")
		p.exprs(e.PartitionBy)
	}
	if e.OrderBy != nil {
		p.write(" ")
		p.orderBy(e.OrderBy)
	}
}

func (p *printer) orderBy(items []OrderItem) {
	p.write("ORDER BY ")
	p.list(len(items), func(i int) {
		p.expr(items[i].Expr, 0)
		if items[i].Desc {
			p.write(" DESC")
		}
		switch items[i].Nulls {
		case NullsFirst:
			p.write(" NULLS FIRST")
		case NullsLast:
			p.write(" NULLS LAST")
		}
	})
}

// isName reports whether the window is a name and nothing else.
func (w *WindowSpec) isName() bool {
	return !w.Base.IsZero() && w.PartitionBy == nil && w.OrderBy == nil && w.Frame == nil
}

func (p *printer) windowSpec(w *WindowSpec) {
	p.write("(")
	space := ""
	if !w.Base.IsZero() {
		p.write(w.Base.String())
		space = " "
	}
	if w.PartitionBy != nil {
		p.write(space, "PARTITION BY ")
		p.exprs(w.PartitionBy)
		space = " "
	}
	if w.OrderBy != nil {
		p.write(space)
		p.orderBy(w.OrderBy)
		space = " "
	}
	if f := w.Frame; f != nil {
		p.write(space, string(f.Unit), " BETWEEN ")
		p.bound(f.Start)
		p.write(" AND ")
		p.bound(f.End)
	}
	p.write(")")
}

func (p *printer) bound(b Bound) {
	switch b.Kind {
	case UnboundedPreceding:
		p.write("UNBOUNDED PRECEDING")
	case UnboundedFollowing:
		p.write("UNBOUNDED FOLLOWING")
	case CurrentRow:
		p.write("CURRENT ROW")
	case Preceding:
		p.expr(b.Offset, 0)
		p.write(" PRECEDING")
	case Following:
		p.expr(b.Offset, 0)
		p.write(" FOLLOWING")
	}
}
