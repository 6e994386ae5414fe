package oracle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// table has the same rows in SQLite and, in the end, in Weir.
type table struct {
	name   string
	schema sqltype.Schema
	keyed  bool // by the first column
	rows   [][]any
	draw   func(r *rand.Rand, id int64) []any
}

func (t *table) columns() (out []string) {
	for _, c := range t.schema {
		typ := c.Type.String()
		if c.Type.IsString() {
			typ = "VARCHAR(100)" // STRING is a number to SQLite
		}
		out = append(out, c.Name+" "+typ)
	}
	return out
}

// newTables draws the tables: few values, so that they meet, and NULLs.
func newTables() []*table {
	id, number := sqltype.BigIntType.Required(), sqltype.BigIntType
	text, small, double := sqltype.StringType, sqltype.IntType, sqltype.DoubleType
	tables := []*table{
		{
			name: "emp", keyed: true,
			schema: sqltype.Schema{{Name: "id", Type: id}, {Name: "dept", Type: number}, {Name: "boss", Type: number}, {Name: "name", Type: text}, {Name: "salary", Type: number}, {Name: "bonus", Type: double}},
			draw: func(r *rand.Rand, id int64) []any {
				return []any{id, maybe(r, r.Int64N(6)), maybe(r, r.Int64N(12)), maybe(r, pick(r, "ann", "Bob", "cy", "", "dee d", "a_b", "50%")), maybe(r, r.Int64N(5)*10), maybe(r, float64(r.IntN(9)-4)/4)}
			},
		},
		{
			name: "dept", keyed: true,
			schema: sqltype.Schema{{Name: "id", Type: id}, {Name: "name", Type: text}, {Name: "city", Type: text}},
			draw: func(r *rand.Rand, id int64) []any {
				return []any{id, maybe(r, pick(r, "ann", "ops", "dev")), maybe(r, pick(r, "Rome", "Bern", "Oslo"))}
			},
		},
		{
			name:   "pay",
			schema: sqltype.Schema{{Name: "emp", Type: number}, {Name: "mon", Type: small}, {Name: "amount", Type: number}, {Name: "note", Type: text}},
			draw: func(r *rand.Rand, _ int64) []any {
				return []any{maybe(r, r.Int64N(14)), maybe(r, 1+r.Int64N(3)), maybe(r, r.Int64N(7)-3), maybe(r, pick(r, "ann", "x", "ops"))}
			},
		},
		{
			name:   "nums",
			schema: sqltype.Schema{{Name: "a", Type: small}, {Name: "b", Type: small}, {Name: "c", Type: small}},
			draw: func(r *rand.Rand, _ int64) []any {
				return []any{maybe(r, r.Int64N(3)), maybe(r, r.Int64N(3)), maybe(r, r.Int64N(4)-1)}
			},
		},
		{
			name:   "void",
			schema: sqltype.Schema{{Name: "n", Type: number}, {Name: "t", Type: text}},
			draw:   func(r *rand.Rand, _ int64) []any { return []any{r.Int64N(3), "x"} },
		},
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i, n := range []int{12, 5, 30, 25, 0} {
		for id := range n {
			tables[i].rows = append(tables[i].rows, tables[i].draw(r, int64(id)))
		}
	}
	return tables
}

func maybe(r *rand.Rand, v any) any {
	if r.IntN(6) == 0 {
		return nil
	}
	return v
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

type change struct {
	kind vector.RowKind
	row  []any
}

// history is a way to the table's rows: other rows come before them and go.
func (t *table) history(mode sqltype.ChangelogMode) (out []change) {
	r := rand.New(rand.NewPCG(uint64(len(t.rows)), uint64(mode)))
	add := func(k vector.RowKind, row []any) { out = append(out, change{k, row}) }
	var doomed [][]any
	for i, row := range t.rows {
		other := t.draw(r, int64(i))
		switch way := r.IntN(4); {
		case mode == sqltype.AppendMode || way == 0:
			add(vector.Insert, row)
		case mode == sqltype.UpsertMode:
			add(vector.Insert, other)
			add(vector.UpdateAfter, row)
		case way == 1:
			add(vector.Insert, other)
			add(vector.UpdateBefore, other)
			add(vector.UpdateAfter, row)
		default:
			add(vector.Insert, other)
			add(vector.Delete, other)
			add(vector.Insert, row)
		}
		if mode != sqltype.AppendMode && r.IntN(3) == 0 {
			doomed = append(doomed, t.draw(r, int64(100+i)))
			add(vector.Insert, doomed[len(doomed)-1])
		}
	}
	if mode != sqltype.AppendMode && len(t.rows) == 0 {
		doomed = append(doomed, t.draw(r, 100))
		add(vector.Insert, doomed[0])
	}
	for _, row := range doomed {
		add(vector.Delete, row)
	}
	return out
}

// shelves is the connector of the tables in one way.
type shelves struct {
	way    way
	tables []*table
}

func (shelves) Name() string                { return "shelf" }
func (shelves) Doc() string                 { return "Tables that SQLite has too." }
func (shelves) Options() []connector.Option { return nil }

func (s shelves) Source(d *connector.Table, _ connector.Options) (connector.Source, error) {
	at := slices.IndexFunc(s.tables, func(t *table) bool { return t.name == d.Name })
	src := shelf{t: s.tables[at], mode: s.way.mode}
	if src.mode == sqltype.UpsertMode && !src.t.keyed {
		src.mode = sqltype.RetractMode
	}
	return src, nil
}

func (shelves) Sink(*connector.Table, connector.Options) (connector.Sink, error) {
	return nil, errors.New("the tables are only read")
}

func (shelves) Infer(context.Context, *connector.Table, connector.Options) (sqltype.Schema, error) {
	return nil, errors.New("declare the columns")
}

type shelf struct {
	t    *table
	mode sqltype.ChangelogMode
}

func (s shelf) Mode() sqltype.ChangelogMode { return s.mode }
func (shelf) Bounded() bool                 { return true }
func (shelf) Replayable() bool              { return true }

func (s shelf) Splits(context.Context) ([]connector.Split, error) {
	return []connector.Split{{ID: s.t.name}}, nil
}

func (s shelf) Open(_ context.Context, _ connector.Split, scan connector.Scan, _ []byte) (connector.Reader, error) {
	return &reader{t: s.t, cols: scan.Of(len(s.t.schema)), rest: s.t.history(s.mode)}, nil
}

type reader struct {
	t    *table
	cols []int
	rest []change
}

func (*reader) Position() []byte { return nil }
func (*reader) Close() error     { return nil }

func (r *reader) Read(_ context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if len(r.rest) == 0 {
		return nil, io.EOF
	}
	b := vector.NewBuilder(p, r.t.schema.Project(r.cols).Kinds())
	for b.Len() < limit && len(r.rest) > 0 {
		for i, c := range r.cols {
			appendValue(b.Col(i), r.rest[0].row[c])
		}
		b.EndRow(r.rest[0].kind)
		r.rest = r.rest[1:]
	}
	return b.Finish(), nil
}

func appendValue(b *vector.ColumnBuilder, v any) {
	switch v := v.(type) {
	case nil:
		b.AppendNull()
	case string:
		b.AppendString(v)
	case float64:
		vector.Append(b, v)
	case int64:
		if b.Kind() == vector.Int32 {
			vector.Append(b, int32(v))
			return
		}
		vector.Append(b, v)
	default:
		panic(fmt.Sprintf("oracle: no column for a %T", v))
	}
}
