package goglue

import (
	"fmt"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
)

// temporal writes a temporal function: a func that takes the key, the time, the
// version at or before it, the version after it and the arguments, and returns a
// row and whether there is one.
func (f *function) temporal(w *writer) error {
	g := f.s.signature(f.item.fn)
	if len(f.Keys) == 0 || f.Time == "" || f.VersionRow == "" {
		return f.errorf("a temporal function needs //weir:keys, //weir:time and //weir:version")
	}
	var types []sqltype.Type
	var names []string
	for i, text := range append(append([]string{}, f.Keys...), f.Time) {
		t, err := sqltype.ParseType(text)
		if err != nil {
			return f.errorf("%s", err)
		}
		types, names = append(types, t), append(names, fmt.Sprintf("key %d", i+1))
	}
	names[len(f.Keys)] = "time"
	version, err := sqltype.ParseType(f.VersionRow)
	if err != nil {
		return f.errorf("%s", err)
	}
	if version.ID != sqltype.Row {
		return f.errorf("a version is a ROW<...>, not %s", version)
	}
	lead := len(types)
	if len(g.params) != lead+2+len(f.args) {
		return f.errorf("a temporal function takes %d keys, the time, two weir.Version and %d arguments", len(f.Keys), len(f.args))
	}
	if len(g.results) != 2 || g.results[1].text != "bool" {
		return f.errorf("a temporal function returns a row and whether there is one: (ROW, bool)")
	}
	plain := g
	plain.variadic, f.Variadic = false, false
	head, err := f.bindArguments(plain, g.params[:lead], types, names, 0)
	if err != nil {
		return err
	}
	width := 1 + len(version.Fields)
	tail, err := f.bindArguments(g, g.params[lead+2:], f.args, argumentNames(f.Args), lead+2*width)
	if err != nil {
		return err
	}
	var versions [2]*codec
	for i := range versions {
		p := g.params[lead+i]
		if p.class != versioned {
			return f.errorf("parameter %d is a weir.Version, not %s", lead+i+1, p.text)
		}
		if versions[i], err = bind(version, p.elems[0]); err != nil {
			return f.errorf("version: %s", err)
		}
	}
	row, err := f.resultRow(g.results[0])
	if err != nil {
		return err
	}
	f.Called = head.nullable() || tail.nullable()
	w.begin(f.Export, f.goName)
	head.declare(w)
	tail.declare(w)
	for i, v := range versions {
		at := lead + i*width
		w.line("t%d := weir.ColumnOf[int64](c.In(%d))", i, at)
		w.line("var s%d weir.Structs", i)
		w.line("_ = s%d", i)
		for j, k := range v.kids {
			w.view(k, fmt.Sprintf("s%d_%d", i, j), fmt.Sprintf("c.In(%d)", at+1+j))
		}
	}
	add, done := f.result(w, row)
	body := w.capture(func() {
		var conds []string
		for _, a := range []*arguments{head, tail} {
			if m := a.missing("i"); m != "" {
				conds = append(conds, m)
			}
		}
		if len(conds) > 0 {
			w.line("if %s { continue }", strings.Join(conds, " || "))
		}
		list := []string{head.read(w, "i", "")}
		for i, v := range versions {
			x := fmt.Sprintf("version%d", i)
			w.line("var %s weir.Version[%s]", x, v.goType)
			w.line("if !t%d.IsNull(i) {", i)
			w.line("%s = weir.Version[%s]{Time: t%d.At(i), Row: %s, Exists: true}", x, v.goType, i, w.read(v, fmt.Sprintf("s%d", i), "i", "version"))
			w.line("}")
			list = append(list, x)
		}
		tail.call = false
		if rest := tail.read(w, "i", ""); rest != "" {
			list = append(list, rest)
		}
		call := fmt.Sprintf("%s(%s)", f.item.name, strings.Join(list, ", "))
		if g.fails {
			w.line("r, ok, err := %s", call)
			w.check()
		} else {
			w.line("r, ok := %s", call)
		}
		w.line("if !ok { continue }")
		add("r")
		w.line("rows.Add(i)")
	})
	w.line("at, _ := c.Resumed()")
	w.line("for i := at; i < c.Rows(); i++ {")
	w.line("c.At(i)")
	w.line("if rows.Full() {")
	done()
	w.line("return rows.More(i)")
	w.line("}")
	w.reset()
	w.b.WriteString(body)
	w.line("}")
	done()
	w.line("return rows.Done()")
	w.line("}")
	return nil
}
