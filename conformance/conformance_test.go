// Package conformance has black-box tests: SQL, input, and the rows that must come
// out, in files below testdata/cases.
//
// A file declares tables, one a line, with the word retract or upsert when rows
// are updated, bykey when deletions may have only the key, lookup when the table is asked
// for rows by key, and sink when it is written:
//
//	tables
//	bid (auction BIGINT, price BIGINT)
//	top (auction BIGINT, price BIGINT, PRIMARY KEY (auction) NOT ENFORCED) upsert sink
//	----
//
// may have statements that come before every run, such as CREATE FUNCTION, below given,
// and then has runs: SQL, and below it the rows of the tables in order of arrival.
// The result is that of the last statement: what a SELECT gives, or what the sink
// of an INSERT receives.
//
//	run
//	SELECT price FROM bid WHERE auction = 1;
//	bid +I 1 5
//	----
//	+I 5
//
// Between the rows may stand how far event time is, "bid watermark 00:00:10", for a table
// with WATERMARK FOR ts AS SOURCE_WATERMARK(), and processing time that passes, "clock 5s":
// it stands still otherwise, and every run begins at 2020-01-01 12:00:00.
//
// Every run is repeated at several batch sizes, degrees of parallelism and
// schedules; a schedule is a seed that stands for an order in which everything
// happens (WEIR_SOAK=1 tries many more); and it is stopped, stopped with a savepoint, or
// ended at once, behind every second row, and goes on at another parallelism. The rows shown are those of batch size 1, parallelism 1 and one row
// at a time; all others must give the same content in the end, and the same error. The content is
// also held against what the query is by the textbook, see enginetest.Replay.
// Arguments of run:
//
//	fold       shows the content at the end, sorted, in place of the changes
//	types      shows the columns' names and types first
//	vary=none  runs only once: the result depends on the order of arrival
//	vary=norestart  is not restarted: the result depends on when the query was started
//	of=table   shows what this sink received, in place of the result
//	gap=why    is not supported yet; the test fails when it is
//
// A date that is left out of a timestamp is 1970-01-01. With -rewrite the files are
// rewritten with the rows that came out.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/conformance/scenario"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no case files", err)
	}
	refs := &references{}
	t.Cleanup(func() {
		t.Logf("of %d runs the reference knows %d to have one result, which they have", refs.tried.Load(), refs.compared.Load())
	})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			f := &caseFile{modules: filepath.Join(t.TempDir(), "modules"), refs: refs}
			datadriven.RunTest(t, file, f.command)
		})
	}
}

// caseFile is what the directives of one file share.
type caseFile struct {
	tables  []scenario.Table
	given   []string
	modules string // the cache of compiled modules
	refs    *references
}

func (f *caseFile) command(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "tables":
		for line := range strings.Lines(d.Input) {
			table, err := scenario.ParseTable(line)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			f.tables = append(f.tables, table)
		}
		return ""
	case "given":
		f.given = append(f.given, strings.SplitAfter(d.Input, ";\n")...)
		return ""
	case "run":
		r := &testRun{tables: f.tables, setup: slices.Clone(f.given), modules: f.modules, vary: true, refs: f.refs}
		if err := r.parse(d); err != nil {
			d.Fatalf(t, "%v", err)
		}
		return r.run(t, d)
	}
	d.Fatalf(t, "there is no directive %q", d.Cmd)
	return ""
}

// testRun is one run directive.
type testRun struct {
	tables      []scenario.Table
	modules     string
	setup       []string // statements before the last
	query       string
	events      []scenario.Event
	fold, types bool
	vary        bool
	unrestarted bool
	timed       bool   // processing time passes
	of          string // a sink
	gap         string
	refs        *references
}

func (r *testRun) parse(d *datadriven.TestData) error {
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "fold":
			r.fold = true
		case "types":
			r.types = true
		case "vary":
			switch what := strings.Join(arg.Vals, " "); what {
			case "none":
				r.vary = false
			case "norestart":
				r.unrestarted = true
			default:
				return fmt.Errorf("vary=%s is not known", what)
			}
		case "of":
			r.of = arg.Vals[0]
		case "gap":
			r.gap = strings.Join(arg.Vals, " ")
		default:
			return fmt.Errorf("run has no argument %q", arg.Key)
		}
	}
	var names []string
	for _, t := range r.tables {
		names = append(names, regexp.QuoteMeta(t.Name))
	}
	isEvent := regexp.MustCompile(`^(` + strings.Join(names, "|") + `)\s+([+-][IUD].*|watermark .*)`)
	isClock := regexp.MustCompile(`^clock\s+(\S+)\s*$`)
	var sql strings.Builder
	for line := range strings.Lines(d.Input) {
		if m := isEvent.FindStringSubmatch(line); m != nil {
			r.events = append(r.events, scenario.Event{Table: m[1], Row: strings.TrimSpace(m[2])})
			continue
		}
		if m := isClock.FindStringSubmatch(line); m != nil {
			r.events, r.timed = append(r.events, scenario.Event{Row: m[1]}), true
			continue
		}
		sql.WriteString(line)
		if strings.HasSuffix(strings.TrimSpace(line), ";") {
			r.setup = append(r.setup, r.query)
			r.query = sql.String()
			sql.Reset()
		}
	}
	if strings.TrimSpace(sql.String()) != "" {
		return errors.New("the last statement does not end with ;")
	}
	r.setup = slices.DeleteFunc(r.setup, func(s string) bool { return s == "" })
	return nil
}

// variant is a way of running: an engine's configuration, or a schedule.
type variant struct {
	scenario.Config
	schedule *enginetest.Schedule
	restart  *restart
}

// restart ends the query and lets it go on elsewhere, again and again.
type restart struct {
	kind  scenario.RestartKind
	every int // rows and other events
}

// how is the restart behind so many events, each at another parallelism.
func (r *restart) how(events int) scenario.Restart {
	return scenario.Restart{Kind: r.kind, Parallelism: []int{2, 1, 3}[events/r.every%3]}
}

func (v variant) String() string {
	if v.schedule != nil {
		return fmt.Sprintf("schedule of seed %d, parallel %d", v.schedule.Seed, v.schedule.Parallelism)
	}
	if v.restart != nil {
		return fmt.Sprintf("%v, restart (%v) at every %d. row", v.Config, v.restart.kind, v.restart.every)
	}
	return v.Config.String()
}

// variants are the ways in which every run is repeated; the first decides what is
// shown.
func variants() []variant {
	out := []variant{{Config: scenario.Config{BatchSize: 1, Parallelism: 1, Stepwise: true}}}
	seeds := 2
	if os.Getenv("WEIR_SOAK") != "" {
		seeds = 20
	}
	for _, parallel := range []int{1, 2, 4} {
		for _, batch := range []int{1, 7, 8192} {
			out = append(out, variant{Config: scenario.Config{BatchSize: batch, Parallelism: parallel}})
		}
		for seed := range seeds {
			out = append(out, variant{schedule: &enginetest.Schedule{Seed: uint64(seed + 1), Parallelism: parallel}})
		}
	}
	restarted := scenario.Config{BatchSize: 8192, Parallelism: 1, Stepwise: true}
	for kind := range scenario.Crash + 1 {
		every := []int{2}
		if os.Getenv("WEIR_SOAK") != "" {
			every = []int{1, 2, 3, 5}
		}
		for _, n := range every {
			out = append(out, variant{Config: restarted, restart: &restart{kind, n}})
		}
	}
	return out
}

// outcome is what one execution gave.
type outcome struct {
	schema sqltype.Schema
	text   string   // as the file shows it
	folded []string // the content at the end
	err    string
	code   errs.Code
}

func (r *testRun) run(t *testing.T, d *datadriven.TestData) string {
	all := variants()
	base := r.execute(t, all[0], nil)
	if base.code == errs.Unsupported && r.gap != "" {
		return d.Expected // a known gap
	}
	if r.gap != "" {
		t.Errorf("%s: the gap %q is closed: remove gap", d.Pos, r.gap)
	}
	r.refer(t, d, base)
	if !r.vary {
		return base.text
	}
	for _, v := range all[1:] {
		if r.timed && v.schedule != nil {
			continue // a schedule has but one time
		}
		if v.restart != nil && (r.unrestarted || len(r.events) < v.restart.every || base.err != "") {
			continue
		}
		got := r.execute(t, v, base.schema)
		if got.err != base.err {
			t.Errorf("%s: %v: got error %q, else %q", d.Pos, v, got.err, base.err)
		}
		if base.err == "" && !slices.Equal(got.folded, base.folded) {
			t.Errorf("%s: %v: the content differs\ngot  %s\nelse %s", d.Pos, v,
				strings.Join(got.folded, "\n     "), strings.Join(base.folded, "\n     "))
		}
	}
	return base.text
}

// refer holds the content against what the query is by the textbook, where that is one
// result. The rows of a table that is asked have to be there first, and time stands still.
func (r *testRun) refer(t *testing.T, d *datadriven.TestData, base outcome) {
	if base.err != "" || r.timed {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	others := false
	for _, e := range r.events {
		asked := slices.ContainsFunc(r.tables, func(t scenario.Table) bool { return t.Name == e.Table && t.Lookup })
		if others = others || !asked; others && asked {
			return
		}
	}
	if slices.ContainsFunc(r.setup, func(sql string) bool { return strings.Contains(sql, "'connector'") }) {
		return // it has rows of its own
	}
	s, err := scenario.Open(ctx, scenario.Config{BatchSize: 1, Parallelism: 1, ModuleCache: r.modules}, r.tables)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, sql := range r.setup {
		if err := s.Execute(ctx, sql); err != nil {
			return
		}
	}
	r.refs.tried.Add(1)
	want, err := s.Reference(ctx, r.query, r.of, r.events)
	switch {
	case errs.CodeOf(err) == errs.Unsupported:
		t.Errorf("%s: the reference: %v", d.Pos, err)
		return
	case err != nil:
		return // of a value that the query does not need
	}
	if want == nil {
		return
	}
	r.refs.compared.Add(1)
	rows, err := rows.Fold(want.Rows, want.Key)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(base.folded, rows) {
		t.Errorf("%s: the content is not that of the reference\ngot  %s\nref  %s", d.Pos, strings.Join(base.folded, "\n     "), strings.Join(rows, "\n     "))
	}
}

// references counts the runs that were held against the reference.
type references struct{ tried, compared atomic.Int64 }

// execute runs the query once. schema has the columns of its result, once they are
// known.
func (r *testRun) execute(t *testing.T, v variant, schema sqltype.Schema) outcome {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, shown, err := r.result(ctx, v, schema)
	if err == nil {
		var o outcome
		if o, err = r.outcome(shown); err == nil {
			o.schema = result.Schema
			return o
		}
	}
	var e *errs.Error
	if errors.As(err, &e) {
		err = e // without the names of operators, which depend on the plan
	}
	o := outcome{code: errs.CodeOf(err), err: fmt.Sprintf("error %s: %v", errs.CodeOf(err), err)}
	o.text = o.err
	return o
}

func (r *testRun) outcome(result *scenario.Result) (outcome, error) {
	o := outcome{schema: result.Schema}
	var err error
	if o.folded, err = rows.Fold(result.Rows, result.Key); err != nil {
		return o, err
	}
	var lines []string
	if r.types {
		lines = append(lines, result.Schema.String())
	}
	if r.fold {
		lines = append(lines, o.folded...)
	} else {
		for _, row := range result.Rows {
			lines = append(lines, row.String())
		}
	}
	o.text = strings.Join(lines, "\n")
	return o, nil
}

// result runs the query, and returns its result and what is to be shown.
func (r *testRun) result(ctx context.Context, v variant, schema sqltype.Schema) (result, shown *scenario.Result, err error) {
	v.ModuleCache = r.modules
	if v.restart != nil {
		dir, err := os.MkdirTemp("", "weir-conformance")
		if err != nil {
			return nil, nil, err
		}
		defer os.RemoveAll(dir)
		v.StateDir = dir
	}
	s, err := scenario.Open(ctx, v.Config, r.tables)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	for _, sql := range r.setup {
		if err := s.Execute(ctx, sql); err != nil {
			return nil, nil, err
		}
	}
	if v.schedule != nil {
		result, err = s.RunScheduled(ctx, r.query, schema, r.events, *v.schedule)
	} else {
		result, err = r.feed(ctx, s, v)
	}
	if shown = result; err == nil && r.of != "" {
		shown = s.Received(r.of)
	}
	return result, shown, err
}

// feed runs the query while the events come.
func (r *testRun) feed(ctx context.Context, s *scenario.Session, v variant) (*scenario.Result, error) {
	run, err := s.Start(ctx, r.query)
	if err != nil {
		return nil, err
	}
	for i, e := range r.events {
		if err := s.Take(ctx, e); err != nil {
			return nil, err
		}
		if n := i + 1; v.restart != nil && n%v.restart.every == 0 {
			if err := s.Restart(ctx, v.restart.how(n)); err != nil {
				return nil, fmt.Errorf("restarting behind row %d: %w", n, err)
			}
		}
	}
	return run.End(ctx)
}
