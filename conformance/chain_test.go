package conformance

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// An update of one key of one of ten tables that are joined in a row comes out as a number
// of changes that is linear in the tables.
func TestChainOfLeftJoins(t *testing.T) {
	t.Parallel()
	for _, byFirst := range []bool{true, false} {
		for _, tables := range []int{2, 6, 10} {
			t.Run(fmt.Sprintf("%d tables, by the first %t", tables, byFirst), func(t *testing.T) {
				without := chainChanges(t, tables, byFirst, -1)
				for i := range tables {
					if n := chainChanges(t, tables, byFirst, i) - without; n < 2 || n > 2*tables {
						t.Errorf("an update of table %d comes out as %d changes", i, n)
					}
				}
			})
		}
	}
}

// chainChanges joins tables of one row each, updates that of one of them, or none for -1,
// and counts all changes of the result.
func chainChanges(t *testing.T, tables int, byFirst bool, update int) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	schema := sqltype.Schema{{Name: "k", Type: sqltype.BigIntType.Required()}, {Name: "v", Type: sqltype.BigIntType}}
	channels := channel.New()
	inputs := make([]*channel.Input, tables)
	for i := range inputs {
		inputs[i] = channel.NewInput(schema, sqltype.RetractMode)
		channels.AddInput(fmt.Sprint("t", i), inputs[i])
	}
	e, err := engine.Open(ctx, engine.Config{Connectors: []connector.Connector{channels}, Parallelism: 1, BatchSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var columns []string
	from := "t0"
	for i := range inputs {
		sql := fmt.Sprintf("CREATE TABLE t%d (k BIGINT NOT NULL, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'channel')", i)
		if _, err := e.ExecuteSQL(ctx, sql); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, fmt.Sprintf("t%d.v AS v%d", i, i))
		switch {
		case i > 0 && byFirst:
			from += fmt.Sprintf(" LEFT JOIN t%d ON t0.k = t%d.k", i, i)
		case i > 0:
			from += fmt.Sprintf(" LEFT JOIN t%d ON t%d.k = t%d.k", i, i-1, i)
		}
	}
	q, err := e.ExecuteSQL(ctx, "SELECT t0.k, "+strings.Join(columns, ", ")+" FROM "+from)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Cancel()
	total := make(chan int)
	go func() {
		n := 0
		for {
			b, err := q.Changelog().Next(ctx)
			if err != nil {
				if err != io.EOF {
					t.Error(err)
				}
				total <- n
				return
			}
			n += b.Len()
			b.Release()
		}
	}()
	// Each change is an epoch of its own.
	send := func(in *channel.Input, rows ...channel.Row) {
		if err := in.Send(ctx, rows...); err != nil {
			t.Fatal(err)
		}
		if err := q.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, in := range inputs {
		send(in, channel.Insert(int64(1), int64(0)))
	}
	if update >= 0 {
		send(inputs[update],
			channel.Row{Kind: vector.UpdateBefore, Values: []any{int64(1), int64(0)}},
			channel.Row{Kind: vector.UpdateAfter, Values: []any{int64(1), int64(1)}})
	}
	if err := q.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	return <-total
}
