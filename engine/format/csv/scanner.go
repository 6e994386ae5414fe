package csv

// scanner finds the fields of records in a window.
type scanner struct {
	*dialect
	w   []byte
	p   int // where the next field or record begins
	eof bool

	begin, end      int // of the field, without quotes
	quoted, escaped bool
	done            bool   // the record has ended
	bad             string // what is wrong at p
}

// flags is the field's end with its flags.
func (s *scanner) flags() uint32 {
	e := uint32(s.end)
	if s.quoted {
		e |= quotedField
	}
	if s.escaped {
		e |= escapedField
	}
	return e
}

// next finds the next field of the record. False means that the record has ended
// (done), is broken (bad), or that the window ends before it does.
func (s *scanner) next() bool {
	if s.done {
		return false
	}
	w, p := s.w, s.p
	s.quoted, s.escaped = false, false
	if p < len(w) && int(w[p]) == s.quote {
		return s.nextQuoted()
	}
	s.begin = p
	delim := s.delim
	if s.escape < 0 {
		for p < len(w) && w[p] != delim && w[p] != '\n' {
			p++
		}
	} else {
		for p < len(w) && w[p] != delim && w[p] != '\n' {
			if int(w[p]) == s.escape {
				s.escaped = true
				p++
			}
			p++
		}
	}
	if p >= len(w) {
		if !s.eof {
			return false
		}
		p = len(w)
	}
	s.end = p
	if p == len(w) || w[p] == '\n' {
		if s.end > s.begin && w[s.end-1] == '\r' {
			s.end--
		}
		s.done = true
	}
	s.p = min(p+1, len(w))
	return true
}

func (s *scanner) nextQuoted() bool {
	w, p := s.w, s.p+1
	s.begin, s.quoted = p, true
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
			s.escaped = true
			p += 2
			continue
		}
		if p+1 == len(w) && !s.eof {
			return false // the next byte decides what the quote means
		}
		if p+1 < len(w) && int(w[p+1]) == s.quote {
			s.escaped = true
			p += 2
			continue
		}
		break
	}
	s.end = p
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

// unescape is the text of the field from begin to the end in flags, in the window
// or, when quotes or escapes must be taken out, in r.scratch until the next call.
func (r *reader) unescape(begin int, flags uint32) []byte {
	text := r.in.Bytes()[begin : flags&endMask]
	if flags&escapedField == 0 {
		return text
	}
	r.scratch = r.scratch[:0]
	for i := 0; i < len(text); i++ {
		if c := int(text[i]); c == r.escape || flags&quotedField != 0 && c == r.quote {
			if i++; i == len(text) {
				break
			}
		}
		r.scratch = append(r.scratch, text[i])
	}
	return r.scratch
}
