package sqltype

import (
	"strings"

	"github.com/weirdb/weir/vector"
)

// Column is a named column of a table, or field of a ROW.
type Column struct {
	Name string
	Type Type
}

// Schema is an ordered list of columns.
type Schema []Column

// Names lists the columns' names.
func (s Schema) Names() []string {
	out := make([]string, len(s))
	for i, c := range s {
		out[i] = c.Name
	}
	return out
}

// Types lists the columns' types.
func (s Schema) Types() []Type {
	out := make([]Type, len(s))
	for i, c := range s {
		out[i] = c.Type
	}
	return out
}

// Kinds lists the columns' physical forms.
func (s Schema) Kinds() []vector.Kind {
	out := make([]vector.Kind, len(s))
	for i, c := range s {
		out[i] = c.Type.Kind()
	}
	return out
}

// Index is the position of the column called name, matched exactly, or -1.
func (s Schema) Index(name string) int {
	for i, c := range s {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// Project is the schema of the given columns.
func (s Schema) Project(cols []int) Schema {
	out := make(Schema, len(cols))
	for i, c := range cols {
		out[i] = s[c]
	}
	return out
}

// String is "(a BIGINT, b STRING NOT NULL)".
func (s Schema) String() string {
	parts := make([]string, len(s))
	for i, c := range s {
		parts[i] = c.Name + " " + c.Type.String()
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// ChangelogMode is the set of row kinds that a changelog may carry.
type ChangelogMode uint8

// The modes that tables declare. An upsert changelog has no -U: its +U replaces
// the row of the same key.
const (
	AppendMode  ChangelogMode = 1 << vector.Insert
	UpsertMode  ChangelogMode = 1<<vector.Insert | 1<<vector.UpdateAfter | 1<<vector.Delete
	RetractMode ChangelogMode = UpsertMode | 1<<vector.UpdateBefore
)

// Has reports whether rows of kind k may occur.
func (m ChangelogMode) Has(k vector.RowKind) bool { return m&(1<<k) != 0 }

// With returns m with k added.
func (m ChangelogMode) With(k vector.RowKind) ChangelogMode { return m | 1<<k }

// Without returns m with k taken out.
func (m ChangelogMode) Without(k vector.RowKind) ChangelogMode { return m &^ (1 << k) }

// InsertOnly reports whether m carries nothing but inserts.
func (m ChangelogMode) InsertOnly() bool { return m == AppendMode }

// String is Flink's short form: "I", "I,UB,UA,D".
func (m ChangelogMode) String() string {
	var parts []string
	for k, s := range [...]string{"I", "UB", "UA", "D"} {
		if m.Has(vector.RowKind(k)) {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ",")
}
