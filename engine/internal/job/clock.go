package job

import "time"

// Clock is where a job's coordinator, and nobody else, takes the time from.
type Clock interface {
	// Now is the time in milliseconds since 1970.
	Now() int64
	// Ticker sends about every d until stop is called.
	Ticker(d time.Duration) (ticks <-chan time.Time, stop func())
}

// SystemClock is the clock of the machine.
type SystemClock struct{}

// Now is the time in milliseconds since 1970.
func (SystemClock) Now() int64 { return time.Now().UnixMilli() }

// Ticker is a time.Ticker.
func (SystemClock) Ticker(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}
