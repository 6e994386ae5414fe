package function

import (
	"bytes"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func stringFunctions() []*Scalar {
	one, two := []string{"(STRING)"}, []string{"(STRING)", "(STRING, STRING)"}
	str := sqltype.StringType
	list := []*Scalar{
		{Name: "UPPER", Doc: "in upper case", Signatures: one, Infer: inferStrings(1, 1, str), Bind: bindText1(upper)},
		{Name: "LOWER", Doc: "in lower case", Signatures: one, Infer: inferStrings(1, 1, str), Bind: bindText1(lower)},
		{Name: "INITCAP", Doc: "each word beginning in upper case, going on in lower case", Signatures: one, Infer: inferStrings(1, 1, str), Bind: bindText1(initcap)},
		{Name: "REVERSE", Doc: "the characters in reverse order", Signatures: one, Infer: inferStrings(1, 1, str), Bind: bindText1(reverse)},
		{Name: "CHAR_LENGTH", Doc: "the number of characters", Signatures: one, Infer: inferStrings(1, 1, sqltype.IntType), Bind: bindPlain(charLength)},
		{
			Name: "TRIM", Doc: "without blanks, or the given characters, at both ends or one", Signatures: []string{"(STRING)", "([BOTH | LEADING | TRAILING] [STRING] FROM STRING)"},
			Infer: inferTrim, Bind: bindTrim,
		},
		{Name: "BTRIM", Doc: "without blanks, or the given characters, at both ends", Signatures: two, Infer: inferStrings(1, 2, str), Bind: bindTrimSide(true, true)},
		{Name: "LTRIM", Doc: "without blanks, or the given characters, at the beginning", Signatures: two, Infer: inferStrings(1, 2, str), Bind: bindTrimSide(true, false)},
		{Name: "RTRIM", Doc: "without blanks, or the given characters, at the end", Signatures: two, Infer: inferStrings(1, 2, str), Bind: bindTrimSide(false, true)},
		{
			Name: "SUBSTRING", Doc: "the part from a position (from 1; negative: from the end), of a length if given", Signatures: []string{"(STRING, INT)", "(STRING, INT, INT)"},
			MayNull: true, Infer: inferPattern("si|sii", str), Bind: bindSubstring,
		},
		{Name: "LEFT", Doc: "the first characters", Signatures: []string{"(STRING, INT)"}, Infer: inferPattern("si", str), Bind: bindSide(true)},
		{Name: "RIGHT", Doc: "the last characters", Signatures: []string{"(STRING, INT)"}, Infer: inferPattern("si", str), Bind: bindSide(false)},
		{Name: "||", Doc: "joined", Signatures: []string{"(STRING, STRING)"}, Infer: inferJoined(2, 2), Bind: bindConcat},
		{Name: "CONCAT", Doc: "joined; NULL when one is NULL", Signatures: []string{"(STRING, ...)"}, Infer: inferJoined(1, 1000), Bind: bindConcat},
		{
			Name: "CONCAT_WS", Doc: "joined with a separator, leaving NULLs out", Signatures: []string{"(STRING separator, STRING, ...)"},
			NullCall: true, Infer: inferConcatWS, Bind: bindConcatWS,
		},
		{
			Name: "REPLACE", Doc: "with every occurrence of the second replaced by the third", Signatures: []string{"(STRING, STRING, STRING)"},
			Infer: inferStrings(3, 3, str), Bind: bindReplace,
		},
		{
			Name: "POSITION", Doc: "where the first occurs in the second, from 1; 0 when nowhere", Signatures: []string{"(STRING, STRING)"},
			Infer: inferStrings(2, 2, sqltype.IntType), Bind: bindPosition(0, 1),
		},
		{
			Name: "LOCATE", Doc: "where the first occurs in the second, from a position on; 0 when nowhere", Signatures: []string{"(STRING, STRING)", "(STRING, STRING, INT)"},
			Infer: inferPattern("ss|ssi", sqltype.IntType), Bind: bindPosition(0, 1),
		},
		{
			Name: "INSTR", Doc: "where the second occurs in the first; 0 when nowhere", Signatures: []string{"(STRING, STRING)", "(STRING, STRING, INT)"},
			Infer: inferPattern("ss|ssi", sqltype.IntType), Bind: bindPosition(1, 0),
		},
		{
			Name: "LPAD", Doc: "filled up at the beginning, or cut, to a length", Signatures: []string{"(STRING, INT, STRING)"}, MayNull: true,
			Infer: inferPattern("sis", str), Bind: bindPad(true),
		},
		{
			Name: "RPAD", Doc: "filled up at the end, or cut, to a length", Signatures: []string{"(STRING, INT, STRING)"}, MayNull: true,
			Infer: inferPattern("sis", str), Bind: bindPad(false),
		},
		{
			Name: "OVERLAY", Doc: "with the part from a position, of a length if given, replaced by the second", Signatures: []string{"(STRING, STRING, INT)", "(STRING, STRING, INT, INT)"},
			Infer: inferPattern("ssi|ssii", str), Bind: bindOverlay,
		},
		{Name: "REPEAT", Doc: "so many times over", Signatures: []string{"(STRING, INT)"}, Infer: inferPattern("si", str), Bind: bindRepeat},
		{
			Name: "SPLIT_INDEX", Doc: "the part with an index, from 0, between separators", Signatures: []string{"(STRING, STRING separator, INT)"}, MayNull: true,
			Infer: inferPattern("ssi", str), Bind: bindSplitIndex,
		},
	}
	for _, s := range list {
		s.Deterministic = true
	}
	return list
}

// inferStrings is for functions of least to most strings.
func inferStrings(least, most int, ret sqltype.Type) infer {
	return func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
		if len(args) < least || len(args) > most {
			return nil, ret, ErrMismatch
		}
		coerced := make([]sqltype.Type, len(args))
		for i, a := range args {
			if !a.Type.IsString() && a.Type.ID != sqltype.Null {
				return nil, ret, ErrMismatch
			}
			coerced[i] = sqltype.StringType
		}
		return coerced, ret, nil
	}
}

// inferPattern is for functions whose arguments are strings (s), integers (i) or
// numbers (d), in one of the forms that | separates. Integers are cast to BIGINT and
// numbers to DOUBLE.
func inferPattern(forms string, ret sqltype.Type) infer {
	return func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	next:
		for _, form := range bytes.Split([]byte(forms), []byte("|")) {
			if len(form) != len(args) {
				continue
			}
			coerced := make([]sqltype.Type, len(args))
			for i, a := range args {
				ok := a.Type.ID == sqltype.Null
				switch form[i] {
				case 's':
					ok, coerced[i] = ok || a.Type.IsString(), sqltype.StringType
				case 'i':
					ok, coerced[i] = ok || a.Type.IsInteger(), sqltype.BigIntType
				case 'd':
					ok, coerced[i] = ok || a.Type.IsNumeric(), sqltype.DoubleType
				}
				if !ok {
					continue next
				}
			}
			return coerced, ret, nil
		}
		return nil, ret, ErrMismatch
	}
}

// inferJoined takes anything that has a text form, one string at least.
func inferJoined(least, most int) infer {
	return func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
		text := false
		coerced := make([]sqltype.Type, len(args))
		for i, a := range args {
			text = text || a.Type.IsString() || a.Type.ID == sqltype.Null
			coerced[i] = sqltype.StringType
			if !CanCast(a.Type, sqltype.StringType, false) || a.Type.IsBinary() {
				return nil, a.Type, ErrMismatch
			}
		}
		if len(args) < least || len(args) > most || !text {
			return nil, sqltype.StringType, ErrMismatch
		}
		return coerced, sqltype.StringType, nil
	}
}

func inferConcatWS(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	coerced, ret, err := inferJoined(2, 1000)(args)
	if err == nil {
		ret.NotNull = args[0].Type.NotNull
	}
	return coerced, ret, err
}

// texts reads a string argument, constant or not.
type texts struct {
	off  []int32
	data []byte
	step int
}

func textsOf(v *vector.Vector) texts {
	t := texts{off: v.Offsets(), data: v.Data(), step: 1}
	if v.Len() == 1 {
		t.step = 0
	}
	return t
}

func (t texts) at(i int) []byte {
	i *= t.step
	return t.data[t.off[i]:t.off[i+1]]
}

// numbersOf reads a BIGINT argument, constant or not.
type bigints struct {
	v    []int64
	step int
}

func bigintsOf(v *vector.Vector) bigints {
	x := vector.Values[int64](v)
	return bigints{x, step(x)}
}

func (b bigints) at(i int) int64 { return b.v[i*b.step] }

func bindPlain(k Kernel) func(Binding) (Kernel, error) {
	return func(Binding) (Kernel, error) { return k, nil }
}

// bindText1 is a function of one string that fills a buffer.
func bindText1(f func(t *kernel.TextBuffer, s texts, n int)) func(Binding) (Kernel, error) {
	return func(Binding) (Kernel, error) {
		var text kernel.TextBuffer
		return func(c *Call) (*vector.Vector, error) {
			text.Reset()
			f(&text, textsOf(c.Args[0]), c.N)
			return text.Column(c.Pool, vector.String), nil
		}, nil
	}
}

func reverse(t *kernel.TextBuffer, s texts, n int) {
	for i := range n {
		for b := s.at(i); len(b) > 0; {
			_, size := utf8.DecodeLastRune(b)
			t.Data = append(t.Data, b[len(b)-size:]...)
			b = b[:len(b)-size]
		}
		t.End()
	}
}

func charLength(c *Call) (*vector.Vector, error) {
	out := c.Pool.New(vector.Int32, c.N)
	dst, s := vector.Values[int32](out), textsOf(c.Args[0])
	for i := range dst {
		dst[i] = int32(utf8.RuneCount(s.at(i)))
	}
	return out, nil
}

// ascii reports whether every character of b is one byte.
func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// characters is the part of b from character from on, of at most n characters.
func characters(b []byte, from, n int64) []byte {
	if ascii(b) {
		from = min(from, int64(len(b)))
		return b[from : from+min(n, int64(len(b))-from)]
	}
	for ; from > 0 && len(b) > 0; from-- {
		_, size := utf8.DecodeRune(b)
		b = b[size:]
	}
	at := 0
	for ; n > 0 && at < len(b); n-- {
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return b[:at]
}

func bindSubstring(Binding) (Kernel, error) {
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		s, from := textsOf(c.Args[0]), bigintsOf(c.Args[1])
		var length bigints
		if len(c.Args) == 3 {
			length = bigintsOf(c.Args[2])
		}
		nulls := false
		for i := range c.N {
			b, at, n := s.at(i), from.at(i), int64(len(s.at(i)))
			if len(c.Args) == 3 {
				n = length.at(i)
			}
			switch {
			case n < 0:
				nulls = true
				b = nil
			case at < 0:
				at += int64(utf8.RuneCount(b))
				if at < 0 {
					b = nil
				}
			case at > 0:
				at--
			}
			if b != nil {
				text.Data = append(text.Data, characters(b, at, n)...)
			}
			text.End()
		}
		out := text.Column(c.Pool, vector.String)
		if nulls {
			valid := copyValid(out, c.Valid)
			for i := range c.N {
				if length.at(i) < 0 {
					valid.Clear(i)
				}
			}
		}
		return out, nil
	}, nil
}

func bindSide(left bool) func(Binding) (Kernel, error) {
	return func(Binding) (Kernel, error) {
		var text kernel.TextBuffer
		return func(c *Call) (*vector.Vector, error) {
			text.Reset()
			s, count := textsOf(c.Args[0]), bigintsOf(c.Args[1])
			for i := range c.N {
				b, n := s.at(i), max(count.at(i), 0)
				from := int64(0)
				if !left {
					from = max(int64(utf8.RuneCount(b))-n, 0)
				}
				text.Data = append(text.Data, characters(b, from, n)...)
				text.End()
			}
			return text.Column(c.Pool, vector.String), nil
		}, nil
	}
}

// bindOverlay replaces as many characters as the new part has when no length is given.
// Where the position lies outside the string nothing is replaced.
func bindOverlay(Binding) (Kernel, error) {
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		s, part, from := textsOf(c.Args[0]), textsOf(c.Args[1]), bigintsOf(c.Args[2])
		for i := range c.N {
			b, at := s.at(i), from.at(i)
			length, n := int64(utf8.RuneCount(b)), int64(utf8.RuneCount(part.at(i)))
			if len(c.Args) == 4 {
				n = bigintsOf(c.Args[3]).at(i)
			}
			if at < 1 || at > length {
				text.Data = append(text.Data, b...)
				text.End()
				continue
			}
			head := characters(b, 0, at-1)
			text.Data = append(append(text.Data, head...), part.at(i)...)
			if rest := b[len(head):]; n >= 0 {
				text.Data = append(text.Data, rest[len(characters(rest, 0, n)):]...)
			}
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}, nil
}

func bindConcat(Binding) (Kernel, error) {
	var text kernel.TextBuffer
	var args []texts
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		args = args[:0]
		for _, a := range c.Args {
			args = append(args, textsOf(a))
		}
		for i := range c.N {
			for _, a := range args {
				text.Data = append(text.Data, a.at(i)...)
			}
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}, nil
}

func bindConcatWS(Binding) (Kernel, error) {
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		args := make([]texts, len(c.Args))
		for k, a := range c.Args {
			args[k] = textsOf(a)
		}
		for i := range c.N {
			first := true
			for k := 1; k < len(args); k++ {
				if c.Args[k].IsNull(i * args[k].step) {
					continue
				}
				if !first {
					text.Data = append(text.Data, args[0].at(i)...)
				}
				first = false
				text.Data = append(text.Data, args[k].at(i)...)
			}
			text.End()
		}
		out := text.Column(c.Pool, vector.String)
		if c.Args[0].Valid() != nil {
			valid := out.NewValid(true)
			for i := range c.N {
				valid.SetTo(i, !c.Args[0].IsNull(i*args[0].step))
			}
		}
		return out, nil
	}, nil
}

// maxText bounds the strings that LPAD, RPAD and REPEAT make of one value.
const maxText = 16 << 20

func bindPad(left bool) func(Binding) (Kernel, error) {
	return func(Binding) (Kernel, error) {
		var text kernel.TextBuffer
		return func(c *Call) (*vector.Vector, error) {
			text.Reset()
			s, length, fill := textsOf(c.Args[0]), bigintsOf(c.Args[1]), textsOf(c.Args[2])
			nulls := false
			for i := range c.N {
				b, n, pad := s.at(i), length.at(i), fill.at(i)
				have := int64(utf8.RuneCount(b))
				switch {
				case n < 0 || len(pad) == 0:
					nulls = true
				case c.Valid != nil && !c.Valid.Get(i):
				case n > maxText:
					return nil, tooLong(n)
				case n <= have:
					text.Data = append(text.Data, characters(b, 0, n)...)
				case left:
					text.Data = append(appendPad(text.Data, pad, n-have), b...)
				default:
					text.Data = appendPad(append(text.Data, b...), pad, n-have)
				}
				text.End()
			}
			out := text.Column(c.Pool, vector.String)
			if nulls {
				valid := copyValid(out, c.Valid)
				for i := range c.N {
					if length.at(i) < 0 || len(fill.at(i)) == 0 {
						valid.Clear(i)
					}
				}
			}
			return out, nil
		}, nil
	}
}

// appendPad writes n characters of pad, over and over.
func appendPad(dst, pad []byte, n int64) []byte {
	for k := int64(utf8.RuneCount(pad)); n >= k; n -= k {
		dst = append(dst, pad...)
	}
	return append(dst, characters(pad, 0, n)...)
}

func bindRepeat(Binding) (Kernel, error) {
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		s, count := textsOf(c.Args[0]), bigintsOf(c.Args[1])
		for i := range c.N {
			b, n := s.at(i), count.at(i)
			if c.Valid == nil || c.Valid.Get(i) {
				if n > 0 && len(b) > 0 && n > maxText/int64(len(b)) {
					return nil, tooLong(n)
				}
				for range max(n, 0) {
					text.Data = append(text.Data, b...)
				}
			}
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}, nil
}
