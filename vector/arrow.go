package vector

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ArrowKind is the kind of the column that FromArrow makes of an array of the
// type, or Invalid when it cannot make one. Unsigned integers become the next
// larger signed kind (uint64 a Decimal of scale 0), dictionaries are expanded.
func ArrowKind(dt arrow.DataType) Kind {
	switch dt.ID() {
	case arrow.NULL, arrow.BOOL:
		return Bool
	case arrow.INT8:
		return Int8
	case arrow.INT16, arrow.UINT8:
		return Int16
	case arrow.INT32, arrow.UINT16, arrow.DATE32, arrow.DATE64, arrow.INTERVAL_MONTHS:
		return Int32
	case arrow.INT64, arrow.UINT32, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return Int64
	case arrow.FLOAT16, arrow.FLOAT32:
		return Float32
	case arrow.FLOAT64:
		return Float64
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.UINT64:
		return Decimal
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return String
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return Bytes
	case arrow.LIST, arrow.LARGE_LIST, arrow.FIXED_SIZE_LIST, arrow.MAP, arrow.STRUCT:
		return nestedArrowKind(dt)
	case arrow.DICTIONARY:
		return ArrowKind(dt.(*arrow.DictionaryType).ValueType)
	case arrow.EXTENSION:
		return ArrowKind(dt.(arrow.ExtensionType).StorageType())
	}
	return Invalid
}

// FromArrow returns a column with the values of an Arrow array. Values whose
// layout is the same are not copied: the column then keeps arr until it is
// released. Times and timestamps in seconds become milliseconds and durations
// always do; other units stay. Date64 becomes days.
func FromArrow(p *Pool, arr arrow.Array) (*Vector, error) {
	kind := ArrowKind(arr.DataType())
	if kind == Invalid {
		return nil, fmt.Errorf("columns of Arrow type %v are not supported", arr.DataType())
	}
	v, err := fromArrow(p, arr, kind)
	if err != nil {
		return nil, err
	}
	if v.valid == nil && arr.NullN() > 0 && arr.DataType().ID() != arrow.DICTIONARY && arr.DataType().ID() != arrow.EXTENSION {
		if bitmap := arr.NullBitmapBytes(); len(bitmap) > 0 {
			v.setArrowValid(bitmap, arr.Data().Offset())
		}
	}
	return v, nil
}

func fromArrow(p *Pool, arr arrow.Array, kind Kind) (*Vector, error) {
	n := arr.Len()
	if n == 0 {
		return NewColumnBuilder(p, kind).Finish(), nil // the array may have no buffers
	}
	switch a := arr.(type) {
	case *array.Null:
		v := p.New(Bool, n)
		v.NewValid(false)
		clear(as[bool](v.fixed, n))
		return v, nil
	case *array.Boolean:
		return boolFromArrow(p, a), nil
	case *array.Int8, *array.Int16, *array.Int32, *array.Int64, *array.Float32, *array.Float64,
		*array.Date32, *array.Time64, *array.Decimal128, *array.MonthInterval:
		return p.fixedFromArrow(kind, arr.Data()), nil
	case *array.Time32:
		scale := int64(1)
		if a.DataType().(*arrow.Time32Type).Unit == arrow.Second {
			scale = 1000
		}
		return convertArrow(p, Int64, a.Values(), func(x arrow.Time32) int64 { return int64(x) * scale }), nil
	case *array.Timestamp:
		if a.DataType().(*arrow.TimestampType).Unit != arrow.Second {
			return p.fixedFromArrow(kind, arr.Data()), nil
		}
		return scaleArrow(p, a, a.Values(), 1000, 1)
	case *array.Duration:
		switch a.DataType().(*arrow.DurationType).Unit {
		case arrow.Second:
			return scaleArrow(p, a, a.Values(), 1000, 1)
		case arrow.Microsecond:
			return scaleArrow(p, a, a.Values(), 1, 1000)
		case arrow.Nanosecond:
			return scaleArrow(p, a, a.Values(), 1, 1000_000)
		}
		return p.fixedFromArrow(kind, arr.Data()), nil
	case *array.Date64:
		const day = 86400_000
		return convertArrow(p, Int32, a.Values(), func(x arrow.Date64) int32 {
			d := x / day
			if x%day < 0 {
				d--
			}
			return int32(d)
		}), nil
	case *array.Uint8:
		return convertArrow(p, Int16, a.Values(), func(x uint8) int16 { return int16(x) }), nil
	case *array.Uint16:
		return convertArrow(p, Int32, a.Values(), func(x uint16) int32 { return int32(x) }), nil
	case *array.Uint32:
		return convertArrow(p, Int64, a.Values(), func(x uint32) int64 { return int64(x) }), nil
	case *array.Uint64:
		return convertArrow(p, Decimal, a.Values(), decFromUint), nil
	case *array.Float16:
		v := p.New(Float32, n)
		for i, dst := 0, as[float32](v.fixed, n); i < n; i++ {
			dst[i] = a.Value(i).Float32()
		}
		return v, nil
	case *array.Decimal32:
		v := p.New(Decimal, n)
		for i, dst := 0, as[Dec](v.fixed, n); i < n; i++ {
			dst[i] = decFromInt(int64(a.Value(i)))
		}
		return v, nil
	case *array.Decimal64:
		v := p.New(Decimal, n)
		for i, dst := 0, as[Dec](v.fixed, n); i < n; i++ {
			dst[i] = decFromInt(int64(a.Value(i)))
		}
		return v, nil
	case *array.String:
		return p.bytesFromArrow(kind, arr.Data())
	case *array.Binary:
		return p.bytesFromArrow(kind, arr.Data())
	case *array.LargeString:
		return p.largeFromArrow(kind, arr, a.ValueOffsets(), a.ValueBytes())
	case *array.LargeBinary:
		return p.largeFromArrow(kind, arr, a.ValueOffsets(), a.ValueBytes())
	case *array.StringView:
		return p.gatherBytes(kind, a, func(i int) []byte { s := a.Value(i); return unsafe.Slice(unsafe.StringData(s), len(s)) })
	case *array.BinaryView:
		return p.gatherBytes(kind, a, a.Value)
	case *array.FixedSizeBinary:
		return p.gatherBytes(kind, a, a.Value)
	case *array.Dictionary:
		return dictionaryFromArrow(p, a)
	case *array.Struct:
		return structFromArrow(p, a)
	case *array.Map:
		return mapFromArrow(p, a)
	case array.ListLike:
		return listFromArrow(p, a)
	case array.ExtensionArray:
		return FromArrow(p, a.Storage())
	}
	return nil, fmt.Errorf("columns of Arrow type %v are not supported", arr.DataType())
}

func decFromInt(x int64) Dec { return decimal128.New(x>>63, uint64(x)) }

func decFromUint(x uint64) Dec { return decimal128.New(0, x) }

func convertArrow[S any, T Fixed](p *Pool, kind Kind, src []S, conv func(S) T) *Vector {
	v := p.New(kind, len(src))
	dst := as[T](v.fixed, v.n)
	for i, x := range src {
		dst[i] = conv(x)
	}
	return v
}

// scaleArrow multiplies or divides (rounding down), failing when a value that is
// not NULL does not fit.
func scaleArrow[S ~int64](p *Pool, arr arrow.Array, src []S, mul, div int64) (*Vector, error) {
	v := p.New(Int64, len(src))
	dst := as[int64](v.fixed, v.n)
	for i, s := range src {
		x := int64(s)
		if div > 1 {
			q := x / div
			if x%div < 0 {
				q--
			}
			dst[i] = q
			continue
		}
		y := x * mul
		if y/mul != x && arr.IsValid(i) {
			v.Release()
			return nil, fmt.Errorf("row %d: the value %d of Arrow type %v is out of range", i, x, arr.DataType())
		}
		dst[i] = y
	}
	return v, nil
}

func boolFromArrow(p *Pool, a *array.Boolean) *Vector {
	v := p.New(Bool, a.Len())
	dst := as[uint8](v.fixed, v.n)
	src, off := a.Data().Buffers()[1].Bytes(), a.Data().Offset()
	for i := range dst {
		j := off + i
		dst[i] = src[j>>3] >> (j & 7) & 1
	}
	return v
}

// fixedFromArrow shares the values of an array whose layout is that of kind.
func (p *Pool) fixedFromArrow(kind Kind, d arrow.ArrayData) *Vector {
	n, w := d.Len(), kind.Width()
	v := &Vector{kind: kind, n: n, pool: p}
	v.refs.Store(1)
	b := d.Buffers()[1].Bytes()[d.Offset()*w:][:n*w]
	ptr := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(ptr)%uintptr(min(w, 8)) != 0 {
		v.fixed = p.alloc(n * w)
		v.owned[0] = v.fixed
		copy(as[byte](v.fixed, n*w), b)
		return v
	}
	// Only the address of this slice is used: its length would have to be a
	// number of whole words.
	v.fixed = unsafe.Slice((*uint64)(ptr), n*w/8)
	d.Retain()
	v.foreign = d.Release
	return v
}

func (p *Pool) bytesFromArrow(kind Kind, d arrow.ArrayData) (*Vector, error) {
	n := d.Len()
	raw := d.Buffers()[1].Bytes()[d.Offset()*4:]
	ptr := unsafe.Pointer(unsafe.SliceData(raw))
	if len(raw) < (n+1)*4 || uintptr(ptr)%4 != 0 {
		return nil, fmt.Errorf("an Arrow array of type %v has no valid offsets", d.DataType())
	}
	off := unsafe.Slice((*int32)(ptr), n+1)
	var data []byte
	if b := d.Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	if err := checkOffsets(off, len(data)); err != nil {
		return nil, err
	}
	v := &Vector{kind: kind, n: n, pool: p}
	v.refs.Store(1)
	v.data = data[off[0]:off[n]]
	v.offsets = off
	if base := off[0]; base != 0 {
		v.owned[1] = p.alloc((n + 1) * 4)
		v.offsets = as[int32](v.owned[1], n+1)
		for i, o := range off {
			v.offsets[i] = o - base
		}
	}
	d.Retain()
	v.foreign = d.Release
	return v, nil
}

func (p *Pool) largeFromArrow(kind Kind, arr arrow.Array, off []int64, data []byte) (*Vector, error) {
	n := arr.Len()
	v := &Vector{kind: kind, n: n, pool: p}
	v.refs.Store(1)
	v.owned[1] = p.alloc((n + 1) * 4)
	v.offsets = as[int32](v.owned[1], n+1)
	base := off[0]
	if size := off[n] - base; size > 1<<31-1 || size < 0 || size > int64(len(data)) {
		v.Release()
		return nil, fmt.Errorf("an Arrow array of type %v holds %d bytes: more than a batch can", arr.DataType(), size)
	}
	for i, o := range off[:n+1] {
		v.offsets[i] = int32(o - base)
	}
	v.data = data[:off[n]-base]
	if err := checkOffsets(v.offsets, len(v.data)); err != nil {
		v.Release()
		return nil, err
	}
	d := arr.Data()
	d.Retain()
	v.foreign = d.Release
	return v, nil
}

// checkOffsets guards against arrays from outside whose offsets would make a
// later read panic.
func checkOffsets(off []int32, size int) error {
	prev, bad := off[0], off[0] < 0
	for _, o := range off[1:] {
		bad = bad || o < prev
		prev = o
	}
	if bad || int(prev) > size {
		return fmt.Errorf("an Arrow array has offsets that are not ascending within its %d bytes", size)
	}
	return nil
}

func (p *Pool) gatherBytes(kind Kind, arr arrow.Array, value func(int) []byte) (*Vector, error) {
	n, size := arr.Len(), 0
	for i := range n {
		if arr.IsValid(i) {
			size += len(value(i))
		}
	}
	if size > 1<<31-1 {
		return nil, fmt.Errorf("an Arrow array of type %v holds %d bytes: more than a batch can", arr.DataType(), size)
	}
	v := p.NewVariable(kind, n, size)
	at := 0
	for i := range n {
		if arr.IsValid(i) {
			at += copy(v.data[at:], value(i))
		}
		v.offsets[i+1] = int32(at)
	}
	return v, nil
}

func dictionaryFromArrow(p *Pool, a *array.Dictionary) (*Vector, error) {
	dict, err := FromArrow(p, a.Dictionary())
	if err != nil {
		return nil, err
	}
	defer dict.Release()
	n := a.Len()
	rowsV := p.New(Int32, n)
	defer rowsV.Release()
	rows := as[int32](rowsV.fixed, n)
	nulls := a.NullN() > 0
	for i := range rows {
		rows[i] = 0
		if a.IsValid(i) {
			rows[i] = int32(a.GetValueIndex(i))
			if int(rows[i]) >= dict.n || rows[i] < 0 {
				return nil, fmt.Errorf("row %d of an Arrow dictionary array refers to entry %d of %d", i, rows[i], dict.n)
			}
		}
	}
	if dict.n == 0 && n > 0 { // every row is NULL
		b := NewColumnBuilder(p, dict.kind)
		for range n {
			b.AppendNull()
		}
		return b.Finish(), nil
	}
	out := dict.Take(p, rows)
	if nulls {
		valid := out.valid
		if valid == nil {
			valid = out.NewValid(true)
		}
		for i := range n {
			if a.IsNull(i) {
				valid.Clear(i)
			}
		}
	}
	return out, nil
}

// setArrowValid copies n bits from an Arrow bitmap, clearing those beyond.
func (v *Vector) setArrowValid(src []byte, offset int) {
	valid := v.NewValid(false)
	dst := as[byte](valid, len(valid)*8)
	if offset%8 == 0 {
		copy(dst, src[offset/8:][:(v.n+7)/8])
	} else {
		bitutil.CopyBitmap(src, offset, v.n, dst, 0)
	}
	if r := uint(v.n) & 63; r != 0 {
		valid[len(valid)-1] &= 1<<r - 1
	}
}

// BatchFromArrow returns a batch with the columns of an Arrow record batch, as
// FromArrow makes them. Every row is an Insert.
func BatchFromArrow(p *Pool, rec arrow.RecordBatch) (*Batch, error) {
	cols := make([]*Vector, 0, rec.NumCols())
	for i, c := range rec.Columns() {
		v, err := FromArrow(p, c)
		if err != nil {
			for _, c := range cols {
				c.Release()
			}
			return nil, fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
		cols = append(cols, v)
	}
	return NewBatch(int(rec.NumRows()), cols, nil), nil
}

// Arrow returns the column as an Arrow array of type dt, which must be a type
// whose layout is that of the column's kind (BOOL for Bool, TIME32 for Int64). The
// array shares the column's memory and holds a reference to it until released.
func (v *Vector) Arrow(dt arrow.DataType) arrow.Array {
	if dt.ID() == arrow.NULL {
		return array.NewNull(v.n)
	}
	if ArrowKind(dt) != v.kind {
		panic(fmt.Sprintf("vector: a column of %v as Arrow type %v", v.kind, dt))
	}
	var validity *memory.Buffer
	if v.valid != nil {
		validity = v.share(as[byte](v.valid, len(v.valid)*8)[:(v.n+7)/8])
	}
	var bufs []*memory.Buffer
	var children []arrow.ArrayData
	switch {
	case v.kind.Nested():
		bufs = []*memory.Buffer{validity}
		if !v.kind.Struct() {
			bufs = append(bufs, v.share(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v.offsets))), len(v.offsets)*4)))
		}
		children = v.arrowChildren(dt)
	case v.kind.Variable():
		off := v.offsets
		bufs = []*memory.Buffer{validity, v.share(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(off))), len(off)*4)), v.share(v.data)}
	case v.kind == Bool:
		bufs = []*memory.Buffer{validity, memory.NewBufferBytes(packBools(as[uint8](v.fixed, v.n)))}
	case dt.ID() == arrow.TIME32:
		narrow := make([]arrow.Time32, v.n)
		for i, x := range as[int64](v.fixed, v.n) {
			narrow[i] = arrow.Time32(x)
		}
		bufs = []*memory.Buffer{validity, memory.NewBufferBytes(arrow.GetBytes(narrow))}
	default:
		bufs = []*memory.Buffer{validity, v.share(as[byte](v.fixed, v.n*v.kind.Width()))}
	}
	data := array.NewData(dt, v.n, bufs, children, v.Nulls(), 0)
	for _, c := range children {
		c.Release()
	}
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	defer data.Release()
	return array.MakeFromData(data)
}

func packBools(src []uint8) []byte {
	out := make([]byte, (len(src)+63)/64*8)
	for i, x := range src {
		out[i>>3] |= (x & 1) << (i & 7)
	}
	return out[:(len(src)+7)/8]
}

// share makes an Arrow buffer over memory of v, which it retains.
func (v *Vector) share(b []byte) *memory.Buffer {
	if len(b) == 0 {
		return memory.NewBufferBytes(nil)
	}
	return memory.NewBufferWithAllocator(b, owner{v.Retain()})
}

// owner is the allocator of a buffer that belongs to a column: it only frees.
type owner struct{ v *Vector }

func (o owner) Allocate(size int) []byte { return make([]byte, size) }

func (o owner) Reallocate(size int, b []byte) []byte {
	n := make([]byte, size)
	copy(n, b)
	return n
}

func (o owner) Free([]byte) { o.v.Release() }

// Arrow returns the live rows as an Arrow record batch of the given schema, one
// field for each column. Rows are gathered into p when there is a selection, else
// memory is shared. Row kinds are left out.
func (b *Batch) Arrow(p *Pool, schema *arrow.Schema) arrow.RecordBatch {
	d := b.Dense(p)
	defer d.Release()
	cols := make([]arrow.Array, len(d.cols))
	for i, c := range d.cols {
		cols[i] = c.Arrow(schema.Field(i).Type)
		defer cols[i].Release()
	}
	return array.NewRecordBatch(schema, cols, int64(d.rows))
}
