// Package rows reads and writes the rows of changelogs as text, for tests that
// show them.
package rows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Row is a change whose values are texts, as sqltype.AppendText writes them, with
// strings quoted where they could be taken for something else.
type Row struct {
	Kind   vector.RowKind
	Values []string
}

// String is "+I 1 'a b' NULL".
func (r Row) String() string { return r.Kind.String() + " " + r.Key(nil) }

// Key joins the values of the given columns, or of all when cols is nil.
func (r Row) Key(cols []int) string {
	if cols == nil {
		return strings.Join(r.Values, " ")
	}
	var parts []string
	for _, c := range cols {
		parts = append(parts, r.Values[c])
	}
	return strings.Join(parts, " ")
}

// FromBatch appends the live rows of b to out.
func FromBatch(out []Row, schema sqltype.Schema, b *vector.Batch) []Row {
	for i := range b.Len() {
		r := b.Row(i)
		row := Row{Kind: b.Kind(r), Values: make([]string, len(schema))}
		for c, col := range schema {
			row.Values[c] = Text(col.Type, b.Col(c), r)
		}
		out = append(out, row)
	}
	return out
}

// epoch is left out of timestamps, so that tests may speak of times of day.
const epoch = "1970-01-01 "

// Text is the value of row i of v.
func Text(t sqltype.Type, v *vector.Vector, i int) string {
	s := string(sqltype.AppendText(nil, t, v, i))
	switch {
	case v.IsNull(i):
	case t.IsString():
		if s == "" || s == "NULL" || strings.ContainsAny(s, " \t\n'") {
			return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "'", "''"), "\n", `\n`) + "'"
		}
	case t.IsTimestamp():
		s = strings.TrimPrefix(s, epoch)
		if strings.Contains(s, " ") {
			return "'" + s + "'"
		}
	case strings.Contains(s, " "):
		return "'" + s + "'"
	}
	return s
}

// Fold is the table that a changelog describes, as sorted rows. With a key the
// changelog is an upsert one: a row replaces the one of the same key. Without,
// the result is a multiset; a row that was taken away more often than added makes
// an error.
func Fold(changes []Row, key []int) ([]string, error) {
	if key != nil {
		return foldUpsert(changes, key), nil
	}
	counts := map[string]int{}
	for _, r := range changes {
		counts[r.Key(nil)] += int(r.Kind.Sign())
	}
	var out []string
	for row, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("the row %s was taken away %d times more than added", row, -n)
		}
		for range n {
			out = append(out, row)
		}
	}
	slices.Sort(out)
	return out, nil
}

func foldUpsert(changes []Row, key []int) []string {
	last := map[string]string{}
	for _, r := range changes {
		k := r.Key(key)
		switch r.Kind {
		case vector.Insert, vector.UpdateAfter:
			last[k] = r.Key(nil)
		case vector.Delete:
			delete(last, k)
		case vector.UpdateBefore:
			// The +U that follows replaces the row.
		}
	}
	out := make([]string, 0, len(last))
	for _, row := range last {
		out = append(out, row)
	}
	slices.Sort(out)
	return out
}
