package datagen

import (
	"context"
	"encoding/binary"
	"io"
	"math/bits"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
)

// Open returns the reader of a range of rows.
func (s *source) Open(_ context.Context, split connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	sp := split.Data.(span)
	r := &reader{source: s, row: sp.from, to: sp.to}
	for _, c := range scan.Of(len(s.fields)) {
		r.cols = append(r.cols, s.fields[c])
		r.width += s.fields[c].length
	}
	if position != nil {
		row, n := binary.Varint(position)
		if n <= 0 || row < sp.from || row > sp.to {
			return nil, errs.New(errs.State, errs.Position{}, "a position stored for datagen cannot be read")
		}
		r.row = row
	}
	return r, nil
}

// reader is the connector.Reader of a range of rows.
type reader struct {
	*source
	cols  []field
	row   int64 // the next one
	to    int64
	width int // bytes of text in a row

	begun time.Time // when the first row was asked for
	given int64     // rows since then
}

func (r *reader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if r.row >= r.to {
		return nil, io.EOF
	}
	n := min(int64(limit), r.to-r.row, int64(max(batchBytes/max(r.width, 1), 1)))
	if r.rate > 0 {
		if n = min(n, r.due(ctx)); n == 0 {
			return nil, nil
		}
	}
	cols := make([]*vector.Vector, len(r.cols))
	for i := range r.cols {
		cols[i] = r.cols[i].column(p, uint64(r.row), int(n))
	}
	r.row += n
	r.given += n
	return vector.NewBatch(int(n), cols, nil), nil
}

// batchBytes bounds the text of a batch.
const batchBytes = 64 << 20

// due waits for the next row's time, unless ctx ends first, and returns how many
// rows may come by now.
func (r *reader) due(ctx context.Context) int64 {
	if r.begun.IsZero() {
		r.begun = r.now()
	}
	for {
		elapsed := r.now().Sub(r.begun)
		hi, lo := bits.Mul64(uint64(max(elapsed, 0)), uint64(r.rate))
		due, _ := bits.Div64(hi, lo, uint64(time.Second)) // cannot overflow at maxRate
		if n := int64(due) + 1 - r.given; n > 0 {
			return n
		}
		if ctx.Err() != nil {
			return 0
		}
		next := time.Duration(float64(r.given) / float64(r.rate) * float64(time.Second))
		r.wait(ctx, max(next-elapsed, time.Microsecond))
	}
}

// Position is the number of the next row.
func (r *reader) Position() []byte { return binary.AppendVarint(nil, r.row) }

func (r *reader) Close() error { return nil }

// golden is the odd number nearest to 2^64 divided by the golden ratio.
const golden = 0x9E3779B97F4A7C15

// mix is the finalizer of SplitMix64: a hash of a counter as good as random.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

func hashName(name string) uint64 {
	h := uint64(golden)
	for i := range len(name) {
		h = mix(h ^ uint64(name[i]))
	}
	return h
}

// column makes the values of n rows from number row on.
func (f *field) column(p *vector.Pool, row uint64, n int) *vector.Vector {
	var v *vector.Vector
	switch f.t.Kind() {
	case vector.Int8:
		v = integers[int8](p, f, row, n)
	case vector.Int16:
		v = integers[int16](p, f, row, n)
	case vector.Int32:
		v = integers[int32](p, f, row, n)
	case vector.Int64:
		v = integers[int64](p, f, row, n)
	case vector.Float32:
		v = floats[float32](p, f, row, n)
	case vector.Float64:
		v = floats[float64](p, f, row, n)
	case vector.Decimal:
		v = f.decimals(p, row, n)
	case vector.Bool:
		v = p.New(vector.Bool, n)
		dst, state := vector.Values[bool](v), f.key+row*golden
		for i := range dst {
			dst[i] = mix(state)&1 != 0
			state += golden
		}
	case vector.String:
		v = f.texts(p, row, n)
	default:
		v = f.bytes(p, row, n)
	}
	if f.nullRate > 0 {
		f.nulls(v, row)
	}
	return v
}

func integers[T int8 | int16 | int32 | int64](p *vector.Pool, f *field, row uint64, n int) *vector.Vector {
	v := p.New(vector.KindOf[T](), n)
	dst := vector.Values[T](v)
	if f.sequence {
		x, step := f.start+int64(row)*f.step, f.step
		for i := range dst {
			dst[i] = T(x)
			x += step
		}
		return v
	}
	state, low, span := f.key+row*golden, f.low, f.span
	if span == 0 {
		for i := range dst {
			dst[i] = T(mix(state))
			state += golden
		}
		return v
	}
	for i := range dst {
		hi, _ := bits.Mul64(mix(state), span)
		dst[i] = T(low + int64(hi))
		state += golden
	}
	if f.rate > 0 {
		second := int64(1)
		for range f.t.UnitDigits() {
			second *= 10
		}
		for i := range dst {
			r := int64(row) + int64(i)
			dst[i] += T(r/f.rate*second + r%f.rate*second/f.rate)
		}
	}
	return v
}

func floats[T float32 | float64](p *vector.Pool, f *field, row uint64, n int) *vector.Vector {
	v := p.New(vector.KindOf[T](), n)
	dst, state := vector.Values[T](v), f.key+row*golden
	low, width := f.flow, f.fmax-f.flow
	for i := range dst {
		dst[i] = T(low + width*(float64(mix(state)>>11)/(1<<53)))
		state += golden
	}
	return v
}

func (f *field) decimals(p *vector.Pool, row uint64, n int) *vector.Vector {
	whole := integers[int64](p, f, row, n)
	defer whole.Release()
	v := p.New(vector.Decimal, n)
	dst := vector.Values[vector.Dec](v)
	for i, x := range vector.Values[int64](whole) {
		dst[i] = decimal128.FromI64(x)
	}
	return v
}

// texts are hexadecimal digits, as Flink's, or the numbers of a sequence.
func (f *field) texts(p *vector.Pool, row uint64, n int) *vector.Vector {
	if f.sequence {
		c := vector.NewColumnBuilder(p, vector.String)
		var buf [24]byte
		for i := range n {
			c.AppendBytes(strconv.AppendInt(buf[:0], f.start+(int64(row)+int64(i))*f.step, 10))
		}
		return c.Finish()
	}
	const digits = "0123456789abcdef"
	v := f.bytes(p, row, n)
	data := v.Data()
	for i, b := range data {
		data[i] = digits[b&15]
	}
	return v
}

func (f *field) bytes(p *vector.Pool, row uint64, n int) *vector.Vector {
	v := p.NewVariable(f.t.Kind(), n, n*f.length)
	data, off := v.Data(), v.Offsets()
	var word [8]byte
	for i := range n {
		state := mix(f.key + (row+uint64(i))*golden)
		value := data[i*f.length : (i+1)*f.length]
		for len(value) > 0 {
			binary.LittleEndian.PutUint64(word[:], mix(state))
			value = value[copy(value, word[:]):]
			state += golden
		}
		off[i+1] = int32((i + 1) * f.length)
	}
	return v
}

func (f *field) nulls(v *vector.Vector, row uint64) {
	const salt = 0x5851F42D4C957F2D
	below := uint64(f.nullRate * (1 << 32))
	valid := v.NewValid(true)
	state, some := f.key^salt+row*golden, false
	for i := range v.Len() {
		if mix(state)>>32 < below {
			valid.Clear(i)
			some = true
		}
		state += golden
	}
	if !some {
		v.DropValid()
	}
}
