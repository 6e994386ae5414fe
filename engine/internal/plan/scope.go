package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// scope has the columns that an expression may name: those of a node's output,
// each with the table in FROM that it belongs to.
type scope struct {
	fields []field
	tables []tableRef
	using  []int        // columns of JOIN ... USING, which * lists first
	window *groupWindow // of GROUP BY, or nil
	// ungrouped are the columns of FROM, of which an aggregation has its keys here.
	ungrouped *scope
	domain    *domain // what the first columns are, in a query that depends on rows around it
}

// field is a column of a scope.
type field struct {
	table  int // in scope.tables
	name   string
	typ    sqltype.Type
	hidden bool // the right one of a column of USING
}

// tableRef is a table in FROM. Path is the full name when the table has no alias,
// so that db.t.c is understood.
type tableRef struct {
	name  string
	path  []string
	pos   errs.Position
	alias bool
}

// scopeOf has the columns of one table.
func scopeOf(t tableRef, schema sqltype.Schema) *scope {
	s := &scope{tables: []tableRef{t}}
	for _, c := range schema {
		s.fields = append(s.fields, field{name: c.Name, typ: c.Type})
	}
	return s
}

// join has the columns of both scopes, those of s first.
func (s *scope) join(right *scope) (*scope, error) {
	for _, r := range right.tables {
		for _, l := range s.tables {
			if r.name != "" && l.name == r.name {
				return nil, errs.New(errs.Ambiguous, r.pos, "FROM has two tables named %q", r.name).
					WithHint("give one of them an alias: %s AS %s2", parse.QuoteIdent(r.name), r.name)
			}
		}
	}
	out := &scope{fields: slices.Clone(s.fields), tables: slices.Concat(s.tables, right.tables), using: slices.Clone(s.using), domain: s.domain}
	for _, f := range right.fields {
		f.table += len(s.tables)
		out.fields = append(out.fields, f)
	}
	for _, u := range right.using {
		out.using = append(out.using, u+len(s.fields))
	}
	return out, nil
}

// column is a reference to field i.
func (s *scope) column(i int, pos errs.Position) *expr.Column {
	return &expr.Column{Index: i, Name: s.fields[i].name, T: s.fields[i].typ, At: pos}
}

// resolve finds the column that a name means.
func (s *scope) resolve(name parse.Name) (*expr.Column, error) {
	if len(name) == 1 {
		return s.unqualified(name[0])
	}
	tables := s.match(name[:len(name)-1])
	if len(tables) == 0 {
		return nil, s.noTable(name)
	}
	column := name.Last()
	var found []int
	for i, f := range s.fields {
		if f.table == tables[0] && f.name == column.Value {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 1:
		return s.column(found[0], name.Pos()), nil
	case 0:
		return nil, s.noColumn(column, tables[:1])
	}
	return nil, errs.New(errs.Ambiguous, column.At, "%s has two columns named %q", s.tables[tables[0]].name, column.Value).
		WithHint("give one of them an alias where it is made")
}

func (s *scope) unqualified(name parse.Ident) (*expr.Column, error) {
	var found []int
	for i, f := range s.fields {
		if f.name == name.Value && !f.hidden {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 1:
		return s.column(found[0], name.At), nil
	case 0:
		return nil, s.noColumn(name, nil)
	}
	full := make([]string, len(found))
	for i, f := range found {
		full[i] = s.qualified(f)
	}
	return nil, errs.New(errs.Ambiguous, name.At, "column %q is ambiguous", name.Value).WithHint("write %s", strings.Join(slices.Compact(full), " or "))
}

// qualified is the name of field i with its table.
func (s *scope) qualified(i int) string {
	f := s.fields[i]
	if t := s.tables[f.table].name; t != "" {
		return parse.QuoteIdent(t) + "." + parse.QuoteIdent(f.name)
	}
	return parse.QuoteIdent(f.name)
}

// match finds the tables that a qualifier means, at most one.
func (s *scope) match(q parse.Name) []int {
	for i, t := range s.tables {
		if len(q) == 1 && t.name == q[0].Value {
			return []int{i}
		}
		if len(q) > 1 && !t.alias && len(q) <= len(t.path) && slices.Equal(t.path[len(t.path)-len(q):], q.Values()) {
			return []int{i}
		}
	}
	return nil
}

// noTable explains why the qualifier of a name means nothing.
func (s *scope) noTable(name parse.Name) error {
	first := name[0]
	for _, f := range s.fields {
		if f.name == first.Value {
			return errs.New(errs.Unsupported, first.At, "%s reads a field of the column %q: ROW columns are not supported yet", name, first.Value)
		}
	}
	q := name[:len(name)-1]
	var names []string
	for _, t := range s.tables {
		if t.alias && len(t.path) > 0 && t.path[len(t.path)-1] == q.Last().Value {
			return errs.New(errs.NotFound, first.At, "table %q is named %q in this query", q.Last().Value, t.name).
				WithHint("write %s.%s", parse.QuoteIdent(t.name), name.Last())
		}
		if t.name != "" {
			names = append(names, t.name)
		}
	}
	e := errs.New(errs.NotFound, first.At, "table %q is not in FROM", q.String())
	return hintNames(e, q.Last().Value, names, "FROM has")
}

// noColumn explains why a name is no column, of the given tables or any.
func (s *scope) noColumn(name parse.Ident, tables []int) error {
	var names []string
	for _, f := range s.fields {
		if !f.hidden && (tables == nil || slices.Contains(tables, f.table)) {
			names = append(names, f.name)
		}
	}
	where := ""
	if len(tables) == 1 && s.tables[tables[0]].name != "" {
		where = " in " + s.tables[tables[0]].name
	}
	e := errs.New(errs.NotFound, name.At, "column %q not found%s", name.Value, where)
	if len(s.fields) == 0 {
		if len(s.tables) == 0 {
			return e.WithHint("there is no FROM; a string is written in single quotes")
		}
		return e
	}
	slices.Sort(names)
	return hintNames(e, name.Value, slices.Compact(names), "the columns are")
}

// hintNames adds to e what the name may have meant, or all that there is.
func hintNames(e *errs.Error, name string, have []string, list string) *errs.Error {
	for _, h := range have {
		if h != name && strings.EqualFold(h, name) {
			return e.WithHint("did you mean %q? Names are case-sensitive", h)
		}
	}
	if hint := errs.DidYouMean(name, have); hint != "" {
		return e.WithHint("%s", hint)
	}
	if len(have) > 0 && len(have) <= 12 {
		return e.WithHint("%s %s", list, strings.Join(have, ", "))
	}
	return e
}
