package rowkey

import (
	"math"

	"github.com/weirdb/weir/vector"
)

// The canonical word of a value is its bits, floats with one zero and one NaN,
// zero-extended from its width. A decimal has a low and a high word.

const (
	nan64 = 0x7FF8000000000000
	nan32 = 0x7FC00000
)

func bits64(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return nan64
	}
	return math.Float64bits(f)
}

func bits32(f float32) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return nan32
	}
	return uint64(math.Float32bits(f))
}

type signed interface{ int8 | int16 | int32 | int64 }

func intWords[T signed](dst []uint64, vals []T, sel []int32, mask uint64) {
	if sel == nil {
		vals = vals[:len(dst)]
		for i, x := range vals {
			dst[i] = uint64(x) & mask
		}
		return
	}
	sel = sel[:len(dst)]
	for i, r := range sel {
		dst[i] = uint64(vals[r]) & mask
	}
}

func float64Words(dst []uint64, vals []float64, sel []int32) {
	if sel == nil {
		vals = vals[:len(dst)]
		for i, x := range vals {
			dst[i] = bits64(x)
		}
		return
	}
	sel = sel[:len(dst)]
	for i, r := range sel {
		dst[i] = bits64(vals[r])
	}
}

func float32Words(dst []uint64, vals []float32, sel []int32) {
	if sel == nil {
		vals = vals[:len(dst)]
		for i, x := range vals {
			dst[i] = bits32(x)
		}
		return
	}
	sel = sel[:len(dst)]
	for i, r := range sel {
		dst[i] = bits32(vals[r])
	}
}

func boolWords(dst []uint64, vals []bool, sel []int32) {
	for i := range dst {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		var w uint64
		if vals[r] {
			w = 1
		}
		dst[i] = w
	}
}

func decimalWords(low, high []uint64, vals []vector.Dec, sel []int32) {
	high = high[:len(low)]
	for i := range low {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		low[i], high[i] = vals[r].LowBits(), uint64(vals[r].HighBits())
	}
}

// words writes the canonical words of v's live rows to dst; those of NULL rows
// are arbitrary. v has a fixed width of at most eight bytes.
func words(dst []uint64, v *vector.Vector, sel []int32) {
	if len(dst) == 0 {
		return
	}
	switch v.Kind() {
	case vector.Bool:
		boolWords(dst, vector.Values[bool](v), sel)
	case vector.Int8:
		intWords(dst, vector.Values[int8](v), sel, math.MaxUint8)
	case vector.Int16:
		intWords(dst, vector.Values[int16](v), sel, math.MaxUint16)
	case vector.Int32:
		intWords(dst, vector.Values[int32](v), sel, math.MaxUint32)
	case vector.Int64:
		intWords(dst, vector.Values[int64](v), sel, math.MaxUint64)
	case vector.Float32:
		float32Words(dst, vector.Values[float32](v), sel)
	case vector.Float64:
		float64Words(dst, vector.Values[float64](v), sel)
	default:
		panic("rowkey: no word for a column of " + v.Kind().String())
	}
}

// setNulls overwrites the words of NULL rows and reports whether there are any.
func setNulls(dst []uint64, v *vector.Vector, sel []int32, word uint64) bool {
	valid, some := v.Valid(), false
	if valid == nil {
		return false
	}
	for i := range dst {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if !valid.Get(r) {
			dst[i], some = word, true
		}
	}
	return some
}

// pack computes the words and masks of a packed layout.
func (e *Encoder) pack(b *vector.Batch, cols []int) {
	k := &e.keys
	k.words = resize(k.words, k.n)
	if len(cols) == 0 {
		clear(k.words)
		return
	}
	sel, _ := b.Sel()
	for i, c := range cols {
		v := b.Col(c)
		dst := e.word
		if i == 0 {
			dst = k.words
		}
		words(dst, v, sel)
		if setNulls(dst, v, sel, 0) {
			e.mask(v, sel, i)
		}
		if i > 0 {
			shift := e.shift[i]
			for j, w := range dst {
				k.words[j] |= w << (shift & 63)
			}
		}
	}
}

// mask adds column c's NULLs to the masks.
func (e *Encoder) mask(v *vector.Vector, sel []int32, c int) {
	k := &e.keys
	if k.nulls == nil {
		k.anyNil = true
		if cap(e.masks) < k.n {
			e.masks = make([]uint8, k.n, k.n+k.n/4)
		}
		k.nulls = e.masks[:k.n]
		clear(k.nulls)
	}
	valid := v.Valid()
	for i := range k.nulls {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if !valid.Get(r) {
			k.nulls[i] |= 1 << c
		}
	}
}

// foldHash computes the hashes of a layout that is not packed.
func (e *Encoder) foldHash(b *vector.Batch, cols []int) {
	k := &e.keys
	sel, _ := b.Sel()
	if len(cols) == 1 && sel == nil && k.n > 0 {
		if v := b.Col(cols[0]); v.Kind().Variable() && v.Valid() == nil {
			hashTexts(k.hash, v)
			return
		}
	}
	for i := range k.hash {
		k.hash[i] = hashSeed
	}
	for i, c := range cols {
		v := b.Col(c)
		switch {
		case k.n == 0:
		case v.Kind().Nested():
			e.nested[i].encode(v, sel, k.n)
			e.nested[i].words(e.word)
		case v.Kind().Variable():
			textWords(e.word, v, sel)
		case v.Kind() == vector.Decimal:
			e.high = resize(e.high, k.n)
			decimalWords(e.word, e.high, vector.Values[vector.Dec](v), sel)
			setNulls(e.high, v, sel, hashNull)
			foldWords(k.hash, e.high)
		default:
			words(e.word, v, sel)
		}
		setNulls(e.word, v, sel, hashNull)
		foldWords(k.hash, e.word)
	}
}

// hashTexts is foldHash of one column of texts without NULLs, in one pass.
func hashTexts(dst []uint64, v *vector.Vector) {
	off, data := v.Offsets()[:len(dst)+1], v.Data()
	seed := uint64(hashSeed)
	seed *= hashFold
	for i := range dst {
		dst[i] = mix(seed ^ textHash(data[off[i]:off[i+1]]))
	}
}

func textWords(dst []uint64, v *vector.Vector, sel []int32) {
	off, data := v.Offsets(), v.Data()
	if sel == nil {
		off = off[:len(dst)+1]
		for i := range dst {
			dst[i] = textHash(data[off[i]:off[i+1]])
		}
		return
	}
	sel = sel[:len(dst)]
	for i, r := range sel {
		dst[i] = textHash(data[off[r]:off[r+1]])
	}
}
