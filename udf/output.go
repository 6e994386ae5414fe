package udf

import (
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// room notes how many rows a result is given room for and returns the bytes of the
// buffers. Text and elements get what they took lately; a guest that needs more brings its
// own memory.
func (c *column) room(rows, text, list int) int {
	c.rows = rows
	size := pad(bitmapBytes(rows))
	switch c.form {
	case formFixed, formTime:
		return size + valueRoom(rows*c.width)
	case formBits:
		return size + pad(bitmapBytes(rows))
	case formText:
		c.bytes = pad(max(int(float64(rows)*c.perRow*1.25), text))
		return size + pad((rows+1)*4) + valueRoom(c.bytes)
	case formList:
		size += pad((rows + 1) * 4)
		rows = max(int(float64(rows)*c.perRow*1.25), list, 8)
	}
	for k := range c.children {
		size += c.children[k].room(rows, text, 0)
	}
	return size
}

// prepare lays out what room measured. The guest may write anything into it, also into
// the column, so that it is done anew for each call.
func (c *column) prepare(a *arena) {
	d := abi.Column{Type: c.word, Length: uint32(c.rows), RowCap: uint32(c.rows)}
	buf, at := a.cut(bitmapBytes(c.rows))
	fill(buf[:bitmapBytes(c.rows)])
	d.Validity = at
	switch c.form {
	case formFixed, formTime:
		_, d.Data = a.cutValues(c.rows * c.width)
		d.DataCap = uint32(c.rows * c.width)
	case formBits:
		_, d.Data = a.cut(bitmapBytes(c.rows))
		d.DataCap = uint32(c.rows+7) / 8
	case formText:
		_, d.Offsets = a.cut((c.rows + 1) * 4)
		_, d.Data = a.cutValues(c.bytes)
		d.DataCap = uint32(c.bytes)
	case formList:
		_, d.Offsets = a.cut((c.rows + 1) * 4)
	}
	if len(c.children) > 0 {
		d.Children, d.NChildren = a.address(c.kidsAt), uint32(len(c.children))
		for k := range c.children {
			c.children[k].prepare(a)
		}
	}
	*a.column(c.at) = d
}

// contractError is what a result breaks.
type contractError string

func (e contractError) Error() string { return string(e) }

func broken(format string, args ...any) error { return contractError(fmt.Sprintf(format, args...)) }

// taker checks the results of a call and copies them out of the guest's memory. It trusts
// nothing that lies there, and computes with it in 64 bits.
type taker struct {
	mem  []byte // all of the guest's memory
	base uint32 // of the arena
	pool *vector.Pool
	from int   // what the first row is of the batch
	left int64 // bytes that may still be copied: buffers of one result that overlap could make far more than the memory
	took int64
}

// bytes is [at, at+n) of the guest's memory, which must begin at a multiple of align, a
// power of two.
func (t *taker) bytes(what string, at abi.Ptr, n int64, align uint32) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if at == 0 || uint32(at)&(align-1) != 0 {
		return nil, broken("%s at %#x: not at a multiple of %d", what, uint32(at), align)
	}
	if int64(at)+n > int64(len(t.mem)) {
		return nil, broken("%s [%#x, +%d) is outside of the %d bytes of memory", what, uint32(at), n, len(t.mem))
	}
	t.took += n
	if t.left -= n; t.left < 0 {
		return nil, broken("the buffers of the result overlap: together they are larger than the memory")
	}
	return t.mem[at:][:n:n], nil
}

// open checks what a guest must not change of a result column, and says which of so many
// rows have a value: nil when all have.
func (t *taker) open(c *column, rows int, counts vector.Bitmap) (*abi.Column, *vector.Vector, error) {
	d := (*abi.Column)(unsafe.Pointer(&t.mem[int(t.base)+c.at : int(t.base)+c.at+abi.ColumnBytes][0]))
	switch {
	case d.Type != c.word:
		return nil, nil, broken("the type was changed from %v to %#x", c.word, uint32(d.Type))
	case d.Flags != 0:
		return nil, nil, broken("the flags were changed to %#x", d.Flags)
	case len(c.children) > 0 && (d.Children != abi.Ptr(t.base)+abi.Ptr(c.kidsAt) || d.NChildren != uint32(len(c.children))):
		return nil, nil, broken("the children were moved")
	}
	b, err := t.bytes("validity", d.Validity, int64(rows+7)/8, 1)
	if err != nil {
		return nil, nil, err
	}
	valid := t.validity(b, rows)
	if valid != nil && c.typ.NotNull {
		if r := firstMissing(words(valid), counts, rows); r >= 0 {
			valid.Release()
			return nil, nil, broken("row %d is NULL, which %v cannot be", t.from+r, c.typ)
		}
	}
	return d, valid, nil
}

// column checks and copies a result of so many rows. Counts has the rows whose values
// matter; nil stands for all. The others' may be anything that is well formed.
func (t *taker) column(c *column, rows int, counts vector.Bitmap) (*vector.Vector, error) {
	d, bitmap, err := t.open(c, rows, counts)
	if err != nil {
		return nil, err
	}
	if bitmap != nil {
		defer bitmap.Release()
	}
	if rows == 0 {
		return vector.NewColumnBuilder(t.pool, c.kind).Finish(), nil
	}
	var v *vector.Vector
	switch c.form {
	case formFixed, formTime, formBits:
		v, err = t.values(c, d, rows)
	case formText:
		v, err = t.text(c, d, rows)
	case formList:
		v, err = t.list(c, d, rows, counts, words(bitmap))
	default:
		v, err = t.row(c, rows, counts, words(bitmap))
	}
	if err != nil {
		return nil, err
	}
	if bitmap != nil {
		copy(v.NewValid(false), words(bitmap))
	}
	if c.limited {
		if err := checkValues(&c.typ, v, counts); err != nil {
			v.Release()
			return nil, err
		}
	}
	return v, nil
}

// place checks a result of fixed width and copies it to rows [t.from, t.from+rows) of v.
// Those that do not count become NULL.
func (t *taker) place(c *column, v *vector.Vector, rows int, counts vector.Bitmap) error {
	d, bitmap, err := t.open(c, rows, counts)
	if err != nil || rows == 0 {
		return err
	}
	if bitmap != nil {
		defer bitmap.Release()
	}
	b, err := t.bytes("data", d.Data, int64(rows)*int64(c.width), uint32(min(c.width, 8)))
	if err != nil {
		return err
	}
	copy(v.FixedBytes()[t.from*c.width:], b)
	if bitmap == nil && counts == nil {
		return nil
	}
	restrict(v, t.from, words(bitmap), rows)
	restrict(v, t.from, counts, rows)
	return nil
}

// restrict makes those of so many rows from there on NULL whose bits are not set; nil
// stands for bits that are.
func restrict(v *vector.Vector, from int, bits vector.Bitmap, rows int) {
	if bits == nil {
		return
	}
	valid := v.Valid()
	if valid == nil {
		valid = v.NewValid(true)
	}
	whole := 0
	if from&63 == 0 {
		whole = rows &^ 63
		for k, w := range bits[:whole>>6] {
			valid[from>>6+k] &= w
		}
	}
	for r := whole; r < rows; r++ {
		if !bits.Get(r) {
			valid.Clear(from + r)
		}
	}
}

// validity is a copy of the bits of so many rows, or nil when all are set.
func (t *taker) validity(b []byte, rows int) *vector.Vector {
	if allSet(b, rows) {
		return nil
	}
	v := t.pool.New(vector.Int64, vector.BitmapWords(rows))
	w := vector.Values[int64](v)
	w[len(w)-1] = 0
	copy(view[byte](int64Bytes(w), len(w)*8), b)
	if rest := uint(rows) & 63; rest != 0 {
		w[len(w)-1] &= 1<<rest - 1
	}
	return v
}

// allSet reports whether the first n bits are set.
func allSet(b []byte, n int) bool {
	for b := b[:n/8]; ; b = b[len(ones):] {
		if len(b) <= len(ones) {
			if string(b) != ones[:len(b)] {
				return false
			}
			break
		}
		if string(b[:len(ones)]) != ones {
			return false
		}
	}
	rest := uint(n) & 7
	return rest == 0 || b[n/8]|0xff<<rest == 0xff
}

// words is the bitmap that validity made.
func words(v *vector.Vector) vector.Bitmap {
	if v == nil {
		return nil
	}
	return view[uint64](int64Bytes(vector.Values[int64](v)), v.Len())
}

// firstMissing is the first row that counts and has no bit, or -1.
func firstMissing(bitmap, counts vector.Bitmap, rows int) int {
	for r := range rows {
		if !bitmap.Get(r) && (counts == nil || counts.Get(r)) {
			return r
		}
	}
	return -1
}

func (t *taker) values(c *column, d *abi.Column, rows int) (*vector.Vector, error) {
	size, align := int64(rows)*int64(c.width), uint32(min(c.width, 8))
	if c.form == formBits {
		size, align = int64(rows+7)/8, 1
	}
	b, err := t.bytes("data", d.Data, size, align)
	if err != nil {
		return nil, err
	}
	v := t.pool.New(c.kind, rows)
	switch {
	case c.form == formBits:
		unpackBools(vector.Values[bool](v), b)
	case c.form == formTime:
		dst := vector.Values[int64](v)
		for i, x := range view[int32](b, rows) {
			dst[i] = int64(x)
		}
	default:
		copy(v.FixedBytes(), b)
	}
	return v, nil
}

func unpackBools(dst []bool, b []byte) {
	raw := boolBytes(dst)
	for ; len(raw) >= 8; raw, b = raw[8:], b[1:] {
		// The byte, once for each bit; that bit of it; as 0 or 1.
		x := uint64(b[0]) * 0x0101010101010101 & 0x8040201008040201
		view[uint64](raw, 1)[0] = (x + 0x7f7f7f7f7f7f7f7f) >> 7 & 0x0101010101010101
	}
	for i := range raw {
		raw[i] = b[0] >> i & 1
	}
}

// offsets checks and copies the offsets of so many rows to dst, which newVector gives for
// the last one.
func (t *taker) offsets(d *abi.Column, rows int) ([]int32, error) {
	b, err := t.bytes("offsets", d.Offsets, int64(rows+1)*4, 4)
	if err != nil {
		return nil, err
	}
	return view[int32](b, rows+1), nil
}

// copyOffsets copies offsets and reports whether they ascend from 0. The differences of
// numbers that are not negative do not wrap, so that the sign bits tell.
func copyOffsets(dst, src []int32) bool {
	dst = dst[:len(src)]
	prev, signs := int32(0), src[0]
	for i, x := range src {
		dst[i] = x
		signs |= x | (x - prev)
		prev = x
	}
	return signs >= 0 && src[0] == 0
}

func (t *taker) text(c *column, d *abi.Column, rows int) (*vector.Vector, error) {
	offsets, err := t.offsets(d, rows)
	if err != nil {
		return nil, err
	}
	size := offsets[rows]
	if size < 0 || uint32(size) != d.DataLen {
		return nil, broken("the last offset is %d, the length of the data %d", size, d.DataLen)
	}
	data, err := t.bytes("data", d.Data, int64(size), 1)
	if err != nil {
		return nil, err
	}
	v := t.pool.NewVariable(c.kind, rows, int(size))
	if !copyOffsets(v.Offsets(), offsets) {
		v.Release()
		return nil, broken("the offsets do not ascend from 0")
	}
	copy(v.Data(), data)
	c.learn(int(size), rows)
	if c.kind == vector.String && !ascii(v.Data()) {
		if !utf8.Valid(v.Data()) {
			v.Release()
			return nil, broken("the data is not valid UTF-8")
		}
		for r, o := range v.Offsets() {
			if int(o) < len(v.Data()) && !utf8.RuneStart(v.Data()[o]) {
				v.Release()
				return nil, broken("row %d begins inside of a character", r)
			}
		}
	}
	return v, nil
}

// learn notes what so many rows took, for the room of the next call.
func (c *column) learn(size, rows int) {
	c.perRow = max(float64(size)/float64(rows), c.perRow*7/8)
}

func ascii(b []byte) bool {
	var signs uint64
	for len(b) >= 32 {
		w := view[[4]uint64](b, 1)[0]
		signs |= w[0] | w[1] | w[2] | w[3]
		b = b[32:]
	}
	for _, c := range b {
		signs |= uint64(c)
	}
	return signs&0x8080808080808080 == 0
}

func (t *taker) list(c *column, d *abi.Column, rows int, counts, valid vector.Bitmap) (*vector.Vector, error) {
	src, err := t.offsets(d, rows)
	if err != nil {
		return nil, err
	}
	hold := t.pool.New(vector.Int32, rows+1)
	defer hold.Release()
	offsets := vector.Values[int32](hold)
	if !copyOffsets(offsets, src) {
		return nil, broken("the offsets do not ascend from 0")
	}
	size := int(offsets[rows])
	c.learn(size, rows)
	inner := t.elements(offsets, counts, valid)
	if inner != nil {
		defer inner.Release()
	}
	kids, err := t.kids(c, size, words(inner))
	if err != nil {
		return nil, err
	}
	var v *vector.Vector
	if len(kids) == 1 {
		v = t.pool.NewList(rows, kids[0])
	} else {
		v = t.pool.NewMap(rows, kids[0], kids[1])
	}
	copy(v.Offsets(), offsets)
	if c.typ.ID == sqltype.Multiset {
		for e, n := range vector.Values[int32](v.Child(1)) {
			if n < 1 && (inner == nil || words(inner).Get(e)) {
				v.Release()
				return nil, broken("an element of a MULTISET occurs %d times", n)
			}
		}
	}
	if len(kids) == 2 {
		v = t.order(v)
	}
	return v, nil
}

// elements says which elements belong to rows that count and have a value; nil stands
// for all.
func (t *taker) elements(offsets []int32, counts, valid vector.Bitmap) *vector.Vector {
	if counts == nil && valid == nil {
		return nil
	}
	rows := len(offsets) - 1
	hidden := false
	for r := range rows {
		matters := (counts == nil || counts.Get(r)) && (valid == nil || valid.Get(r))
		hidden = hidden || !matters && offsets[r+1] > offsets[r]
	}
	if !hidden {
		return nil
	}
	size := int(offsets[rows])
	v := t.pool.New(vector.Int64, vector.BitmapWords(size))
	out := words(v)
	clear(out)
	for r := range rows {
		if (counts == nil || counts.Get(r)) && (valid == nil || valid.Get(r)) {
			for e := offsets[r]; e < offsets[r+1]; e++ {
				out.Set(int(e))
			}
		}
	}
	return v
}

// kids takes the children.
func (t *taker) kids(c *column, rows int, counts vector.Bitmap) ([]*vector.Vector, error) {
	out := make([]*vector.Vector, 0, len(c.children))
	for k := range c.children {
		v, err := t.column(&c.children[k], rows, counts)
		if err != nil {
			for _, v := range out {
				v.Release()
			}
			return nil, fmt.Errorf("child %d: %w", k, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func (t *taker) row(c *column, rows int, counts, valid vector.Bitmap) (*vector.Vector, error) {
	if counts != nil && valid != nil {
		both := t.pool.New(vector.Int64, vector.BitmapWords(rows))
		defer both.Release()
		for i, w := range valid {
			words(both)[i] = w & counts[i]
		}
		valid = words(both)
	} else if valid == nil {
		valid = counts
	}
	kids, err := t.kids(c, rows, valid)
	if err != nil {
		return nil, err
	}
	return t.pool.NewStruct(rows, kids), nil
}

// order puts the entries of maps into the order that vectors keep them in: ascending by
// key, of several with one key the last.
func (t *taker) order(v *vector.Vector) *vector.Vector {
	keys, offsets := v.Child(0), v.Offsets()
	ordered := true
	for r := 0; r < v.Len() && ordered; r++ {
		for e := offsets[r] + 1; e < offsets[r+1] && ordered; e++ {
			ordered = vector.Compare(keys, int(e)-1, keys, int(e)) < 0
		}
	}
	if ordered {
		return v
	}
	b := vector.NewColumnBuilder(t.pool, v.Kind())
	for r := range v.Len() {
		for e := offsets[r]; e < offsets[r+1]; e++ {
			b.Child(0).AppendFrom(keys, int(e))
			b.Child(1).AppendFrom(v.Child(1), int(e))
		}
		b.EndValue()
	}
	v.Release()
	return b.Finish()
}
