// Package demo has functions of every form that the SDK knows, for its tests.
package demo

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"time"

	weir "github.com/weirdb/weir/sdk/go"
)

//weir:module demo 1.0.0
//weir:limit fuel 2000000000

//weir:scalar add(a BIGINT, b BIGINT) BIGINT deterministic
func add(a, b, sum []int64) {
	for i := range sum {
		sum[i] = a[i] + b[i]
	}
}

//weir:scalar add_rows(a BIGINT, b BIGINT) BIGINT deterministic
func addRows(a, b int64) int64 { return a + b }

//weir:scalar divide(a BIGINT, b BIGINT) BIGINT deterministic
func divide(a, b int64) (int64, error) {
	if b == 0 {
		return 0, errors.New("b is zero")
	}
	return a / b, nil
}

// quotient panics where divide fails.
//
//weir:scalar quotient(a BIGINT, b BIGINT) BIGINT deterministic
func quotient(a, b int64) int64 { return a / b }

//weir:scalar upper_ascii(s STRING) STRING deterministic constant
func upperASCII(s weir.Strings, out *weir.StringBuilder) {
	for i := range s.Len() {
		text := s.Bytes(i)
		upper := out.Extend(len(text))
		for k, c := range text {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			upper[k] = c
		}
	}
}

//weir:scalar upper_string(s STRING) STRING deterministic
func upperString(s string) string { return strings.ToUpper(s) }

//weir:scalar repeat_string(s STRING, n INT) STRING deterministic constant
func appendRepeat(dst []byte, s string, n int32) ([]byte, error) {
	if n < 0 || n > 100 {
		return nil, errors.New("n is not between 0 and 100: " + strconv.Itoa(int(n)))
	}
	for range n {
		dst = append(dst, s...)
	}
	return dst, nil
}

//weir:scalar coalesce2(a BIGINT, b BIGINT) BIGINT deterministic
func coalesce2(a, b weir.Null[int64]) weir.Null[int64] {
	if a.Valid {
		return a
	}
	return b
}

//weir:scalar null_if_odd(a INT) INT deterministic
func nullIfOdd(a int32) weir.Null[int32] {
	if a%2 != 0 {
		return weir.None[int32]()
	}
	return weir.Some(a)
}

// half_called has a parameter that holds NULL and one that does not.
//
//weir:scalar half_called(a STRING, b STRING) STRING deterministic
func halfCalled(a weir.Null[string], b string) string { return a.Or("-") + b }

//weir:scalar is_weekend(d DATE) BOOLEAN deterministic
func isWeekend(d weir.Date) bool {
	w := d.Time().Weekday()
	return w == time.Saturday || w == time.Sunday
}

//weir:scalar next_month(t TIMESTAMP(6)) TIMESTAMP(6) deterministic
func nextMonth(t time.Time) time.Time { return t.AddDate(0, 1, 0) }

//weir:scalar half_time(t TIME(9)) TIME(9) deterministic
func halfTime(d time.Duration) time.Duration { return d / 2 }

//weir:scalar plus_money(a DECIMAL(20, 2), b DECIMAL(20, 2)) DECIMAL(21, 2) deterministic
func plusMoney(a, b weir.Decimal) (weir.Decimal, error) {
	sum, ok := a.Add(b)
	if !ok {
		return sum, errors.New("overflow")
	}
	return sum, nil
}

//weir:scalar any_true(flags BOOLEAN...) BOOLEAN deterministic
func anyTrue(flags ...bool) bool {
	for _, f := range flags {
		if f {
			return true
		}
	}
	return false
}

//weir:scalar join_all(sep STRING, parts STRING...) STRING deterministic
func joinAll(sep string, parts ...weir.Null[string]) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Valid {
			if b.Len() > 0 {
				b.WriteString(sep)
			}
			b.WriteString(p.V)
		}
	}
	return b.String()
}

//weir:scalar clock() TIMESTAMP_LTZ(3)
func clock(c *weir.Call, out []int64) {
	for i := range out {
		out[i] = c.NowMillis()
	}
}

//weir:scalar draw(n BIGINT) BIGINT
func draw(c *weir.Call, n int64) (int64, error) {
	if n <= 0 {
		return 0, errors.New("n must be positive")
	}
	c.Log(weir.Debug, "drawing")
	return c.Rand().Int64N(n), nil
}

// odd_fails is a batch function whose error names its row.
//
//weir:scalar odd_fails(a SMALLINT) SMALLINT deterministic
func oddFails(a weir.Column[int16], out *weir.Builder[int16]) error {
	for i := range a.Len() {
		if a.IsNull(i) {
			out.AppendNull()
			continue
		}
		if a.At(i)%2 != 0 {
			return &weir.RowError{Row: i, Err: errors.New("odd")}
		}
		out.Append(a.At(i))
	}
	return nil
}

// mallocs counts what has been allocated in the module so far.
//
//weir:scalar mallocs() BIGINT
func mallocs(out []int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for i := range out {
		out[i] = int64(m.Mallocs)
	}
}
