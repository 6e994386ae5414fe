package vector

import "math/bits"

// Bitmap holds one bit per row, least significant first, as Arrow's validity
// bitmaps do: a set bit is a value, a clear bit a NULL.
type Bitmap []uint64

// BitmapWords is the number of words that n bits take.
func BitmapWords(n int) int { return (n + 63) / 64 }

// Get reports bit i.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// SetTo writes bit i.
func (b Bitmap) SetTo(i int, v bool) {
	if v {
		b.Set(i)
	} else {
		b.Clear(i)
	}
}

// Fill sets the first n bits and clears the rest of their last word.
func (b Bitmap) Fill(n int) {
	w := n >> 6
	for i := range b[:w] {
		b[i] = ^uint64(0)
	}
	if r := uint(n) & 63; r != 0 {
		b[w] = 1<<r - 1
	}
}

// Count is the number of set bits among the first n.
func (b Bitmap) Count(n int) int {
	c, w := 0, n>>6
	for _, x := range b[:w] {
		c += bits.OnesCount64(x)
	}
	if r := uint(n) & 63; r != 0 {
		c += bits.OnesCount64(b[w] & (1<<r - 1))
	}
	return c
}
