// Package parse turns SQL text into an abstract syntax tree with positions.
//
// Parse reads a script. What it returns is syntax only: names are dotted lists
// that the binder resolves, types are as written, literals are text. The nodes
// are in ast.go (names, types), statement.go, query.go and expr.go.
package parse

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// Node is a part of a statement.
type Node interface {
	// Pos is where the node begins in the text given to Parse.
	Pos() errs.Position
}

// Place is the position of a node, embedded by every node.
type Place struct {
	At errs.Position
}

// Pos is where the node begins.
func (p Place) Pos() errs.Position { return p.At }

// Ident is one identifier: its value without quotes, case as written. The zero
// Ident stands for a name that is not there.
type Ident struct {
	Place
	Value  string
	Quoted bool // written as `x` or "x"
}

// IsZero reports whether there is no name.
func (i Ident) IsZero() bool { return i.Value == "" }

// String is the identifier as SQL, quoted where it has to be.
func (i Ident) String() string { return QuoteIdent(i.Value) }

// Name is a dotted name: of a table, function or column, or a path into a row.
// What its parts mean is for the binder to say.
type Name []Ident

// Pos is the position of the first part.
func (n Name) Pos() errs.Position {
	if len(n) == 0 {
		return errs.Position{}
	}
	return n[0].At
}

// Last is the last part, the object's own name.
func (n Name) Last() Ident { return n[len(n)-1] }

// Values are the parts without quotes.
func (n Name) Values() []string {
	out := make([]string, len(n))
	for i, p := range n {
		out[i] = p.Value
	}
	return out
}

// String is the name as SQL.
func (n Name) String() string {
	parts := make([]string, len(n))
	for i, p := range n {
		parts[i] = p.String()
	}
	return strings.Join(parts, ".")
}

// Unit is a unit of time, or another keyword that EXTRACT and the like take.
type Unit string

// The units. Interval literals have YEAR to SECOND only.
const (
	Year        Unit = "YEAR"
	Quarter     Unit = "QUARTER"
	Month       Unit = "MONTH"
	Week        Unit = "WEEK"
	Day         Unit = "DAY"
	Hour        Unit = "HOUR"
	Minute      Unit = "MINUTE"
	Second      Unit = "SECOND"
	Millisecond Unit = "MILLISECOND"
	Microsecond Unit = "MICROSECOND"
	Nanosecond  Unit = "NANOSECOND"
	Epoch       Unit = "EPOCH"
	Decade      Unit = "DECADE"
	Century     Unit = "CENTURY"
	Millennium  Unit = "MILLENNIUM"
	DayOfWeek   Unit = "DOW"
	ISODow      Unit = "ISODOW"
	DayOfYear   Unit = "DOY"
	ISOYear     Unit = "ISOYEAR"
)

// DataType is a type as written. Name is the canonical upper-case word:
// BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, CHAR,
// VARCHAR, STRING, BINARY, VARBINARY, BYTES, DATE, TIME, TIMESTAMP,
// TIMESTAMP_LTZ, INTERVAL, ARRAY, MAP, MULTISET, ROW, NULL; synonyms (INTEGER,
// NUMERIC, TIMESTAMP WITH LOCAL TIME ZONE, t ARRAY) are folded into these.
type DataType struct {
	Place
	Name     string
	Params   []int     // as written: DECIMAL(10, 2) has 2, DECIMAL none
	NotNull  bool      // NOT NULL was written
	Elem     *DataType // ARRAY, MULTISET element; MAP value
	Key      *DataType // MAP key
	Fields   []Field   // ROW
	From, To Unit      // INTERVAL; To is empty for one unit
}

// Field is a field of a ROW type.
type Field struct {
	Name    Ident
	Type    *DataType
	Comment string
}

// Option is one 'key' = 'value' of WITH, SET or a hint; At is the key's position.
type Option struct {
	Place
	Key     string
	Value   string
	ValueAt errs.Position
}

// Hint is one hint of a /*+ ... */ comment: OPTIONS('a' = 'b') has Options,
// BROADCAST(a, b) has Args.
type Hint struct {
	Place
	Name    string // upper case
	Args    []string
	Options []Option
}
