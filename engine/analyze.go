package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/plan"
)

// analyzeTime is how long EXPLAIN ANALYZE of a statement runs one whose inputs do not end.
const analyzeTime = 5 * time.Second

// Explain is the plan of the running query with figures of what each operator has done so
// far: rows taken in and passed on, what it keeps, the event time that it has reached and
// what holds that back, rows that were late. Below the tree it says, for each result that
// has no rows yet, where they are waiting or why they were dropped. It is empty for a
// statement without a job.
func (q *Query) Explain() string {
	if q.plan == nil {
		return ""
	}
	a := q.analyzed(q.job.Metrics())
	text := q.plan.Drawing([]string{"rows in", "rows out", "busy", "event time", "keeps"}, a.describe)
	for _, root := range q.plan.Roots {
		if why := a.silence(root); why != "" {
			text += why + "\n"
		}
	}
	return text
}

// analyzed are the figures of the query by operator.
func (q *Query) analyzed(m job.Metrics) *analysis {
	a := &analysis{nodes: map[string]*figures{}, names: map[string]*figures{}, titles: map[string]string{}, now: q.job.Now(), ended: q.job.Ended()}
	for _, root := range q.plan.Roots {
		a.title(root)
	}
	for _, o := range m.Operators {
		a.add(o)
	}
	return a
}

// figures are those of an operator over all shards.
type figures struct {
	exec.Metrics
	slowest exec.Metrics // of the shard whose event time is furthest behind
}

// analysis are the figures of a query.
type analysis struct {
	nodes  map[string]*figures // by the operator's stable name
	names  map[string]*figures // by its name in metrics
	titles map[string]string   // of operators, by stable name
	now    time.Time
	ended  bool
}

// title notes what the operators of a plan are called in it.
func (a *analysis) title(n plan.Node) {
	a.titles[n.Traits().ID] = plan.Title(n)
	for _, in := range n.Inputs() {
		a.title(in)
	}
}

func (a *analysis) add(m exec.Metrics) {
	id, step, _ := strings.Cut(m.ID, "/")
	f := a.nodes[id]
	switch {
	case f == nil:
		f = &figures{Metrics: m, slowest: m}
		f.ID, f.Figures = id, slices.Clone(m.Figures)
		a.nodes[id], a.names[m.Name] = f, f
		return
	case step != "" && m.Name != f.Name: // of the steps of a sink the last one counts
		if m.Sink {
			f.RowsIn, f.RowsOut = 0, 0
		} else {
			return
		}
		f.Name = m.Name
	}
	a.names[m.Name] = f
	f.RowsIn += m.RowsIn
	f.RowsOut += m.RowsOut
	f.Busy += m.Busy
	f.StateKeys += m.StateKeys
	f.StateBytes += m.StateBytes
	f.Late += m.Late
	f.LateRetractions += m.LateRetractions
	f.Inconsistent += m.Inconsistent
	f.Expired += m.Expired
	for _, more := range m.Figures {
		found := false
		for i := range f.Figures {
			if f.Figures[i].Name == more.Name {
				f.Figures[i].Value += more.Value
				found = true
			}
		}
		if !found {
			f.Figures = append(f.Figures, more)
		}
	}
	if m.Watermark < f.slowest.Watermark {
		f.slowest = m
	}
}

// describe are the cells of an operator, and the lines below it.
func (a *analysis) describe(n plan.Node) (cells, below []string) {
	f := a.nodes[n.Traits().ID]
	if f == nil { // an Exchange, which is part of its consumer
		return []string{"", "", "", "", ""}, nil
	}
	in, out := number(f.RowsIn), number(f.RowsOut)
	if f.Source {
		in = ""
	}
	if f.Sink {
		out = ""
	}
	keeps := ""
	if f.StateKeys > 0 {
		keeps = fmt.Sprintf("%s keys, %s", number(f.StateKeys), size(f.StateBytes))
	}
	cells = []string{in, out, f.Busy.Round(100 * time.Microsecond).String(), eventTime(f.slowest.Watermark), keeps}
	if loads := a.loads(n); len(loads) > 0 {
		below = append(below, loads...)
	} else if held := a.heldBack(f); held != "" && plan.WaitsForTime(n) {
		below = append(below, "waits for: "+held)
	}
	if f.Late > 0 {
		text := "late: " + rows(f.Late)
		if f.LateRetractions > 0 {
			text += fmt.Sprintf(", %s of them taking something back", number(f.LateRetractions))
		}
		below = append(below, text)
	}
	if f.Inconsistent > 0 {
		below = append(below, fmt.Sprintf("inconsistent: %s taken away that never came", rows(f.Inconsistent)))
	}
	if f.Expired > 0 {
		below = append(below, fmt.Sprintf("forgotten: %s entries", number(f.Expired)))
	}
	for _, more := range f.Figures {
		if more.Name != op.Loading {
			below = append(below, fmt.Sprintf("%s: %s", more.Name, number(more.Value)))
		}
	}
	return cells, below
}

// heldBack says what keeps the event time of an operator where it is: down to the split
// of a source that is furthest behind.
func (a *analysis) heldBack(f *figures) string {
	if f.slowest.Watermark == exec.EndWatermark {
		return ""
	}
	path, at := f, f
	for at != nil && !at.Source {
		path = at
		next := a.names[at.slowest.HeldBy]
		if next == at {
			break
		}
		at = next
	}
	switch {
	case at == nil && path.slowest.Watermark == exec.NoWatermark:
		return "a first row with an event time"
	case at == nil:
		return a.titles[path.ID] + a.since(path)
	}
	text := a.titles[at.ID]
	if at.slowest.HeldBy != "" {
		text += fmt.Sprintf(", split %q", at.slowest.HeldBy)
	}
	if at.slowest.Watermark == exec.NoWatermark {
		return text + ", which has had no event time yet"
	}
	return text + ", at " + eventTime(at.slowest.Watermark) + a.since(at)
}

func (a *analysis) since(f *figures) string {
	if f.slowest.HeldSince == 0 {
		return ""
	}
	since := time.UnixMilli(f.slowest.HeldSince)
	return fmt.Sprintf(" since %s, for %s", since.UTC().Format("15:04:05"), max(a.now.Sub(since), 0).Round(time.Millisecond))
}

// silence says why a root has passed on no row, or "" when it has.
func (a *analysis) silence(root plan.Node) string {
	f := a.nodes[root.Traits().ID]
	if f == nil || f.RowsIn > 0 {
		return ""
	}
	return "no rows in " + plan.Title(root) + ": " + a.reason(root)
}

// reason follows the inputs down to the operator that passes nothing on.
func (a *analysis) reason(n plan.Node) string {
	var silent []plan.Node
	for _, in := range n.Inputs() {
		if f := a.nodes[in.Traits().ID]; f != nil && f.RowsOut == 0 || f == nil && a.passed(in) == 0 {
			silent = append(silent, in)
		}
	}
	f := a.nodes[n.Traits().ID]
	if f != nil && f.RowsIn > 0 {
		if loads := a.loads(n); len(loads) > 0 {
			return plan.Title(n) + " has not joined any row yet, " + loads[0]
		}
	}
	switch {
	case len(n.Inputs()) == 0:
		if a.ended {
			return plan.Title(n) + " has no rows"
		}
		return plan.Title(n) + " has had no rows yet"
	case len(silent) > 0 && (len(silent) == len(n.Inputs()) || plan.NeedsInput(n, silent[0])):
		return a.reason(silent[0])
	case f == nil:
		return a.reason(n.Inputs()[0])
	case f.Late > 0 && f.Late >= f.RowsIn:
		return fmt.Sprintf("all %s that came to %s were late", rows(f.Late), plan.Title(n))
	}
	if held := a.heldBack(f); held != "" && plan.WaitsForTime(n) {
		return fmt.Sprintf("%s has taken in %s and waits for event time to go on: %s", plan.Title(n), rows(f.RowsIn), held)
	}
	return fmt.Sprintf("of %s in %s none was passed on%s", rows(f.RowsIn), plan.Title(n), dropped(n))
}

// passed is how many rows leave a node that has no figures of its own.
func (a *analysis) passed(n plan.Node) int64 {
	if f := a.nodes[n.Traits().ID]; f != nil {
		return f.RowsOut
	}
	if len(n.Inputs()) == 1 {
		return a.passed(n.Inputs()[0])
	}
	return 0
}

// dropped says by what rule an operator drops rows.
func dropped(n plan.Node) string {
	switch n := n.(type) {
	case *plan.Calc:
		if n.Filter != nil {
			return ": they do not meet " + n.Filter.String()
		}
	case *plan.Join, *plan.TemporalJoin, *plan.LookupJoin:
		return ": none has a partner"
	}
	return ""
}

func rows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return number(n) + " rows"
}

// number groups the digits of n.
func number(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size is a number of bytes in words.
func size(n int64) string {
	v, unit := float64(n), 0
	for units := 4; v >= 1024 && unit < units-1; unit++ {
		v /= 1024
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, [...]string{"B", "KB", "MB", "GB"}[unit])
}

func eventTime(w exec.Watermark) string {
	switch w {
	case exec.NoWatermark:
		return ""
	case exec.EndWatermark:
		return "end"
	}
	return time.UnixMilli(int64(w)).UTC().Format("2006-01-02 15:04:05.000")
}

// analyze executes EXPLAIN ANALYZE: of a job as it is, of a statement after it has run.
func (e *Engine) analyze(ctx context.Context, stmt *parse.Explain) (*Query, error) {
	if stmt.Stmt == nil {
		q, err := e.findJob(stmt.Job, stmt.At)
		if err != nil {
			return nil, err
		}
		return explanation(q.Explain()), nil
	}
	switch stmt.Stmt.(type) {
	case *parse.Query, *parse.Insert, *parse.StatementSet:
	default:
		return nil, errs.New(errs.Unsupported, stmt.At, "EXPLAIN ANALYZE runs a query or INSERT, or shows a job that is running")
	}
	if stmt.Mode&parse.ExplainJSON != 0 {
		return nil, errs.New(errs.Unsupported, stmt.At, "EXPLAIN ANALYZE has no JSON form").WithHint("Query.Metrics has the figures for programs")
	}
	q, err := e.execute(ctx, stmt.Stmt)
	if err != nil {
		return nil, err
	}
	if err := q.run(ctx, analyzeTime); err != nil {
		return nil, err
	}
	return explanation(q.Explain()), nil
}

// run runs a query until it ends, or for a time when its inputs do not, and drops its rows.
func (q *Query) run(ctx context.Context, limit time.Duration) error {
	defer q.Cancel()
	if !q.bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	for q.log != nil {
		b, err := q.log.Next(ctx)
		if err == io.EOF {
			break
		}
		if errors.Is(err, context.DeadlineExceeded) && !q.bounded {
			return nil
		}
		if err != nil {
			return err
		}
		b.Release()
	}
	if err := q.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || q.bounded {
		return err
	}
	return nil
}

func explanation(text string) *Query {
	return list("EXPLAIN", []string{"result"}, [][]string{{strings.TrimRight(text, "\n")}})
}
