package state

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/weirdb/weir/vector"
)

// column holds one value, possibly NULL, for each position (a slot or a row id).
// A position that was never stored, or was zeroed, holds the zero value.
type column interface {
	empty() column // one like it, without values
	grow(n int)    // makes room for positions below n
	zero(at []int32)
	bytes() int64

	// store copies the values of v at rows (all of them when nil) to the
	// positions at, which are zero.
	store(v *vector.Vector, rows, at []int32)
	// differ sets diff[i] where the value of v at rows[i] is not the one at at[i].
	differ(v *vector.Vector, rows, at []int32, diff []bool)
	take(p *vector.Pool, at []int32) *vector.Vector

	hasNulls() bool // there may be NULLs
	isNull(at int32) bool
	setNull(at int32)
	// save appends one value to buf; load reads it back from the front of data,
	// into a position that is zero, and returns the rest. That it is NULL is saved
	// elsewhere; what is saved then does not matter.
	save(buf []byte, at int32) []byte
	load(data []byte, at int32) (rest []byte, err error)
	field

	// prefix writes a word for each position that sorts as the values do but may
	// be equal for different ones; compare orders them exactly.
	prefix(at []int32, o order, out []uint64)
	compare(a, b int32, o order) int

	// For Options.EvictAll: poison makes positions unusable until they are
	// zeroed, move takes the column to new memory and spoils the old; intact is
	// false when someone wrote to spoilt memory or to the poisoned positions at.
	poison(at []int32)
	move()
	intact(at []int32) bool
}

// order is the direction of one sort column.
type order struct{ desc, nullsLast bool }

func newColumn(k vector.Kind, opt Options) column {
	switch k {
	case vector.Bool:
		return &fixed[bool]{}
	case vector.Int8:
		return &fixed[int8]{}
	case vector.Int16:
		return &fixed[int16]{}
	case vector.Int32:
		return &fixed[int32]{}
	case vector.Int64:
		return &fixed[int64]{}
	case vector.Float32:
		return &fixed[float32]{}
	case vector.Float64:
		return &fixed[float64]{}
	case vector.Decimal:
		return &fixed[vector.Dec]{}
	}
	t := texts{kind: k, arena: arena{poisons: opt.EvictAll}}
	switch {
	case k.Nested():
		return &nested{texts: t}
	case k.Variable():
		return &t
	}
	panic("state: a column of kind " + k.String())
}

// nulls is the set of positions that are NULL; most columns never have one.
type nulls struct {
	bits vector.Bitmap // nil: none yet
	room int
}

func (n *nulls) growNulls(room int) {
	n.room = room
	if n.bits != nil {
		n.bits = extend(n.bits, vector.BitmapWords(room))
	}
}

func (n *nulls) hasNulls() bool { return n.bits != nil }

func (n *nulls) isNull(at int32) bool { return n.bits != nil && n.bits.Get(int(at)) }

func (n *nulls) setNull(at int32) {
	if n.bits == nil {
		n.bits = make(vector.Bitmap, vector.BitmapWords(n.room))
	}
	n.bits.Set(int(at))
}

func (n *nulls) zeroNulls(at []int32) {
	if n.bits == nil {
		return
	}
	for _, p := range at {
		n.bits.Clear(int(p))
	}
}

func (n *nulls) storeNulls(v *vector.Vector, rows, at []int32) {
	valid := v.Valid()
	if valid == nil {
		return
	}
	for i, p := range at {
		r := i
		if rows != nil {
			r = int(rows[i])
		}
		if !valid.Get(r) {
			n.setNull(p)
		}
	}
}

func (n *nulls) takeNulls(v *vector.Vector, at []int32) {
	if n.bits == nil {
		return
	}
	var valid vector.Bitmap
	for i, p := range at {
		if n.bits.Get(int(p)) {
			if valid == nil {
				valid = v.NewValid(true)
			}
			valid.Clear(i)
		}
	}
}

// differNulls sets diff where only one side is NULL.
func (n *nulls) differNulls(v *vector.Vector, rows, at []int32, diff []bool) {
	if n.bits == nil && v.Valid() == nil {
		return
	}
	for i, p := range at {
		if v.IsNull(int(rows[i])) != n.isNull(p) {
			diff[i] = true
		}
	}
}

// compareNulls orders a and b if one of them is NULL.
func (n *nulls) compareNulls(a, b int32, o order) (c int, done bool) {
	if n.bits == nil {
		return 0, false
	}
	an, bn := n.bits.Get(int(a)), n.bits.Get(int(b))
	switch {
	case !an && !bn:
		return 0, false
	case an && bn:
		return 0, true
	case an == o.nullsLast:
		return 1, true
	}
	return -1, true
}

func (n *nulls) prefixNulls(at []int32, o order, out []uint64) {
	if n.bits == nil {
		return
	}
	for i, p := range at {
		if n.bits.Get(int(p)) {
			out[i] = 0
			if o.nullsLast {
				out[i] = math.MaxUint64
			}
		}
	}
}

// fixed is a column of a fixed-width kind.
type fixed[T vector.Fixed] struct {
	nulls
	data   []T
	spoilt []T // EvictAll: where data was before
}

func (c *fixed[T]) empty() column { return &fixed[T]{} }

func (c *fixed[T]) grow(n int) {
	c.data = extend(c.data, n)
	c.growNulls(n)
}

func (c *fixed[T]) zero(at []int32) {
	var zero T
	for _, p := range at {
		c.data[p] = zero
	}
	c.zeroNulls(at)
}

func (c *fixed[T]) bytes() int64 {
	var zero T
	return int64(cap(c.data))*int64(unsafe.Sizeof(zero)) + int64(len(c.bits))*8
}

func (c *fixed[T]) store(v *vector.Vector, rows, at []int32) {
	src, dst := vector.Values[T](v), c.data
	if rows == nil {
		for i, p := range at {
			dst[p] = src[i]
		}
	} else {
		rows = rows[:len(at)]
		for i, p := range at {
			dst[p] = src[rows[i]]
		}
	}
	c.storeNulls(v, rows, at)
	if v.Valid() != nil {
		var zero T
		for _, p := range at { // whatever stands where v is NULL would be saved
			if c.isNull(p) {
				dst[p] = zero
			}
		}
	}
}

func (c *fixed[T]) differ(v *vector.Vector, rows, at []int32, diff []bool) {
	if len(at) == 0 {
		return
	}
	src := vector.Values[T](v)
	rows, diff = rows[:len(at)], diff[:len(at)]
	if c.bits == nil && v.Valid() == nil {
		for i, p := range at {
			a, b := src[rows[i]], c.data[p]
			if a != b && (a == a || b == b) { // NaN is NaN
				diff[i] = true
			}
		}
		return
	}
	for i, p := range at {
		a, b := src[rows[i]], c.data[p]
		if a != b && (a == a || b == b) && !v.IsNull(int(rows[i])) {
			diff[i] = true
		}
	}
	c.differNulls(v, rows, at, diff)
}

func (c *fixed[T]) take(p *vector.Pool, at []int32) *vector.Vector {
	v := p.New(vector.KindOf[T](), len(at))
	src, dst := c.data, vector.Values[T](v)
	for i, r := range at {
		dst[i] = src[r]
	}
	c.takeNulls(v, at)
	return v
}

func (c *fixed[T]) raw(at int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&c.data[at])), unsafe.Sizeof(c.data[at]))
}

func (c *fixed[T]) save(buf []byte, at int32) []byte { return append(buf, c.raw(at)...) }

func (c *fixed[T]) load(data []byte, at int32) ([]byte, error) {
	raw := c.raw(at)
	if len(data) < len(raw) || vector.KindOf[T]() == vector.Bool && data[0] > 1 {
		return nil, errCorrupt
	}
	return data[copy(raw, data):], nil
}

func (c *fixed[T]) forms(all []form) []form {
	var zero T
	return append(all, form{kind: fixedForm, width: int(unsafe.Sizeof(zero))})
}

func (c *fixed[T]) gather(part *tablePart, at []int32) { gatherValues(part, c.data, at) }

// sortable maps a value to a word that sorts as it does, floats with one zero and
// NaN last. Decimals outside of 64 bits share the extreme words.
func sortable[T vector.Fixed](src []T, at []int32, out []uint64) {
	const sign = 1 << 63
	out = out[:len(at)]
	switch src := any(src).(type) {
	case []bool:
		for i, p := range at {
			out[i] = 0
			if src[p] {
				out[i] = 1
			}
		}
	case []int8:
		sortableInts(src, at, out)
	case []int16:
		sortableInts(src, at, out)
	case []int32:
		sortableInts(src, at, out)
	case []int64:
		sortableInts(src, at, out)
	case []float32:
		for i, p := range at {
			out[i] = sortableFloat(float64(src[p]))
		}
	case []float64:
		for i, p := range at {
			out[i] = sortableFloat(src[p])
		}
	case []vector.Dec:
		for i, p := range at {
			switch hi, lo := src[p].HighBits(), src[p].LowBits(); {
			case hi == int64(lo)>>63:
				out[i] = lo ^ sign
			case hi < 0:
				out[i] = 0
			default:
				out[i] = math.MaxUint64
			}
		}
	}
}

func sortableInts[T int8 | int16 | int32 | int64](src []T, at []int32, out []uint64) {
	for i, p := range at {
		out[i] = uint64(int64(src[p])) ^ 1<<63
	}
}

func sortableFloat(f float64) uint64 {
	switch {
	case f == 0:
		return 1 << 63
	case f != f:
		return math.MaxUint64
	}
	if b := math.Float64bits(f); b>>63 != 0 {
		return ^b
	} else {
		return b | 1<<63
	}
}

func (c *fixed[T]) prefix(at []int32, o order, out []uint64) {
	sortable(c.data, at, out)
	if o.desc {
		invert(out[:len(at)])
	}
	c.prefixNulls(at, o, out)
}

func invert(words []uint64) {
	for i := range words {
		words[i] = ^words[i]
	}
}

func (c *fixed[T]) compare(a, b int32, o order) int {
	if d, done := c.compareNulls(a, b, o); done {
		return d
	}
	var word [2]uint64
	at := [2]int32{a, b}
	sortable(c.data, at[:], word[:])
	d := compareWords(word[0], word[1])
	if decimals, ok := any(c.data).([]vector.Dec); ok {
		d = decimals[a].Cmp(decimals[b])
	}
	if o.desc {
		d = -d
	}
	return d
}

func compareWords(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// poisonOf is what an unusable position holds: no plausible value.
func poisonOf[T vector.Fixed]() T {
	var x T
	if b, ok := any(&x).(*bool); ok {
		*b = true
		return x
	}
	fill(unsafe.Slice((*byte)(unsafe.Pointer(&x)), unsafe.Sizeof(x)))
	return x
}

func (c *fixed[T]) poison(at []int32) {
	bad := poisonOf[T]()
	for _, p := range at {
		c.data[p] = bad
	}
	c.zeroNulls(at)
}

func (c *fixed[T]) move() {
	old := c.data
	c.data = append(make([]T, 0, len(old)), old...)
	bad := poisonOf[T]()
	for i := range old {
		old[i] = bad
	}
	c.spoilt = old
}

func (c *fixed[T]) intact(at []int32) bool {
	bad := poisonOf[T]()
	for _, x := range c.spoilt {
		if x != bad {
			return false
		}
	}
	for _, p := range at {
		if c.data[p] != bad {
			return false
		}
	}
	return true
}

// texts is a column of a kind of variable width.
type texts struct {
	nulls
	kind  vector.Kind
	arena arena
	refs  []uint32
}

func (c *texts) empty() column { return &texts{kind: c.kind} }

func (c *texts) grow(n int) {
	c.refs = extend(c.refs, n)
	c.growNulls(n)
}

func (c *texts) get(at int32) []byte { return c.arena.get(c.refs[at]) }

func (c *texts) set(at int32, b []byte) { c.arena.set(c.refs, at, b) }

func (c *texts) zero(at []int32) {
	for _, p := range at {
		c.arena.drop(c.refs[p])
		c.refs[p] = 0
	}
	c.arena.compact(c.refs)
	c.zeroNulls(at)
}

func (c *texts) bytes() int64 {
	return c.arena.size + int64(cap(c.refs))*4 + int64(len(c.bits))*8
}

func (c *texts) store(v *vector.Vector, rows, at []int32) {
	off, data, valid := v.Offsets(), v.Data(), v.Valid()
	for i, p := range at {
		r := i
		if rows != nil {
			r = int(rows[i])
		}
		if valid == nil || valid.Get(r) {
			c.refs[p] = c.arena.put(p, data[off[r]:off[r+1]])
		}
	}
	c.arena.compact(c.refs)
	c.storeNulls(v, rows, at)
}

func (c *texts) differ(v *vector.Vector, rows, at []int32, diff []bool) {
	off, data := v.Offsets(), v.Data()
	for i, p := range at {
		r := rows[i]
		if string(data[off[r]:off[r+1]]) != string(c.get(p)) && !v.IsNull(int(r)) {
			diff[i] = true
		}
	}
	c.differNulls(v, rows, at, diff)
}

func (c *texts) take(p *vector.Pool, at []int32) *vector.Vector {
	size := 0
	for _, r := range at {
		size += len(c.get(r))
	}
	v := p.NewVariable(c.kind, len(at), size)
	off, data, used := v.Offsets(), v.Data(), 0
	for i, r := range at {
		used += copy(data[used:], c.get(r))
		off[i+1] = int32(used)
	}
	c.takeNulls(v, at)
	return v
}

func (c *texts) save(buf []byte, at int32) []byte {
	b := c.get(at)
	buf = binary.AppendUvarint(buf, uint64(len(b)))
	return append(buf, b...)
}

func (c *texts) load(data []byte, at int32) ([]byte, error) {
	n, w := binary.Uvarint(data)
	if w <= 0 || n > uint64(len(data)-w) {
		return nil, errCorrupt
	}
	data = data[w:]
	c.refs[at] = c.arena.put(at, data[:n])
	return data[n:], nil
}

func (c *texts) forms(all []form) []form { return append(all, form{kind: textForm}) }

func (c *texts) gather(part *tablePart, at []int32) { gatherBytes(part, &c.arena, c.refs, at) }

func (c *texts) prefix(at []int32, o order, out []uint64) {
	for i, p := range at {
		var head [8]byte
		copy(head[:], c.get(p))
		out[i] = binary.BigEndian.Uint64(head[:])
	}
	if o.desc {
		invert(out[:len(at)])
	}
	c.prefixNulls(at, o, out)
}

func (c *texts) compare(a, b int32, o order) int {
	if d, done := c.compareNulls(a, b, o); done {
		return d
	}
	x, y := c.get(a), c.get(b)
	d := 0
	switch {
	case string(x) < string(y):
		d = -1
	case string(x) > string(y):
		d = 1
	}
	if o.desc {
		d = -d
	}
	return d
}

func (c *texts) poison(at []int32) { c.zero(at) } // the arena poisons what dies

func (c *texts) move() {}

func (c *texts) intact([]int32) bool { return true }

// extend returns s with length n, if it is shorter: zeros behind what it had.
func extend[S ~[]T, T any](s S, n int) S {
	if n <= len(s) {
		return s
	}
	l := make(S, n)
	copy(l, s)
	return l
}
