package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/vector"
)

// imageFloats are the columns of the images of a sum of approximate numbers, beside
// imageCount. The sum of squares is in imageSquares and the next one.
func imageFloats() floatColumns { return floatColumns{high: 1, low: 2, special: 3} }

const imageSquares = 4

func imageFloatKinds(squares bool) []vector.Kind {
	kinds := []vector.Kind{vector.Int64, vector.Float64, vector.Float64, vector.Bytes}
	if squares {
		kinds = append(kinds, vector.Float64, vector.Float64)
	}
	return kinds
}

// frameFloats sums approximate numbers as floatSum does, and with squares those of them
// as squareSum does.
type frameFloats[T float32 | float64] struct {
	col     int
	squares bool
	of      *expr.Aggregate
	vals    []T

	n        int64
	sum      [2]float64
	square   [2]float64
	strange  special // values that are not finite
	strangeB []byte
}

func (a *frameFloats[T]) begin(w *overWalk) error {
	a.vals = vector.Values[T](w.cols[a.col])
	return nil
}

func (a *frameFloats[T]) end()           { a.vals = nil }
func (a *frameFloats[T]) retracts() bool { return true }

func (a *frameFloats[T]) clear() error {
	a.n, a.sum, a.square, a.strange, a.strangeB = 0, [2]float64{}, [2]float64{}, special{}, nil
	return nil
}

func (a *frameFloats[T]) add(row int) error    { return a.take(float64(a.vals[row]), 1) }
func (a *frameFloats[T]) remove(row int) error { return a.take(float64(a.vals[row]), -1) }

func (a *frameFloats[T]) take(x float64, sign int64) error {
	if a.n += sign; a.n == 0 {
		return a.clear() // from an exact 0 on
	}
	if !finite(x) {
		a.strange.count(x, sign)
		a.strangeB = a.strange.bytes()
		return nil
	}
	s := float64(sign)
	a.sum[0], a.sum[1] = addDouble(a.sum[0], a.sum[1], s*x)
	if a.squares {
		square := x * x
		rest := math.FMA(x, x, -square)
		h, l := addDouble(a.square[0], a.square[1], s*square)
		a.square[0], a.square[1] = addDouble(h, l, s*rest)
	}
	if !finite(a.sum[0]) || !finite(a.square[0]) {
		return overflow(a.of)
	}
	return nil
}

// count counts a value that is not finite.
func (c *special) count(x float64, by int64) {
	switch {
	case math.IsInf(x, 1):
		c.plus += by
	case math.IsInf(x, -1):
		c.minus += by
	default:
		c.nan += by
	}
}

func (a *frameFloats[T]) save(im *images) error {
	saved(im, imageCount, a.n)
	saved(im, 1, a.sum[0])
	saved(im, 2, a.sum[1])
	savedText(im, 3, a.strangeB)
	if a.squares {
		saved(im, imageSquares, a.square[0])
		saved(im, imageSquares+1, a.square[1])
	}
	return nil
}

func (a *frameFloats[T]) load(state []byte) error {
	var words [4]int64
	err := readWords(state, &a.n, &words[0], &words[1], &words[2], &words[3], &a.strange.plus, &a.strange.minus, &a.strange.nan)
	for i := range a.sum {
		a.sum[i], a.square[i] = math.Float64frombits(uint64(words[i])), math.Float64frombits(uint64(words[2+i]))
	}
	a.strangeB = a.strange.bytes()
	return err
}

func (a *frameFloats[T]) store(buf []byte) ([]byte, error) {
	bits := func(x float64) int64 { return int64(math.Float64bits(x)) }
	c := a.strange
	return appendWords(buf, a.n, bits(a.sum[0]), bits(a.sum[1]), bits(a.square[0]), bits(a.square[1]), c.plus, c.minus, c.nan), nil
}

// frameDecs sums decimals of one scale.
type frameDecs struct {
	col      int
	of       *expr.Aggregate
	vals     []vector.Dec
	n, wraps int64
	sum      vector.Dec
}

func (a *frameDecs) begin(w *overWalk) error {
	a.vals = vector.Values[vector.Dec](w.cols[a.col])
	return nil
}

func (a *frameDecs) end()           { a.vals = nil }
func (a *frameDecs) retracts() bool { return true }

func (a *frameDecs) clear() error {
	a.n, a.wraps, a.sum = 0, 0, vector.Dec{}
	return nil
}

func (a *frameDecs) add(row int) error {
	a.n++
	a.take(a.vals[row])
	return nil
}

func (a *frameDecs) remove(row int) error {
	a.n--
	a.take(a.vals[row].Negate())
	return nil
}

func (a *frameDecs) take(v vector.Dec) {
	old := a.sum
	a.sum = old.Add(v)
	if h := a.sum.HighBits(); (old.HighBits()^h)&(v.HighBits()^h) < 0 {
		a.wraps += 1 - 2*int64(uint64(v.HighBits())>>63)
	}
}

func (a *frameDecs) save(im *images) error {
	if a.wraps != 0 && a.n > 0 {
		return overflow(a.of)
	}
	saved(im, imageCount, a.n)
	saved(im, imageSum, a.sum)
	return nil
}

func (a *frameDecs) load(state []byte) error {
	var high, low int64
	err := readWords(state, &a.n, &a.wraps, &high, &low)
	a.sum = vector.DecFromWords(high, uint64(low))
	return err
}

func (a *frameDecs) store(buf []byte) ([]byte, error) {
	return appendWords(buf, a.n, a.wraps, a.sum.HighBits(), int64(a.sum.LowBits())), nil
}
