// Package scenario runs SQL in an engine of its own over rows that a test feeds,
// one at a time or all at once, and collects what comes out.
package scenario

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// Config says how a scenario runs.
type Config struct {
	BatchSize, Parallelism int
	// Stepwise waits after every row until its effects are seen, so that rows of
	// several tables act in the order in which they were fed. Otherwise the tables
	// are read at their own pace.
	Stepwise bool
	// ByHand ends epochs only when the test waits with Sync: what was fed since is
	// one mini-batch.
	ByHand bool
	// Functions can be called besides the built-in ones.
	Functions []function.Function
	// ModuleCache is where compiled modules of functions are kept; "": nowhere.
	ModuleCache string
	// StateDir is an empty directory, for the state of queries; "": they cannot be
	// restarted.
	StateDir string
}

func (c Config) String() string {
	s := fmt.Sprintf("batch %d, parallel %d", c.BatchSize, c.Parallelism)
	if c.Stepwise {
		s += ", stepwise"
	}
	if c.ByHand {
		s += ", epochs by hand"
	}
	return s
}

// Session is an engine with the tables of a scenario.
type Session struct {
	cfg    Config
	eng    *engine.Engine
	tables tables
	pool   *vector.Pool // of the rows fed
	clock  *clock
	done   []string       // statements that the next engine needs
	made   []func() error // what else it needs
	runs   []*Run
	lives  int // engines before this one
}

// Open starts an engine and creates the tables.
func Open(ctx context.Context, cfg Config, decl []Table) (*Session, error) {
	s := &Session{cfg: cfg, tables: tables{}, pool: vector.NewPool(), clock: newClock(cfg.Stepwise || cfg.ByHand)}
	for _, t := range decl {
		s.tables[t.Name] = newTable(t)
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	for _, t := range decl {
		if err := s.Execute(ctx, t.ddl()); err != nil {
			s.eng.Close()
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return s, nil
}

// open starts an engine.
func (s *Session) open(ctx context.Context) (err error) {
	s.eng, err = engine.Open(ctx, engine.Config{
		Parallelism: s.cfg.Parallelism,
		BatchSize:   s.cfg.BatchSize,
		Clock:       s.clock,
		Functions:   s.cfg.Functions,
		UDF:         udf.Config{CacheDir: s.cfg.ModuleCache},
		Connectors:  []connector.Connector{s.tables},
		StateDir:    s.stateDir(),
		// Time stands still: every mark is a checkpoint, if the one before is done.
		CheckpointInterval: 1,
	})
	return err
}

// Close ends the engine.
func (s *Session) Close() error { return s.eng.Close() }

// Pass lets processing time pass, which otherwise stands still. Queries see it from
// the next mark on, which Pass waits for.
func (s *Session) Pass(ctx context.Context, d time.Duration) error {
	if err := s.Sync(ctx); err != nil {
		return err
	}
	if err := s.keep(ctx); err != nil {
		return err
	}
	s.clock.now.Add(d.Milliseconds())
	return s.Sync(ctx)
}

// Execute runs a statement that has no rows.
func (s *Session) Execute(ctx context.Context, sql string) error {
	if err := s.execute(ctx, sql); err != nil {
		return err
	}
	s.done = append(s.done, sql)
	return nil
}

// CreateTemporalTableFunction makes a temporal table function of a table or view.
func (s *Session) CreateTemporalTableFunction(name, table, time, key string) error {
	make := func() error {
		t, err := s.eng.Table(table)
		if err != nil {
			return err
		}
		f, err := t.CreateTemporalTableFunction(time, key)
		if err != nil {
			return err
		}
		return s.eng.RegisterTemporalTableFunction(name, f)
	}
	s.made = append(s.made, make)
	return make()
}

func (s *Session) execute(ctx context.Context, sql string) error {
	q, err := s.eng.ExecuteSQL(ctx, sql)
	if err != nil {
		return err
	}
	return q.Wait(ctx)
}

// Run is a running query.
type Run struct {
	s    *Session
	sql  string
	name string // of the job, if its state is kept
	q    *engine.Query
	sink *table // of an INSERT, else nil

	drained chan struct{} // closed when every row of the changelog is in out
	mu      sync.Mutex
	out     []rows.Row
	err     error
}

// Result is what a query gave.
type Result struct {
	Schema sqltype.Schema
	Key    []int // of an upsert sink: the columns by which Rows replace each other
	Rows   []rows.Row
}

// sinkOf is the table that an INSERT writes, or "".
func sinkOf(sql string) string {
	if m := insertInto.FindStringSubmatch(sql); m != nil {
		return m[1]
	}
	return ""
}

var insertInto = regexp.MustCompile("(?is)^\\s*INSERT\\s+INTO\\s+`?(\\w+)")

// Start starts a SELECT or INSERT.
func (s *Session) Start(ctx context.Context, sql string) (*Run, error) {
	r := &Run{s: s, sql: sql, sink: s.tables[sinkOf(sql)]}
	if s.cfg.StateDir != "" {
		r.name = fmt.Sprint("run", len(s.runs))
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	s.runs = append(s.runs, r)
	if s.cfg.Stepwise {
		if err := s.Sync(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// begin starts the query, from where it was if its state was kept.
func (r *Run) begin(ctx context.Context) (err error) {
	if r.name != "" {
		if err := r.s.execute(ctx, "SET 'pipeline.name' = '"+r.name+"'"); err != nil {
			return err
		}
	}
	if r.q, err = r.s.eng.ExecuteSQL(ctx, r.sql); err != nil {
		return err
	}
	r.drained = make(chan struct{})
	if log := r.q.Changelog(); log != nil {
		go r.drain(ctx, log)
	} else {
		close(r.drained)
	}
	return nil
}

// drain collects the changelog.
func (r *Run) drain(ctx context.Context, log *engine.Changelog) {
	defer close(r.drained)
	defer log.Close()
	for {
		b, err := log.Next(ctx)
		if err != nil {
			if err != io.EOF {
				r.err = err
			}
			return
		}
		r.mu.Lock()
		r.out = rows.FromBatch(r.out, r.q.Schema(), b)
		r.mu.Unlock()
		b.Release()
	}
}

// Feed adds a row, written as "+I 1 'a b' NULL", to a table, or a watermark as
// "watermark 00:00:10" to one with SOURCE_WATERMARK().
func (s *Session) Feed(ctx context.Context, name, row string) error {
	if at, ok := strings.CutPrefix(row, "watermark "); ok {
		w, err := rows.ParseTime(strings.TrimSpace(at))
		if err != nil {
			return err
		}
		return s.feed(ctx, s.tables[name], input{watermark: w})
	}
	return s.FeedFunc(ctx, name, func(b *vector.Builder, schema sqltype.Schema) error {
		return rows.ParseRow(b, schema, row)
	})
}

// FeedFunc adds the row that build appends to the builder.
func (s *Session) FeedFunc(ctx context.Context, name string, build func(*vector.Builder, sqltype.Schema) error) error {
	t := s.tables[name]
	if t == nil {
		return fmt.Errorf("the scenario has no table %q", name)
	}
	if t.schema == nil {
		return nil // no query reads it
	}
	b := vector.NewBuilder(s.pool, t.schema.Kinds())
	if err := build(b, t.schema); err != nil {
		return fmt.Errorf("a row for table %s: %w", name, err)
	}
	return s.feed(ctx, t, input{row: b.Finish()})
}

func (s *Session) feed(ctx context.Context, t *table, in input) error {
	t.update(func() { t.in = append(t.in, in) })
	if s.cfg.Stepwise {
		return s.Sync(ctx)
	}
	return nil
}

// Sync waits until the effects of all rows fed so far are seen. It returns the
// error of a query that failed.
func (s *Session) Sync(ctx context.Context) error {
	for _, r := range s.runs {
		if err := r.sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) sync(ctx context.Context) error {
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // a query that has failed reads no more
		if err := r.q.Wait(reading); err != nil {
			cancel(err)
		}
	}()
	for _, t := range r.s.tables {
		if !t.read(reading) {
			return context.Cause(reading)
		}
	}
	return r.q.Sync(ctx)
}

// Sink is the name of the table that an INSERT writes, or "".
func (r *Run) Sink() string {
	if r.sink == nil {
		return ""
	}
	return r.sink.Name
}

// Rows are the changes seen so far.
func (r *Run) Rows() []rows.Row {
	mu, out := &r.mu, &r.out
	if r.sink != nil {
		mu, out = &r.sink.mu, &r.sink.out
	}
	mu.Lock()
	defer mu.Unlock()
	return append([]rows.Row(nil), *out...)
}

// End ends the input, waits for the query's end and returns all changes.
func (r *Run) End(ctx context.Context) (*Result, error) {
	for _, t := range r.s.tables {
		t.update(func() { t.ended = true })
	}
	err := r.q.Wait(ctx)
	<-r.drained
	if err == nil {
		err = r.err
	}
	if err != nil {
		return nil, err
	}
	return r.Result(), nil
}

// Result is what the query has given so far.
func (r *Run) Result() *Result {
	if r.sink != nil {
		return r.sink.result(r.Rows())
	}
	return &Result{Schema: r.q.Schema(), Rows: r.Rows()}
}

func (t *table) result(changes []rows.Row) *Result {
	out := &Result{Schema: t.schema, Rows: changes}
	if !t.Mode.Has(vector.UpdateBefore) && !t.Mode.InsertOnly() {
		out.Key = t.key
	}
	return out
}
