package goglue

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/sqltype"
)

// form is how the values of a column are read and written.
type form uint8

const (
	fixed   form = iota // values of one width
	boolean             // bits
	text                // string
	binary              // []byte
	list                // []T
	mapping             // []weir.Entry
	record              // struct
)

// conversion is what lies between a column's value and the Go value.
type conversion uint8

const (
	same      conversion = iota
	named                // a type of the package with the same underlying type
	asTime               // TIMESTAMP as time.Time
	asDay                // DATE as time.Time
	asElapsed            // TIME, INTERVAL as time.Duration
)

// codec reads and writes the values of one SQL type as one Go type.
type codec struct {
	sql    sqltype.Type
	form   form
	conv   conversion
	null   bool   // the Go type is weir.Null
	goType string // without weir.Null
	stored string // Go type of a fixed column's values
	kids   []*codec
	fields []string // of a struct
}

// bind finds how a value of a SQL type is held in a Go type.
func bind(sql sqltype.Type, t *goType) (*codec, error) {
	c := &codec{sql: sql, goType: t.text}
	if t.class == null {
		inner, err := bind(sql, t.elems[0])
		if err != nil {
			return nil, err
		}
		if inner.null {
			return nil, errors.New("weir.Null of a weir.Null")
		}
		inner.null = true
		return inner, nil
	}
	if t.named {
		c.conv = named
	}
	switch sql.ID {
	case sqltype.Boolean:
		c.form = boolean
		return c, want(sql, t, t.class == basic && t.name == "bool", "bool")
	case sqltype.TinyInt:
		return c.fixed(sql, t, "int8")
	case sqltype.SmallInt:
		return c.fixed(sql, t, "int16")
	case sqltype.Integer, sqltype.IntervalMonth:
		return c.fixed(sql, t, "int32")
	case sqltype.BigInt:
		return c.fixed(sql, t, "int64")
	case sqltype.Float:
		return c.fixed(sql, t, "float32")
	case sqltype.Double:
		return c.fixed(sql, t, "float64")
	case sqltype.Decimal:
		c.stored, c.conv = t.text, same
		return c, want(sql, t, t.class == decimal, "weir.Decimal")
	case sqltype.Date:
		switch t.class {
		case date:
			c.stored, c.conv = t.text, same
			return c, nil
		case goTime:
			c.stored, c.conv = "weir.Date", asDay
			return c, nil
		}
		if t.class == basic && t.name == "int32" {
			return c.fixed(sql, t, "int32")
		}
		return nil, want(sql, t, false, "weir.Date, time.Time or int32")
	case sqltype.Time:
		return c.elapsed(sql, t, timeInt(sql))
	case sqltype.IntervalDay:
		return c.elapsed(sql, t, "int64")
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		if t.class == goTime {
			c.stored, c.conv = "int64", asTime
			return c, nil
		}
		if t.class == basic && t.name == "int64" {
			return c.fixed(sql, t, "int64")
		}
		return nil, want(sql, t, false, "time.Time or int64")
	case sqltype.Char, sqltype.Varchar, sqltype.Binary, sqltype.Varbinary:
		switch {
		case t.class == basic && t.name == "string":
			c.form = text
			return c, nil
		case isBytes(t):
			c.form = binary
			return c, nil
		}
		return nil, want(sql, t, false, "string or []byte")
	case sqltype.Array:
		c.form = list
		if t.class != slice {
			return nil, want(sql, t, false, "a slice of its elements' type")
		}
		return c, c.child("its elements", *sql.Elem, t.elems[0])
	case sqltype.Map, sqltype.Multiset:
		c.form = mapping
		if t.class != slice || t.elems[0].class != entry {
			return nil, want(sql, t, false, "[]weir.Entry")
		}
		kids := sql.Children()
		if err := c.child("its keys", kids[0].Required(), t.elems[0].elems[0]); err != nil {
			return nil, err
		}
		return c, c.child("its values", kids[1], t.elems[0].elems[1])
	case sqltype.Row:
		c.form = record
		return c, c.record(sql, t)
	}
	return nil, fmt.Errorf("%s cannot be passed to a function", sql)
}

// want is the error that a SQL type has another Go type, unless ok.
func want(sql sqltype.Type, t *goType, ok bool, types string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s is %s in Go, not %s", sql.Optional(), types, t.text)
}

func isBytes(t *goType) bool {
	return t.class == slice && t.elems[0].class == basic && t.elems[0].name == "uint8"
}

// fixed binds a type whose Go form is a basic type, or one of the package made of it:
// columns hold that type as it is.
func (c *codec) fixed(sql sqltype.Type, t *goType, name string) (*codec, error) {
	c.stored, c.conv = t.text, same
	return c, want(sql, t, t.class == basic && t.name == name, name)
}

func (c *codec) elapsed(sql sqltype.Type, t *goType, name string) (*codec, error) {
	if t.class == goDuration {
		c.stored, c.conv = name, asElapsed
		return c, nil
	}
	if t.class == basic && t.name == name {
		return c.fixed(sql, t, name)
	}
	return nil, want(sql, t, false, "time.Duration or "+name)
}

// timeInt is the integer of a TIME column.
func timeInt(sql sqltype.Type) string {
	if sql.UnitDigits() <= 3 {
		return "int32"
	}
	return "int64"
}

func (c *codec) child(what string, sql sqltype.Type, t *goType) error {
	k, err := bind(sql, t)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	c.kids = append(c.kids, k)
	return nil
}

// record binds the fields of a struct in their order.
func (c *codec) record(sql sqltype.Type, t *goType) error {
	if t.class != structure {
		return want(sql, t, false, "a struct with a field for each of its fields")
	}
	if len(t.fields) != len(sql.Fields) {
		return fmt.Errorf("%s has %d fields, %s has %d", sql.Optional(), len(sql.Fields), t.text, len(t.fields))
	}
	for i, f := range sql.Fields {
		for j, g := range t.fields {
			if i != j && sameName(f.Name, g.name) && !sameName(f.Name, t.fields[i].name) {
				return fmt.Errorf("field %s of %s is number %d of the struct: fields go by their order", f.Name, sql.Optional(), j+1)
			}
		}
		if err := c.child("field "+f.Name, f.Type, t.fields[i].typ); err != nil {
			return err
		}
		c.fields = append(c.fields, t.fields[i].name)
	}
	return nil
}

// sameName compares names of SQL and Go: piece_count is PieceCount.
func sameName(sql, goName string) bool {
	return strings.EqualFold(strings.ReplaceAll(sql, "_", ""), strings.ReplaceAll(goName, "_", ""))
}

// direct reports whether the column's values are the Go values as they lie.
func (c *codec) direct() bool { return c.form == fixed && c.conv == same && !c.null }

// units are the Go text of what a TIME, TIMESTAMP or INTERVAL counts.
func (c *codec) units() string {
	switch c.sql.Unit() {
	case time.Nanosecond:
		return "time.Nanosecond"
	case time.Microsecond:
		return "time.Microsecond"
	case time.Second:
		return "time.Second"
	}
	return "time.Millisecond"
}

// usesTime reports whether the code for c mentions package time.
func (c *codec) usesTime() bool {
	if c.conv == asTime || c.conv == asElapsed || strings.Contains(c.goType, "time.") {
		return true
	}
	for _, k := range c.kids {
		if k.usesTime() {
			return true
		}
	}
	return false
}
