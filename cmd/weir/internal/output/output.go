// Package output shows the results of queries on the standard output: as a table
// of final rows, as the changelog itself, or in a form that programs read.
package output

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Format names a form of output.
type Format string

// The formats.
const (
	Table     Format = "table"     // the final rows, aligned
	Changelog Format = "changelog" // every change as it comes, aligned
	JSON      Format = "json"      // an object a change, with "op" first
	CSV       Format = "csv"       // header and rows; with op when rows can change
	Arrow     Format = "arrow"     // an Arrow IPC stream; column op first
)

// Formats lists the names of all formats.
func Formats() []string {
	return []string{string(Table), string(Changelog), string(JSON), string(CSV), string(Arrow)}
}

// ParseFormat is the format of that name.
func ParseFormat(name string) (Format, error) {
	if !slices.Contains(Formats(), name) {
		return "", fmt.Errorf("there is no output format %q; choose one of %s", name, strings.Join(Formats(), ", "))
	}
	return Format(name), nil
}

// ForPeople reports whether the format is meant to be read by people.
func (f Format) ForPeople() bool { return f == Table || f == Changelog }

// Printer shows one result. After an error only Rows may be called.
type Printer interface {
	// Print takes the live rows of b, which is borrowed.
	Print(b *vector.Batch) error
	// Close shows what is still held back.
	Close() error
	// Rows is the number of rows or changes shown.
	Rows() int64
}

// New returns a printer of a result with that schema and those row kinds.
func New(f Format, w io.Writer, schema sqltype.Schema, mode sqltype.ChangelogMode) Printer {
	switch f {
	case Table:
		return newTable(w, schema, mode)
	case Changelog:
		return newChangelog(w, schema)
	case JSON:
		return newJSON(w, schema)
	case CSV:
		return newCSV(w, schema, mode)
	case Arrow:
		return newArrow(w, schema)
	}
	panic("output: no format " + string(f))
}
