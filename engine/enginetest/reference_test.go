package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// trial is a random query over random tables.
type trial struct {
	tables []*randomTable
	query  *query
	insert insertion
	seed   uint64 // of schedules

	// timed says that the tables have event time: then splits decide what is late, and what
	// there is at a mark is decided by watermarks.
	timed bool
	// byArrival says that the result may depend on when rows come, which then is told to
	// the reference where it is known. given are statements before the query.
	byArrival bool
	given     []string
	came      map[string]arrivals // by table, what is known of when rows came

	faults   enginetest.Faults // of schedules
	sabotage func(*exec.Graph) // alters the graph of schedules, or is nil

	rows    *atomic.Int64 // of the results
	marks   *atomic.Int64 // at which results have been compared
	several *atomic.Int64 // results that are one of several
}

// unsplit is the trial with one split for each table.
func (c *trial) unsplit() *trial {
	u := *c
	u.tables = slices.Clone(c.tables)
	for i, t := range u.tables {
		one := *t
		one.splits = 1
		u.tables[i] = &one
	}
	return &u
}

// insertion says where the rows of a query go.
type insertion uint8

const (
	collected insertion = iota
	retracted           // to a table that takes -U
	upserted            // to a table with a key that the planner finds, if it finds one
)

func emptyTrial(seed uint64) *trial {
	return &trial{seed: seed, rows: new(atomic.Int64), marks: new(atomic.Int64), several: new(atomic.Int64)}
}

func newTrial(seed uint64) *trial {
	r := rand.New(rand.NewPCG(seed, 2))
	c := emptyTrial(seed)
	steps := []int{1, 8, 8, 20, 20, 40}[r.IntN(6)]
	types := columnTypes // few types make columns meet
	if r.IntN(4) > 0 {
		types = nil
		for range 2 + r.IntN(3) {
			types = append(types, columnTypes[r.IntN(len(columnTypes))])
		}
	}
	for i := range 1 + r.IntN(3) {
		c.tables = append(c.tables, newRandomTable(r, fmt.Sprintf("t%d", i), types, steps-r.IntN(steps/2+1)))
	}
	g := &grammar{r: r, tables: c.tables, types: types, leaves: 1 + r.IntN(4), forms: forms()}
	if !slices.ContainsFunc(c.tables, func(t *randomTable) bool { return !t.mode.InsertOnly() }) {
		g.forms = append(g.forms, moments()...) // a row that is computed at another time cannot be taken back
	}
	c.query = g.query(r.IntN(3), nil)
	switch q := c.query; {
	case r.IntN(15) == 0:
		q.limit = []string{" LIMIT 3", " LIMIT 0", " LIMIT 5 OFFSET 2"}[r.IntN(3)]
		if r.IntN(2) == 0 && q.sides == nil {
			order := q.order(r)
			if r.IntN(2) == 0 {
				order, _, _ = strings.Cut(order, ", ")
			}
			q.limit = " ORDER BY " + order + q.limit
		}
	case r.IntN(3) == 0:
		c.insert = upserted
	case r.IntN(8) == 0:
		c.insert = retracted
	}
	return c
}

// session is an engine that knows the tables of a trial, with its statement.
type session struct {
	*engine.Engine
	sql    string
	sink   *capture
	result string // the declaration of the table that is written, or ""
}

// open starts a session. It is to be closed.
func (c *trial) open(ctx context.Context, cfg engine.Config) (*session, error) {
	lib := &library{tables: c.tables, sink: &capture{}}
	cfg.Connectors = []connector.Connector{lib}
	cfg.Clock = stillClock{}
	e, err := engine.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &session{Engine: e, sql: c.query.String(), sink: lib.sink}
	if err := c.create(ctx, s); err != nil {
		e.Close()
		return nil, err
	}
	return s, nil
}

func (c *trial) create(ctx context.Context, s *session) error {
	create := func(declaration string) error {
		declaration = strings.TrimSuffix(declaration, " lookup")
		declaration = strings.TrimSuffix(strings.TrimSuffix(declaration, " retract"), " upsert")
		_, err := s.ExecuteSQL(ctx, "CREATE TABLE "+declaration+" WITH ('connector' = 'random')")
		return err
	}
	for _, t := range c.tables {
		if err := create(t.declaration()); err != nil {
			return err
		}
	}
	for _, sql := range c.given {
		if _, err := s.ExecuteSQL(ctx, sql); err != nil {
			return err
		}
	}
	p, err := s.Plan(ctx, s.sql, true)
	if err != nil {
		return err
	}
	schema := p.Roots[0].Schema()
	s.sink.types = schema.Types()
	if c.insert == collected {
		return nil
	}
	result := &randomTable{name: "result", schema: slices.Clone(schema), mode: sqltype.RetractMode}
	query := s.sql
	if c.insert == upserted {
		if s.sink.key, err = c.key(ctx, s); err != nil {
			return err
		}
	}
	if len(s.sink.key) > 0 {
		result.mode = sqltype.UpsertMode
		known := make([]string, len(s.sink.key))
		for i, k := range s.sink.key {
			known[i] = schema[k].Name + " IS NOT NULL"
		}
		query = "SELECT * FROM (" + query + ") AS q WHERE " + strings.Join(known, " AND ")
	}
	s.result = result.declare(s.sink.key)
	s.sql = "INSERT INTO result " + query
	return create(s.result)
}

// key is one of the keys that the planner finds in the query, or nil.
func (c *trial) key(ctx context.Context, s *session) ([]int, error) {
	p, err := s.Plan(ctx, s.sql, false)
	if err != nil {
		return nil, err
	}
	keys := slices.DeleteFunc(slices.Clone(p.Roots[0].Traits().Keys), func(k plan.Key) bool { return len(k.Columns) == 0 })
	if len(keys) == 0 {
		return nil, nil
	}
	return keys[c.seed%uint64(len(keys))].Columns, nil
}

// conformance is the trial as a conformance case.
func (c *trial) conformance(ctx context.Context) string {
	var b strings.Builder
	session, err := c.open(ctx, engine.Config{})
	if err != nil {
		return err.Error()
	}
	defer session.Close()
	b.WriteString("tables\n")
	for _, t := range c.tables {
		b.WriteString(t.declaration() + "\n")
	}
	if session.result != "" {
		b.WriteString(session.result + " sink\n")
	}
	fmt.Fprintf(&b, "----\n\nrun fold\n%s;\n", strings.Join(append(slices.Clone(c.given), session.sql), ";\n"))
	for _, t := range c.tables {
		for _, ch := range t.changes() {
			fmt.Fprintf(&b, "%s %s %s", t.name, ch.kind, ref.Key(t.schema.Types(), ch.row))
			if t.splits > 1 {
				fmt.Fprintf(&b, "   # split %d", ch.split)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("----\n")
	return b.String()
}

// now gives the tables after prefixes of their changes.
func (c *trial) now(prefix func(t *randomTable, all int) int) enginetest.Input {
	return c.shuffled(prefix, func([]ref.Row) {})
}

// shuffled is now with the rows of the tables in another order. That of changes stays: it
// decides what is late.
func (c *trial) shuffled(prefix func(t *randomTable, all int) int, shuffle func([]ref.Row)) enginetest.Input {
	changes := func(n *plan.Scan) (*randomTable, []rowChange) {
		i := slices.IndexFunc(c.tables, func(t *randomTable) bool { return t.name == n.Table.ID.Object })
		all := c.tables[i].changes()
		return c.tables[i], all[:prefix(c.tables[i], len(all))]
	}
	return enginetest.Input{
		Now:     time.UnixMilli(testNow),
		Shuffle: shuffle,
		Tables: func(n *plan.Scan) ([]ref.Row, error) {
			t, all := changes(n)
			rows := t.after(all)
			shuffle(rows)
			return rows, nil
		},
		Changes: func(n *plan.Scan) ([]ref.Change, error) {
			t, all := changes(n)
			out := make([]ref.Change, len(all))
			for i, ch := range all {
				out[i] = ref.Change{Row: ch.row, Kind: ch.kind, Split: ch.split, Came: c.came[t.name].of(i)}
			}
			return out, nil
		},
	}
}

// testNow is what the clock of a trial shows, in milliseconds since 1970.
const testNow = 951_827_696_789

// stillClock is a clock that stands still and ticks.
type stillClock struct{}

func (stillClock) Now() int64 { return testNow }

func (stillClock) Ticker(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}

func everything(_ *randomTable, all int) int { return all }

// errSkip is for trials that say nothing: the engine or the reference refuses them.
var errSkip = errors.New("skipped")

// skip marks an error as one for which a trial is left out.
func skip(err error) error { return fmt.Errorf("%w: %w", errSkip, err) }

func code(err error) errs.Code {
	var e *errs.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// want computes the query by the textbook.
func (c *trial) want(ctx context.Context) (enginetest.Result, error) {
	s, err := c.open(ctx, engine.Config{})
	if err != nil {
		return enginetest.Result{}, skip(err)
	}
	defer s.Close()
	r, err := enginetest.Reference(ctx, s.Engine, s.sql, c.now(everything))
	if err != nil {
		return r, skip(err)
	}
	return r, nil
}

// way is one way to run a query.
type way struct {
	batch, parallel int
	scheduled       bool // by seed, on one goroutine
	unsplit         bool // with tables of one split, so that it is known what was read
}

func (w way) String() string {
	if w.scheduled {
		return fmt.Sprintf("batch %d, parallelism %d, by schedule", w.batch, w.parallel)
	}
	return fmt.Sprintf("batch %d, parallelism %d", w.batch, w.parallel)
}

var ways = []way{
	{batch: 1, parallel: 1},
	{batch: 7, parallel: 1},
	{batch: 8192, parallel: 1},
	{batch: 1, parallel: 2},
	{batch: 7, parallel: 2},
	{batch: 8192, parallel: 2},
	{batch: 0, parallel: 2, scheduled: true},
	{batch: 0, parallel: 2, scheduled: true, unsplit: true},
	{batch: 1, parallel: 1, scheduled: true, unsplit: true},
	{batch: 7, parallel: 1, unsplit: true},
	{batch: 1, parallel: 2, scheduled: true, unsplit: true}, // where it matters when rows come
}

// run runs the query in a way and compares the result.
func (c *trial) run(ctx context.Context, w way, want enginetest.Result) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("it hangs"))
	defer cancel()
	if w.unsplit {
		c = c.unsplit()
		if c.timed {
			var err error
			if want, err = c.want(ctx); err != nil {
				return err
			}
		}
	}
	s, err := c.open(ctx, engine.Config{BatchSize: max(w.batch, 1), Parallelism: w.parallel})
	if err != nil {
		return skip(err)
	}
	defer s.Close()
	if _, err := s.Graph(ctx, s.sql, s.sink); err != nil {
		if e := code(err); e == errs.Unsupported || e == errs.Changelog || c.timed && e == errs.Invalid {
			return skip(err)
		}
		return fmt.Errorf("planning: %w", err)
	}
	if w.scheduled {
		return c.runSchedule(ctx, s, w, want)
	}
	q, err := s.ExecuteSQL(ctx, s.sql)
	if err != nil {
		return err
	}
	var changes []rowChange
	for q.Changelog() != nil {
		b, err := q.Changelog().Next(ctx)
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		changes = appendChanges(changes, s.sink.types, b)
		b.Release()
	}
	if err := q.Wait(ctx); err != nil {
		return err
	}
	for _, shard := range s.sink.shards {
		for _, epoch := range shard.epochs {
			changes = append(changes, epoch...)
		}
	}
	return c.compare(ctx, s, w, changes, want, everything)
}

// runSchedule compares at some of the marks as well, when tables have one split:
// there the sink shows the result of the rows read so far.
func (c *trial) runSchedule(ctx context.Context, s *session, w way, want enginetest.Result) error {
	g, err := s.Graph(ctx, s.sql, s.sink)
	if err != nil {
		return err
	}
	if c.sabotage != nil {
		c.sabotage(g)
	}
	read := tapShelves(g)
	var wrong error
	marks := w.unsplit && !c.timed && !c.query.limits() // ORDER BY and LIMIT may wait for the end
	run := enginetest.Schedule{Graph: g, Clock: func(uint64) int64 { return testNow }, Seed: c.seed, Parallelism: w.parallel, BatchSize: w.batch, Faults: c.faults}
	run.Hooks.Epoch = func(m exec.Mark) {
		// At the first marks, then at ever fewer of them.
		if marks = marks && wrong == nil; !marks || m.Epoch&(m.Epoch-1) != 0 {
			return
		}
		scans := map[string]int{}
		for _, t := range read {
			n := t.until(m.Epoch)
			if have, ok := scans[t.table]; ok && have != n {
				return // two scans of a table are at different places
			}
			if scans[t.table] = n; c.midway(t.table, n) {
				return
			}
		}
		prefix := func(t *randomTable, _ int) int { return scans[t.name] }
		now, err := enginetest.Reference(ctx, s.Engine, s.sql, c.now(prefix))
		if err != nil {
			return
		}
		err = c.compare(ctx, s, w, s.sink.changes(int(m.Epoch)), now, prefix)
		if c.marks.Add(1); err != nil {
			wrong = fmt.Errorf("at the mark of epoch %d, after %v changes: %w", m.Epoch, scans, err)
		}
	}
	if err := run.Run(); err != nil {
		return err
	}
	if wrong != nil {
		return wrong
	}
	if c.byArrival && w.batch == 1 && w.unsplit && (w.parallel == 1 || !c.waits()) { // each row was an epoch
		var known bool
		if c, known = c.asTheyCame(read); known {
			var err error
			if want, err = enginetest.Reference(ctx, s.Engine, s.sql, c.now(everything)); err != nil {
				return err
			}
			c.rows.Add(int64(len(want.Rows)))
			c.marks.Add(1)
		}
	}
	return c.compare(ctx, s, w, s.sink.changes(1<<30), want, everything)
}

// midway reports whether n changes of a table end between -U and +U. A sink that
// goes by the key has not heard of the update then.
func (c *trial) midway(table string, n int) bool {
	i := slices.IndexFunc(c.tables, func(t *randomTable) bool { return t.name == table })
	return n > 0 && c.tables[i].changes()[n-1].kind == vector.UpdateBefore
}

// scanTap counts the rows of one scan by epoch, over its shards.
type scanTap struct {
	table string
	taps  []*tap
}

func (s *scanTap) until(epoch uint64) (n int) {
	for _, t := range s.taps {
		n += t.until[epoch-1]
	}
	return n
}

// tapShelves puts a tap behind every scan of a random table.
func tapShelves(g *exec.Graph) (out []*scanTap) {
	behind := map[*exec.Node]*exec.Node{}
	var nodes []*exec.Node
	for _, n := range g.Nodes {
		for i, in := range n.Inputs {
			if t, ok := behind[in.From]; ok {
				n.Inputs[i].From = t
			}
		}
		nodes = append(nodes, n)
		if src, ok := n.Source.(*shelf); ok {
			s := &scanTap{table: src.name}
			out = append(out, s)
			t := &exec.Node{ID: n.ID + "/tap", Name: "tap", Inputs: []exec.Edge{{From: n}}, New: func(int) (exec.Operator, error) {
				s.taps = append(s.taps, &tap{})
				return s.taps[len(s.taps)-1], nil
			}}
			behind[n] = t
			nodes = append(nodes, t)
		}
	}
	g.Nodes = nodes
	return out
}

// check runs a trial in all ways. It returns the first way that fails.
func (c *trial) check(ctx context.Context) (way, error) {
	want, err := c.want(ctx)
	if err != nil {
		return way{}, err
	}
	c.rows.Add(int64(len(want.Rows)))
	if err := c.checkPlan(ctx, want); err != nil {
		return ways[0], err
	}
	for i, w := range ways {
		if few := c.timed && os.Getenv("WEIR_SOAK") == ""; few && (i == 1 || i == 3 || i == 8 && !c.byArrival) {
			continue // each batch size and parallelism is among the others
		}
		if i == len(ways)-1 && !c.byArrival {
			continue
		}
		if err := c.run(ctx, w, want); err != nil {
			return w, err
		}
	}
	return way{}, nil
}

// again reports how a smaller trial fails in the given way, or nil.
func (c *trial) again(ctx context.Context, w way) error {
	want, err := c.want(ctx)
	if err == nil {
		err = c.run(ctx, w, want)
	}
	if errors.Is(err, errSkip) {
		return nil
	}
	return err
}

// blame says whether the plan that runs means the same as the statement.
func (c *trial) blame(ctx context.Context) string {
	s, err := c.open(ctx, engine.Config{})
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	want, err := c.want(ctx)
	if err != nil {
		return err.Error()
	}
	got, err := enginetest.Optimized(ctx, s.Engine, s.sql, c.now(everything))
	if err != nil {
		return "the plan cannot be evaluated: " + err.Error()
	}
	if err := compare(counted(got.Schema.Types(), got.Rows), want); err != nil && got.Rule == ref.Exactly {
		return "the planner has changed the meaning: " + err.Error()
	}
	return "the plan is right, an operator is not"
}
