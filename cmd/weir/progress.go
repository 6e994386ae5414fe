package main

import (
	"fmt"
	"io"
	"time"

	"github.com/weirdb/weir/engine"
)

// progressDelay is how long a query runs before its progress is shown.
const progressDelay = 500 * time.Millisecond

// progress shows on a terminal how far a query has come: one line, redrawn, and
// gone at the end.
type progress struct {
	stop, done chan struct{}
}

// startProgress shows what read says of a query so far, until end is called. With a nil w
// it shows nothing.
func startProgress(w io.Writer, read func() engine.Metrics) *progress {
	p := &progress{stop: make(chan struct{}), done: make(chan struct{})}
	if w == nil {
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		start := time.Now()
		select {
		case <-p.stop:
			return
		case <-time.After(progressDelay):
		}
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			fmt.Fprintf(w, "\r\x1b[K%s", progressLine(read(), time.Since(start)))
			select {
			case <-p.stop:
				fmt.Fprint(w, "\r\x1b[K")
				return
			case <-tick.C:
			}
		}
	}()
	return p
}

// end takes the line away. It may be called once.
func (p *progress) end() {
	close(p.stop)
	<-p.done
}

// progressLine says how many rows were read, and which tables are still loaded.
func progressLine(m engine.Metrics, elapsed time.Duration) string {
	rate := int64(float64(m.SourceRows) / max(elapsed.Seconds(), 1e-3))
	line := fmt.Sprintf("%s, %s/s, %.1f s", countRows(m.SourceRows), grouped(rate), elapsed.Seconds())
	for _, l := range m.Loading {
		line += fmt.Sprintf("; loading %s: %s", l.Table, countRows(l.RowsRead))
		if l.RowsWaiting > 0 {
			line += fmt.Sprintf(", %s wait", grouped(l.RowsWaiting))
		}
	}
	return line
}

// countRows is "1 row" or "1,234 rows".
func countRows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return grouped(n) + " rows"
}

// grouped writes a number that is not negative with commas between thousands.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
