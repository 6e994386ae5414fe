package weir

import (
	"time"
	"unsafe"
)

// Null is a value that can be NULL: a parameter, a result, a field, an element. A
// function with a parameter or result of this type is called for rows with NULLs.
type Null[T any] struct {
	V     T
	Valid bool // false: NULL
}

// Some is a value that is not NULL.
func Some[T any](v T) Null[T] { return Null[T]{v, true} }

// None is NULL.
func None[T any]() Null[T] { return Null[T]{} }

// Or is the value, or otherwise when it is NULL.
func (n Null[T]) Or(otherwise T) T {
	if n.Valid {
		return n.V
	}
	return otherwise
}

// Entry is an entry of a MAP, whose Go form is []Entry[K, V] in the order of the
// host; the order of results does not matter, but of two entries with equal keys
// the last stays. A MULTISET is []Entry[T, int32] of elements and counts.
type Entry[K, V any] struct {
	Key   K
	Value V
}

// Version is a version of a temporal table: what it holds from Time on. Exists is
// false when there is none.
type Version[T any] struct {
	Time   int64 // in the unit of the function's time
	Row    T
	Exists bool
}

// Change is a row of a table aggregate that emits changes.
type Change[T any] struct {
	Row     T
	Retract bool // the row, emitted before, no longer holds
}

// Date is a DATE: days since 1970-01-01.
type Date int32

// DateOf is the date that t shows in its own zone.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date(floorDiv(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix(), 24*60*60))
}

// Time is midnight UTC of the date.
func (d Date) Time() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// TimeOf is the time of a TIMESTAMP that counts units since 1970, in UTC.
func TimeOf(v int64, unit time.Duration) time.Time {
	per := int64(time.Second / unit)
	sec := floorDiv(v, per)
	return time.Unix(sec, (v-sec*per)*int64(unit)).UTC()
}

// TimestampOf counts units from 1970 to t, rounding down.
func TimestampOf(t time.Time, unit time.Duration) int64 {
	return t.Unix()*int64(time.Second/unit) + int64(t.Nanosecond())/int64(unit)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// text is b as a string of the same memory.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
