package engine_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/vector"
)

// A query's changelog has a row kind for each row: here a group appears, and then
// its sum changes.
func Example() {
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Config{Parallelism: 1, BatchSize: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	q, err := e.ExecuteSQL(ctx, `
		SELECT fruit, SUM(n) AS total
		FROM (VALUES ('apple', 1), ('pear', 5), ('apple', 2)) AS sales(fruit, n)
		GROUP BY fruit`)
	if err != nil {
		log.Fatal(err)
	}
	for {
		b, err := q.Changelog().Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		for i := range b.Len() {
			r := b.Row(i)
			fmt.Println(b.Kind(r), b.Col(0).Text(r), vector.Values[int32](b.Col(1))[r])
		}
		b.Release()
	}
	// Output:
	// +I apple 1
	// +I pear 5
	// -U apple 1
	// +U apple 3
}

// Errors have a code, a place in the statement, and a way out.
func ExampleEngine_ExecuteSQL_error() {
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	_, err = e.ExecuteSQL(ctx, "SELECT prise FROM (VALUES (1)) AS t(price)")
	fmt.Println(err)
	// Output: line 1:8: column "prise" not found; did you mean "price"?
}
