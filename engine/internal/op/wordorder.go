package op

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// wordOrder gives each row of a batch a word that sorts as the row does. Rows with the
// same word may still differ: by what class and key say.
type wordOrder struct {
	first    SortKey
	kind     vector.Kind
	nullable bool
	// alone says that the word tells all but NULL from a value: the order is that of one
	// column of 64 bits at most. Then there is a class, else a key.
	alone bool
	by    []int
	enc   *rowkey.Encoder

	words   []uint64
	classes []uint8
	batch   *vector.Batch
	keys    *rowkey.Keys // of the batch, once one was asked for
}

func newWordOrder(types []sqltype.Type, keys []SortKey) *wordOrder {
	o := &wordOrder{first: keys[0], kind: types[keys[0].Column].Kind(), nullable: !types[keys[0].Column].NotNull}
	o.by, o.enc = orderEncoder(types, keys)
	o.alone = len(keys) == 1 && o.narrow()
	return o
}

// orderEncoder encodes the columns of an order so that bytes sort as rows do.
func orderEncoder(types []sqltype.Type, keys []SortKey) (by []int, enc *rowkey.Encoder) {
	var layout rowkey.Layout
	for _, k := range keys {
		by = append(by, k.Column)
		layout.Kinds = append(layout.Kinds, types[k.Column].Kind())
		layout.Desc, layout.NullsLast = append(layout.Desc, k.Desc), append(layout.NullsLast, k.NullsLast)
	}
	return by, rowkey.NewEncoder(layout)
}

// narrow reports whether a value of the first column has 64 bits at most.
func (o *wordOrder) narrow() bool { return o.kind.Width() > 0 && o.kind.Width() <= 8 }

// total reports whether rows with the same word are equal in the order.
func (o *wordOrder) total() bool { return o.alone && !o.nullable }

// read finds the words of the rows of a dense batch, which it refers to until the next.
func (o *wordOrder) read(b *vector.Batch) []uint64 {
	o.batch, o.keys = b, nil
	o.words = resize(o.words, b.Len())
	v := b.Col(o.first.Column)
	switch {
	case o.kind == vector.Decimal:
		decimalWords(o.words, vector.Values[vector.Dec](v))
	case !o.narrow():
		for i := range o.words {
			o.words[i] = headWord(o.key(i))
		}
		return o.words
	default:
		o.fixedWords(v)
	}
	if o.first.Desc {
		for i, w := range o.words {
			o.words[i] = ^w
		}
	}
	if o.nullable {
		o.nulls(v)
	}
	return o.words
}

func (o *wordOrder) fixedWords(v *vector.Vector) {
	switch o.kind {
	case vector.Bool:
		for i, x := range vector.Values[bool](v)[:len(o.words)] {
			o.words[i] = uint64(bit(x))
		}
	case vector.Int8:
		signedWords(o.words, vector.Values[int8](v))
	case vector.Int16:
		signedWords(o.words, vector.Values[int16](v))
	case vector.Int32:
		signedWords(o.words, vector.Values[int32](v))
	case vector.Int64:
		signedWords(o.words, vector.Values[int64](v))
	case vector.Float32:
		floatWords(o.words, vector.Values[float32](v))
	case vector.Float64:
		floatWords(o.words, vector.Values[float64](v))
	}
}

// signBit turned round makes a signed word sort as an unsigned one.
const signBit = 1 << 63

func signedWords[T int8 | int16 | int32 | int64](to []uint64, from []T) {
	from = from[:len(to)]
	for i, x := range from {
		to[i] = uint64(int64(x)) ^ signBit
	}
}

// floatWords has one zero, and NaN last.
func floatWords[T float32 | float64](to []uint64, from []T) {
	from = from[:len(to)]
	for i, x := range from {
		w := math.Float64bits(float64(x))
		switch {
		case x == 0:
			w = signBit
		case x != x:
			w = math.MaxUint64
		case w&signBit != 0:
			w = ^w
		default:
			w |= signBit
		}
		to[i] = w
	}
}

// decimalWords are the same for all that do not fit into 64 bits, on each side.
func decimalWords(to []uint64, from []vector.Dec) {
	from = from[:len(to)]
	for i, x := range from {
		switch hi, lo := x.HighBits(), x.LowBits(); {
		case hi == int64(lo)>>63:
			to[i] = lo ^ signBit
		case hi < 0:
			to[i] = 0
		default:
			to[i] = math.MaxUint64
		}
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// headWord is the beginning of a key.
func headWord(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var word [8]byte
	copy(word[:], key)
	return binary.BigEndian.Uint64(word[:])
}

// nulls puts the NULLs of the first column to the end where they belong.
func (o *wordOrder) nulls(v *vector.Vector) {
	last := bit(o.first.NullsLast)
	if o.alone {
		o.classes = resize(o.classes, len(o.words))
		for i := range o.classes {
			o.classes[i] = 1 - last
		}
	}
	if v.Valid() == nil {
		return
	}
	for i := range o.words {
		if v.IsNull(i) {
			o.words[i] = -uint64(last)
			if o.alone {
				o.classes[i] = last
			}
		}
	}
}

// class tells NULL from the value with the same word: the lower comes first.
func (o *wordOrder) class(i int) uint8 {
	if o.alone && o.nullable {
		return o.classes[i]
	}
	return 0
}

// key is all that the order reads of row i, if the word is not.
func (o *wordOrder) key(i int) []byte {
	if o.keys == nil {
		o.keys = o.enc.Encode(o.batch, o.by)
	}
	return o.keys.Bytes(i)
}

// before reports whether row i comes before another with the same word, of which class
// or key are given.
func (o *wordOrder) before(i int, class uint8, key []byte) bool {
	if o.alone {
		return o.class(i) < class
	}
	return bytes.Compare(o.key(i), key) < 0
}
