package parse

import (
	"strings"
)

// Format is the expression as SQL: one line, keywords in upper case, names
// quoted only where they have to be, brackets only where precedence wants them.
// The parser reads it back as the same expression.
func Format(e Expr) string {
	p := &printer{}
	p.expr(e, 0)
	return p.b.String()
}

// QuoteIdent is the name as an identifier of SQL, in backquotes unless it is a
// plain word that is not reserved.
func QuoteIdent(name string) string {
	if name != "" && wordEnd(name, 0) == len(name) && !strings.HasPrefix(name, "$") && (name[0] < '0' || name[0] > '9') && !reserved[strings.ToUpper(name)] {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

func quoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// printer writes expressions and queries as SQL.
type printer struct {
	b strings.Builder
}

func (p *printer) write(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

// list writes n items with commas between them.
func (p *printer) list(n int, item func(i int)) {
	for i := range n {
		if i > 0 {
			p.write(", ")
		}
		item(i)
	}
}

func (p *printer) exprs(list []Expr) { p.list(len(list), func(i int) { p.expr(list[i], 0) }) }

func (p *printer) idents(list []Ident) {
	p.list(len(list), func(i int) { p.write(list[i].String()) })
}

// The strengths of operators, weakest first. An operand weaker than its place
// asks for gets brackets.
const (
	orLevel = iota + 1
	andLevel
	notLevel
	compareLevel
	concatLevel
	addLevel
	multiplyLevel
	zoneLevel
	unaryLevel
	primaryLevel
)

// binaryLevels are the strengths of the operators on values; all others compare.
var binaryLevels = map[BinaryOp]int{
	Concat: concatLevel, Add: addLevel, Subtract: addLevel, Multiply: multiplyLevel, Divide: multiplyLevel, Modulo: multiplyLevel,
}

func level(e Expr) int {
	switch e := e.(type) {
	case *Logic:
		if e.Op == Or {
			return orLevel
		}
		return andLevel
	case *Unary:
		if e.Op == Not {
			return notLevel
		}
		return unaryLevel
	case *Binary:
		if l, ok := binaryLevels[e.Op]; ok {
			return l
		}
		return compareLevel
	case *Test, *Between, *In, *Match, *Quantified:
		return compareLevel
	case *AtTimeZone:
		return zoneLevel
	}
	return primaryLevel
}

// expr writes e where an operand of at least the given strength is wanted.
func (p *printer) expr(e Expr, least int) {
	if e == nil {
		return
	}
	if level(e) < least {
		p.write("(")
		defer p.write(")")
	}
	switch e := e.(type) {
	case *ColumnRef:
		p.write(e.Name.String())
	case *Literal:
		p.literal(e)
	case *Interval:
		p.interval(e)
	case *Unary:
		p.unary(e)
	case *Binary:
		p.binary(e)
	case *Logic:
		for i, a := range e.Args {
			if i > 0 {
				p.write(" ", string(e.Op), " ")
			}
			p.expr(a, level(e)+1)
		}
	case *Test:
		p.expr(e.Arg, concatLevel)
		p.write(" IS ", not(e.Not), string(e.Kind))
	case *Between:
		p.expr(e.Arg, concatLevel)
		p.write(" ", not(e.Not), "BETWEEN ")
		if e.Symmetric {
			p.write("SYMMETRIC ")
		}
		p.expr(e.Low, concatLevel)
		p.write(" AND ")
		p.expr(e.High, concatLevel)
	case *In:
		p.expr(e.Arg, concatLevel)
		p.write(" ", not(e.Not), "IN (")
		if e.Query != nil {
			p.query(e.Query)
		} else {
			p.exprs(e.List)
		}
		p.write(")")
	case *Quantified:
		p.expr(e.Arg, concatLevel)
		p.write(" ", string(e.Op), " ")
		if e.All {
			p.write("ALL (")
		} else {
			p.write("ANY (")
		}
		p.query(e.Query)
		p.write(")")
	case *Match:
		p.expr(e.Arg, concatLevel)
		p.write(" ", not(e.Not), string(e.Kind), " ")
		p.expr(e.Pattern, concatLevel)
		if e.Escape != nil {
			p.write(" ESCAPE ")
			p.expr(e.Escape, concatLevel)
		}
	case *AtTimeZone:
		p.expr(e.Arg, zoneLevel)
		p.write(" AT TIME ZONE ")
		p.expr(e.Zone, unaryLevel)
	default:
		p.primary(e)
	}
}

// primary writes what never needs brackets.
func (p *printer) primary(e Expr) {
	switch e := e.(type) {
	case *Exists:
		p.write("EXISTS (")
		p.query(e.Query)
		p.write(")")
	case *Subquery:
		p.write("(")
		p.query(e.Query)
		p.write(")")
	case *Case:
		p.caseExpr(e)
	case *Cast:
		if e.Try {
			p.write("TRY_")
		}
		p.write("CAST(")
		p.expr(e.Arg, 0)
		p.write(" AS ", e.Type.String(), ")")
	case *Call:
		p.call(e)
	case *Symbol:
		p.write(e.Name)
	case *NamedArg:
		p.write(e.Name.String(), " => ")
		p.expr(e.Value, 0)
	case *TableArg:
		p.tableArg(e)
	case *Descriptor:
		p.write("DESCRIPTOR(")
		p.idents(e.Columns)
		p.write(")")
	case *TypeArg:
		p.write(e.Type.String())
	case *Row:
		p.write("ROW(")
		p.exprs(e.Items)
		p.write(")")
	case *Array:
		if e.Query != nil {
			p.write("ARRAY(")
			p.query(e.Query)
			p.write(")")
			return
		}
		p.write("ARRAY[")
		p.exprs(e.Items)
		p.write("]")
	case *Map:
		p.write("MAP[")
		p.list(len(e.Keys), func(i int) {
			p.expr(e.Keys[i], 0)
			p.write(", ")
			p.expr(e.Values[i], 0)
		})
		p.write("]")
	case *Index:
		p.expr(e.Arg, primaryLevel)
		p.write("[")
		p.expr(e.Index, 0)
		p.write("]")
	case *FieldRef:
		p.fieldRef(e)
	}
}

func not(is bool) string {
	if is {
		return "NOT "
	}
	return ""
}

func (p *printer) literal(e *Literal) {
	switch e.Kind {
	case NullLiteral:
		p.write("NULL")
	case StringLiteral:
		p.write(quoteString(e.Text))
	case BinaryLiteral:
		p.write("X", quoteString(e.Text))
	case DateLiteral:
		p.write("DATE ", quoteString(e.Text))
	case TimeLiteral:
		p.write("TIME ", quoteString(e.Text))
	case TimestampLiteral:
		p.write("TIMESTAMP ", quoteString(e.Text))
	case TimestampLTZLiteral:
		p.write("TIMESTAMP_LTZ ", quoteString(e.Text))
	default:
		p.write(e.Text)
	}
}

func (p *printer) interval(e *Interval) {
	p.write("INTERVAL ")
	if e.Negative {
		p.write("-")
	}
	p.write(quoteString(e.Value), " ", string(e.From))
	if e.Precision > 0 {
		p.write("(", itoa(e.Precision), ")")
	}
	if e.To != "" {
		p.write(" TO ", string(e.To))
	}
}

func (p *printer) unary(e *Unary) {
	if e.Op == Not {
		p.write("NOT ")
		p.expr(e.Arg, notLevel)
		return
	}
	p.write(string(e.Op))
	if _, ok := e.Arg.(*Unary); ok {
		p.write(" ") // -- begins a comment
	}
	p.expr(e.Arg, unaryLevel)
}

func (p *printer) binary(e *Binary) {
	own := level(e)
	left := own
	if own == compareLevel {
		left = own + 1
	}
	p.expr(e.Left, left)
	p.write(" ", string(e.Op), " ")
	p.expr(e.Right, own+1)
}

func (p *printer) caseExpr(e *Case) {
	p.write("CASE")
	if e.Operand != nil {
		p.write(" ")
		p.expr(e.Operand, 0)
	}
	for _, w := range e.Whens {
		p.write(" WHEN ")
		p.expr(w.Cond, 0)
		p.write(" THEN ")
		p.expr(w.Then, 0)
	}
	if e.Else != nil {
		p.write(" ELSE ")
		p.expr(e.Else, 0)
	}
	p.write(" END")
}

// fieldRef puts brackets around a column, whose fields would be part of the name.
func (p *printer) fieldRef(e *FieldRef) {
	switch e.Arg.(type) {
	case *FieldRef, *Index, *Call, *Cast, *Row:
		p.expr(e.Arg, primaryLevel)
	default:
		p.write("(")
		p.expr(e.Arg, 0)
		p.write(")")
	}
	p.write(".", e.Field.String())
}
