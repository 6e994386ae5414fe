package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
)

// Changes are what becomes of every operator with state, source and sink of a
// checkpoint and of the query that is to go on from it.
type Changes []Change

// compare goes through the parts of a query and of a checkpoint. A part is found again
// by the place that it has in the plan. It can go on when it is the same there, and its
// tables have the same form.
func compare(ctx context.Context, g *exec.Graph, r *record, stored []state.OperatorInfo, accept bool) (Changes, error) {
	c := comparison{graph: g, record: r, accept: accept, fresh: map[*exec.Node]bool{}}
	for _, n := range g.Nodes {
		switch {
		case n.Source != nil:
			c.source(n)
		case n.Sink != nil:
			c.sink(n)
		default:
			tables, err := n.Describe(ctx)
			if err != nil {
				return nil, err
			}
			c.operator(n, tables, stored)
		}
		c.seen = append(c.seen, n.ID)
	}
	c.rest(stored)
	return c.changes, nil
}

type comparison struct {
	graph   *exec.Graph
	record  *record
	accept  bool
	changes Changes
	seen    []string
	fresh   map[*exec.Node]bool // all that it reads is new
}

func (c *comparison) add(id, name string, v Verdict, why string, args ...any) {
	c.changes = append(c.changes, Change{ID: id, Name: name, Verdict: v, Why: fmt.Sprintf(why, args...)})
}

// lossy is a verdict under which something is lost.
func (c *comparison) lossy(v Verdict) Verdict {
	if c.accept {
		return v
	}
	return Refused
}

func (c *comparison) source(n *exec.Node) {
	i := slices.IndexFunc(c.record.Sources, func(s sourceRecord) bool { return s.ID == n.ID })
	switch {
	case i < 0:
		c.fresh[n] = true
		c.add(n.ID, n.Name, New, "it is read from the beginning")
	case c.record.Sources[i].What != n.What:
		// The positions are those of something else. There is nothing to accept: they
		// cannot be used, and rows would come again.
		c.add(n.ID, n.Name, Refused, "%s was read here, and now is %s", c.record.Sources[i].What, n.What)
	default:
		c.add(n.ID, n.Name, Kept, "")
	}
}

func (c *comparison) sink(n *exec.Node) {
	if slices.ContainsFunc(c.record.Sinks, func(s sinkRecord) bool { return s.ID == n.ID }) {
		c.add(n.ID, n.Name, Kept, "")
		return
	}
	c.add(n.ID, n.Name, New, "it gets what changes from now on")
}

func (c *comparison) operator(n *exec.Node, tables []state.TableInfo, stored []state.OperatorInfo) {
	c.fresh[n] = !slices.ContainsFunc(n.Inputs, func(e exec.Edge) bool { return !c.fresh[e.From] })
	before := slices.IndexFunc(c.record.Operators, func(o operatorRecord) bool { return o.ID == n.ID })
	if len(tables) == 0 {
		if before >= 0 {
			c.add(n.ID, n.Name, c.lossy(Dropped), "it has no state any more")
		}
		return
	}
	switch {
	case before < 0 && c.fresh[n]:
		c.add(n.ID, n.Name, New, "it begins with its inputs")
	case before < 0:
		c.add(n.ID, n.Name, c.lossy(Rebuilt), "there is no state for it, and its inputs have been read")
	case c.record.Operators[before].What != n.What:
		c.add(n.ID, n.Name, c.lossy(Rebuilt), "its state is that of %s, not of %s", c.record.Operators[before].What, n.What)
	default:
		i := slices.IndexFunc(stored, func(o state.OperatorInfo) bool { return o.ID == n.ID })
		if i >= 0 {
			if why := differ(stored[i].Tables, tables); why != "" {
				c.add(n.ID, n.Name, c.lossy(Rebuilt), "%s", why)
				return
			}
		}
		c.add(n.ID, n.Name, Kept, "")
	}
}

// differ says how tables are another than those stored, or "".
func differ(stored, now []state.TableInfo) string {
	for _, t := range now {
		i := slices.IndexFunc(stored, func(s state.TableInfo) bool { return s.Name == t.Name })
		if i < 0 {
			return fmt.Sprintf("there is no table %q", t.Name)
		}
		if stored[i].Description != t.Description {
			return fmt.Sprintf("table %q was %s, the query needs %s", t.Name, stored[i].Description, t.Description)
		}
	}
	for _, s := range stored {
		if !slices.ContainsFunc(now, func(t state.TableInfo) bool { return t.Name == s.Name }) {
			return fmt.Sprintf("table %q is not used any more", s.Name)
		}
	}
	return ""
}

// rest adds what only the checkpoint has.
func (c *comparison) rest(stored []state.OperatorInfo) {
	gone := func(id, name, what string) {
		if !slices.Contains(c.seen, id) {
			c.seen = append(c.seen, id)
			c.add(id, name, c.lossy(Dropped), "%s", what)
		}
	}
	for _, s := range c.record.Sources {
		gone(s.ID, s.Name, "the query does not read it any more")
	}
	for _, o := range c.record.Operators {
		gone(o.ID, o.Name, "the query has no such operator")
	}
	for _, o := range stored {
		gone(o.ID, o.Name, "the query has no such operator")
	}
	for _, s := range c.record.Sinks {
		gone(s.ID, s.Name, "the query does not write it any more")
	}
}

// Differ reports whether anything is not as it was.
func (cs Changes) Differ() bool {
	return slices.ContainsFunc(cs, func(c Change) bool { return c.Verdict != Kept })
}

// refused is the error when something would be lost.
func (cs Changes) refused(job string) error {
	if !slices.ContainsFunc(cs, func(c Change) bool { return c.Verdict == Refused }) {
		return nil
	}
	lines := make([]string, len(cs))
	for i, c := range cs {
		lines[i] = "\n  " + c.String()
	}
	return errs.New(errs.State, errs.Position{}, "job %s has state of another query:%s\n", job, strings.Join(lines, "")).
		WithHint("give the query another 'pipeline.name' to begin anew, or SET 'restore.allow-non-restored-state' = 'true' to go on without what is refused")
}
