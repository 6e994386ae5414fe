package expr

import (
	"fmt"
	"strings"

	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// String is the name of the column.
func (e *Column) String() string {
	if e.Name == "" {
		return fmt.Sprintf("$%d", e.Index)
	}
	return e.Name
}

// String is the literal as SQL: times and intervals with their type in front.
func (e *Literal) String() string {
	switch v := e.Value.(type) {
	case nil:
		return "NULL"
	case bool:
		return strings.ToUpper(fmt.Sprint(v))
	case string:
		return quote(v)
	case []byte:
		return fmt.Sprintf("X'%X'", v)
	case float64:
		bits := 64
		if e.T.ID == sqltype.Float {
			bits = 32
		}
		return string(kernel.AppendFloat(nil, v, bits))
	case vector.Dec:
		return string(kernel.AppendDecimal(nil, v, e.T.Scale))
	}
	p := vector.NewPool()
	v := literalColumn(p, e)
	text := string(function.AppendValue(nil, v, e.T, 0, kernel.NewZone(zoneOf(nil))))
	switch e.T.ID {
	case sqltype.Date, sqltype.Time, sqltype.Timestamp, sqltype.TimestampLTZ:
		return e.T.ID.String() + " " + quote(text)
	case sqltype.IntervalDay:
		return "INTERVAL " + quote(strings.TrimPrefix(text, "+")) + " DAY TO SECOND"
	case sqltype.IntervalMonth:
		return "INTERVAL " + quote(strings.TrimPrefix(text, "+")) + " YEAR TO MONTH"
	}
	return text
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// String is the call as SQL, with the parentheses that it needs.
func (e *Call) String() string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = a.String()
	}
	name := e.Func.Name
	operand := func(i int) string { return parenthesized(e.Args[i], precedence(e)) }
	switch {
	case name == "AND" || name == "OR":
		for i := range args {
			args[i] = operand(i)
		}
		return strings.Join(args, " "+name+" ")
	case name == "NOT":
		return "NOT " + operand(0)
	case name == "NEG":
		return "-" + operand(0)
	case name == "IN":
		return operand(0) + " IN (" + strings.Join(args[1:], ", ") + ")"
	case name == "LIKE" || name == "ILIKE" || name == "SIMILAR TO":
		s := operand(0) + " " + name + " " + operand(1)
		if len(args) == 3 {
			s += " ESCAPE " + args[2]
		}
		return s
	case strings.HasSuffix(name, "DISTINCT FROM"):
		return operand(0) + " " + name + " " + operand(1)
	case strings.HasPrefix(name, "IS "):
		return operand(0) + " " + name
	case name == function.Field:
		return parenthesized(e.Args[0], atom) + "." + function.FieldName(argOf(e.Args[0]), argOf(e.Args[1]))
	case name == function.Item:
		return parenthesized(e.Args[0], atom) + "[" + args[1] + "]"
	case name == "ARRAY":
		return "ARRAY[" + strings.Join(args, ", ") + "]"
	case name == "MAP":
		return "MAP[" + strings.Join(args, ", ") + "]"
	case len(args) == 2 && precedence(e) < atom:
		// Operators group from the left.
		return operand(0) + " " + name + " " + parenthesized(e.Args[1], precedence(e)+1)
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// atom is the precedence of what needs no parentheses.
const atom = 9

// precedence is how tightly the outermost operator of e binds.
func precedence(e Expr) int {
	c, ok := e.(*Call)
	if !ok {
		if l, ok := e.(*Literal); ok && l.T.IsNumeric() && strings.HasPrefix(l.String(), "-") {
			return 7
		}
		return atom
	}
	switch name := c.Func.Name; name {
	case "OR":
		return 1
	case "AND":
		return 2
	case "NOT":
		return 3
	case "=", "<>", "<", "<=", ">", ">=", "LIKE", "ILIKE", "SIMILAR TO", "IN":
		return 4
	case "+", "-", "||":
		return 5
	case "*", "/", "%":
		return 6
	case "NEG":
		return 7
	default:
		if strings.HasPrefix(name, "IS ") {
			return 4
		}
	}
	return atom
}

// parenthesized is e as the operand of an operator of the given precedence.
func parenthesized(e Expr, outer int) string {
	inner := precedence(e)
	if inner < outer || inner == 4 && outer == 4 {
		return "(" + e.String() + ")"
	}
	return e.String()
}

// String is the cast as SQL.
func (e *Cast) String() string {
	name := "CAST("
	if e.Try {
		name = "TRY_CAST("
	}
	return name + e.Arg.String() + " AS " + e.T.Optional().String() + ")"
}

// String is the expression as SQL.
func (e *Case) String() string {
	var b strings.Builder
	b.WriteString("CASE")
	for _, w := range e.Whens {
		b.WriteString(" WHEN " + w.Cond.String() + " THEN " + w.Then.String())
	}
	b.WriteString(" ELSE " + e.Else.String() + " END")
	return b.String()
}

// String is the call as SQL.
func (a *Aggregate) String() string {
	args := make([]string, len(a.Args))
	for i, e := range a.Args {
		args[i] = e.String()
	}
	s := strings.Join(args, ", ")
	if len(args) == 0 {
		s = "*"
	}
	if a.Distinct {
		s = "DISTINCT " + s
	}
	s = a.Func.Name + "(" + s + ")"
	if a.Filter != nil {
		s += " FILTER (WHERE " + a.Filter.String() + ")"
	}
	return s
}
