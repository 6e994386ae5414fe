package threadtime_test

import (
	"fmt"

	"github.com/weirdb/weir/bench/threadtime"
)

func ExampleOf() {
	sum := 0
	used := threadtime.Of(func() {
		for i := range 1000 {
			sum += i
		}
	})
	fmt.Println(sum, used >= 0)
	// Output: 499500 true
}
