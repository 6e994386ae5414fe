package channel

import (
	"context"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Table is a table that a Go program answers for: a query that joins it FOR SYSTEM_TIME AS
// OF a processing time asks for rows by key.
type Table struct {
	schema sqltype.Schema
	find   FindFunc
}

// FindFunc returns the rows whose values in the columns named keys are those of one of
// wanted, in any order; others are dropped. Wanted are no two equal lists, as Go values:
// bool, int64, float64, string. A row has a value for each column of the table, as Row has
// them. It is called by one goroutine for each shard.
type FindFunc func(ctx context.Context, keys []string, wanted [][]any) (rows [][]any, err error)

// NewTable returns a table of the given columns whose rows find gives.
func NewTable(schema sqltype.Schema, find FindFunc) *Table { return &Table{schema: schema, find: find} }

// AddTable makes t known to tables. A later one of the same name takes its place.
func (c *Connector) AddTable(name string, t *Table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tables[name] = t
}

// Lookup is the table of the program's of the table's name.
func (c *Connector) Lookup(t *connector.Table, opt connector.Options) (connector.LookupSource, error) {
	out, err := find(c, t, opt, c.tables, "asked")
	if err != nil {
		return nil, errs.New(errs.Unsupported, t.Pos, "%w", err)
	}
	return out, sameColumns(t, out.schema)
}

// Takes is false: the program is asked by key alone.
func (t *Table) Takes(connector.Filter) bool { return false }

// Open checks that the keys can be handed over.
func (t *Table) Open(_ context.Context, ask connector.Ask) (connector.Lookup, error) {
	l := &lookup{table: t, ask: ask}
	for _, k := range ask.Keys {
		c := t.schema[k]
		if !c.Type.IsInteger() && !c.Type.IsApprox() && !c.Type.IsString() && c.Type.ID != sqltype.Boolean {
			return nil, errs.New(errs.Type, errs.Position{}, "a program is not asked by column %q, which is %v", c.Name, c.Type.Optional()).
				WithHint("numbers, strings and BOOLEAN can be keys")
		}
		l.keys = append(l.keys, c.Name)
	}
	return l, nil
}

type lookup struct {
	table *Table
	ask   connector.Ask
	keys  []string
}

func (l *lookup) Lookup(ctx context.Context, p *vector.Pool, keys *vector.Batch) (*vector.Batch, error) {
	wanted := make([][]any, keys.Len())
	for i := range wanted {
		wanted[i] = make([]any, len(l.ask.Keys))
		for k, c := range l.ask.Keys {
			wanted[i][k] = goValue(keys.Col(k), i, l.table.schema[c].Type)
		}
	}
	found, err := l.table.find(ctx, l.keys, wanted)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(found))
	for i, values := range found {
		rows[i] = Insert(values...)
	}
	all, err := build(p, l.table.schema, sqltype.AppendMode, rows)
	if err != nil {
		return nil, err
	}
	defer all.Release()
	return all.Project(l.ask.Columns), nil
}

func (*lookup) Close() error { return nil }

func goValue(v *vector.Vector, i int, t sqltype.Type) any {
	switch {
	case t.IsInteger():
		return sqltype.Int(v, i)
	case t.ID == sqltype.Float:
		return float64(vector.Values[float32](v)[i])
	case t.ID == sqltype.Double:
		return vector.Values[float64](v)[i]
	case t.ID == sqltype.Boolean:
		return vector.Values[bool](v)[i]
	}
	return v.Text(i)
}
