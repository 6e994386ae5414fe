package parse

import "github.com/weirdb/weir/engine/errs"

// showWords are what SHOW lists, in the order they are tried.
var showWords = [...]struct {
	words []string
	kind  ShowKind
}{
	{[]string{"CREATE", "MATERIALIZED", "VIEW"}, ShowCreateView},
	{[]string{"CREATE", "TABLE"}, ShowCreateTable},
	{[]string{"CREATE", "VIEW"}, ShowCreateView},
	{[]string{"CREATE", "CATALOG"}, ShowCreateCatalog},
	{[]string{"CREATE", "FUNCTION"}, ShowCreateFunction},
	{[]string{"CURRENT", "CATALOG"}, ShowCurrentCatalog},
	{[]string{"CURRENT", "DATABASE"}, ShowCurrentDatabase},
	{[]string{"MATERIALIZED", "VIEWS"}, ShowMaterializedViews},
	{[]string{"CATALOGS"}, ShowCatalogs},
	{[]string{"DATABASES"}, ShowDatabases},
	{[]string{"TABLES"}, ShowTables},
	{[]string{"VIEWS"}, ShowViews},
	{[]string{"FUNCTIONS"}, ShowFunctions},
	{[]string{"COLUMNS"}, ShowColumns},
	{[]string{"MODULES"}, ShowModules},
	{[]string{"JOBS"}, ShowJobs},
	{[]string{"PARTITIONS"}, ShowPartitions},
}

// show reads SHOW.
func (c *cursor) show() Statement {
	first := c.at
	c.at++
	s := &Show{}
	if c.is("USER", "FUNCTIONS") {
		s.User = true
		c.at++
	} else if c.is("FULL", "MODULES") {
		s.Full = true
		c.at++
	}
	for _, w := range showWords {
		if c.eat(w.words...) {
			s.Kind = w.kind
			break
		}
	}
	switch s.Kind {
	case "":
		c.unknownShow()
		return nil
	case ShowCreateTable, ShowCreateView, ShowCreateCatalog, ShowCreateFunction, ShowPartitions:
		s.Name = c.name("")
	case ShowColumns:
		_ = c.eat("FROM") || c.want("IN") || c.want("FROM")
		s.Name = c.name(" of a table")
	default:
		if c.eat("FROM") || c.eat("IN") {
			s.Name = c.name("")
		}
	}
	c.showLike(s)
	s.Source = c.sourceFrom(first)
	return s
}

// showLike reads [NOT] LIKE 'pattern'.
func (c *cursor) showLike(s *Show) {
	if s.NotLike = c.eat("NOT"); s.NotLike && !c.is("LIKE") && !c.is("ILIKE") {
		c.expected("LIKE")
	}
	s.ILike = c.eat("ILIKE")
	if s.ILike || c.eat("LIKE") {
		s.HasLike = true
		s.Like, _ = c.str(" with a pattern")
	}
}

func (c *cursor) unknownShow() {
	t := c.tok()
	e := c.expected("TABLES, VIEWS, FUNCTIONS, COLUMNS, JOBS or the like after SHOW")
	var have []string
	for _, w := range showWords {
		have = append(have, w.words[0])
	}
	if t.kind == tokWord {
		if s := errs.Suggest(c.wordOf(t), have); s != "" {
			e.WithHint("did you mean SHOW %s?", s)
		}
	}
}

// describeObject reads DESCRIBE [kind] [EXTENDED] name.
func (c *cursor) describeObject() Statement {
	first := c.at
	c.at++
	d := &Describe{Kind: TableObject}
	if next := c.ahead(1); next.kind != tokEnd && c.wordOf(next) != "." {
		for _, k := range []ObjectKind{CatalogObject, DatabaseObject, FunctionObject, JobObject, TableObject} {
			if c.eat(string(k)) {
				d.Kind = k
				break
			}
		}
	}
	if next := c.ahead(1); c.is("EXTENDED") && next.kind != tokEnd && c.wordOf(next) != "." {
		c.at++
		d.Extended = true
	}
	if t := c.tok(); d.Kind == JobObject && t.kind == tokString {
		s, at := c.str("")
		d.Name = Name{{Place: Place{at}, Value: s, Quoted: true}}
	} else {
		d.Name = c.name("")
	}
	d.Source = c.sourceFrom(first)
	return d
}
