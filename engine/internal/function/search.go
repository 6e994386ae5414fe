package function

import (
	"bytes"
	"unicode/utf8"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func bindReplace(Binding) (Kernel, error) {
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		s, old, repl := textsOf(c.Args[0]), textsOf(c.Args[1]), textsOf(c.Args[2])
		for i := range c.N {
			b, o := s.at(i), old.at(i)
			for len(o) > 0 {
				at := bytes.Index(b, o)
				if at < 0 {
					break
				}
				text.Data = append(append(text.Data, b[:at]...), repl.at(i)...)
				b = b[at+len(o):]
			}
			text.Data = append(text.Data, b...)
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}, nil
}

// bindPosition finds argument part in argument whole, from the third argument on.
func bindPosition(part, whole int) func(Binding) (Kernel, error) {
	return func(Binding) (Kernel, error) {
		return func(c *Call) (*vector.Vector, error) {
			out := c.Pool.New(vector.Int32, c.N)
			dst, s, sub := vector.Values[int32](out), textsOf(c.Args[whole]), textsOf(c.Args[part])
			for i := range dst {
				b, skipped := s.at(i), int32(0)
				if len(c.Args) == 3 {
					from := bigintsOf(c.Args[2]).at(i)
					if from < 1 || from > int64(len(b))+1 {
						dst[i] = 0
						continue
					}
					head := characters(b, 0, from-1)
					if skipped = int32(utf8.RuneCount(head)); int64(skipped) < from-1 {
						dst[i] = 0
						continue
					}
					b = b[len(head):]
				}
				at := bytes.Index(b, sub.at(i))
				if at < 0 {
					dst[i] = 0
					continue
				}
				dst[i] = skipped + int32(utf8.RuneCount(b[:at])) + 1
			}
			return out, nil
		}, nil
	}
}

func bindSplitIndex(Binding) (Kernel, error) {
	var text kernel.TextBuffer
	var missing kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		missing.Reset()
		s, sep, index := textsOf(c.Args[0]), textsOf(c.Args[1]), bigintsOf(c.Args[2])
		for i := range c.N {
			part, ok := splitPart(s.at(i), sep.at(i), index.at(i))
			if !ok {
				missing.Rows = append(missing.Rows, int32(i))
			}
			text.Data = append(text.Data, part...)
			text.End()
		}
		out := text.Column(c.Pool, vector.String)
		if len(missing.Rows) > 0 {
			valid := copyValid(out, c.Valid)
			for _, r := range missing.Rows {
				valid.Clear(int(r))
			}
		}
		return out, nil
	}, nil
}

// splitPart is part number index of b, which has at least one unless it is empty.
func splitPart(b, sep []byte, index int64) ([]byte, bool) {
	if index < 0 || len(b) == 0 {
		return nil, false
	}
	if len(sep) == 0 {
		return b, index == 0
	}
	if len(sep) == 1 {
		for ; ; index-- {
			at := bytes.IndexByte(b, sep[0])
			switch {
			case at < 0:
				return b, index == 0
			case index == 0:
				return b[:at], true
			}
			b = b[at+1:]
		}
	}
	for ; ; index-- {
		at := bytes.Index(b, sep)
		switch {
		case at < 0:
			return b, index == 0
		case index == 0:
			return b[:at], true
		}
		b = b[at+len(sep):]
	}
}
