package goglue

import (
	"fmt"
)

// resultRow binds the Go type of a result row to the columns of the result: a
// struct, or the value itself when there is one column.
func (f *function) resultRow(t *goType) (*codec, error) {
	if t.class != structure && len(f.returns.Fields) == 1 {
		c, err := bind(f.returns.Fields[0].Type, t)
		if err != nil {
			return nil, f.errorf("result: %s", err)
		}
		return c, nil
	}
	c, err := bind(f.returns, t)
	if err != nil {
		return nil, f.errorf("result: %s", err)
	}
	return c, nil
}

// columns are the codecs of the result's columns, and what follows a variable with
// a row to get each column's value.
func (f *function) columns(row *codec) (codecs []*codec, fields []string) {
	if row.form == record && len(row.kids) == len(f.returns.Fields) && row.sql.Equal(f.returns) {
		for _, name := range row.fields {
			fields = append(fields, "."+name)
		}
		return row.kids, fields
	}
	return []*codec{row}, []string{""}
}

// result writes the declarations of the result's builders, what adds a row, and
// what hands the columns over.
func (f *function) result(w *writer, row *codec) (add func(v string), done func()) {
	codecs, fields := f.columns(row)
	for i, c := range codecs {
		w.build(c, fmt.Sprintf("out%d", i), fmt.Sprintf("c.Out(%d)", i))
	}
	w.line("rows := weir.RowsOf(c)")
	add = func(v string) {
		for i, c := range codecs {
			w.append(c, fmt.Sprintf("out%d", i), v+fields[i])
		}
	}
	done = func() {
		for i, c := range codecs {
			w.close(c, fmt.Sprintf("out%d", i))
		}
	}
	return add, done
}

// table writes a table function: a func that returns the rows of an input row, or a
// type whose Open takes the input row and whose Next returns row by row.
func (f *function) table(w *writer) error {
	if f.item.typ != nil {
		return f.cursor(w)
	}
	g := f.s.signature(f.item.fn)
	if len(g.results) != 1 || g.results[0].class != slice {
		return f.errorf("a table function returns a slice of rows, and an error if it can fail; or it is a type with methods Open and Next")
	}
	params := g.params
	appends := len(params) == len(f.args)+1 && params[0].class == slice && params[0].text == g.results[0].text
	if appends {
		params = params[1:]
	}
	args, err := f.bindArguments(g, params, f.args, argumentNames(f.Args), 0)
	if err != nil {
		return err
	}
	row, err := f.resultRow(g.results[0].elems[0])
	if err != nil {
		return err
	}
	f.Called = args.nullable()
	state := f.goName + "State"
	w.line("")
	w.line("// %s holds the rows of one input row while the host takes them.", state)
	w.line("var %s struct { rows %s; at int }", state, g.results[0].text)
	f.pieces(w, args, row, func(add func(v string), more func()) {
		before := ""
		if appends {
			before = fmt.Sprintf("%s.rows[:0]", state)
		}
		w.line("if !resumed {")
		if missing := args.missing("i"); missing != "" {
			w.line("if %s { continue }", missing)
		}
		list := args.read(w, "i", before)
		if g.fails {
			w.line("r, err := %s(%s)", f.item.name, list)
			w.check()
		} else {
			w.line("r := %s(%s)", f.item.name, list)
		}
		w.line("%s.rows, %s.at = r, 0", state, state)
		w.line("}")
		w.line("for ; %s.at < len(%s.rows); %s.at++ {", state, state, state)
		more()
		w.line("r := &%s.rows[%s.at]", state, state)
		add(deref("r", row, f))
		w.line("rows.Add(i)")
		w.line("}")
	})
	return nil
}

// deref is the expression of the row that a pointer points at.
func deref(p string, row *codec, f *function) string {
	if _, fields := f.columns(row); fields[0] == "" {
		return "(*" + p + ")"
	}
	return p
}

// pieces writes the export of a table function: the loop over the input rows that
// goes on where the call before was cut off. A resumed row's arguments lie where
// they lay.
func (f *function) pieces(w *writer, args *arguments, row *codec, body func(add func(v string), more func())) {
	w.begin(f.Export, f.goName)
	args.declare(w)
	add, done := f.result(w, row)
	w.line("at, resumed := c.Resumed()")
	text := w.capture(func() {
		body(add, func() {
			w.line("if rows.Full() {")
			done()
			w.line("return rows.More(i)")
			w.line("}")
		})
	})
	w.line("for i := at; i < c.Rows(); i++ {")
	w.line("c.At(i)")
	w.line("if !resumed {")
	w.reset()
	w.line("}")
	w.b.WriteString(text)
	w.line("resumed = false")
	w.line("}")
	done()
	w.line("return rows.Done()")
	w.line("}")
}

// method finds a method of the function's type, and its signature.
func (f *function) method(name string) (signature, bool) {
	m, ok := f.s.methods[f.item.name][name]
	if !ok {
		return signature{}, false
	}
	return f.s.signature(m), true
}

// cursor writes a table function that is a type.
func (f *function) cursor(w *writer) error {
	open, ok := f.method("Open")
	if !ok {
		return f.errorf("type %s has no method Open, which takes the arguments of a row", f.item.name)
	}
	next, ok := f.method("Next")
	if !ok || len(next.params) != 0 || len(next.results) != 2 || next.results[1].text != "bool" {
		return f.errorf("type %s has no method Next() (ROW, bool), which returns the next row or false", f.item.name)
	}
	args, err := f.bindArguments(open, open.params, f.args, argumentNames(f.Args), 0)
	if err != nil {
		return err
	}
	row, err := f.resultRow(next.results[0])
	if err != nil {
		return err
	}
	f.Called = args.nullable()
	state := f.goName + "State"
	w.line("")
	w.line("// %s is where the function stands in one input row while the host takes its rows.", state)
	w.line("var %s %s", state, f.item.name)
	f.pieces(w, args, row, func(add func(v string), more func()) {
		w.line("if !resumed {")
		if missing := args.missing("i"); missing != "" {
			w.line("if %s { continue }", missing)
		}
		list := args.read(w, "i", "")
		w.line("%s = %s{}", state, f.item.name)
		if open.fails {
			w.line("if err := %s.Open(%s); err != nil { return c.Fail(err) }", state, list)
		} else {
			w.line("%s.Open(%s)", state, list)
		}
		w.line("}")
		w.line("for {")
		more()
		if next.fails {
			w.line("r, ok, err := %s.Next(%s)", state, next.callArgument())
			w.check()
		} else {
			w.line("r, ok := %s.Next(%s)", state, next.callArgument())
		}
		w.line("if !ok { break }")
		add("r")
		w.line("rows.Add(i)")
		w.line("}")
	})
	return nil
}
