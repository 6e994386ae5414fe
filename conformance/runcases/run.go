package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirdb/weir/conformance/scenario"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Status is how a case ended.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Outcome is a line of the report.
type Outcome struct {
	Name   string `json:"name"`
	Family string `json:"family"`
	Status Status `json:"status"`
	Reason string `json:"reason"` // what is wrong or missing
}

// settings are the flags that runs depend on.
type settings struct {
	batch, parallel int
	restart         bool
	after           int // shards after a restart; 0: as before
}

// rowByRow reports whether every row takes effect by itself: only then is a
// changelog Flink's, change by change.
func (s settings) rowByRow() bool { return s.batch == 1 && s.parallel == 1 && s.after <= 1 }

// skip is the feature that keeps a case from being run.
type skip string

func (s skip) Error() string { return string(s) }

// run executes the case and says how it ended.
func (c *Case) run(ctx context.Context, set settings) Outcome {
	out := Outcome{Name: c.Name, Family: c.Family, Status: Passed}
	err := c.check(ctx, set)
	var feature skip
	var e *errs.Error
	switch {
	case err == nil:
	case errors.As(err, &feature):
		out.Status, out.Reason = Skipped, string(feature)
	case errors.As(err, &e) && e.Code == errs.Unsupported:
		out.Status, out.Reason = Skipped, e.Msg
	case errors.As(err, &e) && e.Code == errs.NotFound && strings.HasPrefix(e.Msg, "function "):
		out.Status, out.Reason = Skipped, e.Msg
	default:
		out.Status, out.Reason = Failed, err.Error()
	}
	gap := content[c.Name]
	if gap == "" && (set.rowByRow() || out.Status == Failed && (set.batch == 1 || early[c.Name])) {
		gap = gaps[c.Name]
	}
	if gap != "" {
		switch out.Status {
		case Failed:
			out.Status, out.Reason = Skipped, "known gap: "+gap
		case Passed:
			out.Status, out.Reason = Failed, "the gap is closed, take it out of the list: "+gap
		}
	}
	return out
}

// gaps are cases whose changelogs differ from the origin's, with the reason. What they
// come to is the same, and compared at other settings.
var gaps = map[string]string{
	"nexmark-q102": "before the first bid the subquery divides 0 by 0: an error here, as whole numbers divided by 0 are, and NULL in the origin",

	"window-aggregate-session-event-time-two-phase": "the origin corrects a session before it is over, row by row; here it is emitted once",

	"over-aggregate-non-time-range-unbounded-sum-retract-mode-sink-primary-key":                            netted,
	"over-aggregate-non-time-rows-unbounded-sum-retract-mode-sink-primary-key":                             netted,
	"over-aggregate-non-time-range-unbounded-sum-retract-mode-source-sink-primary-key-partition-by-non-pk": netted,
}

// early are cases of gaps that depend on whether an epoch ends before the first rows come,
// which may be at any setting.
var early = map[string]bool{"nexmark-q102": true}

const netted = "the origin's sink shows a key once for each change that a row brings about; here the changes of a key are netted"

// content are cases that come to something else than in the origin, with the reason.
var content = map[string]string{
	"rw-proctime-join-later-changes-do-not-update": "without an equality a lookup would ask for the whole table at each batch: it is refused, with FULL as the way out",

	"over-aggregate-bounded-partitioned-rows-with-out-of-order-records":     cleanedUp,
	"over-aggregate-bounded-non-partitioned-rows-with-out-of-order-records": cleanedUp,
}

const cleanedUp = "the origin takes late rows again when it has cleaned up what it knew of their partition; here they stay late"

// missing is the feature that keeps the case from being run, or "".
func (c *Case) missing(set settings) skip {
	switch {
	case len(c.SQL) == 0:
		return "Table API"
	case c.Config["table.exec.sink.nested-constraint-enforcer"] != nil:
		return "option table.exec.sink.nested-constraint-enforcer"
	case !set.restart && c.Sensitive != nil && !c.miniBatch() && c.Family != "lookup_join":
		return "restart from a savepoint: see -restart"
	}
	return ""
}

// check executes the case and compares what its sinks received.
func (c *Case) check(ctx context.Context, set settings) error {
	if feature := c.missing(set); feature != "" {
		return feature
	}
	if set.restart && c.Restart {
		c.restarts = cmp.Or(set.after, set.parallel)
	}
	functions, err := c.functions()
	if err != nil {
		return err
	}
	cfg := scenario.Config{BatchSize: set.batch, Parallelism: set.parallel, Stepwise: set.rowByRow(), Functions: functions}
	if strings.Contains(strings.Join(append(c.SQL, c.SetupSQL...), " "), "TO_CHANGELOG") {
		// What is compared are changes, and not what they come to.
		cfg.BatchSize, cfg.Stepwise = 1, true
	}
	if c.miniBatch() {
		// Changes of rows that come together are sent as one. Which those are depends on
		// where the origin cuts its mini-batches: after a number of rows, or nowhere
		// where its operators do not buffer.
		bundled := cfg
		bundled.BatchSize, bundled.Stepwise, bundled.ByHand = 0, false, true
		for times := 1; times <= 3; times++ {
			if err := c.compare(ctx, bundled, c.cut(times), set.rowByRow()); err == nil || !set.rowByRow() {
				return err
			}
		}
	}
	err = c.compare(ctx, cfg, c.steps(), set.rowByRow())
	if err != nil && set.rowByRow() && c.Steps == nil && len(c.Tables) > 1 {
		// Nothing is said about how the rows of several tables interleave.
		for _, steps := range [][]Step{c.inTurn(), c.backwards()} {
			if c.compare(ctx, cfg, steps, true) == nil {
				return nil
			}
		}
	}
	return err
}

// compare executes the case in one way and compares what its sinks received.
func (c *Case) compare(ctx context.Context, cfg scenario.Config, steps []Step, exact bool) error {
	tables, err := c.tables()
	if err != nil {
		return err
	}
	if c.restarts > 0 {
		if cfg.StateDir, err = os.MkdirTemp("", "runcases"); err != nil {
			return err
		}
		defer os.RemoveAll(cfg.StateDir)
	}
	s, err := scenario.Open(ctx, cfg, tables)
	if err != nil {
		return err
	}
	defer s.Close()
	results, err := c.execute(ctx, s, steps)
	if c.Expected.Error != "" {
		return c.refused(err)
	}
	if err != nil {
		return err
	}
	for _, want := range c.Expected.Outputs {
		result := results[want.Sink]
		if result == nil {
			return fmt.Errorf("no statement writes %s", want.Sink)
		}
		err := want.compare(result, exact && !c.transient())
		if err != nil {
			return fmt.Errorf("%s: %w", want.Sink, err)
		}
	}
	return nil
}

// miniBatch reports whether the case bundles rows.
func (c *Case) miniBatch() bool { return c.Config["table.exec.mini-batch.enabled"] == true }

// transient reports whether the changes between the first and the last are those of
// a plan that the origin chooses: one that splits DISTINCT over two aggregations,
// row by row, shows groups before they are whole.
func (c *Case) transient() bool {
	return c.Config["table.optimizer.distinct-agg.split.enabled"] == true && !c.miniBatch()
}

// cut are the steps with the rows of a table in portions of the case's mini-batch, or
// several of them: an aggregation behind another one bundles what that one emits.
func (c *Case) cut(times int) []Step {
	size, err := strconv.Atoi(fmt.Sprint(c.Config["table.exec.mini-batch.size"]))
	if err != nil || size < 1 {
		size = math.MaxInt
	} else {
		size *= times
	}
	var out []Step
	for _, s := range c.steps() {
		for len(s.Rows) > size && s.Feed != "" {
			out = append(out, Step{Feed: s.Feed, Rows: s.Rows[:size]}, Step{Sync: true})
			s.Rows = s.Rows[size:]
		}
		out = append(out, s)
	}
	return out
}

// backwards are the steps with the tables in the opposite order.
func (c *Case) backwards() []Step {
	steps := c.steps()
	for i, n := 0, len(c.Tables); i < len(steps); i += n + 1 {
		slices.Reverse(steps[i : i+n])
	}
	return steps
}

// inTurn are the steps with one row of each table in turn.
func (c *Case) inTurn() []Step {
	var out, phase []Step
	for _, s := range append(c.steps(), Step{}) {
		if s.Feed != "" {
			phase = append(phase, s)
			continue
		}
		for again := true; again; {
			again = false
			for i, t := range phase {
				if len(t.Rows) > 0 {
					out = append(out, Step{Feed: t.Feed, Rows: t.Rows[:1]})
					phase[i].Rows, again = t.Rows[1:], true
				}
			}
		}
		out, phase = append(out, s), nil
	}
	return out[:len(out)-1]
}

// refused checks the end of a case whose statement has to be refused: because of what
// it means, and not because a name or a word is unknown.
func (c *Case) refused(err error) error {
	if err == nil {
		return fmt.Errorf("accepted, but: %s", c.Expected.Error)
	}
	switch errs.CodeOf(err) {
	case errs.Unsupported, errs.Internal:
		return err
	case errs.Changelog, errs.Invalid, errs.Type, errs.Option:
		return nil
	}
	return fmt.Errorf("refused for another reason than %s: %w", c.Expected.Error, err)
}

// tables declares sources and sinks.
func (c *Case) tables() ([]scenario.Table, error) {
	var out []scenario.Table
	for _, t := range c.Tables {
		if c.repeats(t) {
			t.Mode = "I,UA,D"
		}
		mode, err := parseMode(t.Mode)
		if err != nil {
			return nil, err
		}
		for _, r := range c.changes(t) { // some cases declare less than their rows have
			if kind, ok := vector.ParseRowKind(fmt.Sprint(r[0])); ok {
				mode = mode.With(kind)
			}
		}
		if t.KeyDeletes {
			mode = mode.WithDeletesByKey()
		}
		out = append(out, scenario.Table{Name: t.Name, Columns: t.columns(), Mode: mode, Bounded: c.Config["__table.exec.sort.non-temporal.enabled__"] == true, Lookup: c.asks(t)})
	}
	for _, s := range c.Sinks {
		mode := sqltype.RetractMode
		if len(s.PrimaryKey) > 0 {
			mode = sqltype.UpsertMode
		}
		for _, key := range []string{"changelog-mode", "sink-changelog-mode-enforced"} {
			if s.Options[key] == "" {
				continue
			}
			m, err := parseMode(s.Options[key])
			if err != nil {
				return nil, err
			}
			mode = m
		}
		if s.deletesByKey() {
			mode = mode.WithDeletesByKey()
		}
		out = append(out, scenario.Table{Name: s.Name, Columns: s.columns(), Mode: mode, Sink: true})
	}
	return out, nil
}

// asks reports whether the case's statements ask for rows of a table by key: such a table
// holds in each phase the rows of that phase.
func (c *Case) asks(t Table) bool {
	asked := regexp.MustCompile("(?i)JOIN\\s+`?" + regexp.QuoteMeta(t.Name) + "`?\\s+FOR\\s+SYSTEM_TIME")
	return (c.Family == "lookup_join" || slices.Contains(c.Tags, "lookup_join")) && slices.ContainsFunc(c.SQL, asked.MatchString)
}

func parseMode(text string) (sqltype.ChangelogMode, error) {
	var m sqltype.ChangelogMode
	for _, part := range strings.Split(text, ",") {
		i := slices.Index([]string{"I", "UB", "UA", "D"}, part)
		if i < 0 {
			return 0, fmt.Errorf("there is no changelog mode %q", text)
		}
		m = m.With(vector.RowKind(i))
	}
	return m, nil
}

// execute runs the case's statements, feeds its rows, and returns what each sink
// received.
func (c *Case) execute(ctx context.Context, s *scenario.Session, steps []Step) (map[string]*scenario.Result, error) {
	for _, key := range slices.Sorted(maps.Keys(c.Config)) {
		if !strings.HasPrefix(key, "table.exec.sink.") {
			continue // batches and plans are ours to choose
		}
		err := s.Execute(ctx, fmt.Sprintf("SET '%s' = '%v'", key, c.Config[key]))
		if code := errs.CodeOf(err); err != nil && code != errs.NotFound && code != errs.Option {
			return nil, err
		}
	}
	if c.Expected.Error == "" && c.Config["table.exec.sink.upsert-materialize"] == nil { // the origin's default
		if err := s.Execute(ctx, "SET 'table.exec.sink.upsert-materialize' = 'auto'"); err != nil {
			return nil, err
		}
	}
	for _, sql := range c.SetupSQL {
		if err := s.Execute(ctx, sql); err != nil {
			return nil, err
		}
	}
	for _, f := range c.Functions {
		if f.Kind == temporalTableFunction {
			if err := s.CreateTemporalTableFunction(f.Name, f.Table, f.Time, f.Key); err != nil {
				return nil, err
			}
		}
	}
	runs := map[string]*scenario.Run{}
	for _, sql := range c.SQL {
		run, err := s.Start(ctx, sql)
		if err != nil {
			return nil, err
		}
		runs[run.Sink()] = run
	}
	for _, step := range steps {
		if err := step.take(ctx, s, runs); err != nil {
			return nil, err
		}
		if c.Steps != nil && slices.Contains(c.Tags, "lookup_join") { // it counts what came before
			if err := s.Sync(ctx); err != nil {
				return nil, err
			}
		}
		if step.phaseEnds() && c.restarts > 0 {
			// The origins' watermarks begin anew.
			how := scenario.Restart{Kind: scenario.Savepoint, Parallelism: c.restarts, ForgetWatermarks: true}
			if err := s.Restart(ctx, how); err != nil {
				return nil, fmt.Errorf("restarting between the phases: %w", err)
			}
		}
	}
	results := map[string]*scenario.Result{}
	for sink, run := range runs {
		result, err := run.End(ctx)
		if err != nil {
			return nil, err
		}
		results[sink] = result
	}
	return results, nil
}

// repeats reports whether the changes of a table may come twice. Then its key says what
// they change, and the rows that are replaced say nothing.
func (c *Case) repeats(t Table) bool {
	return c.Config["table.exec.source.cdc-events-duplicate"] == true && len(t.PrimaryKey) > 0
}

// changes are the rows of a table.
func (c *Case) changes(t Table) []Row {
	if !c.repeats(t) {
		return t.Rows
	}
	return slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return r[0] == "-U" })
}

// steps are the case's own, or without any the rows of phase 1, table by table,
// then those of phase 2.
func (c *Case) steps() []Step {
	if c.Steps != nil {
		return c.Steps
	}
	var out []Step
	for phase := 1; phase <= 2; phase++ {
		for _, t := range c.Tables {
			step := Step{Feed: t.Name}
			for _, r := range c.changes(t) {
				if p, row := r.phase(); p == phase {
					step.Rows = append(step.Rows, row)
				}
			}
			out = append(out, step)
		}
		if phase == 1 {
			out = append(out, Step{}) // time passes
		}
	}
	return out
}

// betweenPhases is the processing time between two phases. It is no multiple of ten
// seconds: the case of windows that grow in steps of five to ten expects the rows of its
// second phase in the larger one only, so they must come in the other half of it.
const betweenPhases = 65 * time.Second

// phaseEnds reports whether the step parts two phases.
func (s Step) phaseEnds() bool { return !s.Sync && s.Feed == "" && s.Check == "" }

// take feeds rows to a table, or compares a sink with what it must hold by now.
func (s Step) take(ctx context.Context, in *scenario.Session, runs map[string]*scenario.Run) error {
	switch {
	case s.Sync:
		return in.Sync(ctx)
	case s.phaseEnds():
		if err := in.Pass(ctx, betweenPhases); err != nil {
			return err
		}
		in.Empty()
		return nil
	case s.Check == "":
		for _, row := range s.Rows {
			err := in.FeedFunc(ctx, s.Feed, func(b *vector.Builder, schema sqltype.Schema) error {
				return row.appendChange(b, schema)
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := in.Sync(ctx); err != nil {
		return err
	}
	want := Expected{Final: s.Rows}
	if err := want.compare(runs[s.Check].Result(), false); err != nil {
		return fmt.Errorf("%s before the end: %w", s.Check, err)
	}
	return nil
}
