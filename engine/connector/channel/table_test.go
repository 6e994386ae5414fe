package channel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// A program answers for a table: it is asked with all keys of a batch at once.
func ExampleNewTable() {
	names := map[int64]string{1: "Ann", 2: "Bob"}
	schema := sqltype.Schema{{Name: "id", Type: sqltype.IntType}, {Name: "name", Type: sqltype.StringType}}
	table := channel.NewTable(schema, func(_ context.Context, keys []string, wanted [][]any) (rows [][]any, err error) {
		fmt.Println("by", keys, wanted)
		for _, w := range wanted {
			if name, ok := names[w[0].(int64)]; ok {
				rows = append(rows, []any{w[0], name})
			}
		}
		return rows, nil
	})
	c := channel.New()
	c.AddTable("customers", table) // CREATE TABLE customers (id INT, name STRING) WITH ('connector' = 'channel')

	// What a query does:
	p := vector.NewPool()
	l, _ := table.Open(context.Background(), connector.Ask{Keys: []int{0}, Columns: []int{1, 0}})
	keys := vector.NewBatch(2, []*vector.Vector{vector.Of(p, int32(2), int32(7))}, nil)
	found, _ := l.Lookup(context.Background(), p, keys)
	fmt.Println(found.Len(), found.Col(0).Text(0))
	// Output:
	// by [id] [[2] [7]]
	// 1 Bob
}

func TestTableIsNotAskedByTime(t *testing.T) {
	table := channel.NewTable(sqltype.Schema{{Name: "at", Type: sqltype.TimestampOf(3)}}, nil)
	if _, err := table.Open(t.Context(), connector.Ask{Keys: []int{0}, Columns: []int{0}}); err == nil {
		t.Error("a time is taken as a key")
	}
}
