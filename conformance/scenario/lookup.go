package scenario

import (
	"context"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
)

// Lookup is a table that a query asks for rows by key: for what it holds by then.
func (ts tables) Lookup(d *connector.Table, _ connector.Options) (connector.LookupSource, error) {
	t, err := ts.find(d)
	if err != nil {
		return nil, err
	}
	if !t.Lookup {
		return nil, errs.New(errs.Unsupported, d.Pos, "table %q is only read", d.Name)
	}
	return lookups{t}, nil
}

type lookups struct{ t *table }

// Takes is true of comparisons with one value, so that plans show them. The rows that do
// not meet them are sent all the same.
func (lookups) Takes(f connector.Filter) bool { return len(f.Values) == 1 }

func (l lookups) Open(_ context.Context, ask connector.Ask) (connector.Lookup, error) {
	return lookup{l.t, ask}, nil
}

type lookup struct {
	t   *table
	ask connector.Ask
}

// Lookup sends the rows whose keys are asked for.
func (l lookup) Lookup(_ context.Context, p *vector.Pool, keys *vector.Batch) (*vector.Batch, error) {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	b := vector.NewBuilder(p, l.t.schema.Project(l.ask.Columns).Kinds())
	for _, row := range l.t.content() {
		if !l.asked(row, keys) {
			continue
		}
		for i, c := range l.ask.Columns {
			b.Col(i).AppendFrom(row.Col(c), 0)
		}
		b.EndRow(vector.Insert)
	}
	return b.Finish(), nil
}

func (l lookup) asked(row, keys *vector.Batch) bool {
	for i := range keys.Len() {
		same := true
		for k, c := range l.ask.Keys {
			same = same && !row.Col(c).IsNull(0) && vector.Compare(row.Col(c), 0, keys.Col(k), i) == 0
		}
		if same {
			return true
		}
	}
	return false
}

func (lookup) Close() error { return nil }

// content are the rows that the changes so far come to: by the key, if rows are replaced
// by it.
func (t *table) content() []*vector.Batch {
	type entry struct {
		row  *vector.Batch
		text string
	}
	var live []entry
	for _, in := range t.in {
		if in.row == nil {
			continue
		}
		text := rows.FromBatch(nil, t.schema, in.row)[0]
		text.Kind = vector.Insert
		whole := text.String()
		if t.Mode == 0 || !t.Mode.InsertOnly() {
			at := -1
			for i, e := range live {
				byKey := len(t.key) > 0
				if !byKey && in.row.Kind(0).Adds() {
					break // it stands beside equal ones
				}
				for _, c := range t.key {
					byKey = byKey && vector.Compare(e.row.Col(c), 0, in.row.Col(c), 0) == 0
				}
				if byKey || e.text == whole {
					at = i
				}
			}
			if at >= 0 {
				live = append(live[:at:at], live[at+1:]...)
			}
			if !in.row.Kind(0).Adds() {
				continue
			}
		}
		live = append(live, entry{in.row, whole})
	}
	out := make([]*vector.Batch, len(live))
	for i, e := range live {
		out[i] = e.row
	}
	return out
}

// Empty takes away what a table holds that is asked for rows by key.
func (s *Session) Empty() {
	for _, t := range s.tables {
		if t.Lookup {
			t.update(func() { t.in = nil })
		}
	}
}

// Metadata is whatever a table declares: its rows are fed with it.
func (ts tables) Metadata(d *connector.Table, _ connector.Options) []connector.MetadataKey {
	var out []connector.MetadataKey
	for _, m := range d.Metadata {
		out = append(out, connector.MetadataKey{Key: m.Key, Type: d.Schema[m.Column].Type})
	}
	return out
}
