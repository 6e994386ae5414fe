package rowkey

import "math"

// PutPacked writes the canonical encodings of packed keys, as AppendPacked appends them,
// to dst, each at its pos, which moves on. nulls is nil or has the masks of NULL
// columns. The words are used up.
func PutPacked(dst []byte, pos []int, l Layout, words []uint64, nulls []uint8) {
	ordered := make([]uint64, len(pos))
	for c, kind := range l.Kinds {
		width := kind.Width()
		mask, shift := uint64(math.MaxUint64)>>(64-8*width), uint(8*width)
		for i, w := range words[:len(pos)] {
			ordered[i] = w & mask
			words[i] = w >> shift // by all its bits: 0
		}
		orderWords(ordered, kind, l.desc(c))
		for i := range nulls {
			if nulls[i]>>c&1 != 0 {
				ordered[i] = 0
			}
		}
		putWords(dst, pos, ordered, width)
		for i := range nulls {
			if nulls[i]>>c&1 != 0 {
				dst[pos[i]-width-1] = l.tag(c, true)
			}
		}
	}
}
