package csv

import (
	"encoding/binary"
	"math/bits"
)

// scanner finds the fields of records in a window.
type scanner struct {
	*dialect
	w   []byte
	p   int // where the next field or record begins
	eof bool

	field field  // the last one, without its quotes
	done  bool   // the record has ended
	bad   string // what is wrong at p
}

// plain finds the fields of a record without quotes, eight bytes at a time. It
// returns the place after the record, or -1 when the record has quotes, or reaches
// to the end of the window.
func (r *reader) plain(w []byte, p int, row []field) (fields, end int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	if r.escape >= 0 {
		return 0, -1
	}
	delims, ends := uint64(r.delim)*ones, uint64('\n')*ones
	quote, slots := r.quote, r.slots
	for p < len(w) && int(w[p]) != quote {
		begin := p
		for {
			if p+8 > len(w) {
				return 0, -1
			}
			x := binary.LittleEndian.Uint64(w[p:])
			d, n := x^delims, x^ends
			if hit := ((d-ones)&^d | (n-ones)&^n) & highs; hit != 0 {
				p += bits.TrailingZeros64(hit) >> 3
				break
			}
			p += 8
		}
		last := w[p] == '\n'
		if fields < len(slots) {
			if slot := slots[fields]; slot >= 0 {
				to := p
				if last && to > begin && w[to-1] == '\r' {
					to--
				}
				row[slot] = newField(begin, to)
			}
		}
		fields++
		p++
		if last {
			return fields, p
		}
	}
	return 0, -1
}

// next finds the next field of the record. False means that the record has ended
// (done), is broken (bad), or that the window ends before it does.
func (s *scanner) next() bool {
	if s.done {
		return false
	}
	w, p := s.w, s.p
	if p < len(w) && int(w[p]) == s.quote {
		return s.nextQuoted()
	}
	begin, delim, flags := p, s.delim, field(0)
	for p < len(w) && w[p] != delim && w[p] != '\n' {
		if int(w[p]) == s.escape {
			flags = escapedField
			p++
		}
		p++
	}
	if p >= len(w) {
		if !s.eof {
			return false
		}
		p = len(w)
	}
	end := p
	if p == len(w) || w[p] == '\n' {
		if end > begin && w[end-1] == '\r' {
			end--
		}
		s.done = true
	}
	s.field = newField(begin, end) | flags
	s.p = min(p+1, len(w))
	return true
}

func (s *scanner) nextQuoted() bool {
	w, p := s.w, s.p+1
	begin, flags := p, quotedField
	for {
		for p < len(w) && int(w[p]) != s.quote && int(w[p]) != s.escape {
			p++
		}
		if p >= len(w) {
			if s.eof {
				s.bad = "a quote that opens here is not closed"
			}
			return false
		}
		if int(w[p]) == s.escape {
			flags |= escapedField
			p += 2
			continue
		}
		if p+1 == len(w) && !s.eof {
			return false // the next byte decides what the quote means
		}
		if p+1 < len(w) && int(w[p+1]) == s.quote {
			flags |= escapedField
			p += 2
			continue
		}
		break
	}
	s.field = newField(begin, p) | flags
	p++
	if p < len(w) && w[p] == '\r' {
		if p+1 == len(w) && !s.eof {
			return false
		}
		p++
	}
	switch {
	case p >= len(w):
		if !s.eof {
			return false
		}
		s.done, s.p = true, len(w)
	case w[p] == '\n':
		s.done, s.p = true, p+1
	case w[p] == s.delim && w[p-1] != '\r':
		s.p = p + 1
	default:
		s.bad, s.p = "text follows a closing quote", p
		return false
	}
	return true
}

// unescape is the text of a field of the window w: in place or, when quotes or
// escapes must be taken out, in r.scratch until the next call.
func (r *reader) unescape(w []byte, f field) []byte {
	text := w[f.begin():f.end()]
	if f&escapedField == 0 {
		return text
	}
	r.scratch = r.scratch[:0]
	for i := 0; i < len(text); i++ {
		if c := int(text[i]); c == r.escape || f&quotedField != 0 && c == r.quote {
			if i++; i == len(text) {
				break
			}
		}
		r.scratch = append(r.scratch, text[i])
	}
	return r.scratch
}
