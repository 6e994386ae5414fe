package goglue

import (
	"fmt"
	"strings"

	"github.com/weirdb/weir/abi"
)

// scalar writes a scalar function. One without a result takes and fills columns,
// any other is called row by row.
func (f *function) scalar(w *writer) error {
	g := f.s.signature(f.item.fn)
	if len(g.results) == 0 {
		return f.batch(w, g)
	}
	if len(g.results) != 1 {
		return f.errorf("a scalar function returns one value, and an error if it can fail")
	}
	params := g.params
	// AppendX(dst []byte, ...) []byte writes a text where it will lie.
	appends := len(params) == len(f.args)+1 && isBytes(params[0]) && isBytes(g.results[0])
	if appends {
		params = params[1:]
	}
	args, err := f.bindArguments(g, params, f.args, argumentNames(f.Args), 0)
	if err != nil {
		return err
	}
	result, err := bind(f.returns, g.results[0])
	if err != nil {
		return f.errorf("result: %s", err)
	}
	f.Called = args.nullable()
	f.Nullable = result.null || f.Called && args.missing("i") != ""
	w.begin(f.Export, f.goName)
	if f.rowLoop(args, result, appends) {
		w.direct(f, args, result, g)
	} else {
		f.rows(w, args, result, g, appends)
	}
	w.line("}")
	return nil
}

func argumentNames(list []abi.Argument) (names []string) {
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}

// rowLoop reports whether all values lie in slices as Go has them: then the loop is
// one over slices.
func (f *function) rowLoop(args *arguments, result *codec, appends bool) bool {
	if appends || f.Variadic || f.Accept(abi.AcceptConstant) || !result.direct() {
		return false
	}
	for _, c := range args.codecs {
		if !c.direct() {
			return false
		}
	}
	return true
}

// rows writes the loop that reads arguments and adds results value by value.
func (f *function) rows(w *writer, args *arguments, result *codec, g signature, appends bool) {
	args.declare(w)
	flat := result.form == fixed // results go straight into the column
	if flat {
		w.time = w.time || result.usesTime()
		w.line("out := weir.OutValues[%s](c.Out(0), c.Rows())", result.stored)
	} else {
		w.build(result, "out", "c.Out(0)")
	}
	none := "" // how a row without a value is added: the host sets its NULL, unless the function is called for NULLs
	if f.Called {
		none = "AppendNull"
	} else {
		w.line("live := c.Live()")
	}
	if flat && f.Called {
		w.withoutNulls(f, args, result, g)
	}
	body := w.capture(func() {
		skip := "live != nil && !live.Get(i)"
		if f.Called {
			skip = args.missing("i")
		}
		if skip != "" {
			w.line("if %s {", skip)
			switch {
			case flat && f.Called:
				w.line("weir.SetNull(c.Out(0), i)")
			case !flat:
				w.appendNone(result, "out", none)
			}
			w.line("continue")
			w.line("}")
		}
		before := ""
		if appends {
			before = "out.Tail()"
		}
		call := fmt.Sprintf("%s(%s)", f.item.name, args.read(w, "i", before))
		if g.fails {
			w.line("r, err := %s", call)
			w.check()
		} else {
			w.line("r := %s", call)
		}
		switch {
		case appends:
			w.line("out.AppendTail(r)")
		case flat:
			w.keep(result)
		default:
			w.append(result, "out", "r")
		}
	})
	w.line("for i := range c.Rows() {")
	w.line("c.At(i)")
	w.reset()
	w.b.WriteString(body)
	w.line("}")
	if !flat {
		w.close(result, "out")
	}
	w.line("return 0")
}

// withoutNulls writes the loop of a function that is called for NULLs for a batch
// that has none: it reads slices and looks at no bitmap.
func (w *writer) withoutNulls(f *function, args *arguments, result *codec, g signature) {
	if f.Variadic || f.Accept(abi.AcceptConstant) {
		return
	}
	var list []string
	if g.call {
		list = append(list, "c")
	}
	for i, c := range args.codecs {
		if c.form != fixed || c.conv != same {
			return
		}
		v := args.views[i] + "v[i]"
		if c.null {
			v = fmt.Sprintf("weir.Null[%s]{V: %s, Valid: true}", c.goType, v)
		}
		list = append(list, v)
	}
	w.line("if !c.HasNulls() {")
	for i, c := range args.codecs {
		w.line("%sv := weir.Values[%s](c.In(%d))[:len(out)]", args.views[i], c.stored, i)
	}
	w.line("for i := range out {")
	w.line("c.At(i)")
	call := fmt.Sprintf("%s(%s)", f.item.name, strings.Join(list, ", "))
	if g.fails {
		w.line("r, err := %s", call)
		w.check()
	} else {
		w.line("r := %s", call)
	}
	w.keep(result)
	w.line("}")
	w.line("return 0")
	w.line("}")
}

// keep writes what puts the result r of row i into a flat column.
func (w *writer) keep(result *codec) {
	if result.null {
		w.line("if r.Valid { out[i] = %s } else { weir.SetNull(c.Out(0), i) }", result.toColumn("r.V"))
	} else {
		w.line("out[i] = %s", result.toColumn("r"))
	}
}

// batch writes a scalar function over columns: a parameter for each argument, and
// one for the result.
func (f *function) batch(w *writer, g signature) error {
	if len(g.params) != len(f.args)+1 || f.Variadic {
		return f.errorf("a function without a result takes a column for each argument and one more to fill; any other returns its value")
	}
	var list, declare []string
	if g.call {
		list = append(list, "c")
	}
	for i, t := range f.args {
		p, form, cut := g.params[i], "", ""
		var elem *codec
		var err error
		switch p.class {
		case slice:
			if elem, err = bind(t, p.elems[0]); err == nil && elem.direct() {
				if f.Accept(abi.AcceptConstant) || f.Called {
					return f.errorf("argument %s: a slice shows neither NULL nor that it is constant: take a weir.Column", f.Args[i].Name)
				}
				form = "weir.Values[" + elem.stored + "]"
				cut = "[:n]"
			}
		case column:
			if elem, err = bind(t, p.elems[0]); err == nil && elem.direct() {
				form = "weir.ColumnOf[" + elem.stored + "]"
			}
		case stringsColumn:
			if t.IsString() || t.IsBinary() {
				form = "weir.StringsOf"
			}
		case boolsColumn:
			if _, err = bind(t, &goType{class: basic, name: "bool"}); err == nil {
				form = "weir.BoolsOf"
			}
		}
		if form == "" {
			if err == nil {
				err = fmt.Errorf("no column of %s is a %s; a function of nested values returns its value", t.Optional(), p.text)
			}
			return f.errorf("argument %s: %s", f.Args[i].Name, err)
		}
		list = append(list, fmt.Sprintf("%s(c.In(%d))%s", form, i, cut))
	}
	out := g.params[len(f.args)]
	end := ""
	switch {
	case out.class == slice:
		elem, err := bind(f.returns, out.elems[0])
		if err != nil || !elem.direct() {
			return f.errorf("result: %s is no slice %s", f.returns.Optional(), out.text)
		}
		f.Nullable = false
		list = append(list, fmt.Sprintf("weir.OutValues[%s](c.Out(0), n)[:n]", elem.stored))
	case out.class == pointer && builds(out.elems[0], f):
		declare = append(declare, fmt.Sprintf("var out %s", out.elems[0].text), "out.Attach(c.Out(0))")
		list = append(list, "&out")
		end = "if out.Len() != c.Rows() { return c.FailRows(out.Len()) }\nout.Close()"
	default:
		return f.errorf("result: %s is filled through a slice or a pointer to a builder, not %s", f.returns.Optional(), out.text)
	}
	w.begin(f.Export, f.goName)
	if call := strings.Join(list, ""); strings.Contains(call, "[:n]") {
		// All slices have one length, and the compiler sees it where it puts the
		// function's loop in place of the call.
		w.line("n := c.Rows()")
	}
	for _, d := range declare {
		w.line("%s", d)
	}
	call := fmt.Sprintf("%s(%s)", f.item.name, strings.Join(list, ", "))
	if g.fails {
		w.line("if err := %s; err != nil { return c.Fail(err) }", call)
	} else {
		w.line("%s", call)
	}
	if end != "" {
		w.line("%s", end)
	}
	w.line("return 0")
	w.line("}")
	return nil
}

// builds reports whether a builder takes the function's result.
func builds(t *goType, f *function) bool {
	switch t.class {
	case builder:
		c, err := bind(f.returns, t.elems[0])
		return err == nil && c.direct()
	case stringBuilder:
		return f.returns.IsString() || f.returns.IsBinary()
	case boolBuilder:
		c, err := bind(f.returns, &goType{class: basic, name: "bool"})
		return err == nil && c.form == boolean
	}
	return false
}
