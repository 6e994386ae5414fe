//go:build !linux && !darwin && !freebsd

package threadtime

import "time"

var start = time.Now()

// Now is the time by the clock, where that of a thread is not known.
func Now() time.Duration { return time.Since(start) }
