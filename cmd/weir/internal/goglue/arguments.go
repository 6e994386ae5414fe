package goglue

import (
	"fmt"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
)

// arguments are the columns that become the parameters of a call of the author's
// function, one row at a time.
type arguments struct {
	codecs   []*codec
	names    []string // in SQL, for errors
	views    []string // variables
	first    int      // column of the first
	variadic bool     // the last one stands for all columns from its own on
	call     bool     // a *weir.Call goes first
}

// bindArguments finds the Go forms of SQL types in a function's parameters.
func (f *function) bindArguments(g signature, params []*goType, types []sqltype.Type, names []string, first int) (*arguments, error) {
	if len(params) != len(types) {
		return nil, f.errorf("the function takes %d values for %d arguments", len(params), len(types))
	}
	a := &arguments{names: names, first: first, variadic: f.Variadic, call: g.call}
	if g.variadic != f.Variadic {
		return nil, f.errorf("a last argument that repeats is TYPE... in SQL and ...T in Go")
	}
	for i, t := range types {
		p := params[i]
		last := f.Variadic && i == len(types)-1
		if last {
			p = p.elems[0]
		}
		c, err := bind(t, p)
		if err != nil {
			return nil, f.errorf("argument %s: %s", names[i], err)
		}
		if last && len(c.kids) > 0 {
			return nil, f.errorf("argument %s: an argument that repeats cannot be nested", names[i])
		}
		a.codecs = append(a.codecs, c)
		a.views = append(a.views, fmt.Sprintf("a%d", first+i))
	}
	return a, nil
}

// nullable reports whether a parameter can hold NULL: the function is called for NULLs.
func (a *arguments) nullable() bool {
	for _, c := range a.codecs {
		if c.null {
			return true
		}
	}
	return false
}

// declare writes the views.
func (a *arguments) declare(w *writer) {
	for i, c := range a.codecs {
		if !a.repeats(i) {
			w.view(c, a.views[i], fmt.Sprintf("c.In(%d)", a.first+i))
			continue
		}
		w.time = w.time || c.usesTime()
		view, of := "weir.Strings", "weir.StringsOf"
		switch c.form {
		case fixed:
			view, of = "weir.Column["+c.stored+"]", "weir.ColumnOf["+c.stored+"]"
		case boolean:
			view, of = "weir.Bools", "weir.BoolsOf"
		}
		cols := w.name("weirColumns")
		w.all = append(w.all, slab{cols, view})
		w.line("%s.Reset()", cols)
		w.line("%s := %s.Take(c.Ins() - %d)", a.views[i], cols, a.first+i)
		w.line("for j := range %s { %s[j] = %s(c.In(%d + j)) }", a.views[i], a.views[i], of, a.first+i)
	}
}

func (a *arguments) repeats(i int) bool { return a.variadic && i == len(a.codecs)-1 }

// missing is the condition that an argument is NULL whose parameter cannot hold it,
// or "" when there is none.
func (a *arguments) missing(idx string) string {
	var conds []string
	for i, c := range a.codecs {
		if !c.null && !a.repeats(i) {
			conds = append(conds, fmt.Sprintf("%s.IsNull(%s)", a.views[i], idx))
		}
	}
	return strings.Join(conds, " || ")
}

// read writes what reads row idx, and returns the list of the call's arguments, to
// which before, if not empty, is prepended.
func (a *arguments) read(w *writer, idx, before string) string {
	var list []string
	if a.call {
		list = append(list, "c")
	}
	if before != "" {
		list = append(list, before)
	}
	for i, c := range a.codecs {
		if !a.repeats(i) {
			list = append(list, w.read(c, a.views[i], idx, a.names[i]))
			continue
		}
		v := w.name("v")
		w.line("%s := %s.Take(len(%s))", v, w.slab(c.text()), a.views[i])
		w.line("for j := range %s {", v)
		if !c.null {
			w.line("if %s[j].IsNull(%s) { return c.FailNull(%q) }", a.views[i], idx, a.names[i])
		}
		w.line("%s[j] = %s", v, w.read(c, a.views[i]+"[j]", idx, a.names[i]))
		w.line("}")
		list = append(list, v+"...")
	}
	return strings.Join(list, ", ")
}

// check writes what ends the call when the author's function returned an error.
func (w *writer) check() { w.line("if err != nil { return c.Fail(err) }") }
