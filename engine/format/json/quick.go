package json

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// quick reads an object that is flat and in order: members of text, numbers and
// words, none twice. It takes exactly what row takes with the same result, but
// leaves all else to it, errors included: then it returns false, and the caller
// drops what it appended.
func (r *reader) quick(b *vector.Builder, w []byte, at int) (end int, ok bool) {
	p, n := at+1, b.Len()
	if r.changelog || w[at] != '{' {
		return 0, false
	}
	for next := 0; ; next++ {
		p = skipBlanks(w, p)
		// The name, of the column that comes next or of another.
		col := -1
		if next < len(r.quoted) && hasPrefix(w, p, r.quoted[next]) {
			col = next
			p += len(r.quoted[next])
		} else {
			name, to, plain := plainString(w, p)
			if !plain {
				return 0, false
			}
			if i, known := r.column[string(name)]; known {
				col, next = i, i
			}
			p = to
		}
		if p = skipBlanks(w, p); p >= len(w) || w[p] != ':' {
			return 0, false
		}
		if p = skipBlanks(w, p+1); p >= len(w) {
			return 0, false
		}
		if col >= 0 && b.Col(col).Len() > n {
			return 0, false
		}
		if p = r.quickValue(b, w, p, col); p < 0 {
			return 0, false
		}
		if p = skipBlanks(w, p); p >= len(w) {
			return 0, false
		}
		switch w[p] {
		case ',':
			p++
			continue
		case '}':
			p++
		default:
			return 0, false
		}
		break
	}
	for i, c := range r.schema {
		if b.Col(i).Len() > n {
			continue
		}
		if c.Type.NotNull || r.missing {
			return 0, false
		}
		b.Col(i).AppendNull()
	}
	if p-at > r.in.Limit() {
		return 0, false
	}
	b.EndRow(vector.Insert)
	return p, true
}

// quickValue reads the value at w[p:] into column col (-1: none) and returns the
// place behind it, or -1.
func (r *reader) quickValue(b *vector.Builder, w []byte, p, col int) int {
	var t sqltype.Type
	var c *vector.ColumnBuilder
	if col >= 0 {
		t, c = r.schema[col].Type, b.Col(col)
		if t.ID >= sqltype.Array {
			return -1
		}
	}
	switch k := w[p]; {
	case k == '"':
		text, to, plain := plainString(w, p)
		if !plain {
			if to < 0 {
				return -1
			}
			var err error
			if r.scratch, err = jsontext.AppendUnquote(r.scratch[:0], w[p:to]); err != nil {
				return -1
			}
			text = r.scratch
		}
		if c != nil && !sqltype.AppendParsed(c, t, text) {
			return -1
		}
		return to
	case k == '-' || k >= '0' && k <= '9':
		to := number(w, p)
		if to < 0 || c == nil {
			return to
		}
		switch {
		case t.ID == sqltype.BigInt:
			i, ok := sqltype.ParseInt(w[p:to])
			if !ok {
				return -1
			}
			vector.Append(c, i)
		case !t.IsNumeric() && !t.IsString() || !sqltype.AppendParsed(c, t, w[p:to]):
			return -1
		}
		return to
	case hasPrefix(w, p, "null"):
		if c != nil {
			if t.NotNull {
				return -1
			}
			c.AppendNull()
		}
		return p + 4
	case hasPrefix(w, p, "true"):
		return r.quickBool(c, t, true, p+4)
	case hasPrefix(w, p, "false"):
		return r.quickBool(c, t, false, p+5)
	}
	return -1
}

func (r *reader) quickBool(c *vector.ColumnBuilder, t sqltype.Type, v bool, to int) int {
	if c != nil {
		if t.ID != sqltype.Boolean {
			return -1
		}
		vector.Append(c, v)
	}
	return to
}

func hasPrefix(w []byte, p int, s string) bool {
	return len(w)-p >= len(s) && string(w[p:p+len(s)]) == s
}

func skipBlanks(w []byte, p int) int {
	for p < len(w) && (w[p] == ' ' || w[p] == '\n' || w[p] == '\r' || w[p] == '\t') {
		p++
	}
	return p
}

// plainString is the text of the JSON string at w[p:], with the place behind it.
// When it has escapes, or bytes that are not UTF-8 or not allowed, it is not plain;
// the place is then that of its end, or -1 when that is not known.
func plainString(w []byte, p int) (text []byte, to int, plain bool) {
	if p >= len(w) || w[p] != '"' {
		return nil, -1, false
	}
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	p++
	begin, escaped, wide := p, false, uint64(0)
scan:
	for {
		if p+8 > len(w) {
			return nil, -1, false // rare, so left to the careful way
		}
		// The first quote, backslash or control character of eight bytes.
		x := binary.LittleEndian.Uint64(w[p:])
		q, e := x^'"'*ones, x^'\\'*ones
		hit := ((q-ones)&^q | (e-ones)&^e | (x-0x20*ones)&^x) & highs
		if hit == 0 {
			wide |= x
			p += 8
			continue
		}
		at := bits.TrailingZeros64(hit) &^ 7
		wide |= x & (1<<at - 1)
		p += at >> 3
		switch w[p] {
		case '"':
			break scan
		case '\\':
			escaped = true
			p += 2
		default:
			return nil, -1, false
		}
	}
	text = w[begin:p]
	if wide&highs != 0 && !utf8.Valid(text) {
		return nil, -1, false
	}
	return text, p + 1, !escaped
}

// number is the place behind the JSON number at w[p:], or -1 when there is none or
// the window ends with it.
func number(w []byte, p int) int {
	digits := func() int {
		begin := p
		for p < len(w) && w[p]-'0' <= 9 {
			p++
		}
		return p - begin
	}
	if w[p] == '-' {
		p++
	}
	begin := p
	if n := digits(); n == 0 || n > 1 && w[begin] == '0' {
		return -1
	}
	if p < len(w) && w[p] == '.' {
		p++
		if digits() == 0 {
			return -1
		}
	}
	if p < len(w) && w[p]|0x20 == 'e' {
		p++
		if p < len(w) && (w[p] == '-' || w[p] == '+') {
			p++
		}
		if digits() == 0 {
			return -1
		}
	}
	if p >= len(w) {
		return -1
	}
	return p
}
