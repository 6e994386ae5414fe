// Package bad has functions that break what they promise, each in one way.
package bad

import (
	"errors"

	weir "github.com/weirdb/weir/sdk/go"
)

var calls, last int64

//weir:scalar counts(a BIGINT) BIGINT deterministic
func counts(a int64) int64 {
	calls++
	return a + calls
}

//weir:scalar tells_time(a BIGINT) BIGINT deterministic
func tellsTime(c *weir.Call, a int64) int64 { return a + c.NowMillis() }

// running looks at the row before, of the same batch.
//
//weir:scalar running(a BIGINT) BIGINT deterministic
func running(c *weir.Call, a int64) int64 {
	if c.Row() == 0 {
		last = 0
	}
	last += a & 0xff
	return last
}

var kept [][]byte

//weir:scalar leaks(a STRING) BIGINT deterministic
func leaks(a string) int64 {
	kept = append(kept, append(make([]byte, 0, 64), a...))
	return int64(len(a))
}

//weir:scalar traps(a BIGINT) BIGINT deterministic
func traps(a int64) int64 {
	if a == 1<<63-1 {
		var deep func(n int64) int64
		deep = func(n int64) int64 { return deep(n+1) + 1 }
		return deep(0)
	}
	return a
}

//weir:scalar no_text(a BIGINT) STRING deterministic
func noText(a int64) string { return string([]byte{'x', 0xff}) }

//weir:scalar too_wide(a BIGINT) DECIMAL(3, 0) deterministic
func tooWide(a int64) weir.Decimal { return weir.DecimalOf(a) }

//weir:scalar endless(a BIGINT) BIGINT deterministic
func endless(a int64) int64 {
	for a != -1<<62 {
		last = a
	}
	return a
}

//weir:scalar refuses(a BIGINT) BIGINT deterministic
func refuses(a int64) (int64, error) { return 0, errors.New("never") }

//weir:scalar short(a BIGINT) BIGINT deterministic
func short(a []int64, out *weir.Builder[int64]) {
	for _, v := range a[:len(a)/2] {
		out.Append(v)
	}
}

// lossy forgets a state that it is merged into.
//
//weir:aggregate lossy(a INT) BIGINT deterministic
type lossy struct{ Sum int64 }

func (s *lossy) Add(a int32)     { s.Sum += int64(a) }
func (s *lossy) Merge(o *lossy)  { s.Sum = o.Sum }
func (s *lossy) Retract(a int32) { s.Sum += int64(a) }
func (s *lossy) Finish() int64   { return s.Sum }

// eager emits its changes again and again.
//
//weir:table_aggregate eager(a INT) ROW<a INT> deterministic
type eager struct{ Last int64 }

func (s *eager) Add(a int32)                       { s.Last = int64(a) }
func (s *eager) EmitChanges() []weir.Change[int32] { return []weir.Change[int32]{{Row: int32(s.Last)}} }
