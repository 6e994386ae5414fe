package op

import (
	"math"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// distance says how places at a distance from a row are found, among the rows low to
// high of a partition.
type distance struct {
	sign      int64 // of what is added to a row's value
	desc      bool
	behind    bool // the first row behind the place, and not the first that is not before
	low, high int32
}

// reached reports whether a value that compares so with that of the place is not before
// the place, or is behind it.
func (d distance) reached(cmp int) bool {
	if d.desc {
		cmp = -cmp
	}
	return cmp > 0 || cmp == 0 && !d.behind
}

// far is x plus by, and no more than an integer can be.
func far(x, by int64) int64 {
	sum := x + by
	switch {
	case by > 0 && sum < x:
		return math.MaxInt64
	case by < 0 && sum > x:
		return math.MinInt64
	}
	return sum
}

func distantInts[T int8 | int16 | int32 | int64](d distance, by int64, vals []T, at []int32) {
	by *= d.sign
	j := d.low
	for i := d.low; i < d.high; i++ {
		place := far(int64(vals[i]), by)
		for j < d.high {
			cmp := 0
			if v := int64(vals[j]); v < place {
				cmp = -1
			} else if v > place {
				cmp = 1
			}
			if d.reached(cmp) {
				break
			}
			j++
		}
		at[i] = j
	}
}

func distantFloats[T float32 | float64](d distance, by float64, vals []T, at []int32) {
	by *= float64(d.sign)
	j := d.low
	for i := d.low; i < d.high; i++ {
		place := float64(vals[i]) + by
		for j < d.high && !d.reached(compareFloats(float64(vals[j]), place)) {
			j++
		}
		at[i] = j
	}
}

// compareFloats has NaN behind all others.
func compareFloats(a, b float64) int {
	switch {
	case a < b || a == a && b != b:
		return -1
	case a > b || a != a && b == b:
		return 1
	}
	return 0
}

func distantDecs(d distance, by vector.Dec, vals []vector.Dec, at []int32) {
	if d.sign < 0 {
		by = by.Negate()
	}
	j := d.low
	for i := d.low; i < d.high; i++ {
		place := vals[i].Add(by) // 38 digits leave room
		for j < d.high && !d.reached(kernel.CmpDec(vals[j], place)) {
			j++
		}
		at[i] = j
	}
}
