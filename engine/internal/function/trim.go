package function

import (
	"bytes"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// inferTrim takes what TRIM's own syntax gives: (s), (characters, s), (side, s) and
// (side, characters, s).
func inferTrim(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) == 3 && trimSide(args[0]) == "" {
		return nil, sqltype.StringType, ErrMismatch
	}
	return inferStrings(1, 3, sqltype.StringType)(args)
}

// trimSide is LEADING, TRAILING or BOTH when a is that constant, else "".
func trimSide(a Arg) string {
	switch s, _ := a.Value.(string); s {
	case "LEADING", "TRAILING", "BOTH":
		return s
	}
	return ""
}

func bindTrim(b Binding) (Kernel, error) {
	n := len(b.Args)
	side, set := "", -1
	if n > 1 {
		side = trimSide(b.Args[0])
	}
	if n == 3 && side == "" {
		return nil, errs.New(errs.Invalid, errs.Position{}, "TRIM takes BOTH, LEADING or TRAILING")
	}
	if n == 3 || n == 2 && side == "" {
		set = n - 2
	}
	return trimKernel(n-1, set, side != "TRAILING", side != "LEADING"), nil
}

// bindTrimSide is LTRIM, RTRIM and BTRIM: of (s) or (s, characters).
func bindTrimSide(left, right bool) func(Binding) (Kernel, error) {
	return func(b Binding) (Kernel, error) {
		return trimKernel(0, len(b.Args)*2-3, left, right), nil // -1 or 1
	}
}

// trimKernel cuts the characters of argument set (blanks, if that is negative) off
// argument s.
func trimKernel(s, set int, left, right bool) Kernel {
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		in := textsOf(c.Args[s])
		var sets texts
		if set >= 0 {
			sets = textsOf(c.Args[set])
		}
		for i := range c.N {
			b, cut := in.at(i), []byte(" ")
			if set >= 0 {
				cut = sets.at(i)
			}
			for left && len(b) > 0 {
				_, size := utf8.DecodeRune(b)
				if !bytes.Contains(cut, b[:size]) {
					break
				}
				b = b[size:]
			}
			for right && len(b) > 0 {
				_, size := utf8.DecodeLastRune(b)
				if !bytes.Contains(cut, b[len(b)-size:]) {
					break
				}
				b = b[:len(b)-size]
			}
			text.Data = append(text.Data, b...)
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}
}
