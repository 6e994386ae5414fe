package parse

import (
	"maps"
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/errs"
)

// typeNames folds the words for types into the canonical ones.
var typeNames = map[string]string{
	"BOOLEAN": "BOOLEAN", "BOOL": "BOOLEAN", "TINYINT": "TINYINT", "SMALLINT": "SMALLINT", "INT": "INT", "INTEGER": "INT",
	"BIGINT": "BIGINT", "FLOAT": "FLOAT", "REAL": "FLOAT", "DOUBLE": "DOUBLE", "DECIMAL": "DECIMAL", "DEC": "DECIMAL", "NUMERIC": "DECIMAL",
	"CHAR": "CHAR", "CHARACTER": "CHAR", "VARCHAR": "VARCHAR", "STRING": "STRING", "BINARY": "BINARY", "VARBINARY": "VARBINARY", "BYTES": "BYTES",
	"DATE": "DATE", "TIME": "TIME", "TIMESTAMP": "TIMESTAMP", "TIMESTAMP_LTZ": "TIMESTAMP_LTZ", "INTERVAL": "INTERVAL",
	"ARRAY": "ARRAY", "MAP": "MAP", "MULTISET": "MULTISET", "ROW": "ROW", "NULL": "NULL",
}

// foreignTypes are types of other dialects and what they are called here.
var foreignTypes = map[string]string{
	"TEXT": "STRING", "LONGTEXT": "STRING", "CLOB": "STRING", "NVARCHAR": "STRING", "BLOB": "BYTES", "BYTEA": "BYTES", "DATETIME": "TIMESTAMP(3)",
	"TIMESTAMPTZ": "TIMESTAMP_LTZ(3)", "INT2": "SMALLINT", "INT4": "INT", "INT8": "BIGINT", "INT64": "BIGINT", "INT32": "INT", "FLOAT4": "FLOAT",
	"FLOAT8": "DOUBLE", "FLOAT64": "DOUBLE", "LONG": "BIGINT", "SHORT": "SMALLINT", "BYTE": "TINYINT", "STRUCT": "ROW", "LIST": "ARRAY",
	"NUMBER": "DECIMAL", "MEDIUMINT": "INT", "BIT": "BOOLEAN", "SERIAL": "BIGINT",
}

// typeParams is the most parameters that a type takes; no entry means none.
var typeParams = map[string]int{
	"DECIMAL": 2, "CHAR": 1, "VARCHAR": 1, "BINARY": 1, "VARBINARY": 1, "TIME": 1, "TIMESTAMP": 1, "TIMESTAMP_LTZ": 1,
}

// maxTypeDepth bounds the nesting of types.
const maxTypeDepth = 64

// dataType reads a type with its NOT NULL.
func (c *cursor) dataType() *DataType { return c.nestedType(0) }

func (c *cursor) nestedType(depth int) *DataType {
	if depth == maxTypeDepth {
		c.tooDeep()
		return nil
	}
	t := c.baseType(depth)
	for c.err == nil {
		if depth == maxTypeDepth {
			c.tooDeep()
			return nil
		}
		switch {
		case c.eat("NOT", "NULL"):
			t.NotNull = true
		case c.is("NULL") && !t.NotNull:
			c.at++
		case c.is("ARRAY") || c.is("MULTISET"):
			t = &DataType{Place: t.Place, Name: c.word(), Elem: t}
			c.at++
			depth++
		default:
			return t
		}
	}
	return nil
}

func (c *cursor) tooDeep() {
	c.fail(errs.New(errs.Limit, c.pos(), "types are nested more than %d deep", maxTypeDepth))
}

func (c *cursor) baseType(depth int) *DataType {
	tok := *c.tok()
	t := &DataType{Place: Place{tok.pos()}, Name: typeNames[c.wordOf(&tok)]}
	if tok.kind != tokWord || t.Name == "" {
		c.unknownType(&tok)
		return nil
	}
	c.at++
	switch t.Name {
	case "ARRAY", "MULTISET":
		c.want("<")
		t.Elem = c.nestedType(depth + 1)
		c.want(">")
	case "MAP":
		c.want("<")
		t.Key = c.nestedType(depth + 1)
		c.want(",")
		t.Elem = c.nestedType(depth + 1)
		c.want(">")
	case "ROW":
		c.rowFields(t, depth)
	case "INTERVAL":
		c.intervalUnits(t)
	case "DOUBLE":
		c.eat("PRECISION")
	case "CHAR":
		if c.eat("VARYING") {
			t.Name = "VARCHAR"
		}
	case "BINARY":
		if c.eat("VARYING") {
			t.Name = "VARBINARY"
		}
	}
	if n := typeParams[t.Name]; n > 0 && c.is("(") {
		c.typeParams(t, n)
	}
	if t.Name == "TIMESTAMP" || t.Name == "TIME" {
		c.timeZone(t)
	}
	return t
}

func (c *cursor) unknownType(tok *token) {
	if tok.kind != tokWord {
		c.expected("a data type")
		return
	}
	e := errs.New(errs.Syntax, tok.pos(), "unknown data type %q", clip(c.source(tok)))
	if w := foreignTypes[c.wordOf(tok)]; w != "" {
		e.WithHint("the type is called %s", w)
	} else if c.wordOf(tok) != "" {
		if s := errs.Suggest(c.wordOf(tok), slices.Sorted(maps.Keys(typeNames))); s != "" {
			e.WithHint("did you mean %s?", s)
		}
	}
	c.fail(e)
}

func (c *cursor) typeParams(t *DataType, most int) {
	open := c.pos()
	c.list(func() {
		n, ok := c.integer("a number")
		if ok {
			t.Params = append(t.Params, n)
		}
	})
	if c.err == nil && len(t.Params) > most {
		c.fail(errs.New(errs.Syntax, open, "%s takes at most %d parameter(s), not %d", t.Name, most, len(t.Params)))
	}
}

// integer reads a plain number.
func (c *cursor) integer(what string) (int, bool) {
	t := c.tok()
	if t.kind != tokInt {
		c.expected(what)
		return 0, false
	}
	n, err := strconv.ParseInt(c.source(t), 10, 32)
	if err != nil {
		c.fail(errs.New(errs.Syntax, t.pos(), "the number %s is too large here", clip(c.source(t))))
		return 0, false
	}
	c.at++
	return int(n), true
}

func (c *cursor) timeZone(t *DataType) {
	switch {
	case c.eat("WITHOUT", "TIME", "ZONE"):
	case c.is("WITH", "LOCAL") && t.Name == "TIMESTAMP":
		c.want("WITH", "LOCAL", "TIME", "ZONE")
		t.Name = "TIMESTAMP_LTZ"
	case c.is("WITH", "TIME", "ZONE"):
		c.fail(errs.New(errs.Unsupported, c.pos(), "%s WITH TIME ZONE is not supported", t.Name).
			WithHint("use TIMESTAMP_LTZ(3), an instant shown in the session's time zone"))
	}
}

func (c *cursor) rowFields(t *DataType, depth int) {
	stop := ">"
	switch {
	case c.eat("<>"):
		return
	case c.eat("<"):
	case c.eat("("):
		stop = ")"
	default:
		c.expected(`"<"`)
		return
	}
	if c.eat(stop) {
		return
	}
	for c.err == nil {
		f := Field{Name: c.part(), Type: c.nestedType(depth + 1)}
		if c.eat("COMMENT") || c.tok().kind == tokString {
			f.Comment, _ = c.str("")
		}
		t.Fields = append(t.Fields, f)
		if c.eat(stop) {
			return
		}
		if !c.eat(",") {
			c.expected(`"," or "` + stop + `"`)
		}
	}
}

// intervalUnits reads DAY(3) TO SECOND(6) and the like.
func (c *cursor) intervalUnits(t *DataType) {
	unit := func() Unit {
		u, ok := units[c.word()]
		if !ok {
			c.expected("a unit of time")
			return ""
		}
		c.at++
		if c.is("(") {
			c.list(func() {
				if n, ok := c.integer("a number"); ok {
					t.Params = append(t.Params, n)
				}
			})
		}
		return u
	}
	t.From = unit()
	if c.eat("TO") {
		t.To = unit()
	}
}
