package goglue

import (
	"fmt"
	"strings"
)

// writer collects the generated code. Names count up, so that code can be nested.
type writer struct {
	b     *strings.Builder
	count int
	slabs []slab // of the function being written
	all   []slab
	time  bool
}

// slab is a package variable that lends slices of a type.
type slab struct{ name, elem string }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *writer) name(prefix string) string {
	w.count++
	return fmt.Sprintf("%s%d", prefix, w.count)
}

// slab declares a slab and returns its name.
func (w *writer) slab(elem string) string {
	s := slab{w.name("weirSlab"), elem}
	w.slabs = append(w.slabs, s)
	w.all = append(w.all, s)
	return s.name
}

// view declares the view of the column vec, and of its children, under name.
func (w *writer) view(c *codec, name, vec string) {
	w.time = w.time || c.usesTime()
	switch c.form {
	case fixed:
		w.line("%s := weir.ColumnOf[%s](%s)", name, c.stored, vec)
	case boolean:
		w.line("%s := weir.BoolsOf(%s)", name, vec)
	case text, binary:
		w.line("%s := weir.StringsOf(%s)", name, vec)
	case list, mapping:
		w.line("%s := weir.ListsOf(%s)", name, vec)
	case record:
		w.line("%s := weir.StructsOf(%s)", name, vec)
	}
	w.line("_ = %s", name)
	for i, k := range c.kids {
		w.view(k, fmt.Sprintf("%s_%d", name, i), fmt.Sprintf("%s.Child(%d)", vec, i))
	}
}

// read writes the statements that read row idx of a view, and returns the
// expression of the value. A NULL inside that Go cannot hold ends the call.
func (w *writer) read(c *codec, name, idx, argument string) string {
	if !c.null {
		return w.readValue(c, name, idx, argument)
	}
	if c.form == fixed && c.conv == same {
		return fmt.Sprintf("%s.Get(%s)", name, idx)
	}
	v := w.name("v")
	w.line("var %s weir.Null[%s]", v, c.goType)
	w.line("if !%s.IsNull(%s) {", name, idx)
	w.line("%s = weir.Null[%s]{V: %s, Valid: true}", v, c.goType, w.readValue(c, name, idx, argument))
	w.line("}")
	return v
}

// readInside is read of a child, where a NULL may lie.
func (w *writer) readInside(c *codec, name, idx, argument string) string {
	if !c.null && !c.sql.NotNull {
		w.line("if %s.IsNull(%s) { return c.FailNull(%q) }", name, idx, argument)
	}
	return w.read(c, name, idx, argument)
}

func (w *writer) readValue(c *codec, name, idx, argument string) string {
	switch c.form {
	case fixed:
		return c.fromColumn(fmt.Sprintf("%s.At(%s)", name, idx))
	case boolean, text:
		if c.conv == named {
			return fmt.Sprintf("%s(%s.At(%s))", c.goType, name, idx)
		}
		return fmt.Sprintf("%s.At(%s)", name, idx)
	case binary:
		if c.conv == named {
			return fmt.Sprintf("%s(%s.Bytes(%s))", c.goType, name, idx)
		}
		return fmt.Sprintf("%s.Bytes(%s)", name, idx)
	case record:
		var fields []string
		for i, k := range c.kids {
			x := w.readInside(k, fmt.Sprintf("%s_%d", name, i), idx, argument)
			fields = append(fields, c.fields[i]+": "+x)
		}
		return c.goType + "{" + strings.Join(fields, ", ") + "}"
	}
	from, to := w.name("from"), w.name("to")
	w.line("%s, %s := %s.Range(%s)", from, to, name, idx)
	if k := c.kids[0]; c.form == list && k.direct() {
		elems := name + "_0"
		if !k.sql.NotNull {
			w.line("if %s.AnyNull(%s, %s) { return c.FailNull(%q) }", elems, from, to, argument)
		}
		return c.converted(fmt.Sprintf("%s.Values()[%s:%s:%s]", elems, from, to, to))
	}
	elem := c.kids[0].text()
	if c.form == mapping {
		elem = fmt.Sprintf("weir.Entry[%s, %s]", c.kids[0].text(), c.kids[1].text())
	}
	v, j := w.name("v"), w.name("j")
	w.line("%s := %s.Take(%s - %s)", v, w.slab(elem), to, from)
	w.line("for %s := range %s {", j, v)
	k := w.name("k")
	w.line("%s := %s + %s", k, from, j)
	if c.form == list {
		w.line("%s[%s] = %s", v, j, w.readInside(c.kids[0], name+"_0", k, argument))
	} else {
		key := w.read(c.kids[0], name+"_0", k, argument)
		value := w.readInside(c.kids[1], name+"_1", k, argument)
		w.line("%s[%s] = %s{Key: %s, Value: %s}", v, j, elem, key, value)
	}
	w.line("}")
	return c.converted(v)
}

// text is the Go type, with weir.Null.
func (c *codec) text() string {
	if c.null {
		return "weir.Null[" + c.goType + "]"
	}
	return c.goType
}

// converted is an expression of a type's underlying type as that type.
func (c *codec) converted(x string) string {
	if c.conv == named {
		return c.goType + "(" + x + ")"
	}
	return x
}

// fromColumn is a column's value as Go value.
func (c *codec) fromColumn(x string) string {
	switch c.conv {
	case asTime:
		return fmt.Sprintf("weir.TimeOf(%s, %s)", x, c.units())
	case asDay:
		return x + ".Time()"
	case asElapsed:
		return fmt.Sprintf("time.Duration(%s) * %s", x, c.units())
	}
	return x
}

// toColumn is a Go value as column's value.
func (c *codec) toColumn(x string) string {
	switch c.conv {
	case asTime:
		return fmt.Sprintf("weir.TimestampOf(%s, %s)", x, c.units())
	case asDay:
		return fmt.Sprintf("weir.DateOf(%s)", x)
	case asElapsed:
		return fmt.Sprintf("%s(%s / %s)", c.stored, x, c.units())
	}
	return x
}

// build declares a builder of the result column vec, and of its children.
func (w *writer) build(c *codec, name, vec string) {
	w.time = w.time || c.usesTime()
	types := [...]string{
		fixed: "Builder[" + c.stored + "]", boolean: "BoolBuilder", text: "StringBuilder", binary: "StringBuilder",
		list: "ListBuilder", mapping: "ListBuilder", record: "StructBuilder",
	}
	w.line("var %s weir.%s", name, types[c.form])
	w.line("%s.Attach(%s)", name, vec)
	for i, k := range c.kids {
		w.build(k, fmt.Sprintf("%s_%d", name, i), fmt.Sprintf("%s.Child(%d)", vec, i))
	}
}

// append writes the statements that add the value of a variable to a builder.
func (w *writer) append(c *codec, name, v string) {
	if !c.null {
		w.appendValue(c, name, v)
		return
	}
	w.line("if %s.Valid {", v)
	w.appendValue(c, name, v+".V")
	w.line("} else {")
	w.appendNone(c, name, "AppendNull")
	w.line("}")
}

func (w *writer) appendValue(c *codec, name, v string) {
	switch c.form {
	case fixed:
		w.line("%s.Append(%s)", name, c.toColumn(v))
	case boolean:
		w.line("%s.Append(bool(%s))", name, v)
	case text:
		w.line("%s.Append(string(%s))", name, v)
	case binary:
		w.line("%s.AppendBytes(%s)", name, v)
	case list:
		if c.kids[0].direct() {
			w.line("%s_0.AppendSlice(%s)", name, v)
		} else {
			e := w.name("e")
			w.line("for _, %s := range %s {", e, v)
			w.append(c.kids[0], name+"_0", e)
			w.line("}")
		}
		w.line("%s.Append(%s_0.Len())", name, name)
	case mapping:
		e := w.name("e")
		w.line("for _, %s := range %s {", e, v)
		w.append(c.kids[0], name+"_0", e+".Key")
		w.append(c.kids[1], name+"_1", e+".Value")
		w.line("}")
		w.line("%s.Append(%s_0.Len())", name, name)
	case record:
		for i, k := range c.kids {
			w.append(k, fmt.Sprintf("%s_%d", name, i), v+"."+c.fields[i])
		}
		w.line("%s.Append()", name)
	}
}

// appendNone adds a row without a value, by AppendNull or, where the host sets the
// NULL or a ROW around it is NULL, some value.
func (w *writer) appendNone(c *codec, name, how string) {
	zero := map[form]string{fixed: "Append(*new(" + c.stored + "))", boolean: "Append(false)", text: `Append("")`, binary: `Append("")`}
	switch {
	case c.form == record:
		for i, k := range c.kids {
			w.appendNone(k, fmt.Sprintf("%s_%d", name, i), "")
		}
		if how == "" {
			how = "Append"
		}
		w.line("%s.%s()", name, how)
	case how != "":
		w.line("%s.%s()", name, how)
	case c.form == list || c.form == mapping:
		w.line("%s.Append(%s_0.Len())", name, name)
	default:
		w.line("%s.%s", name, zero[c.form])
	}
}

// close hands the columns over.
func (w *writer) close(c *codec, name string) {
	w.line("%s.Close()", name)
	for i, k := range c.kids {
		w.close(k, fmt.Sprintf("%s_%d", name, i))
	}
}

// reset takes back what the slabs of the function lent for the row before.
func (w *writer) reset() {
	for _, s := range w.slabs {
		w.line("%s.Reset()", s.name)
	}
}
