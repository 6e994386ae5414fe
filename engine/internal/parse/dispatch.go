package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// statement reads one statement. Its first word says which.
func (c *cursor) statement() Statement {
	switch c.word() {
	case "SELECT", "WITH", "VALUES", "TABLE", "(":
		return orNil(c.query(c.end))
	case "INSERT":
		return orNil(c.insert(c.end))
	case "CREATE":
		return c.create()
	case "DROP":
		return c.drop()
	case "ALTER":
		return c.alter()
	case "EXECUTE", "BEGIN", "STATEMENT":
		return c.statementSet()
	case "EXPLAIN":
		return c.explain()
	case "DESCRIBE", "DESC":
		return c.describeObject()
	case "SHOW":
		return c.show()
	case "USE":
		return c.use()
	case "SET":
		return c.set()
	case "RESET":
		return c.reset()
	case "LOAD", "UNLOAD":
		return c.module()
	case "START", "STOP", "SAVEPOINT":
		return c.job()
	}
	c.noStatement()
	return nil
}

// orNil is no statement instead of one that is nil.
func orNil[T any, P interface {
	*T
	Statement
}](p P) Statement {
	if p == nil {
		return nil
	}
	return p
}

// statementWords are the words that statements begin with.
const statementWords = "SELECT WITH VALUES TABLE INSERT CREATE DROP ALTER EXECUTE BEGIN EXPLAIN DESCRIBE DESC SHOW USE SET RESET LOAD UNLOAD START STOP SAVEPOINT"

// foreignStatements begin statements of other dialects, or of Flink where Weir
// has none.
var foreignStatements = map[string]string{
	"UPDATE":   "tables change through the rows that arrive; use a materialized view for a result that changes",
	"DELETE":   "tables change through the rows that arrive",
	"MERGE":    "an INSERT into a table with a primary key replaces the row of a key",
	"REPLACE":  "an INSERT into a table with a primary key replaces the row of a key",
	"UPSERT":   "an INSERT into a table with a primary key replaces the row of a key",
	"TRUNCATE": "",
	"CALL":     "there are no procedures",
	"ANALYZE":  "statistics are not kept",
	"COMMIT":   "there are no transactions",
	"ROLLBACK": "there are no transactions",
	"COMPILE":  "plans are not stored; a savepoint keeps a query's state",
	"ADD":      "functions name their file: CREATE FUNCTION .. USING FILE '..'",
	"REMOVE":   "",
	"GRANT":    "",
	"REVOKE":   "",
	"COPY":     "INSERT INTO a table with the connector 'filesystem' instead",
	"PRAGMA":   "options are set by SET 'key' = 'value'",
	"QUIT":     "", "EXIT": "", "HELP": "", "CLEAR": "",
}

// noStatement fails for a first word that begins no statement.
func (c *cursor) noStatement() {
	t := *c.tok()
	if hint, ok := foreignStatements[c.wordOf(&t)]; ok && t.kind == tokWord {
		e := errs.New(errs.Unsupported, t.pos(), "the statement %s is not supported", c.wordOf(&t))
		e.Hint = hint
		c.fail(e)
		return
	}
	e := errs.New(errs.Syntax, t.pos(), "no statement begins with %s", c.describe(&t))
	if c.wordOf(&t) == "FROM" {
		e.WithHint("a query begins with SELECT")
	} else if t.kind == tokWord {
		if s := errs.Suggest(c.wordOf(&t), strings.Fields(statementWords)); s != "" {
			e.WithHint("did you mean %s?", s)
		}
	}
	c.fail(e)
}

// explain reads EXPLAIN [modes] [PLAN FOR] statement and EXPLAIN ANALYZE 'job'.
func (c *cursor) explain() Statement {
	first := c.at
	c.at++
	x := &Explain{}
	for {
		n := x.Mode
		switch {
		case c.eat("CHANGELOG_MODE"):
			x.Mode |= ExplainChangelog
		case c.eat("JSON_EXECUTION_PLAN"), c.eat("JSON"):
			x.Mode |= ExplainJSON
		case c.eat("ANALYZE"):
			x.Mode |= ExplainAnalyze
		case c.eat("ESTIMATED_COST"):
			x.Mode |= ExplainCost
		case c.eat("PLAN_ADVICE"):
			x.Mode |= ExplainAdvice
		}
		if x.Mode == n || !c.eat(",") {
			break
		}
	}
	c.eat("PLAN", "FOR")
	if x.Mode&ExplainAnalyze != 0 && (c.is("JOB") || c.tok().kind == tokString) {
		c.eat("JOB")
		x.Job, _ = c.str(" with the job's name")
	} else if c.atEnd() {
		c.expected("a statement")
	} else {
		x.Stmt = c.statement()
	}
	x.Source = c.sourceFrom(first)
	return x
}

// set reads SET, SET 'key' = 'value'.
func (c *cursor) set() Statement {
	first := c.at
	c.at++
	s := &Set{}
	if !c.atEnd() {
		if t := c.tok(); t.kind == tokWord || t.kind == tokQuoted {
			c.expected("a string").WithHint("write SET 'key' = 'value'")
			return nil
		}
		s.Option.Key, s.Option.At = c.str("")
		c.want("=")
		if t := c.tok(); c.err == nil && t.kind != tokString {
			c.expected("a string").WithHint("values are strings: '%s'", clip(strings.Trim(c.source(t), "\"`")))
			return nil
		}
		s.Option.Value, s.Option.ValueAt = c.str("")
	}
	s.Source = c.sourceFrom(first)
	return s
}

func (c *cursor) reset() Statement {
	first := c.at
	c.at++
	r := &Reset{}
	if !c.atEnd() {
		r.Key, r.KeyAt = c.str("")
	}
	r.Source = c.sourceFrom(first)
	return r
}

// use reads USE db, USE CATALOG c, USE MODULES a, b.
func (c *cursor) use() Statement {
	first := c.at
	c.at++
	u := &Use{}
	switch {
	case c.is("MODULES") && c.ahead(1).kind != tokEnd:
		c.at++
		for {
			u.Modules = append(u.Modules, c.identifier(" of a module"))
			if !c.eat(",") {
				break
			}
		}
	case c.is("CATALOG") && c.ahead(1).kind != tokEnd:
		c.at++
		u.Catalog = true
		u.Name = Name{c.identifier(" of a catalog")}
	default:
		u.Name = c.name(" of a database")
	}
	u.Source = c.sourceFrom(first)
	return u
}

// module reads LOAD MODULE and UNLOAD MODULE.
func (c *cursor) module() Statement {
	first := c.at
	load := c.is("LOAD")
	c.at++
	c.want("MODULE")
	name := c.identifier(" of a module")
	if !load {
		return &UnloadModule{Source: c.sourceFrom(first), Name: name}
	}
	m := &LoadModule{Name: name}
	if c.eat("WITH") {
		m.Options = c.options()
	}
	m.Source = c.sourceFrom(first)
	return m
}

// job reads START JOB, STOP JOB and SAVEPOINT.
func (c *cursor) job() Statement {
	first := c.at
	j := &JobControl{Action: JobAction(c.word())}
	c.at++
	if j.Action == SavepointJob {
		c.eat("JOB")
	} else {
		c.want("JOB")
	}
	if c.tok().kind == tokString {
		j.Job, j.JobAt = c.str("")
	} else {
		id := c.identifier(" or string with the job's name")
		j.Job, j.JobAt = id.Value, id.At
	}
	for c.err == nil && !c.atEnd() {
		switch {
		case j.Action == StopJob && c.eat("WITH", "SAVEPOINT"):
			j.Savepoint = true
		case j.Action == StopJob && c.eat("WITH", "DRAIN"):
			j.Drain = true
		case c.is("WITH", "("):
			c.at++
			j.Options = c.options()
		case j.Action == StartJob && c.eat("FROM"), j.Action != StartJob && c.eat("TO"):
			j.Path, _ = c.str(" with the savepoint's path")
		default:
			c.unexpected()
		}
	}
	j.Source = c.sourceFrom(first)
	return j
}
