package function

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/weirdb/weir/vector/kernel"
)

func upper(t *kernel.TextBuffer, s texts, n int) {
	for i := range n {
		t.Data = appendCase(t.Data, s.at(i), 'a', unicode.ToUpper)
		t.End()
	}
}

func lower(t *kernel.TextBuffer, s texts, n int) {
	for i := range n {
		t.Data = appendLower(t.Data, s.at(i))
		t.End()
	}
}

func appendLower(dst, b []byte) []byte { return appendCase(dst, b, 'A', unicode.ToLower) }

// appendCase changes the case of the 26 letters from first on; other is for what is
// not ASCII.
func appendCase(dst, b []byte, first byte, other func(rune) rune) []byte {
	at := len(dst)
	dst = slices.Grow(dst, len(b))[:at+len(b)]
	for i, c := range b {
		if c >= utf8.RuneSelf {
			dst = dst[:at+i]
			for _, r := range string(b[i:]) {
				dst = utf8.AppendRune(dst, other(r))
			}
			return dst
		}
		if c-first < 26 {
			c ^= 'a' - 'A'
		}
		dst[at+i] = c
	}
	return dst
}

func initcap(t *kernel.TextBuffer, s texts, n int) {
	for i := range n {
		inWord := false
		for b := s.at(i); len(b) > 0; {
			r, size := utf8.DecodeRune(b)
			b = b[size:]
			if inWord {
				t.Data = utf8.AppendRune(t.Data, unicode.ToLower(r))
			} else {
				t.Data = utf8.AppendRune(t.Data, unicode.ToUpper(r))
			}
			inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
		}
		t.End()
	}
}
