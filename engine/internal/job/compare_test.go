package job_test

import (
	"context"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// A query that is changed is compared with its state part by part.
func TestChangedQueries(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(g *exec.Graph)
		refused string // "" : goes on
		accept  bool   // goes on when that is accepted
	}{
		"nothing":            {change: func(*exec.Graph) {}},
		"another filter":     {change: func(g *exec.Graph) { g.Nodes[1].Name = "Sum[7]" }},
		"another sum":        {func(g *exec.Graph) { g.Nodes[1].What = "products" }, "Sum: refused, its state is that of sums, not of products", true},
		"another place":      {func(g *exec.Graph) { g.Nodes[1].ID = "x" }, "Sum: refused, there is no state for it", true},
		"no state any more":  {func(g *exec.Graph) { g.Nodes[1].New = pass }, "Sum: refused, it has no state any more", true},
		"another table":      {func(g *exec.Graph) { g.Nodes[0].What = "table out" }, "Scan: refused, table in was read here, and now is table out", false},
		"no source any more": {func(g *exec.Graph) { g.Nodes[0].ID = "y" }, "Scan: refused, the query does not read it any more", true},
		"no sink any more":   {func(g *exec.Graph) { g.Nodes[2].ID = "y" }, "Sink: refused, the query does not write it any more", true},
		"other tables":       {func(g *exec.Graph) { g.Nodes[1].New = newOtherTable }, `table "sums" was`, true},
	} {
		d := newDurable(t, newReplayed(rows(1, 100), rows(2, 100)))
		d.killed()
		d.change = c.change
		for _, accept := range []bool{false, true} {
			d.cfg.Durable.AcceptLoss = accept
			j, err := startAgain(d)
			switch {
			case c.refused == "" || accept && c.accept:
				if err != nil {
					t.Errorf("%s, accept %t: %v", name, accept, err)
					continue
				}
				if err := j.Wait(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if j.Recovery().Changes.Differ() != (c.refused != "") {
					t.Errorf("%s: %v", name, j.Recovery().Changes)
				}
			case err == nil || errs.CodeOf(err) != errs.State || !strings.Contains(err.Error(), c.refused):
				t.Errorf("%s, accept %t: %v, want %q", name, accept, err, c.refused)
			}
			if c.refused == "" {
				break // it has come to its end
			}
		}
	}
}

// startAgain starts a job whose directory the one before may still have.
func startAgain(d *durable) (*job.Job, error) {
	for {
		j, err := job.Start(d.t.Context(), d.graph(), d.cfg)
		if err == nil || !strings.Contains(err.Error(), "in use") {
			return j, err
		}
	}
}

func pass(int) (exec.Operator, error) { return &times{told: func(string, int64) {}}, nil }

// newOtherTable keeps something else in a table of the same name.
func newOtherTable(int) (exec.Operator, error) { return &otherTable{}, nil }

type otherTable struct{ keptSum }

func (s *otherTable) Open(_ context.Context, rt *exec.Runtime) error {
	rt.State.Values("sums", rowkey.Layout{Kinds: []vector.Kind{vector.String}}, twoInts)
	return nil
}

func (s *otherTable) Process(_ int, b *vector.Batch, out exec.Output) error { return out.Emit(b) }
func (s *otherTable) Flush(exec.Output) error                               { return nil }
