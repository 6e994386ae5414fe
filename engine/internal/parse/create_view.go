package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

func (c *cursor) createView(cr creation) Statement {
	v := &CreateView{
		Temporary: cr.temporary, OrReplace: cr.orReplace, Materialized: cr.materialized,
		IfNotExists: c.ifNotExists(),
	}
	if cr.temporary && cr.materialized {
		c.fail(errs.New(errs.Syntax, cr.temporaryAt, "a materialized view cannot be temporary"))
	}
	v.Name = c.name(" of a view")
	if c.is("(") {
		c.list(func() {
			v.Columns = append(v.Columns, c.identifier(" of a column"))
			c.comment()
		})
	}
	v.Comment = c.comment()
	if c.is("WITH", "(") && c.ahead(2).kind == tokString {
		c.at++
		v.Options = c.options()
	}
	c.want("AS")
	v.Query = c.query(c.end)
	v.Source = c.sourceFrom(cr.first)
	return v
}

func (c *cursor) createFunction(cr creation) Statement {
	f := &CreateFunction{Temporary: cr.temporary, System: cr.system, OrReplace: cr.orReplace, IfNotExists: c.ifNotExists()}
	if cr.system && !cr.temporary {
		c.fail(errs.New(errs.Syntax, cr.systemAt, "a SYSTEM function is temporary").WithHint("write CREATE TEMPORARY SYSTEM FUNCTION"))
	}
	f.Name = c.name(" of a function")
	if c.is("(") {
		f.HasParams = true
		if c.is("(", ")") {
			c.at += 2
		} else {
			c.list(func() { f.Params = append(f.Params, c.param()) })
		}
	}
	if c.eat("RETURNS") {
		f.Returns = c.dataType()
	}
	c.want("AS")
	f.Symbol, f.SymbolAt = c.str(" with the function's symbol")
	for c.err == nil && !c.atEnd() {
		switch {
		case c.eat("LANGUAGE") && f.Language == "":
			f.Language = strings.ToUpper(c.part().Value)
		case c.eat("USING"):
			c.resources(f)
		case c.eat("WITH") && f.Options == nil:
			f.Options = c.options()
		default:
			c.unexpected()
		}
	}
	f.Source = c.sourceFrom(cr.first)
	return f
}

// param reads [name] type. A name is told from a type by what follows it.
func (c *cursor) param() Field {
	var f Field
	next := c.ahead(1)
	if c.tok().kind == tokQuoted || typeNames[c.word()] == "" || next.kind == tokWord && typeNames[c.wordOf(next)] != "" && c.wordOf(next) != "NULL" && c.wordOf(next) != "ARRAY" && c.wordOf(next) != "MULTISET" {
		if c.wordOf(next) != "," && c.wordOf(next) != ")" || c.tok().kind == tokQuoted {
			f.Name = c.part()
		}
	}
	f.Type = c.dataType()
	return f
}

// resources reads FILE 'path', ..
func (c *cursor) resources(f *CreateFunction) {
	for {
		r := Resource{Place: c.place(), Kind: c.word()}
		switch r.Kind {
		case "FILE", "JAR", "ARTIFACT":
		default:
			c.expected("FILE")
			return
		}
		c.at++
		r.Path, _ = c.str(" with the file's path")
		f.Using = append(f.Using, r)
		if !c.eat(",") {
			return
		}
	}
}

// createTemporalFunction reads f AS TABLE t TIME c KEY (k).
func (c *cursor) createTemporalFunction(cr creation) Statement {
	f := &CreateTemporalFunction{Temporary: cr.temporary, OrReplace: cr.orReplace, IfNotExists: c.ifNotExists()}
	f.Name = c.name(" of a function")
	c.want("AS")
	c.eat("TABLE")
	f.Table = c.name(" of a table")
	c.want("TIME")
	f.Time = c.identifier(" of a column")
	c.want("KEY")
	if c.is("(") {
		f.Key = c.identifiers(" of a column")
	} else {
		f.Key = []Ident{c.identifier(" of a column")}
	}
	f.Source = c.sourceFrom(cr.first)
	return f
}
