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

// keyDeletes is the bit of a mode that says what a -D has.
const keyDeletes ChangelogMode = 1 << 7

// Has reports whether rows of kind k may occur.
func (m ChangelogMode) Has(k vector.RowKind) bool { return m&(1<<k) != 0 }

// With returns m with k added.
func (m ChangelogMode) With(k vector.RowKind) ChangelogMode { return m | 1<<k }

// Without returns m with k taken out.
func (m ChangelogMode) Without(k vector.RowKind) ChangelogMode { return m &^ (1 << k) }

// WithDeletesByKey returns m, which has -D, with the addition that a -D may have
// values in the columns of the key only. A source with such a mode sends them, a
// sink takes them, besides others.
func (m ChangelogMode) WithDeletesByKey() ChangelogMode { return m | keyDeletes }

// WithoutDeletesByKey returns m with nothing but whole rows.
func (m ChangelogMode) WithoutDeletesByKey() ChangelogMode { return m &^ keyDeletes }

// DeletesByKey reports whether a -D may have no values but those of the key: what
// its other columns have is then arbitrary, also where they are NOT NULL.
func (m ChangelogMode) DeletesByKey() bool { return m&keyDeletes != 0 && m.Has(vector.Delete) }

// InsertOnly reports whether m carries nothing but inserts.
func (m ChangelogMode) InsertOnly() bool { return m == AppendMode }

// String is Flink's short form: "I", "I,UB,UA,D", and "I,UA,D(key)" when a -D may
// have the key only.
func (m ChangelogMode) String() string {
	var parts []string
	for k, s := range [...]string{"I", "UB", "UA", "D"} {
		if m.Has(vector.RowKind(k)) {
			parts = append(parts, s)
		}
	}
	if m.DeletesByKey() {
		parts[len(parts)-1] += "(key)"
	}
	return strings.Join(parts, ",")
}
