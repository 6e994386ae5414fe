package parse

import "github.com/weirdb/weir/engine/errs"

// drop reads DROP.
func (c *cursor) drop() Statement {
	first := c.at
	c.at++
	d := &Drop{Temporary: c.eat("TEMPORARY"), System: c.eat("SYSTEM")}
	switch {
	case c.eat("TABLE"):
		d.Kind = TableObject
	case c.eat("VIEW"):
		d.Kind = ViewObject
	case c.eat("MATERIALIZED", "VIEW"):
		d.Kind = MaterializedViewObject
	case c.eat("FUNCTION"), c.eat("TEMPORAL", "TABLE", "FUNCTION"):
		d.Kind = FunctionObject
	case c.eat("DATABASE"), c.eat("SCHEMA"):
		d.Kind = DatabaseObject
	case c.eat("CATALOG"):
		d.Kind = CatalogObject
	case c.is("JOB"):
		c.fail(errs.New(errs.Syntax, c.pos(), "jobs are not dropped").WithHint("write STOP JOB 'name'"))
		return nil
	default:
		c.expected("TABLE, VIEW, MATERIALIZED VIEW, FUNCTION, CATALOG or DATABASE")
		return nil
	}
	d.IfExists = c.eat("IF", "EXISTS")
	d.Name = c.name("")
	if d.Kind == DatabaseObject && !c.eat("RESTRICT") {
		d.Cascade = c.eat("CASCADE")
	}
	if c.is(",") {
		c.fail(errs.New(errs.Unsupported, c.pos(), "DROP takes one name").WithHint("write one statement for each"))
	}
	d.Source = c.sourceFrom(first)
	return d
}

// alter reads ALTER.
func (c *cursor) alter() Statement {
	first := c.at
	c.at++
	a := &Alter{}
	switch {
	case c.eat("TABLE"):
		a.Kind = TableObject
	case c.eat("MATERIALIZED", "VIEW"):
		a.Kind = MaterializedViewObject
	case c.eat("VIEW"):
		a.Kind = ViewObject
	case c.eat("DATABASE"):
		a.Kind = DatabaseObject
	case c.eat("CATALOG"):
		a.Kind = CatalogObject
	case c.is("FUNCTION"):
		c.fail(errs.New(errs.Unsupported, c.pos(), "ALTER FUNCTION is not supported").WithHint("write CREATE OR REPLACE FUNCTION"))
		return nil
	default:
		c.expected("TABLE, VIEW, DATABASE or CATALOG")
		return nil
	}
	a.IfExists = c.eat("IF", "EXISTS")
	a.Name = c.name("")
	a.Action = c.alterAction(a.Kind)
	a.Source = c.sourceFrom(first)
	return a
}

func (c *cursor) alterAction(kind ObjectKind) AlterAction {
	place := c.place()
	table := kind == TableObject
	switch {
	case c.eat("RENAME", "TO"):
		return &AlterRename{Place: place, To: c.name("")}
	case table && c.eat("RENAME"):
		r := &AlterRenameColumn{Place: place, From: c.identifier(" of a column")}
		c.want("TO")
		r.To = c.identifier(" of a column")
		return r
	case c.eat("SET"):
		return &AlterSet{Place: place, Options: c.options()}
	case c.eat("RESET"):
		r := &AlterReset{Place: place}
		c.list(func() {
			var o Option
			o.Key, o.At = c.str("")
			r.Keys = append(r.Keys, o)
		})
		return r
	case table && (c.is("ADD") || c.is("MODIFY")):
		return c.alterAdd()
	case table && c.eat("DROP"):
		return c.alterDrop(place)
	case !table && c.eat("AS"):
		return &AlterQuery{Place: place, Query: c.query(c.end)}
	}
	if table {
		c.expected("RENAME, SET, RESET, ADD, MODIFY or DROP")
	} else {
		c.expected("RENAME TO, SET or AS")
	}
	return nil
}

// alterAdd reads ADD and MODIFY of one thing or (several).
func (c *cursor) alterAdd() AlterAction {
	a := &AlterAdd{Place: c.place(), Modify: c.is("MODIFY")}
	c.at++
	one := func() {
		switch {
		case c.is("WATERMARK", "FOR"):
			a.Watermark = c.watermark()
		case c.is("PRIMARY", "KEY"), c.is("CONSTRAINT"):
			c.setKey(&a.PrimaryKey, c.primaryKey())
		default:
			c.eat("COLUMN")
			col, key := c.column(false)
			if key != nil {
				c.setKey(&a.PrimaryKey, key)
			}
			ac := AlterColumn{Column: col, First: c.eat("FIRST")}
			if c.eat("AFTER") {
				ac.After = c.identifier(" of a column")
			}
			a.Columns = append(a.Columns, ac)
		}
	}
	if c.is("(") {
		c.list(one)
	} else {
		one()
	}
	return a
}

func (c *cursor) alterDrop(place Place) AlterAction {
	d := &AlterDrop{Place: place}
	switch {
	case c.eat("PRIMARY", "KEY"):
		d.PrimaryKey = true
	case c.eat("CONSTRAINT"):
		d.PrimaryKey = true
		c.identifier(" of a constraint")
	case c.is("WATERMARK") && c.ahead(1).kind == tokEnd:
		c.at++
		d.Watermark = true
	case c.is("("):
		d.Columns = c.identifiers(" of a column")
	default:
		if c.is("COLUMN") && c.ahead(1).kind != tokEnd {
			c.at++
		}
		d.Columns = []Ident{c.identifier(" of a column")}
	}
	return d
}
