//go:build linux || darwin || freebsd

package threadtime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time that the thread of the caller used, to the nanosecond: two calls are
// compared within runtime.LockOSThread. The times that getrusage reports are counted in
// ticks of milliseconds on some systems.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic("threadtime: " + err.Error())
	}
	return time.Duration(t.Nano())
}
