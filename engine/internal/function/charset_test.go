package function

import "testing"

func TestCharsets(t *testing.T) {
	for _, c := range []struct {
		charset, text, raw string
		oneWay             string // "decode" or "encode": the other direction gives something else
	}{
		{"UTF-8", "aä€😀", "aä€😀", ""},
		{"UTF-8", "a\uFFFDb", "a\xFFb", "decode"},
		{"US-ASCII", "abc", "abc", ""},
		{"US-ASCII", "a?", "a?", ""},
		{"US-ASCII", "aä", "a?", "encode"},
		{"US-ASCII", "a\uFFFD", "a\xE4", "decode"},
		{"ISO-8859-1", "aä", "a\xE4", ""},
		{"ISO-8859-1", "€", "?", "encode"},
		{"UTF-16BE", "a€😀", "\x00a\x20\xAC\xD8\x3D\xDE\x00", ""},
		{"UTF-16LE", "a€😀", "a\x00\xAC\x20\x3D\xD8\x00\xDE", ""},
		{"UTF-16", "a", "\xFE\xFF\x00a", ""},
		{"UTF-16", "a", "\xFF\xFEa\x00", "decode"},
		{"UTF-16", "a", "\x00a", "decode"},
		{"UTF-16BE", "\uFFFDa", "\xD8\x3D\x00a", "decode"},
		{"UTF-16BE", "a\uFFFD", "\x00a\x00", "decode"},
		{"UTF-16LE", "", "", ""},
	} {
		if c.oneWay != "encode" {
			if got := string(decodeText([]byte("-"), []byte(c.raw), c.charset)); got != "-"+c.text {
				t.Errorf("%q from %s is %q, want %q", c.raw, c.charset, got, c.text)
			}
		}
		if c.oneWay != "decode" {
			if got := string(encodeText([]byte("-"), []byte(c.text), c.charset)); got != "-"+c.raw {
				t.Errorf("%q in %s is %q, want %q", c.text, c.charset, got, c.raw)
			}
		}
	}
}
