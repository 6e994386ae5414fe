package goglue

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// unrolled is how many rows a round of a loop over slices takes, a power of two, and
// ofRound ends the names of the arrays of a round.
const (
	unrolled = 8
	ofRound  = "s"
)

// direct writes the loops over slices: one for batches without NULLs, in a function of
// its own, where the compiler keeps more in registers than beside a defer, and one that
// looks at each row.
func (w *writer) direct(f *function, args *arguments, result *codec, g signature) {
	w.line("out := weir.OutValues[%s](c.Out(0), c.Rows())", result.stored)
	for i, c := range args.codecs {
		w.line("%s := weir.Values[%s](c.In(%d))[:len(out)]", args.views[i], c.stored, i)
	}
	loop := directLoop{w: w, f: f, args: args, g: g, marked: g.call || g.fails || !cannotPanic(f.item.fn.decl)}
	w.line("live := c.Live()")
	w.line("if live == nil {")
	if g.fails {
		w.line("for i := range out {")
		loop.row("i", "", "i")
		w.line("}")
		w.line("return 0")
	} else {
		w.line("%sAll(c, %s)", f.goName, strings.Join(append([]string{"out"}, args.views...), ", "))
		w.line("return 0")
	}
	w.line("}")
	w.line("for i := range out {")
	w.line("if !live.Get(i) { continue }")
	loop.row("i", "", "i")
	w.line("}")
	w.line("return 0")
	if g.fails {
		return
	}
	w.line("}")
	w.line("")
	params := []string{"c *weir.Call", "out []" + result.stored}
	for i, c := range args.codecs {
		params = append(params, args.views[i]+" []"+c.stored)
	}
	w.line("//go:noinline")
	w.line("func %sAll(%s) {", f.goName, strings.Join(params, ", "))
	for _, v := range args.views {
		w.line("%s = %[1]s[:len(out)]", v)
	}
	// Of a function as short as an addition, the loop is what takes the time. Rows are
	// elements of arrays so that the sandbox checks the bounds of each array once.
	w.line("for i := 0; i < len(out)-%d; i += %d {", unrolled-1, unrolled)
	array := func(slice, elem string) {
		w.line("%s%s := (*[%d]%s)(%[1]s[i : i+%[3]d])", slice, ofRound, unrolled, elem)
	}
	for i, c := range args.codecs {
		array(args.views[i], c.stored)
	}
	array("out", result.stored)
	loop.row("i", ofRound, "0")
	for k := 1; k < unrolled; k++ {
		loop.row(fmt.Sprintf("i+%d", k), ofRound, strconv.Itoa(k))
	}
	w.line("}")
	w.line("for i := len(out) &^ %d; i < len(out); i++ {", unrolled-1)
	loop.row("i", "", "i")
	w.line("}")
}

// directLoop is what the loops of a function over slices share.
type directLoop struct {
	w      *writer
	f      *function
	args   *arguments
	g      signature
	marked bool // the call is told the row: somebody may ask for it
}

// row computes the value of a row, which lies at an index of the slices, or of the arrays
// whose names have the suffix.
func (l *directLoop) row(row, suffix, index string) {
	var list []string
	if l.g.call {
		list = append(list, "c")
	}
	for _, v := range l.args.views {
		list = append(list, v+suffix+"["+index+"]")
	}
	call := fmt.Sprintf("%s(%s)", l.f.item.name, strings.Join(list, ", "))
	if l.marked {
		l.w.line("c.At(%s)", row)
	}
	if l.g.fails {
		l.w.line("r, err := %s", call)
		l.w.check()
		l.w.line("out%s[%s] = r", suffix, index)
	} else {
		l.w.line("out%s[%s] = %s", suffix, index, call)
	}
}

// cannotPanic reports whether a function of numbers does nothing but what never panics:
// it calls no function, indexes and divides nothing.
func cannotPanic(fn *ast.FuncDecl) bool {
	safe := fn.Body != nil
	if !safe {
		return false
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.BlockStmt, *ast.ReturnStmt, *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.IncDecStmt, *ast.BranchStmt,
			*ast.DeclStmt, *ast.GenDecl, *ast.ValueSpec, *ast.EmptyStmt, *ast.Ident, *ast.ParenExpr, *ast.BasicLit:
		case *ast.AssignStmt:
			safe = safe && safeOperator(n.Tok, n.Rhs[0])
		case *ast.UnaryExpr:
			safe = safe && n.Op != token.AND && n.Op != token.ARROW
		case *ast.BinaryExpr:
			safe = safe && safeOperator(n.Op, n.Y)
		case *ast.CallExpr:
			safe = safe && isConversion(n)
		default:
			safe = false
		}
		return safe
	})
	return safe
}

// safeOperator reports whether an operator never panics with what is right of it. The
// compiler refuses to divide by the number zero.
func safeOperator(op token.Token, right ast.Expr) bool {
	switch op {
	case token.QUO, token.REM, token.SHL, token.SHR, token.QUO_ASSIGN, token.REM_ASSIGN, token.SHL_ASSIGN, token.SHR_ASSIGN:
		_, literal := right.(*ast.BasicLit)
		return literal
	}
	return true
}

// isConversion reports whether a call turns a number into one of another type.
func isConversion(c *ast.CallExpr) bool {
	name, ok := c.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	switch name.Name {
	case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "min", "max":
		return true
	}
	return false
}
