package parse

import "github.com/weirdb/weir/engine/errs"

// insert reads INSERT INTO up to token end.
func (c *cursor) insert(end int) *Insert {
	first := c.at
	in := &Insert{}
	c.at++
	switch {
	case c.eat("OVERWRITE"):
		in.Overwrite = true
		c.eat("INTO")
	case c.is("IGNORE"):
		c.fail(errs.New(errs.Unsupported, c.pos(), "INSERT IGNORE is not supported").WithHint("add ON CONFLICT DO NOTHING at the end"))
	default:
		c.want("INTO")
	}
	c.eat("TABLE")
	in.Table = c.name(" of a table")
	if c.tok().kind == tokHint {
		hints, err := c.parseHint(c.at)
		if err != nil {
			c.fail(err)
			return nil
		}
		in.Hints = hints
		c.at++
	}
	if c.is("PARTITION", "(") {
		c.at++
		c.list(func() { in.Partition = append(in.Partition, c.partition()) })
	}
	if c.is("(") && !c.startsQueryAt(c.at) {
		in.Columns = c.identifiers(" of a column")
	}
	if c.err != nil {
		return nil
	}
	query := c.conflict(in, end)
	if c.is("SET") {
		c.expected("a query").WithHint("write INSERT INTO t (columns) VALUES (..)")
	}
	in.Query = c.query(query)
	if c.err != nil {
		return nil
	}
	c.at = end
	in.Source = c.sourceFrom(first)
	return in
}

// partition reads column = literal, or a column.
func (c *cursor) partition() Option {
	id := c.identifier(" of a column")
	o := Option{Place: id.Place, Key: id.Value}
	if c.eat("=") {
		o.ValueAt = c.pos()
		lit, ok := c.literal()
		if l, is := lit.(*Literal); ok && is {
			o.Value = l.Text
		} else {
			c.expected("a literal")
		}
	}
	return o
}

// startsQueryAt reports whether the brackets at token i begin a query.
func (c *cursor) startsQueryAt(i int) bool {
	for i < c.end && c.wordOf(&c.toks[i]) == "(" {
		i++
	}
	switch c.wordOf(&c.toks[i]) {
	case "SELECT", "WITH", "VALUES", "TABLE":
		return true
	}
	return false
}

// conflict reads ON CONFLICT DO action before token end and returns where the
// query ends.
func (c *cursor) conflict(in *Insert, end int) int {
	for i := end - 1; i > c.at && i > end-8; i-- {
		if c.wordOf(&c.toks[i]) == "DUPLICATE" && c.wordOf(&c.toks[i-1]) == "ON" {
			c.fail(errs.New(errs.Unsupported, c.toks[i-1].pos(), "ON DUPLICATE KEY is not supported").
				WithHint("a row replaces the row of its key; ON CONFLICT DO NOTHING keeps the first"))
			return end
		}
		if c.wordOf(&c.toks[i]) != "CONFLICT" || c.wordOf(&c.toks[i-1]) != "ON" {
			continue
		}
		in.ConflictAt = c.toks[i-1].pos()
		sub := &cursor{script: c.script, at: i + 1, end: end}
		if sub.is("(") {
			sub.fail(errs.New(errs.Unsupported, sub.pos(), "ON CONFLICT takes no columns").WithHint("the key is the table's primary key"))
		}
		sub.want("DO")
		switch {
		case sub.eat("NOTHING"):
			in.OnConflict = ConflictNothing
		case sub.eat("DEDUPLICATE"):
			in.OnConflict = ConflictDeduplicate
		case sub.eat("ERROR"):
			in.OnConflict = ConflictError
		default:
			sub.expected("NOTHING, DEDUPLICATE or ERROR")
		}
		if !sub.atEnd() {
			sub.unexpected()
		}
		if sub.err != nil {
			c.fail(sub.err)
		}
		return i - 1
	}
	return end
}

// statementSet reads EXECUTE STATEMENT SET BEGIN ..; END and BEGIN STATEMENT
// SET; ..; END, and EXECUTE before one statement.
func (c *cursor) statementSet() Statement {
	first := c.at
	switch {
	case c.eat("EXECUTE", "STATEMENT", "SET", "BEGIN"), c.eat("BEGIN", "STATEMENT", "SET"), c.eat("STATEMENT", "SET", "BEGIN"):
	case c.is("EXECUTE", "STATEMENT"):
		c.at++
		c.want("STATEMENT", "SET", "BEGIN")
		return nil
	case c.is("EXECUTE", "INSERT"):
		c.at++
		return c.statement()
	case c.is("EXECUTE", "SELECT"), c.is("EXECUTE", "WITH"):
		c.at++
		return c.statement()
	case c.is("EXECUTE"):
		c.at++
		c.expected("STATEMENT SET or INSERT")
		return nil
	default:
		c.fail(errs.New(errs.Unsupported, c.pos(), "there are no transactions").
			WithHint("several inserts run as one job in EXECUTE STATEMENT SET BEGIN ..; END"))
		return nil
	}
	set := &StatementSet{}
	for c.eat(";") {
	}
	for c.err == nil && !c.is("END") {
		if !c.is("INSERT") {
			e := c.expected("INSERT or END")
			if !c.atEnd() {
				e.WithHint("a statement set has INSERT statements only")
			}
			return nil
		}
		end := c.at
		for end < c.end && c.wordOf(&c.toks[end]) != ";" {
			end++
		}
		in := c.insert(end)
		if c.err == nil {
			set.Inserts = append(set.Inserts, in)
		}
		for c.eat(";") {
		}
	}
	at := c.pos()
	if c.want("END") && len(set.Inserts) == 0 {
		c.fail(errs.New(errs.Syntax, at, "the statement set is empty"))
	}
	set.Source = c.sourceFrom(first)
	return set
}
