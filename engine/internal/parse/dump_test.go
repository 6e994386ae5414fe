package parse

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// dump shows a tree: nodes as Type@line:column{Field:value}, fields that are zero
// left out, on one line where it fits.
func dump(n any) string {
	var b strings.Builder
	layout(&b, tree(reflect.ValueOf(n)), 0)
	return b.String()
}

// box is a text, or a head with parts.
type box struct {
	head  string
	parts []box
	tail  string
}

const lineWidth = 110

func (x box) flat() string {
	parts := make([]string, len(x.parts))
	for i, p := range x.parts {
		parts[i] = p.flat()
	}
	return x.head + strings.Join(parts, " ") + x.tail
}

func layout(b *strings.Builder, x box, indent int) {
	if s := x.flat(); len(s)+indent <= lineWidth || len(x.parts) == 0 {
		b.WriteString(strings.Repeat(" ", indent) + s + "\n")
		return
	}
	if len(x.parts) == 1 && x.tail == "" {
		y := x.parts[0]
		y.head = x.head + y.head
		layout(b, y, indent)
		return
	}
	b.WriteString(strings.Repeat(" ", indent) + x.head + "\n")
	for _, p := range x.parts {
		layout(b, p, indent+2)
	}
	b.WriteString(strings.Repeat(" ", indent) + x.tail + "\n")
}

func short(p errs.Position) string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

func tree(v reflect.Value) box {
	switch x := v.Interface().(type) {
	case errs.Position:
		return box{head: short(x)}
	case Ident:
		s := x.Value
		if x.Quoted {
			s = "`" + s + "`"
		}
		return box{head: s + "@" + short(x.At)}
	case Name:
		parts := make([]string, len(x))
		for i, p := range x {
			parts[i] = p.String()
		}
		return box{head: strings.Join(parts, ".") + "@" + short(x.Pos())}
	case *ColumnRef:
		return box{head: "Col(" + tree(reflect.ValueOf(x.Name)).head + ")"}
	case *Literal:
		return box{head: fmt.Sprintf("%s(%q@%s)", literalNames[x.Kind], x.Text, short(x.At))}
	case *DataType:
		if x != nil {
			return box{head: "Type(" + x.String() + "@" + short(x.At) + ")"}
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return tree(v.Elem())
	case reflect.Slice:
		out := box{head: "[", tail: "]"}
		for i := range v.Len() {
			out.parts = append(out.parts, tree(v.Index(i)))
		}
		return out
	case reflect.Struct:
		return structTree(v)
	case reflect.String:
		return box{head: fmt.Sprintf("%q", v.String())}
	}
	return box{head: fmt.Sprint(v.Interface())}
}

var literalNames = [...]string{"Null", "Bool", "Int", "Decimal", "Approx", "String", "Binary", "Date", "Time", "Timestamp", "TimestampLTZ"}

func structTree(v reflect.Value) box {
	out := box{head: v.Type().Name(), tail: "}"}
	if n, ok := v.Interface().(Node); ok && n.Pos().IsValid() {
		out.head += "@" + short(n.Pos())
	}
	out.head += "{"
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous || v.Field(i).IsZero() {
			continue
		}
		out.parts = append(out.parts, box{head: f.Name + ":", parts: []box{tree(v.Field(i))}})
	}
	return out
}
