// Package threadtime is the clock of benchmarks: the time of the processor that a thread
// used, which does not go on while others run.
package threadtime

import (
	"runtime"
	"time"
)

// Of is the time that f takes of the processor. Goroutines that f starts are not counted.
func Of(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	from := Now()
	f()
	return Now() - from
}
