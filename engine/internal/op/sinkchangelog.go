package op

import (
	"context"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// SinkChangelog turns the changelog of a query into the one that a sink takes: it
// drops -U for a sink that replaces rows by key, and fails for what the sink has no
// way to show. The planner refuses such queries; a source that sends other kinds
// than it declared is found here.
type SinkChangelog struct {
	exec.Stateless
	mode  sqltype.ChangelogMode
	table string
	rt    *exec.Runtime
}

// NewSinkChangelog returns a SinkChangelog for the sink of a table that takes the
// given row kinds.
func NewSinkChangelog(table string, mode sqltype.ChangelogMode) *SinkChangelog {
	return &SinkChangelog{mode: mode, table: table}
}

// Open keeps the runtime.
func (s *SinkChangelog) Open(_ context.Context, rt *exec.Runtime) error {
	s.rt = rt
	return nil
}

// Process emits the rows of b that the sink takes.
func (s *SinkChangelog) Process(_ int, b *vector.Batch, out exec.Output) error {
	kinds := b.Kinds()
	if kinds == nil || s.mode == sqltype.RetractMode {
		return out.Emit(b)
	}
	keep := make([]int32, 0, b.Len())
	for i := range b.Len() {
		r := b.Row(i)
		switch k := kinds[r]; {
		case s.mode.Has(k):
			keep = append(keep, int32(r))
		case k != vector.UpdateBefore || !s.mode.Has(vector.UpdateAfter):
			e := errs.New(errs.Changelog, errs.Position{}, "table %s takes only rows of the kinds %s, and the query gave a row of kind %s", s.table, s.mode, k)
			return e.WithHint("declare a primary key and a connector that can update rows")
		}
	}
	if len(keep) == b.Len() {
		return out.Emit(b)
	}
	if len(keep) == 0 {
		return nil
	}
	part := b.Select(vector.Of(s.rt.Pool, keep...))
	defer part.Release()
	return out.Emit(part)
}
