package enginetest_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
)

// The rows of an epoch see the time of the mark before it.
func TestTheClockGoesOnAtMarks(t *testing.T) {
	table := newRandomTable(rand.New(rand.NewPCG(1, 7)), "t0", []sqltype.Type{sqltype.IntType}, 6)
	table.mode, table.key, table.splits = sqltype.AppendMode, 0, 1
	lib := &library{tables: []*randomTable{table}}
	c := &trial{tables: lib.tables, query: &query{froms: []from{{table: "t0", alias: "a"}}}}
	for _, f := range moments() {
		c.query.items = append(c.query.items, item{&term{pattern: f.pattern}, "m" + string(rune('a'+len(c.query.items)))})
	}
	s, err := c.open(t.Context(), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	clock := func(epoch uint64) int64 { return testNow + int64(epoch)*40_000_000 }
	if err := enginetest.Run(t.Context(), s.Engine, s.sql, s.sink, enginetest.Schedule{Parallelism: 1, BatchSize: 1, Clock: clock}); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for epoch, changes := range s.sink.shards[0].epochs {
		for _, got := range changes {
			rows++
			want, err := enginetest.Reference(t.Context(), s.Engine, s.sql, enginetest.Input{
				Now:    time.UnixMilli(clock(uint64(epoch))),
				Tables: func(*plan.Scan) ([]ref.Row, error) { return []ref.Row{make(ref.Row, len(table.schema))}, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := ref.Key(s.sink.types, got.row), ref.Key(s.sink.types, want.Rows[0]); a != b {
				t.Errorf("epoch %d: %s, want %s", epoch+1, a, b)
			}
		}
	}
	if rows != len(table.changes()) {
		t.Errorf("%d rows of %d", rows, len(table.changes()))
	}
}
