package rowkey

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/weirdb/weir/vector"
)

var errCorrupt = errors.New("rowkey: corrupt key")

// Decode appends the values of one encoded key to out, a builder for each column.
// It accepts only what Keys.Bytes can have written; after an error some builders
// may have one value more than others.
func Decode(l Layout, enc []byte, out []*vector.ColumnBuilder) error {
	for c, kind := range l.Kinds {
		if len(enc) == 0 {
			return errCorrupt
		}
		tag := enc[0]
		enc = enc[1:]
		null := tag != tagValue
		if null && tag != l.tag(c, true) {
			return errCorrupt
		}
		var err error
		switch {
		case kind.Nested():
			if null {
				out[c].AppendNull()
			} else {
				enc, err = decodeNested(enc, l.desc(c), out[c])
			}
		case !kind.Variable():
			enc, err = decodeFixed(enc, kind, null, l.desc(c), out[c])
		case null:
			out[c].AppendNull()
		default:
			enc, err = decodeText(enc, l.desc(c), out[c])
		}
		if err != nil {
			return fmt.Errorf("%w: column %d", err, c)
		}
	}
	if len(enc) > 0 {
		return errCorrupt
	}
	return nil
}

func decodeFixed(enc []byte, kind vector.Kind, null, desc bool, out *vector.ColumnBuilder) ([]byte, error) {
	width := kind.Width()
	if len(enc) < width {
		return nil, errCorrupt
	}
	value, rest := enc[:width], enc[width:]
	var hi, w uint64
	switch width {
	case 16:
		hi, w = binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:])
	default:
		for _, b := range value {
			w = w<<8 | uint64(b)
		}
	}
	if null {
		if hi|w != 0 {
			return nil, errCorrupt
		}
		out.AppendNull()
		return rest, nil
	}
	if kind == vector.Decimal {
		hi ^= 1 << 63
		if desc {
			hi, w = ^hi, ^w
		}
		vector.Append(out, decimal128.New(int64(hi), w))
		return rest, nil
	}
	w = unorderWord(kind, w, desc)
	switch kind {
	case vector.Bool:
		if w > 1 {
			return nil, errCorrupt
		}
		vector.Append(out, w == 1)
	case vector.Int8:
		vector.Append(out, int8(w))
	case vector.Int16:
		vector.Append(out, int16(w))
	case vector.Int32:
		vector.Append(out, int32(w))
	case vector.Int64:
		vector.Append(out, int64(w))
	case vector.Float32:
		f := math.Float32frombits(uint32(w))
		if bits32(f) != w {
			return nil, errCorrupt
		}
		vector.Append(out, f)
	case vector.Float64:
		f := math.Float64frombits(w)
		if bits64(f) != w {
			return nil, errCorrupt
		}
		vector.Append(out, f)
	}
	return rest, nil
}

// unorderWord is the inverse of orderWord.
func unorderWord(k vector.Kind, w uint64, desc bool) uint64 {
	mask := uint64(math.MaxUint64) >> (64 - k.Width()*8)
	if desc {
		w ^= mask
	}
	if k == vector.Bool {
		return w
	}
	sign := mask>>1 + 1
	if (k == vector.Float32 || k == vector.Float64) && w&sign == 0 {
		return w ^ mask
	}
	return w ^ sign
}

func decodeText(enc []byte, desc bool, out *vector.ColumnBuilder) ([]byte, error) {
	var flip byte
	if desc {
		flip = 0xFF
	}
	nuls, end := 0, -1
	for i := 0; i+1 < len(enc); i++ {
		if enc[i]^flip != escape {
			continue
		}
		switch enc[i+1] ^ flip {
		case endText:
			end = i
		case escapedNul:
			nuls++
			i++
			continue
		default:
			return nil, errCorrupt
		}
		break
	}
	if end < 0 {
		return nil, errCorrupt
	}
	text := enc[:end]
	if nuls > 0 || desc {
		text = make([]byte, 0, end-nuls)
		for i := 0; i < end; i++ {
			text = append(text, enc[i]^flip)
			if enc[i]^flip == escape {
				i++
			}
		}
	}
	out.AppendBytes(text)
	return enc[end+2:], nil
}

// Unpack turns packed keys, as Keys.Packed gives them, back into columns of p.
func (l Layout) Unpack(p *vector.Pool, words []uint64, nulls []uint8) []*vector.Vector {
	out := make([]*vector.Vector, len(l.Kinds))
	shift := 0
	for c, kind := range l.Kinds {
		v := p.New(kind, len(words))
		switch kind {
		case vector.Bool:
			for i, dst := 0, vector.Values[bool](v); i < len(dst); i++ {
				dst[i] = words[i]>>shift&1 != 0
			}
		case vector.Int8:
			unpackInts(vector.Values[int8](v), words, shift)
		case vector.Int16:
			unpackInts(vector.Values[int16](v), words, shift)
		case vector.Int32:
			unpackInts(vector.Values[int32](v), words, shift)
		case vector.Int64:
			unpackInts(vector.Values[int64](v), words, shift)
		case vector.Float32:
			for i, dst := 0, vector.Values[float32](v); i < len(dst); i++ {
				dst[i] = math.Float32frombits(uint32(words[i] >> shift))
			}
		case vector.Float64:
			for i, dst := 0, vector.Values[float64](v); i < len(dst); i++ {
				dst[i] = math.Float64frombits(words[i])
			}
		default:
			panic("rowkey: the layout is not packed")
		}
		unpackNulls(v, nulls, c)
		out[c] = v
		shift += kind.Width() * 8
	}
	return out
}

func unpackInts[T signed](dst []T, words []uint64, shift int) {
	words = words[:len(dst)]
	for i, w := range words {
		dst[i] = T(w >> (shift & 63))
	}
}

func unpackNulls(v *vector.Vector, nulls []uint8, c int) {
	var valid vector.Bitmap
	for i, m := range nulls {
		if m>>c&1 != 0 {
			if valid == nil {
				valid = v.NewValid(true)
			}
			valid.Clear(i)
		}
	}
}
