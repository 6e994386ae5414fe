package ref

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
)

// longest is the size of a string that REPEAT, LPAD and RPAD make.
const longest = 16 << 20

// texts are the functions of strings, whose characters are Unicode's.
func texts() map[string]definition {
	each := func(f func(s string) string) definition {
		return func(c call) (any, error) { return f(c.text(0)), nil }
	}
	return map[string]definition{
		"UPPER":       each(strings.ToUpper),
		"LOWER":       each(strings.ToLower),
		"INITCAP":     each(initcap),
		"REVERSE":     each(reverse),
		"CHAR_LENGTH": func(c call) (any, error) { return characters(c.text(0)), nil },
		"TRIM":        trim,
		"BTRIM":       trimmed(strings.Trim),
		"LTRIM":       trimmed(strings.TrimLeft),
		"RTRIM":       trimmed(strings.TrimRight),
		"SUBSTRING":   substring,
		"LEFT": func(c call) (any, error) {
			return cut(c.text(0), 0, max(c.int(1), 0)), nil
		},
		"RIGHT": func(c call) (any, error) {
			return cut(c.text(0), characters(c.text(0))-max(c.int(1), 0), longest), nil
		},
		"||":        concat,
		"CONCAT":    concat,
		"CONCAT_WS": concatWith,
		"REPLACE": func(c call) (any, error) {
			if c.text(1) == "" {
				return c.text(0), nil
			}
			return strings.ReplaceAll(c.text(0), c.text(1), c.text(2)), nil
		},
		"LPAD":    pad(func(s, fill string) string { return fill + s }),
		"RPAD":    pad(func(s, fill string) string { return s + fill }),
		"OVERLAY": overlay,
		"REPEAT": func(c call) (any, error) {
			s, n := c.text(0), max(c.int(1), 0)
			if s == "" || n == 0 {
				return "", nil
			}
			if n > longest/int64(len(s)) {
				return nil, tooLong(c)
			}
			return strings.Repeat(s, int(n)), nil
		},
		"SPLIT_INDEX": splitIndex,
	}
}

func tooLong(c call) error { return errs.New(errs.Limit, c.At, "the string is too long") }

func characters(s string) int64 { return int64(utf8.RuneCountInString(s)) }

// cut is the part of s from a character on, counted from 0, of at most n.
func cut(s string, from, n int64) string {
	r := []rune(s)
	from = min(max(from, 0), int64(len(r)))
	return string(r[from : from+min(n, int64(len(r))-from)])
}

func initcap(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		first := !inWord
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r)
		if first {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func reverse(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// trimmed cuts blanks, or the characters of the second argument.
func trimmed(f func(s, set string) string) definition {
	return func(c call) (any, error) {
		set := " "
		if len(c.args) == 2 {
			set = c.text(1)
		}
		return f(c.text(0), set), nil
	}
}

// trim has the arguments [side,] [characters,] string.
func trim(c call) (any, error) {
	s, set, f := c.text(len(c.args)-1), " ", strings.Trim
	rest := c.args[:len(c.args)-1]
	if len(rest) > 0 && isSide(c) {
		switch rest[0] {
		case "LEADING":
			f = strings.TrimLeft
		case "TRAILING":
			f = strings.TrimRight
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		set = rest[0].(string)
	}
	return f(s, set), nil
}

// isSide reports whether the first argument of TRIM is a side, which is a constant.
func isSide(c call) bool {
	return constant(c.Args[0]) && slices.Contains([]any{"LEADING", "TRAILING", "BOTH"}, c.args[0])
}

// substring counts from 1, or from the end when the position is negative. A negative
// length has no result, and nothing stands before the beginning.
func substring(c call) (any, error) {
	s, from, n := c.text(0), c.int(1), characters(c.text(0))
	if len(c.args) == 3 {
		n = c.int(2)
	}
	switch {
	case n < 0:
		return nil, nil
	case from > 0:
		from--
	case from < 0:
		if from += characters(s); from < 0 {
			return "", nil
		}
	}
	return cut(s, from, n), nil
}

func concat(c call) (any, error) {
	s := ""
	for i := range c.args {
		s += c.text(i)
	}
	return s, nil
}

func concatWith(c call) (any, error) {
	if c.args[0] == nil {
		return nil, nil
	}
	var parts []string
	for _, a := range c.args[1:] {
		if a != nil {
			parts = append(parts, a.(string))
		}
	}
	return strings.Join(parts, c.text(0)), nil
}

// pad fills up a string that is too short and cuts one that is too long.
func pad(join func(s, fill string) string) definition {
	return func(c call) (any, error) {
		s, n, with := c.text(0), c.int(1), c.text(2)
		switch missing := n - characters(s); {
		case n < 0 || with == "":
			return nil, nil
		case n > longest:
			return nil, tooLong(c)
		case missing <= 0:
			return cut(s, 0, n), nil
		default:
			return join(s, cut(strings.Repeat(with, int(missing)/int(characters(with))+1), 0, missing)), nil
		}
	}
}

// overlay puts the second string in the place of a part of the first, as long as
// itself unless said otherwise. A position outside leaves the first as it is, a
// negative length takes all that follows.
func overlay(c call) (any, error) {
	s, with, from, n := c.text(0), c.text(1), c.int(2), characters(c.text(1))
	if len(c.args) == 4 {
		n = c.int(3)
	}
	if from < 1 || from > characters(s) {
		return s, nil
	}
	rest := cut(s, from-1, longest)
	if n < 0 {
		n = characters(rest)
	}
	return cut(s, 0, from-1) + with + cut(rest, min(n, characters(rest)), longest), nil
}

// splitIndex counts parts from 0. An empty string has none; without a separator the
// whole is one.
func splitIndex(c call) (any, error) {
	var parts []string
	switch {
	case c.text(0) == "":
	case c.text(1) == "":
		parts = []string{c.text(0)}
	default:
		parts = strings.Split(c.text(0), c.text(1))
	}
	if i := c.int(2); i >= 0 && i < int64(len(parts)) {
		return parts[i], nil
	}
	return nil, nil
}

// searches tell where a string occurs in another, in characters from 1; 0 is nowhere.
func searches() map[string]definition {
	find := func(part, whole int) definition {
		return func(c call) (any, error) {
			s, from := []rune(c.text(whole)), int64(1)
			if len(c.args) == 3 {
				from = c.int(2)
			}
			for at := from; at >= 1 && at <= int64(len(s))+1; at++ {
				if strings.HasPrefix(string(s[at-1:]), c.text(part)) {
					return at, nil
				}
			}
			return int64(0), nil
		}
	}
	return map[string]definition{"POSITION": find(0, 1), "LOCATE": find(0, 1), "INSTR": find(1, 0)}
}

// hashes are written as hexadecimal digits.
func hashes() map[string]definition {
	return map[string]definition{
		"MD5": func(c call) (any, error) {
			h := md5.Sum([]byte(c.text(0)))
			return hex.EncodeToString(h[:]), nil
		},
		"SHA1": func(c call) (any, error) {
			h := sha1.Sum([]byte(c.text(0)))
			return hex.EncodeToString(h[:]), nil
		},
		"SHA256": func(c call) (any, error) {
			h := sha256.Sum256([]byte(c.text(0)))
			return hex.EncodeToString(h[:]), nil
		},
	}
}
