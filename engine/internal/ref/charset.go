package ref

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// charsets turn bytes to text and back.
func charsets() map[string]definition {
	return map[string]definition{
		"DECODE": func(c call) (any, error) {
			b := c.args[0].([]byte)
			switch name := strings.ToUpper(c.text(1)); name {
			case "UTF-8":
				return decodeUTF8(b), nil
			case "US-ASCII", "ISO-8859-1":
				var s []rune
				for _, x := range b {
					if x >= 0x80 && name == "US-ASCII" {
						s = append(s, utf8.RuneError)
					} else {
						s = append(s, rune(x))
					}
				}
				return string(s), nil
			case "UTF-16", "UTF-16BE", "UTF-16LE":
				return decodeUTF16(b, name), nil
			}
			return nil, invalid(c, "there is no such character set")
		},
		"ENCODE": func(c call) (any, error) {
			s, name := c.text(0), strings.ToUpper(c.text(1))
			out := []byte{}
			switch name {
			case "UTF-8":
				return []byte(s), nil
			case "US-ASCII", "ISO-8859-1":
				for _, r := range s {
					if r > 0xFF || r > 0x7F && name == "US-ASCII" {
						r = '?'
					}
					out = append(out, byte(r))
				}
				return out, nil
			case "UTF-16", "UTF-16BE", "UTF-16LE":
				units := utf16.Encode([]rune(s))
				if name == "UTF-16" && s != "" {
					units = append([]uint16{0xFEFF}, units...)
				}
				for _, u := range units {
					if name == "UTF-16LE" {
						out = append(out, byte(u), byte(u>>8))
					} else {
						out = append(out, byte(u>>8), byte(u))
					}
				}
				return out, nil
			}
			return nil, invalid(c, "there is no such character set")
		},
	}
}

func decodeUTF16(b []byte, name string) string {
	little := name == "UTF-16LE"
	if name == "UTF-16" && len(b) >= 2 {
		switch mark := [2]byte{b[0], b[1]}; mark {
		case [2]byte{0xFF, 0xFE}:
			little, b = true, b[2:]
		case [2]byte{0xFE, 0xFF}:
			b = b[2:]
		}
	}
	var units []uint16
	for ; len(b) >= 2; b = b[2:] {
		if little {
			units = append(units, uint16(b[1])<<8|uint16(b[0]))
		} else {
			units = append(units, uint16(b[0])<<8|uint16(b[1]))
		}
	}
	s := string(utf16.Decode(units))
	if len(b) > 0 {
		s += string(utf8.RuneError)
	}
	return s
}

// decodeUTF8 puts one U+FFFD for each longest part that could begin a character, or for
// a byte that could not, as Java and the web do.
func decodeUTF8(b []byte) string {
	s := ""
	for len(b) > 0 {
		if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
			s += string(r)
			b = b[size:]
			continue
		}
		n := 1
		for n < len(b) && begins(b[:n+1]) {
			n++
		}
		s += string(utf8.RuneError)
		b = b[n:]
	}
	return s
}

// begins reports whether some character's bytes begin with b, and go on after it.
func begins(b []byte) bool {
	for _, last := range []byte{0x80, 0x90, 0xA0, 0xBF, 0x8F, 0x9F} {
		whole := append([]byte{}, b...)
		for len(whole) < 4 {
			whole = append(whole, last)
			if r, size := utf8.DecodeRune(whole); r != utf8.RuneError && size == len(whole) {
				return true
			}
		}
	}
	return false
}
