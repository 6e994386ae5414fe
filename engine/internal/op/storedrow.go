package op

import (
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// storedRow lays out columns of a batch in the entries of a table: first words with
// a bit for each column that can be NULL, then the columns.
type storedRow struct {
	from  []int // column of the batch
	types []sqltype.Type
	bit   []int // of the column in the words; -1: never NULL
	nulls int   // number of columns that can be NULL
	at    int   // column of the table at which the row begins

	words []int64
}

// add gives the row a further column: column c of the batch.
func (r *storedRow) add(c int, t sqltype.Type) {
	r.from, r.types = append(r.from, c), append(r.types, t)
	if t.NotNull {
		r.bit = append(r.bit, -1)
		return
	}
	r.bit = append(r.bit, r.nulls)
	r.nulls++
}

// layOut says at which column of the table the row begins, when it has all columns.
func (r *storedRow) layOut(at int) { r.at = at }

func (r *storedRow) wordCount() int { return (r.nulls + 63) / 64 }

// kinds are the columns that the row takes in the table.
func (r *storedRow) kinds() []vector.Kind {
	var out []vector.Kind
	for range r.wordCount() {
		out = append(out, vector.Int64)
	}
	for _, t := range r.types {
		out = append(out, t.Kind())
	}
	return out
}

// store writes the given rows of b, nil for all, to slots, one for each of them in
// order: of rows with one slot the last stays.
func (r *storedRow) store(to *state.Values, slots []state.Slot, b *vector.Batch, rows []int32) {
	for w := range r.wordCount() {
		r.words = resize(r.words, len(slots))
		clear(r.words)
		for i, bit := range r.bit {
			if bit>>6 == w {
				markNulls(r.words, 1<<(uint(bit)&63), b.Col(r.from[i]), rows)
			}
		}
		scatter(state.Col[int64](to, r.at+w), slots, r.words)
	}
	for i, c := range r.from {
		storeColumn(to, r.at+r.wordCount()+i, slots, b.Col(c), rows)
	}
}

// markNulls sets a bit in the words of the given rows, nil for all, in which v is
// NULL.
func markNulls(words []int64, bit int64, v *vector.Vector, rows []int32) {
	if v.Valid() == nil {
		return
	}
	for i := range words {
		if v.IsNull(int(rowAt(rows, i))) {
			words[i] |= bit
		}
	}
}

// columns are the images of the row.
func (r *storedRow) columns(p *vector.Pool, im *images) []*vector.Vector {
	out := make([]*vector.Vector, len(r.from))
	for i, t := range r.types {
		v := im.column(p, r.at+r.wordCount()+i, t.Kind())
		if bit := r.bit[i]; bit >= 0 {
			clearNulls(v, savedValues[int64](im, r.at+bit>>6), 1<<(uint(bit)&63))
		}
		out[i] = v
	}
	return out
}

// clearNulls makes NULL the rows of v whose word has the bit.
func clearNulls(v *vector.Vector, words []int64, bit int64) {
	var valid vector.Bitmap
	for i, w := range words {
		if w&bit == 0 {
			continue
		}
		if valid == nil {
			valid = v.NewValid(true)
		}
		valid.Clear(i)
	}
}

// storeColumn writes value rows[i] of v, or value i without rows, to slots[i]. What
// is NULL in v becomes an arbitrary value.
func storeColumn(to *state.Values, col int, slots []state.Slot, v *vector.Vector, rows []int32) {
	switch v.Kind() {
	case vector.Bool:
		storeFixed[bool](to, col, slots, v, rows)
	case vector.Int8:
		storeFixed[int8](to, col, slots, v, rows)
	case vector.Int16:
		storeFixed[int16](to, col, slots, v, rows)
	case vector.Int32:
		storeFixed[int32](to, col, slots, v, rows)
	case vector.Int64:
		storeFixed[int64](to, col, slots, v, rows)
	case vector.Float32:
		storeFixed[float32](to, col, slots, v, rows)
	case vector.Float64:
		storeFixed[float64](to, col, slots, v, rows)
	case vector.Decimal:
		storeFixed[vector.Dec](to, col, slots, v, rows)
	case vector.String, vector.Bytes:
		for i, s := range slots {
			to.SetBytes(col, s, v.Bytes(int(rowAt(rows, i))))
		}
	default:
		var enc []byte
		for i, s := range slots {
			enc = rowkey.AppendValue(enc[:0], v, int(rowAt(rows, i)))
			to.SetBytes(col, s, enc)
		}
	}
}

func storeFixed[T vector.Fixed](to *state.Values, col int, slots []state.Slot, v *vector.Vector, rows []int32) {
	dst, src := state.Col[T](to, col), vector.Values[T](v)
	if rows == nil {
		scatter(dst, slots, src)
		return
	}
	rows = rows[:len(slots)]
	for i, s := range slots {
		dst[s] = src[rows[i]]
	}
}

func scatter[T any](dst []T, slots []state.Slot, vals []T) {
	vals = vals[:len(slots)]
	for i, s := range slots {
		dst[s] = vals[i]
	}
}
