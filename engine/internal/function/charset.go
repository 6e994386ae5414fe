package function

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// charsetFunctions turn bytes to text and back.
func charsetFunctions() []*Scalar {
	return []*Scalar{
		{
			Name: "DECODE", Doc: "the text that bytes are in a character set: " + strings.Join(charsets[:], ", "), Signatures: []string{"(BYTES, 'charset')"},
			Deterministic: true, Infer: inferCharset(sqltype.Type.IsBinary, sqltype.BytesType, sqltype.StringType), Bind: bindCharset(decodeText, vector.String),
		},
		{
			Name: "ENCODE", Doc: "the bytes of a text in a character set: " + strings.Join(charsets[:], ", "), Signatures: []string{"(STRING, 'charset')"},
			Deterministic: true, Infer: inferCharset(sqltype.Type.IsString, sqltype.StringType, sqltype.BytesType), Bind: bindCharset(encodeText, vector.Bytes),
		},
	}
}

// charsets are those that Flink knows.
var charsets = [...]string{"US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-16"}

func inferCharset(takes func(sqltype.Type) bool, from, ret sqltype.Type) func([]Arg) ([]sqltype.Type, sqltype.Type, error) {
	return func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
		if len(args) != 2 || !takes(args[0].Type) && args[0].Type.ID != sqltype.Null || !args[1].Type.IsString() {
			return nil, ret, ErrMismatch
		}
		return []sqltype.Type{from, sqltype.StringType}, ret, nil
	}
}

// bindCharset returns a kernel that appends each converted value to the last.
func bindCharset(convert func(dst, src []byte, charset string) []byte, kind vector.Kind) func(Binding) (Kernel, error) {
	return func(b Binding) (Kernel, error) {
		name, ok := b.Args[1].Value.(string)
		if !b.Args[1].Const || !ok {
			return nil, errs.New(errs.Unsupported, errs.Position{}, "a character set that is no constant string is not supported")
		}
		charset := strings.ToUpper(name)
		if !slices.Contains(charsets[:], charset) {
			return nil, errs.New(errs.Invalid, errs.Position{}, "there is no character set %q", name).WithHint("it is one of %s", strings.Join(charsets[:], ", "))
		}
		var out kernel.TextBuffer
		return func(c *Call) (*vector.Vector, error) {
			out.Reset()
			for i := range c.N {
				// What stands where an argument is NULL is converted too, and thrown away.
				out.Data = convert(out.Data, c.Args[0].Bytes(min(i, c.Args[0].Len()-1)), charset)
				out.End()
			}
			return out.Column(c.Pool, kind), nil
		}, nil
	}
}

// decodeText appends src as UTF-8. What is no character becomes U+FFFD.
func decodeText(dst, src []byte, charset string) []byte {
	switch charset {
	case "UTF-8":
		return decodeUTF8(dst, src)
	case "US-ASCII", "ISO-8859-1":
		for _, b := range src {
			if r := rune(b); r < utf8.RuneSelf || charset == "ISO-8859-1" {
				dst = utf8.AppendRune(dst, r)
			} else {
				dst = utf8.AppendRune(dst, utf8.RuneError)
			}
		}
		return dst
	}
	order := binary.ByteOrder(binary.BigEndian)
	if charset == "UTF-16LE" {
		order = binary.LittleEndian
	}
	if charset == "UTF-16" && len(src) >= 2 { // the first character may tell the order
		switch binary.BigEndian.Uint16(src) {
		case 0xFFFE:
			order, src = binary.LittleEndian, src[2:]
		case 0xFEFF:
			src = src[2:]
		}
	}
	for ; len(src) >= 2; src = src[2:] {
		r := rune(order.Uint16(src))
		if utf16.IsSurrogate(r) {
			if r = utf8.RuneError; len(src) >= 4 {
				if both := utf16.DecodeRune(rune(order.Uint16(src)), rune(order.Uint16(src[2:]))); both != utf8.RuneError {
					r, src = both, src[2:]
				}
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	if len(src) > 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}

// decodeUTF8 appends one U+FFFD for each longest part that could begin a character, or
// for a byte that could not, as Java does.
func decodeUTF8(dst, src []byte) []byte {
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		if r == utf8.RuneError && size == 1 {
			for size < len(src) && !utf8.FullRune(src[:size]) && src[size]&0xC0 == 0x80 {
				size++
			}
			if size > 1 && utf8.FullRune(src[:size]) { // the last byte fits no more
				size--
			}
		}
		dst = utf8.AppendRune(dst, r)
		src = src[size:]
	}
	return dst
}

// encodeText appends src, which is UTF-8, in a character set. What that has not
// becomes a question mark.
func encodeText(dst, src []byte, charset string) []byte {
	if charset == "UTF-8" {
		return append(dst, src...)
	}
	order := binary.AppendByteOrder(binary.BigEndian)
	if charset == "UTF-16LE" {
		order = binary.LittleEndian
	}
	if charset == "UTF-16" && len(src) > 0 {
		dst = order.AppendUint16(dst, 0xFEFF)
	}
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		src = src[size:]
		switch {
		case charset == "US-ASCII" && r >= utf8.RuneSelf, charset == "ISO-8859-1" && r > 0xFF:
			dst = append(dst, '?')
		case charset == "US-ASCII", charset == "ISO-8859-1":
			dst = append(dst, byte(r))
		default:
			if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
				dst = order.AppendUint16(order.AppendUint16(dst, uint16(high)), uint16(low))
			} else {
				dst = order.AppendUint16(dst, uint16(r))
			}
		}
	}
	return dst
}
