package rowkey

import (
	"bytes"
	"encoding/binary"

	"github.com/weirdb/weir/vector"
)

// What follows an element of a list or an entry of a map.
const (
	noMore  = 0
	oneMore = 1
)

// nestedColumn has the encodings, without their tags, of the live rows of a nested
// key column; those of NULL rows are empty.
type nestedColumn struct {
	data []byte
	off  []int // n+1
	null []bool
}

func (c *nestedColumn) encode(v *vector.Vector, sel []int32, n int) {
	c.data, c.off, c.null = c.data[:0], resize(c.off, n+1), resize(c.null, n)
	c.off[0] = 0
	for i := range n {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		c.null[i] = v.IsNull(r)
		if !c.null[i] {
			c.data = appendPresent(c.data, v, r)
		}
		c.off[i+1] = len(c.data)
	}
}

func (c *nestedColumn) words(dst []uint64) {
	for i := range dst {
		dst[i] = textHash(c.data[c.off[i]:c.off[i+1]])
	}
}

func (c *nestedColumn) addLens(lens []int) {
	for i := range lens {
		lens[i] += c.off[i+1] - c.off[i]
	}
}

func (c *nestedColumn) put(dst []byte, pos []int, nullTag byte, desc bool) {
	for i, p := range pos {
		dst[p] = tagValue
		if c.null[i] {
			dst[p] = nullTag
		}
		end := p + 1 + copy(dst[p+1:], c.data[c.off[i]:c.off[i+1]])
		if desc {
			invert(dst[p+1 : end])
		}
		pos[i] = end
	}
}

// AppendValue appends the canonical encoding of row r of v, of any kind: that of a
// key of the one column.
func AppendValue(dst []byte, v *vector.Vector, r int) []byte {
	if v.IsNull(r) && v.Kind().Width() > 0 {
		return append(append(dst, tagNullFirst), make([]byte, v.Kind().Width())...)
	}
	return appendTagged(dst, v, r)
}

// DecodeValue appends to out the value that AppendValue wrote.
func DecodeValue(enc []byte, out *vector.ColumnBuilder) error {
	return Decode(Layout{Kinds: []vector.Kind{out.Kind()}}, enc, []*vector.ColumnBuilder{out})
}

func appendTagged(dst []byte, v *vector.Vector, r int) []byte {
	if v.IsNull(r) {
		return append(dst, tagNullFirst)
	}
	return appendPresent(append(dst, tagValue), v, r)
}

// appendPresent appends a value that is not NULL, without a tag.
func appendPresent(dst []byte, v *vector.Vector, r int) []byte {
	kind := v.Kind()
	switch {
	case kind.Variable():
		for _, b := range v.Bytes(r) {
			dst = append(dst, b)
			if b == escape {
				dst = append(dst, escapedNul)
			}
		}
		return append(dst, escape, endText)
	case kind == vector.Decimal:
		d := vector.Values[vector.Dec](v)[r]
		dst = binary.BigEndian.AppendUint64(dst, uint64(d.HighBits())^1<<63)
		return binary.BigEndian.AppendUint64(dst, d.LowBits())
	case kind.Struct():
		for f := range v.Children() {
			dst = appendTagged(dst, v.Child(f), r)
		}
		return dst
	case kind.Nested():
		off := v.Offsets()
		for e := off[r]; e < off[r+1]; e++ {
			dst = append(dst, oneMore)
			for f := range v.Children() {
				dst = appendTagged(dst, v.Child(f), int(e))
			}
		}
		return append(dst, noMore)
	}
	var word [1]uint64
	row := [1]int32{int32(r)}
	words(word[:], v, row[:])
	w := orderWord(kind, word[0], false)
	for shift := kind.Width()*8 - 8; shift >= 0; shift -= 8 {
		dst = append(dst, byte(w>>shift))
	}
	return dst
}

// decodeNested appends a value, whose tag has been read, to out and returns what
// follows.
func decodeNested(enc []byte, desc bool, out *vector.ColumnBuilder) ([]byte, error) {
	if !desc {
		return decodePresent(enc, out)
	}
	flipped := append([]byte(nil), enc...)
	invert(flipped)
	rest, err := decodePresent(flipped, out)
	return enc[len(enc)-len(rest):], err
}

func decodeTagged(enc []byte, out *vector.ColumnBuilder) ([]byte, error) {
	if len(enc) == 0 || enc[0] > tagValue {
		return nil, errCorrupt
	}
	if enc[0] == tagNullFirst {
		out.AppendNull()
		return enc[1:], nil
	}
	return decodePresent(enc[1:], out)
}

func decodePresent(enc []byte, out *vector.ColumnBuilder) ([]byte, error) {
	kind := out.Kind()
	switch {
	case kind.Variable():
		return decodeText(enc, false, out)
	case !kind.Nested():
		return decodeFixed(enc, kind, false, false, out)
	}
	if kind.Struct() {
		for f := range out.Children() {
			var err error
			if enc, err = decodeTagged(enc, out.Child(f)); err != nil {
				return nil, err
			}
		}
		out.EndValue()
		return enc, nil
	}
	var last []byte // key of the entry before
	for len(enc) > 0 && enc[0] == oneMore {
		entry := enc[1:]
		rest, err := decodeTagged(entry, out.Child(0))
		if err == nil && kind.Map() {
			key := entry[:len(entry)-len(rest)]
			if bytes.Compare(last, key) >= 0 {
				return nil, errCorrupt
			}
			last = key
			rest, err = decodeTagged(rest, out.Child(1))
		}
		if err != nil {
			return nil, err
		}
		enc = rest
	}
	if len(enc) == 0 || enc[0] != noMore {
		return nil, errCorrupt
	}
	out.EndValue()
	return enc[1:], nil
}
