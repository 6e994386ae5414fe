package rowkey

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Groups is the number of key groups: the units in which keyed state is divided
// among shards. It is part of what is stored.
const Groups = 256

// The hash is stored with snapshots and routes rows to the shard that has their
// state: it must never change. A packed key hashes its word, then its NULL mask
// if there is one; other keys fold their columns from left to right, a NULL as a
// constant and a text as its textHash.
const (
	hashSeed = 0x9E3779B97F4A7C15
	hashNull = 0xD1B54A32D192ED03
	hashFold = 0xC2B2AE3D27D4EB4F
	hashText = 0xA0761D6478BD642F
)

// mix is a bijection of 64-bit words in which every input bit moves every output bit.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}

// HashPacked is the hash of a packed key: see Keys.Packed.
func HashPacked(word uint64, nulls uint8) uint64 {
	h := mix(word ^ hashSeed)
	if nulls != 0 {
		h = mix(h ^ uint64(nulls)*hashNull)
	}
	return h
}

// groupMask has the bits of a hash that say its key group.
const groupMask = uint64(Groups-1) << 56

// inGroup is a hash with the group of another.
func inGroup(hash, of uint64) uint64 { return hash&^groupMask | of&groupMask }

// HashPacked is the hash of a packed key of this layout: see Keys.Packed.
func (l Layout) HashPacked(word uint64, nulls uint8) uint64 {
	h := HashPacked(word, nulls)
	if l.Group == nil {
		return h
	}
	var part uint64
	var partNulls uint8
	at := uint(0)
	for i, c := range l.Group {
		from := uint(0)
		for _, k := range l.Kinds[:c] {
			from += uint(k.Width()) * 8
		}
		width := uint(l.Kinds[c].Width()) * 8
		part |= word >> (from & 63) & (1<<width - 1) << (at & 63)
		partNulls |= nulls >> c & 1 << i
		at += width
	}
	return inGroup(h, HashPacked(part, partNulls))
}

// groupLayout is that of the columns which decide the group.
func (l Layout) groupLayout() Layout {
	var of Layout
	for _, c := range l.Group {
		of.Kinds = append(of.Kinds, l.Kinds[c])
	}
	return of
}

// KeyGroup is the group of a key with the given hash, of so many groups. It
// depends on the hash's top bits alone: tables index by the low ones.
func KeyGroup(hash uint64, groups int) int {
	hi, _ := bits.Mul64(hash, uint64(groups))
	return int(hi)
}

// Shard is the shard, of so many, that owns a key group (of Groups). Each shard
// owns a contiguous range of groups: see GroupRange.
func Shard(group, shards int) int { return group * shards / Groups }

// GroupRange is the range [from, to) of key groups that a shard owns.
func GroupRange(shard, shards int) (from, to int) {
	first := func(s int) int { return (s*Groups + shards - 1) / shards }
	return first(shard), first(shard + 1)
}

func hashWords(dst, words []uint64, nulls []uint8) {
	dst = dst[:len(words)]
	for i, w := range words {
		dst[i] = mix(w ^ hashSeed)
	}
	if nulls == nil {
		return
	}
	nulls = nulls[:len(dst)]
	for i, m := range nulls {
		if m != 0 {
			dst[i] = mix(dst[i] ^ uint64(m)*hashNull)
		}
	}
}

// foldWords folds a column's words into the hashes.
func foldWords(dst, words []uint64) {
	words = words[:len(dst)]
	for i, h := range dst {
		dst[i] = mix(h*hashFold ^ words[i])
	}
}

// textHash is XXH3, except for texts of up to 16 bytes, which keys often are: their
// bytes make two words, whose 128-bit product is folded. It is to be mixed further.
func textHash(b []byte) uint64 {
	n := len(b)
	var lo, hi uint64
	switch {
	case n > 16:
		return xxh3.Hash(b)
	case n >= 8:
		lo, hi = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		lo, hi = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		lo, hi = uint64(b[0]), uint64(b[n/2])<<8|uint64(b[n-1])
	}
	hi, lo = bits.Mul64(lo^hashText, hi^(hashSeed+uint64(n)))
	return hi ^ lo
}
