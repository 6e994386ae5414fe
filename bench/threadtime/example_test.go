package threadtime_test

import (
	"fmt"
	"time"

	"github.com/weirdb/weir/bench/threadtime"
)

// Who sleeps uses little time.
func ExampleOf() {
	used := threadtime.Of(func() { time.Sleep(50 * time.Millisecond) })
	fmt.Println(used < time.Second)
	// Output: true
}
