package enginetest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// newArrivalTrial is a random join whose left rows are joined once, by processing time: with
// a table that is asked for rows by key, with one as it is when it has loaded, or with the
// versions that have come.
func newArrivalTrial(seed uint64) *trial {
	r := rand.New(rand.NewPCG(seed, 10))
	c := emptyTrial(seed)
	c.timed, c.byArrival = true, true
	types := []sqltype.Type{sqltype.IntType}
	for range 1 + r.IntN(2) {
		types = append(types, columnTypes[r.IntN(len(columnTypes)-3)])
	}
	event := []sqltype.Type{sqltype.TimestampOf(3), sqltype.TimestampOf(3), sqltype.TimestampLTZOf(3)}[r.IntN(3)]
	for i := range 1 + r.IntN(2) {
		t := newTimedTable(r, fmt.Sprintf("t%d", i), types, event, 5+r.IntN(15))
		t.clock = true
		c.tables = append(c.tables, t)
	}
	w := newVersionedTable(r, types, event)
	c.tables = append(c.tables, w)
	g := &timeGrammar{grammar: &grammar{r: r, tables: c.tables, types: types, leaves: 1, forms: forms()}, versions: w}
	var join func(left stream) string
	switch r.IntN(8) {
	case 0, 1:
		if w.asked = r.IntN(3) > 0; !w.asked {
			w.become(r, sqltype.AppendMode) // it is read as a whole
		}
		if w.mode.InsertOnly() || w.mode == sqltype.RetractMode && r.IntN(2) == 0 {
			w.key = 0
		}
		join = func(left stream) string { return "w FOR SYSTEM_TIME AS OF " + left.alias + ".p" }
	case 2, 3, 4:
		if w.mode.InsertOnly() {
			w.key = 0
		}
		args := ""
		if r.IntN(3) > 0 {
			at := fmt.Sprintf("CAST(TIMESTAMP '1970-01-01 00:00:%02d' AS TIMESTAMP_LTZ(3))", r.IntN(25))
			args = ", load_completed_condition => 'user_time', load_completed_time => " + at
		}
		join = func(stream) string { return "LATERAL TABLE(SNAPSHOT(input => TABLE w" + args + "))" }
	case 5:
		if w.mode.InsertOnly() {
			w.become(r, sqltype.UpsertMode)
		}
		join = func(left stream) string { return "w FOR SYSTEM_TIME AS OF " + left.alias + ".p" }
	default:
		w.become(r, []sqltype.ChangelogMode{sqltype.AppendMode, sqltype.RetractMode, sqltype.UpsertMode}[r.IntN(3)])
		if w.mode.InsertOnly() {
			w.key = 0
		}
		c.given = []string{"CREATE TEMPORAL TABLE FUNCTION f AS TABLE w TIME ts KEY (k)"}
		if r.IntN(2) == 0 {
			c.given = []string{"CREATE VIEW now AS SELECT *, PROCTIME() AS at FROM w", "CREATE TEMPORAL TABLE FUNCTION f AS TABLE now TIME at KEY (k)"}
		}
		join = func(left stream) string { return "LATERAL TABLE(f(" + left.alias + ".p))" }
	}
	c.query = g.byArrival(join)
	switch {
	case r.IntN(3) == 0:
		c.insert = upserted
	case r.IntN(8) == 0:
		c.insert = retracted
	}
	return c
}

// become gives the table another mode, in which all its steps have a meaning.
func (t *randomTable) become(r *rand.Rand, mode sqltype.ChangelogMode) {
	t.mode = mode
	for i := range t.steps {
		if s := &t.steps[i]; mode.InsertOnly() && s.row == nil {
			s.row = t.randomRow(r, s.id)
			s.row[0], s.row[2] = int64(s.id%4), int64(i)*1000
		}
	}
}

// byArrival draws a join, and maybe something over it.
func (g *timeGrammar) byArrival(join func(left stream) string) *query {
	left := g.arriving()
	q := g.joinVersions(left, join(left))
	switch g.r.IntN(6) {
	case 0:
		return g.around(q)
	case 1: // event time goes on
		q.items = append(q.items, item{g.column(left, "ts"), "ts"})
		s := stream{from: from{alias: fmt.Sprintf("a%d", g.aliases), sub: q, join: " JOIN "}, time: "ts", rows: q.rows}
		g.aliases++
		for _, it := range q.items {
			s.cols = append(s.cols, &term{pattern: s.alias + "." + it.name, typ: it.typ, most: it.most, inexact: it.inexact})
		}
		return g.windowedOf(s)
	}
	return q
}

// arriving draws a table, or a query that passes its processing time on.
func (g *timeGrammar) arriving() stream {
	t := g.tables[g.r.IntN(len(g.tables)-1)]
	s := stream{from: from{alias: fmt.Sprintf("a%d", g.aliases), table: t.name, join: " JOIN "}, time: "ts", rows: float64(len(t.steps))}
	g.aliases++
	for _, c := range t.schema {
		s.cols = append(s.cols, column(s.alias, c.Name, c.Type))
	}
	if !g.chance(3) {
		return s
	}
	sub := &query{}
	g.read(sub, s)
	sub.items = []item{{g.column(s, "ts"), "ts"}, {&term{pattern: s.alias + ".p", typ: sqltype.TimestampLTZOf(3)}, "p"}}
	g.list(sub, nil)
	if g.chance(2) {
		sub.where = g.boolean(1)
	}
	out := stream{from: from{alias: fmt.Sprintf("a%d", g.aliases), sub: sub, join: " JOIN "}, time: "ts", rows: s.rows}
	g.aliases++
	for _, it := range sub.items {
		if it.name != "p" {
			out.cols = append(out.cols, &term{pattern: out.alias + "." + it.name, typ: it.typ, most: it.most, inexact: it.inexact})
		}
	}
	return out
}

// waits reports whether rows wait for a time of a table: when that is there is not known
// where a shard has nothing of the table.
func (c *trial) waits() bool { return strings.Contains(c.query.String(), "user_time") }

// arrivals has how many changes of a table were read until the end of each epoch.
type arrivals []int

// of is the epoch in which change i came, or 0 where that is not known.
func (a arrivals) of(i int) int {
	at := sort.SearchInts(a, i+1)
	if at == len(a) {
		return 0
	}
	return at + 1
}

// asTheyCame is the trial with what the scans of a run say of when rows came. known is
// false when two scans of a table say different things.
func (c *trial) asTheyCame(read []*scanTap) (out *trial, known bool) {
	o := *c
	o.came = map[string]arrivals{}
	for _, s := range read {
		var a arrivals
		for epoch := range s.taps[0].until {
			a = append(a, s.until(uint64(epoch+1)))
		}
		if have, ok := o.came[s.table]; ok && !slices.Equal(have, a) {
			return c, false
		}
		o.came[s.table] = a
	}
	return &o, true
}

// checkPlan compares what the reference makes of the plan that runs with what it makes of
// the statement.
func (c *trial) checkPlan(ctx context.Context, want enginetest.Result) error {
	if !c.byArrival {
		return nil
	}
	s, err := c.open(ctx, engine.Config{})
	if err != nil {
		return skip(err)
	}
	defer s.Close()
	got, err := enginetest.Optimized(ctx, s.Engine, s.sql, c.now(everything))
	if err != nil {
		return skip(err)
	}
	if got.Rule == ref.Exactly && want.Rule == ref.Exactly {
		if err := sameRows(counted(s.sink.types, got.Rows), counted(s.sink.types, want.Rows)); err != nil {
			return fmt.Errorf("the plan means something else: %w", err)
		}
	}
	return nil
}

// Lookup is the side of a table that is asked for rows by key.
func (l *library) Lookup(d *connector.Table, _ connector.Options) (connector.LookupSource, error) {
	if t := l.find(d.Name); t.asked {
		return counter{t}, nil
	}
	return nil, errs.New(errs.Unsupported, d.Pos, "the table is only read")
}

// counter is a random table that is asked: it has all its rows from the start.
type counter struct{ t *randomTable }

func (counter) Takes(connector.Filter) bool { return false }

func (c counter) Open(_ context.Context, ask connector.Ask) (connector.Lookup, error) {
	return &asker{c.t, ask}, nil
}

type asker struct {
	t   *randomTable
	ask connector.Ask
}

func (a *asker) Lookup(_ context.Context, p *vector.Pool, keys *vector.Batch) (*vector.Batch, error) {
	schema := a.t.schema
	types := schema.Project(a.ask.Keys).Types()
	wanted := map[string]bool{}
	for i := range keys.Len() {
		wanted[ref.Key(types, ref.RowOf(types, keys, i))] = true
	}
	b := vector.NewBuilder(p, schema.Project(a.ask.Columns).Kinds())
	for _, row := range a.t.after(a.t.changes()) {
		if !wanted[keyOf(schema.Types(), row, a.ask.Keys)] {
			continue
		}
		for i, c := range a.ask.Columns {
			ref.Append(b.Col(i), schema[c].Type, row[c])
		}
		b.EndRow(vector.Insert)
	}
	return b.Finish(), nil
}

func (*asker) Close() error { return nil }
