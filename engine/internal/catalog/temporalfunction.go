package catalog

import (
	"strings"

	"github.com/weirdb/weir/engine/internal/parse"
)

// TemporalFunction says which versions a temporal table function gives: those of a table
// or view, of which some columns say which rows are versions of one thing.
type TemporalFunction struct {
	Table Identifier
	Time  string   // the column with the time from which a version holds
	Key   []string // columns
}

// SQL is the statement that makes the function f.
func (t *TemporalFunction) SQL(f *Function) string {
	what, name := "", f.ID.String()
	if f.Temporary {
		what = "TEMPORARY "
	}
	key := make([]string, len(t.Key))
	for i, k := range t.Key {
		key[i] = parse.QuoteIdent(k)
	}
	return "CREATE " + what + "TEMPORAL TABLE FUNCTION " + name + "\n  AS TABLE " + t.Table.String() +
		"\n  TIME " + parse.QuoteIdent(t.Time) + " KEY (" + strings.Join(key, ", ") + ")"
}

// Name is the identifier as a statement names the object.
func (id Identifier) Name() parse.Name {
	return parse.Name{{Value: id.Catalog}, {Value: id.Database}, {Value: id.Object}}
}
