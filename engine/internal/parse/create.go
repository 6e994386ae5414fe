package parse

import "github.com/weirdb/weir/engine/errs"

// creation is what stands before the kind of the object in CREATE.
type creation struct {
	first                            int
	orReplace, temporary, system     bool
	materialized                     bool
	temporaryAt, systemAt, replaceAt errs.Position
}

// create reads CREATE.
func (c *cursor) create() Statement {
	cr := creation{first: c.at}
	c.at++
	cr.replaceAt = c.pos()
	cr.orReplace = c.eat("OR", "REPLACE")
	cr.temporaryAt = c.pos()
	cr.temporary = c.eat("TEMPORARY") || c.eat("TEMP")
	cr.systemAt = c.pos()
	cr.system = c.eat("SYSTEM")
	if c.is("MATERIALIZED", "VIEW") {
		c.at++
		cr.materialized = true
	}
	if cr.system && !c.is("FUNCTION") {
		c.expected("FUNCTION")
		return nil
	}
	switch {
	case c.eat("TABLE"):
		return c.createTable(cr)
	case c.eat("VIEW"):
		return c.createView(cr)
	case c.eat("FUNCTION"):
		return c.createFunction(cr)
	case c.eat("TEMPORAL", "TABLE", "FUNCTION"):
		return c.createTemporalFunction(cr)
	case c.eat("CATALOG"):
		return c.createCatalog(cr)
	case c.eat("DATABASE"), c.eat("SCHEMA"):
		return c.createDatabase(cr)
	case c.is("MATERIALIZED", "TABLE"):
		c.fail(errs.New(errs.Unsupported, c.pos(), "materialized tables are not supported").WithHint("use CREATE MATERIALIZED VIEW"))
	case c.is("MODEL"), c.is("CONNECTION"), c.is("INDEX"), c.is("UNIQUE"), c.is("SEQUENCE"), c.is("TRIGGER"), c.is("USER"), c.is("PROCEDURE"), c.is("SOURCE"), c.is("SINK"), c.is("STREAM"), c.is("TYPE"):
		e := errs.New(errs.Unsupported, c.pos(), "CREATE %s is not supported", c.word())
		switch c.word() {
		case "SOURCE", "SINK", "STREAM":
			e.WithHint("sources and sinks are tables: CREATE TABLE .. WITH ('connector' = '..')")
		}
		c.fail(e)
	default:
		word := c.word()
		e := c.expected("TABLE, VIEW, MATERIALIZED VIEW, FUNCTION, CATALOG or DATABASE")
		if s := errs.Suggest(word, []string{"TABLE", "VIEW", "MATERIALIZED", "FUNCTION", "CATALOG", "DATABASE", "TEMPORARY"}); s != "" && word != "" {
			e.WithHint("did you mean %s?", s)
		}
	}
	return nil
}

// ifNotExists reads IF NOT EXISTS.
func (c *cursor) ifNotExists() bool { return c.eat("IF", "NOT", "EXISTS") }

// comment reads COMMENT 'text'.
func (c *cursor) comment() string {
	if !c.eat("COMMENT") {
		return ""
	}
	s, _ := c.str(" with the comment")
	return s
}

func (c *cursor) createTable(cr creation) Statement {
	t := &CreateTable{Temporary: cr.temporary, OrReplace: cr.orReplace, IfNotExists: c.ifNotExists()}
	t.Name = c.name(" of a table")
	if c.is("(") {
		c.list(func() { c.tableElement(t) })
	}
	for c.err == nil && !c.atEnd() {
		at := *c.tok()
		twice := false
		switch {
		case c.is("COMMENT"):
			twice = t.Comment != ""
			t.Comment = c.comment()
		case c.eat("PARTITIONED", "BY"):
			twice = t.PartitionBy != nil
			t.PartitionBy = c.identifiers(" of a column")
		case c.is("DISTRIBUTED"):
			c.fail(errs.New(errs.Unsupported, c.pos(), "DISTRIBUTED BY is not supported").WithHint("the connector's options say how rows are spread"))
		case c.eat("WITH"):
			twice = t.Options != nil
			t.Options = c.options()
		case c.eat("LIKE"):
			twice = t.Like != nil
			t.Like = c.likeTable()
		case c.eat("AS"):
			t.As = c.query(c.end)
		default:
			e := c.unexpected()
			if e.Hint == "" {
				e.WithHint("after the columns come COMMENT, PARTITIONED BY, WITH, LIKE and AS")
			}
		}
		if twice {
			c.fail(errs.New(errs.Syntax, at.pos(), "%s is written twice", c.wordOf(&at)))
		}
	}
	for _, col := range t.Columns {
		if col.Kind != ComputedColumn && col.Type == nil && t.As == nil && c.err == nil {
			c.fail(errs.New(errs.Syntax, col.At, "the column %s has no type", col.Name))
		}
	}
	t.Source = c.sourceFrom(cr.first)
	return t
}

// tableElement reads one entry of CREATE TABLE (..).
func (c *cursor) tableElement(t *CreateTable) {
	switch {
	case c.is(")"):
		e := c.expected("a column")
		if len(t.Columns)+len(t.Watermarks) > 0 {
			e.WithHint("remove the comma before it")
		}
	case c.is("WATERMARK", "FOR"):
		t.Watermarks = append(t.Watermarks, c.watermark())
	case c.is("PRIMARY", "KEY"), c.is("CONSTRAINT"):
		c.setKey(&t.PrimaryKey, c.primaryKey())
	case c.is("UNIQUE"), c.is("FOREIGN", "KEY"), c.is("CHECK", "("), c.is("INDEX"), c.is("KEY"), c.is("PERIOD", "FOR"):
		if n := c.ahead(1); n.isName() && c.word() != "PERIOD" && c.word() != "FOREIGN" && n.kind == tokWord && typeNames[c.wordOf(n)] != "" {
			c.addColumn(t)
			return
		}
		c.fail(errs.New(errs.Unsupported, c.pos(), "the constraint %s is not supported", c.word()).
			WithHint("PRIMARY KEY (columns) NOT ENFORCED is the only one"))
	default:
		c.addColumn(t)
	}
}

func (c *cursor) addColumn(t *CreateTable) {
	col, key := c.column(c.columnsOnly())
	t.Columns = append(t.Columns, col)
	if key != nil {
		c.setKey(&t.PrimaryKey, key)
	}
}

// setKey sets the primary key, of which there is one.
func (c *cursor) setKey(to **PrimaryKey, key *PrimaryKey) {
	if *to != nil && c.err == nil {
		c.fail(errs.New(errs.Syntax, key.At, "the table has two primary keys"))
	}
	*to = key
}

// columnsOnly reports whether the current column is a name without a type, as
// before AS query.
func (c *cursor) columnsOnly() bool {
	next := c.wordOf(c.ahead(1))
	return next == "," || next == ")"
}

// column reads a column; a PRIMARY KEY after it is returned apart.
func (c *cursor) column(nameOnly bool) (*ColumnDef, *PrimaryKey) {
	col := &ColumnDef{Place: c.place(), Name: c.identifier(" of a column")}
	if nameOnly || c.err != nil {
		return col, nil
	}
	if c.eat("AS") {
		col.Kind = ComputedColumn
		col.Expr = c.exprUntil(func() bool { return c.is("COMMENT") && c.ahead(1).kind == tokString })
		col.Comment = c.comment()
		return col, nil
	}
	col.Type = c.dataType()
	var key *PrimaryKey
	for c.err == nil {
		switch {
		case c.eat("METADATA"):
			col.Kind = MetadataColumn
			if c.eat("FROM") {
				col.MetadataKey, _ = c.str(" with the metadata's key")
			}
			col.Virtual = c.eat("VIRTUAL")
		case c.is("COMMENT"):
			col.Comment = c.comment()
		case c.eat("NOT", "NULL"):
			col.Type.NotNull = true
		case c.is("PRIMARY", "KEY"):
			key = &PrimaryKey{Place: c.place(), Columns: []Ident{col.Name}}
			c.at += 2
			key.NotEnforced = c.eat("NOT", "ENFORCED")
		case c.is(","), c.is(")"), c.atEnd(), c.is("FIRST"), c.is("AFTER"):
			return col, key
		default:
			c.badColumn()
		}
	}
	return col, key
}

// badColumn fails for what stands after a column's type.
func (c *cursor) badColumn() {
	t := *c.tok()
	e := c.expected(`"," or ")"`)
	switch c.wordOf(&t) {
	case "DEFAULT", "AUTO_INCREMENT", "UNIQUE", "REFERENCES", "CHECK", "GENERATED", "UNSIGNED", "IDENTITY":
		e.Code = errs.Unsupported
		e.Msg = c.wordOf(&t) + " of a column is not supported"
		if c.wordOf(&t) == "GENERATED" {
			e.WithHint("a computed column is written c AS expression")
		}
	case "ENFORCED":
		e.Code, e.Msg = errs.Unsupported, "a primary key is not enforced"
		e.WithHint("write NOT ENFORCED")
	default:
		if t.isName() {
			e.WithHint("a comma may be missing before it")
		}
	}
}

func (c *cursor) watermark() *Watermark {
	w := &Watermark{Place: c.place()}
	c.at += 2
	w.Column = c.name(" of a column")
	c.want("AS")
	w.Expr = c.exprUntil(nil)
	return w
}

// primaryKey reads [CONSTRAINT name] PRIMARY KEY (columns) [NOT ENFORCED].
func (c *cursor) primaryKey() *PrimaryKey {
	k := &PrimaryKey{Place: c.place()}
	if c.eat("CONSTRAINT") {
		k.Name = c.identifier(" of a constraint")
	}
	c.want("PRIMARY", "KEY")
	k.Columns = c.identifiers(" of a column")
	if c.is("ENFORCED") {
		c.fail(errs.New(errs.Unsupported, c.pos(), "a primary key is not enforced").WithHint("write NOT ENFORCED"))
	}
	k.NotEnforced = c.eat("NOT", "ENFORCED")
	return k
}

// likeTable reads table [(INCLUDING ALL ..)].
func (c *cursor) likeTable() *LikeTable {
	like := &LikeTable{Table: c.name(" of a table")}
	like.Place = Place{like.Table.Pos()}
	if !c.eat("(") {
		return like
	}
	for c.err == nil && !c.eat(")") {
		r := LikeRule{Place: c.place(), Mode: c.word(), What: c.wordOf(c.ahead(1))}
		if !likeModes[r.Mode] {
			c.expected("INCLUDING, EXCLUDING or OVERWRITING")
			break
		}
		c.at++
		if !likeParts[r.What] {
			c.expected("ALL, CONSTRAINTS, GENERATED, METADATA, OPTIONS, PARTITIONS, DISTRIBUTION or WATERMARKS")
			break
		}
		c.at++
		like.Rules = append(like.Rules, r)
	}
	return like
}

// What LIKE may take over, and how.
var (
	likeModes = words("INCLUDING EXCLUDING OVERWRITING")
	likeParts = words("ALL CONSTRAINTS GENERATED METADATA OPTIONS PARTITIONS DISTRIBUTION WATERMARKS")
)

func (c *cursor) createCatalog(cr creation) Statement {
	c.noModifiers(cr, "CATALOG")
	cat := &CreateCatalog{IfNotExists: c.ifNotExists(), Name: c.identifier(" of a catalog")}
	cat.Comment = c.comment()
	if c.eat("WITH") {
		cat.Options = c.options()
	}
	cat.Source = c.sourceFrom(cr.first)
	return cat
}

func (c *cursor) createDatabase(cr creation) Statement {
	c.noModifiers(cr, "DATABASE")
	db := &CreateDatabase{IfNotExists: c.ifNotExists(), Name: c.name(" of a database")}
	db.Comment = c.comment()
	if c.eat("WITH") {
		db.Options = c.options()
	}
	db.Source = c.sourceFrom(cr.first)
	return db
}

// noModifiers refuses OR REPLACE and TEMPORARY.
func (c *cursor) noModifiers(cr creation, kind string) {
	if cr.orReplace {
		c.fail(errs.New(errs.Syntax, cr.replaceAt, "CREATE %s has no OR REPLACE", kind))
	}
	if cr.temporary {
		c.fail(errs.New(errs.Syntax, cr.temporaryAt, "a %s cannot be temporary", kind))
	}
}
