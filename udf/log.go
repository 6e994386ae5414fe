package udf

import (
	"strings"
	"unicode/utf8"

	"github.com/weirdb/weir/abi"
)

// lineCost is what a line costs the guest in fuel, and droppedCost one that nobody gets.
const (
	lineCost    = 4000
	droppedCost = 400
	leastLine   = 64 // bytes that an empty line counts
)

// log takes the lines of one instance. It keeps a line that was not ended yet for each of
// standard output and error.
type log struct {
	left    int64     // bytes that the batch may still log
	pending [2][]byte // Info, Warn
	open    bool      // something may be pending
}

// line logs what the guest gave as one line.
func (l *log) line(i *Instance, level abi.Level, text []byte) {
	i.count.LogLines++
	n := min(len(text), abi.MaxLogLine)
	out := i.fn.module.host.config.Log
	if l.left < int64(n) || out == nil {
		l.left = min(l.left, 0) // a line that does not fit ends the log of the batch
		i.charge(droppedCost)
		return
	}
	i.charge(lineCost)
	l.left -= max(int64(n), leastLine)
	out(Line{Module: i.fn.module.name, Function: i.fn.Export, Level: min(level, abi.Error), Text: clean(text[:n])})
}

// write logs the lines that text ends, and keeps the rest.
func (l *log) write(i *Instance, level abi.Level, text []byte) {
	pending := &l.pending[level-abi.Info]
	l.open = true
	for len(text) > 0 {
		if l.left <= 0 {
			*pending = (*pending)[:0]
			i.charge(droppedCost)
			return
		}
		end, rest := len(text), len(text)
		for k, c := range text[:min(len(text), abi.MaxLogLine)] {
			if c == '\n' {
				end, rest = k, k+1
				break
			}
		}
		ended := rest > end
		end = min(end, abi.MaxLogLine-len(*pending))
		if !ended {
			rest = end
		}
		*pending = append(*pending, text[:end]...)
		text = text[rest:]
		if ended || len(*pending) == abi.MaxLogLine {
			l.line(i, level, *pending)
			*pending = (*pending)[:0]
		}
	}
}

// flush logs what was not ended.
func (l *log) flush(i *Instance) {
	l.open = false
	for k, b := range l.pending {
		if len(b) > 0 {
			l.line(i, abi.Info+abi.Level(k), b)
			l.pending[k] = b[:0]
		}
	}
}

// clean is text that a guest wrote without what could hurt a terminal or a log: control
// characters and bytes that are no UTF-8.
func clean(text []byte) string {
	s := string(text)
	ok := utf8.ValidString(s)
	for k := 0; k < len(s) && ok; k++ {
		ok = s[k] >= ' ' && s[k] < 0x7f
	}
	if ok {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1 // control, also those that turn the direction of text
		}
		return r
	}, s)
}
