package wasm

import "unicode/utf8"

// reader reads the binary format out of module bytes. The first error sticks: from then
// on every read yields zero and every count is zero, so loops over counts end at once.
type reader struct {
	b       []byte // the module from its first byte, up to the end of the part being read
	pos     int
	section string
	fn      int
	err     *Error
}

func (r *reader) fail(at int, reason string) {
	if r.err == nil {
		r.err = &Error{Offset: at, Section: r.section, Func: r.fn, Reason: reason}
		r.pos = len(r.b)
	}
}

func (r *reader) left() int { return len(r.b) - r.pos }

func (r *reader) byte() byte {
	if r.pos >= len(r.b) {
		r.fail(r.pos, "unexpected end")
		return 0
	}
	r.pos++
	return r.b[r.pos-1]
}

// leb reads a little-endian base 128 number of that many bits.
func (r *reader) leb(bits int, signed bool) int64 {
	at, v := r.pos, uint64(0)
	for shift := 0; ; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		v |= uint64(c&0x7f) << shift
		room := bits - shift // bits of the number from here on
		if room <= 7 {
			if c >= 0x80 {
				r.fail(at, "number too long")
				return 0
			}
			extra := int8(c<<1) >> room // the sign bit and what is above the number, sign-extended
			if !signed {
				extra = int8(c >> room)
			}
			if extra != 0 && (!signed || extra != -1) {
				r.fail(at, "number too large")
				return 0
			}
		}
		if c < 0x80 {
			if used := shift + 7; signed && c&0x40 != 0 && used < 64 {
				v |= ^uint64(0) << used
			}
			return int64(v)
		}
	}
}

func (r *reader) u32() uint32 { return uint32(r.leb(32, false)) }

// take returns the next n bytes.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.fail(r.pos, "length is past the end")
		return nil
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos : r.pos]
}

// count reads the length of a vector whose elements take at least size bytes each. What
// is claimed beyond the bytes that are there is an error, so that a count may be trusted
// to size memory.
func (r *reader) count(size int) int {
	at := r.pos
	n := r.u32()
	if uint64(n)*uint64(size) > uint64(r.left()) {
		r.fail(at, "count is past the end")
		return 0
	}
	return int(n)
}

func (r *reader) name() string {
	at := r.pos
	b := r.take(r.u32())
	if !utf8.Valid(b) {
		r.fail(at, "name is not UTF-8")
		return ""
	}
	return string(b)
}

func (r *reader) valueType() ValueType {
	at := r.pos
	t := ValueType(r.byte())
	if !t.valid() {
		r.fail(at, "unknown value type")
		return I32
	}
	return t
}

func (r *reader) refType() ValueType {
	at := r.pos
	t := ValueType(r.byte())
	if !t.IsRef() {
		r.fail(at, "unknown reference type")
		return FuncRef
	}
	return t
}
