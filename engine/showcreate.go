package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
)

// showCreate executes SHOW CREATE TABLE and SHOW CREATE VIEW: a statement that makes
// the object again.
func (e *Engine) showCreate(stmt *parse.Show) (*Query, error) {
	o, err := e.session.Lookup(stmt.Name)
	if err != nil {
		return nil, err
	}
	var text string
	switch o := o.(type) {
	case *catalog.Table:
		text = createTable(o)
	case *catalog.View:
		text = createView(o)
	}
	if want := strings.TrimPrefix(string(stmt.Kind), "CREATE "); !strings.EqualFold(want, o.What()) {
		return nil, errs.New(errs.Invalid, stmt.Name.Pos(), "%q is a %s", o.Identifier().Object, o.What()).
			WithHint("write SHOW CREATE %s", strings.ToUpper(o.What()))
	}
	return list("SHOW CREATE", []string{"result"}, [][]string{{text}}), nil
}

func createTable(t *catalog.Table) string {
	var lines []string
	computed := map[string]parse.Expr{}
	for _, c := range t.Statement.Columns {
		computed[c.Name.Value] = c.Expr
	}
	for _, c := range t.Columns {
		line := parse.QuoteIdent(c.Name) + " "
		if c.Computed != nil {
			line += "AS " + parse.Format(computed[c.Name])
		} else {
			line += c.Type.String()
		}
		if c.Comment != "" {
			line += " COMMENT " + quoted(c.Comment)
		}
		lines = append(lines, line)
	}
	for _, w := range t.Statement.Watermarks {
		lines = append(lines, "WATERMARK FOR "+w.Column.String()+" AS "+parse.Format(w.Expr))
	}
	if len(t.PrimaryKey) > 0 {
		keys := primaryKey(t)
		for i, k := range keys {
			keys[i] = parse.QuoteIdent(k)
		}
		lines = append(lines, "PRIMARY KEY ("+strings.Join(keys, ", ")+") NOT ENFORCED")
	}
	options := t.Declaration.Options
	with := make([]string, 0, len(options))
	for _, key := range slices.Sorted(maps.Keys(options)) {
		with = append(with, quoted(key)+" = "+quoted(options[key]))
	}
	text := create("TABLE", t) + " (\n  " + strings.Join(lines, ",\n  ") + "\n)"
	if t.Comment != "" {
		text += " COMMENT " + quoted(t.Comment)
	}
	return text + " WITH (\n  " + strings.Join(with, ",\n  ") + "\n)"
}

func createView(v *catalog.View) string {
	names := v.Schema.Names()
	for i, n := range names {
		names[i] = parse.QuoteIdent(n)
	}
	text := create("VIEW", v) + " (" + strings.Join(names, ", ") + ")"
	if v.Comment != "" {
		text += " COMMENT " + quoted(v.Comment)
	}
	return text + " AS\n" + parse.FormatQuery(v.Query)
}

// create is the beginning of the statement.
func create(what string, o catalog.Object) string {
	if o.IsTemporary() {
		what = "TEMPORARY " + what
	}
	return "CREATE " + what + " " + o.Identifier().String()
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
