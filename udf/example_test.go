package udf_test

import (
	"context"
	"fmt"
	"os"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// A module is loaded once; each query opens instances of its functions and calls them with
// batches of columns.
func Example() {
	ctx := context.Background()
	host, err := udf.Open(ctx, udf.Config{})
	if err != nil {
		panic(err)
	}
	defer host.Close()
	code, err := os.ReadFile("../sdk/c/testdata/kinds.wasm")
	if err != nil {
		panic(err)
	}
	module, err := host.Load(ctx, "kinds.wasm", code, udf.Limits{})
	if err != nil {
		panic(err)
	}
	defer module.Close()
	divide, _ := module.Function("divide")
	fmt.Println(divide.Name, divide.Args[0].Type, divide.Args[1].Type, "->", divide.Returns)

	instances := udf.NewPool() // of one query
	defer instances.Close()
	instance, err := divide.Open(ctx, instances)
	if err != nil {
		panic(err)
	}
	p := vector.NewPool()
	a, b := vector.Of(p, int64(10), 20, 30), vector.Of(p, int64(3), 4, 0)
	out, err := instance.Call(ctx, &udf.Call{Args: []*vector.Vector{a, b}, Rows: 2, Pool: p})
	if err != nil {
		panic(err)
	}
	fmt.Println(vector.Values[int64](out))
	_, err = instance.Call(ctx, &udf.Call{Args: []*vector.Vector{a, b}, Rows: 3, Pool: p})
	fmt.Println(err)
	instance.Close() // it is dead, and does not go back to the pool
	// Output:
	// divide BIGINT BIGINT -> BIGINT
	// [3 5]
	// function divide of kinds.wasm, row 2: division by zero
}
