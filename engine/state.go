package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/plan"
)

// Folders of a state directory.
const (
	jobsFolder       = "jobs"
	savepointsFolder = "savepoints"
)

// namedTargets is the number of tables that stand in the name of a job that writes
// several.
const namedTargets = 3

// jobName is 'pipeline.name', or is made from what the statement writes and its text:
// the same statement has the same name each time, whatever its lines and comments, and
// another has another.
func (e *Engine) jobName(p *plan.Plan, stmt sqlText) string {
	if name := e.session.Options.JobName; name != "" {
		return name
	}
	h := fnv.New32a()
	_, _ = io.WriteString(h, parse.Normalize(stmt.SQL())) // a hash takes everything
	var names []string
	for _, root := range p.Roots {
		s, ok := root.(*plan.Sink)
		if !ok {
			names = append(names, "select")
			continue
		}
		_, _ = io.WriteString(h, "\n"+s.Table.ID.String())
		switch {
		case len(names) < namedTargets:
			names = append(names, s.Table.ID.Object)
		case len(names) == namedTargets:
			names = append(names, "more")
		}
	}
	return fmt.Sprintf("%s-%08x", strings.Join(names, "+"), h.Sum32())
}

// sqlText is a statement with its text.
type sqlText interface {
	parse.Statement
	SQL() string
}

// durable says where the job of a statement keeps its state. A query that nobody has
// named keeps none: its rows go to who asked, once.
func (e *Engine) durable(p *plan.Plan, name string, stmt sqlText) job.Durable {
	o := e.session.Options
	_, query := p.Roots[0].(*plan.Collect)
	if e.cfg.StateDir == "" || query && o.JobName == "" {
		return job.Durable{}
	}
	return job.Durable{
		Dir:  filepath.Join(e.cfg.StateDir, jobsFolder, folderOf(name)),
		Name: name, Statement: parse.Normalize(stmt.SQL()),
		Memory: o.State.Memory, Savepoint: o.State.Savepoint,
		ForgetWatermarks: o.State.ForgetWatermarks, AcceptLoss: o.State.AllowNonRestored,
	}
}

// folderOf is a name as that of a folder.
func folderOf(name string) string {
	escaped := url.PathEscape(name)
	if strings.HasPrefix(escaped, ".") {
		escaped = "%2E" + escaped[1:]
	}
	return escaped
}

// Guarantee says what becomes of the rows of a query after a crash.
type Guarantee struct {
	// ExactlyOnce: every row of the input counts once, in the result and in the state.
	ExactlyOnce bool
	// Reasons say why it is not so, one for each source or sink.
	Reasons []string
}

func (g Guarantee) String() string {
	if g.ExactlyOnce {
		return "exactly-once"
	}
	return "at-least-once"
}

// guarantee is that of a plan when its state is kept.
func guarantee(p *plan.Plan) Guarantee {
	g := Guarantee{ExactlyOnce: true}
	reason := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		for _, r := range g.Reasons {
			if r == text {
				return
			}
		}
		g.ExactlyOnce = false
		g.Reasons = append(g.Reasons, text)
	}
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Scan:
			if !n.Source.Replayable() {
				reason("table %s cannot be read again: what it gave since the last checkpoint is lost", n.Table.ID.Object)
			}
		case *plan.Sink:
			if n.Target.Guarantee() != connector.ExactlyOnce {
				reason("table %s shows rows before the checkpoint: those since the last one come again", n.Table.ID.Object)
			}
		case *plan.Collect:
			reason("rows are given to the program before the checkpoint: those since the last one come again")
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	for _, r := range p.Roots {
		walk(r)
	}
	return g
}

// explained is what EXPLAIN says of a statement's job.
type explained struct {
	Job       string   `json:"job"`
	Durable   bool     `json:"durable"` // its state outlives a crash
	Guarantee string   `json:"guarantee"`
	Reasons   []string `json:"reasons,omitempty"`
	// GoesOn says from where, if anything was kept.
	GoesOn  string            `json:"goesOn,omitempty"`
	Changes []explainedChange `json:"changes,omitempty"`
}

type explainedChange struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`
}

func (e *Engine) explainJob(ctx context.Context, p *plan.Plan, stmt sqlText) (explained, error) {
	name := e.jobName(p, stmt)
	d := e.durable(p, name, stmt)
	g := guarantee(p)
	x := explained{Job: name, Durable: d.Dir != "", Guarantee: g.String(), Reasons: g.Reasons}
	if !x.Durable {
		x.Guarantee, x.Reasons = "none", []string{"there is no state directory; with one it would be " + g.String()}
		if e.cfg.StateDir != "" {
			x.Reasons = []string{"a query keeps state only if 'pipeline.name' is set; then it would be " + g.String()}
		}
		return x, nil
	}
	var collect connector.Sink
	if root, ok := p.Roots[0].(*plan.Collect); ok {
		collect = channel.NewOutput(root.Schema(), root.Traits().Mode)
	}
	graph, err := job.Compile(p, collect)
	if err != nil {
		return x, err
	}
	r, err := job.Preview(ctx, graph, d)
	switch {
	case err != nil:
		x.GoesOn = "unknown: " + err.Error()
	case r.Complete:
		x.GoesOn = "complete: nothing is left to do"
	case r.Epoch > 0:
		what := "checkpoint"
		if r.Savepoint {
			what = "savepoint"
		}
		x.GoesOn = fmt.Sprintf("%s of %s, epoch %d", what, r.Taken.Format(time.RFC3339), r.Epoch)
	}
	for _, c := range r.Changes {
		x.Changes = append(x.Changes, explainedChange{c.ID, c.Name, string(c.Verdict), c.Why})
	}
	return x, nil
}

// text is the lines below the plan.
func (x explained) text() string {
	var b strings.Builder
	if !x.Durable {
		return fmt.Sprintf("guarantee: %s, %s\n", x.Guarantee, x.Reasons[0])
	}
	fmt.Fprintf(&b, "job: %s\n", x.Job)
	fmt.Fprintf(&b, "guarantee: %s\n", x.Guarantee)
	for _, r := range x.Reasons {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	if x.GoesOn != "" {
		fmt.Fprintf(&b, "goes on from: %s\n", x.GoesOn)
	}
	changed := slices.ContainsFunc(x.Changes, func(c explainedChange) bool { return c.Verdict != string(job.Kept) })
	for _, c := range x.Changes {
		if !changed {
			break
		}
		fmt.Fprintf(&b, "  %s: %s", c.Name, c.Verdict)
		if c.Why != "" {
			fmt.Fprintf(&b, ", %s", c.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// addTo adds x to a plan as JSON.
func (x explained) addTo(planJSON string) string {
	all := map[string]json.RawMessage{}
	err := json.Unmarshal([]byte(planJSON), &all)
	if err == nil {
		all["job"], err = json.Marshal(x)
	}
	var out []byte
	if err == nil {
		out, err = json.MarshalIndent(all, "", "  ")
	}
	if err != nil {
		panic("engine: a plan's JSON cannot be extended: " + err.Error())
	}
	return string(out)
}

// notices say what a user should know of how a query was started.
func notices(name, dir string, r job.Recovery) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case r.Complete:
		add("job %s ended before, and nothing is left to do; remove %s to run it again", name, dir)
		return out
	case r.Epoch == 0:
		return nil
	case r.Savepoint:
		add("job %s goes on from a savepoint, epoch %d", name, r.Epoch)
	default:
		add("job %s goes on from its checkpoint of %s, epoch %d", name, r.Taken.UTC().Format(time.RFC3339), r.Epoch)
	}
	if r.Changes.Differ() {
		for _, c := range r.Changes {
			if c.Verdict != job.Kept {
				add("%s", c)
			}
		}
	}
	for _, n := range r.Lost {
		add("%s cannot be read again: what it gave since that is lost", n)
	}
	return out
}

// savepointFolder is where a savepoint goes that has been given no path.
func (e *Engine) savepointFolder(name string) (string, error) {
	if e.cfg.StateDir == "" {
		return "", errs.New(errs.Invalid, errs.Position{}, "without a state directory there can be no savepoint").
			WithHint("open the engine with one, as with --state")
	}
	at := time.Now().UTC().Format("20060102T150405.000")
	return filepath.Join(e.cfg.StateDir, savepointsFolder, folderOf(name)+"-"+at), nil
}
