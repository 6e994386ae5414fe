package enginetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/plan"
)

// upsertQueries take changes by key from their tables to a sink as they are.
var upsertQueries = []string{
	"SELECT a, b, g + 1 AS g, v FROM t WHERE a <> 1",
	"SELECT l.a, l.b, l.g, r.v FROM t AS l JOIN t2 AS r ON l.a = r.a AND l.b = r.b",
	"SELECT l.a, l.b, l.v, r.w FROM t AS l JOIN u AS r ON l.a = r.k",
	"SELECT l.a, l.b, l.v, r.w FROM (SELECT a, b, v FROM t WHERE b > 0) AS l JOIN u AS r ON l.b = r.k AND l.a <> r.k",
	"SELECT l.a, l.b, l.v, q.v AS x, r.w FROM t AS l JOIN u AS r ON l.a = r.k JOIN t2 AS q ON l.a = q.a AND l.b = q.b",
	"SELECT l.a, l.b, l.v, r.b AS c, r.g FROM t AS l JOIN t2 AS r ON l.a = r.a",
	"SELECT l.a, l.b, l.v, r.n FROM t AS l JOIN (SELECT a, COUNT(*) AS n, SUM(g) AS x FROM t2 GROUP BY a) AS r ON l.a = r.a",
	"SELECT l.a, l.b, l.v, r.k, r.w FROM t AS l CROSS JOIN u AS r",
	"SELECT l.a, l.b, l.v, r.n FROM t AS l CROSS JOIN (SELECT COUNT(*) AS n FROM u) AS r",
}

// Changes that go by key to a sink show, at every mark, the result of the rows that
// were read so far, whatever the order in which everything happens.
func TestUpsertsAtMarks(t *testing.T) {
	for i, sql := range upsertQueries {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			marks := 0
			for round := range 16 {
				// The inputs that have no -U, the key kept, the sink that deletes by key.
				c := cell{name: fmt.Sprint("upserts ", i), sql: sql, input: 2 + round%2, keys: 1, sink: len(matrixSinks) - 1, round: round}
				n, err := c.checkMarks(t.Context(), 1+round%3)
				if err != nil {
					t.Fatalf("%s, round %d, seed %d: %v", sql, round, c.seed(), err)
				}
				marks += n
			}
			if marks < 25 {
				t.Errorf("%d marks are held against the reference", marks)
			}
		})
	}
}

// checkMarks runs the cell by a schedule and compares at its marks, which it counts.
func (c cell) checkMarks(ctx context.Context, parallel int) (marks int, err error) {
	trial, s, err := c.session(ctx)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for _, t := range trial.tables {
		t.splits = 1 // so that the rows read are known by their number
	}
	if _, err := c.target(ctx, s); err != nil {
		return 0, err
	}
	p, err := s.Plan(ctx, s.sql, false)
	if err != nil {
		return 0, err
	}
	if by := matrixInputs[c.input].DeletesByKey(); p.Roots[0].Traits().Mode.DeletesByKey() != by || finds(p.Roots, "Consolidate") {
		return 0, fmt.Errorf("the changes do not go by key:\n%s", plan.Text(p.Roots))
	}
	g, err := s.Graph(ctx, s.sql, s.sink)
	if err != nil {
		return 0, err
	}
	read := tapScans(g)
	var wrong error
	run := enginetest.Schedule{Graph: g, Seed: c.seed(), Parallelism: parallel}
	run.Hooks.Epoch = func(m exec.Mark) {
		scans := map[string]int{}
		for _, r := range read {
			scans[r.table] = r.until(m.Epoch)
		}
		now, err := enginetest.Reference(ctx, s.Engine, s.sql, trial.now(func(t *randomTable, _ int) int { return scans[t.name] }))
		if err == nil {
			var got map[string]int
			if got, err = s.sink.table(int(m.Epoch)); err == nil {
				err = compare(got, now)
			}
		}
		if marks++; err != nil && wrong == nil {
			wrong = fmt.Errorf("at the mark of epoch %d, after %v changes: %w\n%s", m.Epoch, scans, err, plan.Text(p.Roots))
		}
	}
	if err := run.Run(); err != nil {
		return 0, err
	}
	return marks, wrong
}

// finds reports whether there is an operator of the name.
func finds(ns []plan.Node, op string) bool {
	for _, n := range ns {
		if n.Op() == op || finds(n.Inputs(), op) {
			return true
		}
	}
	return false
}

// tapScans puts a tap behind every scan.
func tapScans(g *exec.Graph) (out []*scanTap) {
	behind := map[*exec.Node]*exec.Node{}
	var nodes []*exec.Node
	for _, n := range g.Nodes {
		for i, in := range n.Inputs {
			if t, ok := behind[in.From]; ok {
				n.Inputs[i].From = t
			}
		}
		nodes = append(nodes, n)
		var table string
		switch src := n.Source.(type) {
		case *shelf:
			table = src.name
		case keyShelf:
			table = src.name
		default:
			continue
		}
		s := &scanTap{table: table}
		out = append(out, s)
		behind[n] = &exec.Node{ID: n.ID + "/tap", Name: "tap", Inputs: []exec.Edge{{From: n}}, New: func(int) (exec.Operator, error) {
			s.taps = append(s.taps, &tap{})
			return s.taps[len(s.taps)-1], nil
		}}
		nodes = append(nodes, behind[n])
	}
	g.Nodes = nodes
	return out
}
