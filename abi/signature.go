//go:build !wasip1

package abi

import (
	"errors"
	"fmt"
	"strings"
)

// SetSignature sets Args, Variadic, Returns and Nullable from text as
//
//	a BIGINT, b STRING DEFAULT 'x', c INT... -> BIGINT NOT NULL
//
// This is the form in which SDKs whose language cannot take text apart at compile
// time write a signature into the manifest. Parentheses around the arguments may
// be given. NOT NULL after the result makes the function not nullable.
func (f *Function) SetSignature(text string) error {
	at := lastArrow(text)
	if at < 0 {
		return errors.New(`want arguments, "->" and the type of the result, as "a BIGINT, b BIGINT -> BIGINT"`)
	}
	args := strings.TrimSpace(text[:at])
	if strings.HasPrefix(args, "(") && strings.HasSuffix(args, ")") {
		args = args[1 : len(args)-1]
	}
	list, variadic, err := ParseArguments(args)
	if err != nil {
		return err
	}
	returns := strings.TrimSpace(text[at+2:])
	if t, ok := cutNotNull(returns); ok {
		returns, f.Nullable = t, false
	}
	if returns == "" {
		return errors.New(`the type of the result is missing after "->"`)
	}
	f.Args, f.Variadic, f.Returns = list, variadic, returns
	return nil
}

// ParseArguments reads a list of arguments as a BIGINT, b STRING DEFAULT 'x', with
// ... after the type of a last one that repeats.
func ParseArguments(text string) (args []Argument, variadic bool, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, false, nil
	}
	for _, part := range splitTop(text) {
		if variadic {
			return nil, false, errors.New(`only the last argument repeats ("...")`)
		}
		name, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		a := Argument{Name: name, Type: strings.TrimSpace(rest)}
		if at := indexWord(a.Type, "DEFAULT"); at >= 0 {
			a.HasDefault = true
			a.Default = strings.TrimSpace(a.Type[at+len("DEFAULT"):])
			a.Type = strings.TrimSpace(a.Type[:at])
			if a.Default == "" {
				return nil, false, fmt.Errorf("argument %s: a value is missing after DEFAULT", name)
			}
		}
		if t, ok := strings.CutSuffix(a.Type, "..."); ok {
			a.Type, variadic = strings.TrimSpace(t), true
		}
		if a.Type == "" {
			return nil, false, fmt.Errorf("argument %q: want a name and a type", strings.TrimSpace(part))
		}
		args = append(args, a)
	}
	return args, variadic, nil
}

// scan calls f at each byte of a text of types that stands outside quotes, with
// the number of brackets open there.
func scan(text string, f func(i, depth int) (more bool)) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"', '`':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return
			}
			i += end + 1
			continue
		case '<', '(':
			depth++
		case '>', ')':
			if c == '>' && i > 0 && text[i-1] == '-' {
				break // the arrow of a signature
			}
			depth--
		}
		if !f(i, depth) {
			return
		}
	}
}

// splitTop cuts at the commas outside brackets and quotes.
func splitTop(text string) []string {
	var parts []string
	start := 0
	scan(text, func(i, depth int) bool {
		if text[i] == ',' && depth == 0 {
			parts = append(parts, text[start:i])
			start = i + 1
		}
		return true
	})
	return append(parts, text[start:])
}

// lastArrow is the offset of the last "->" outside quotes, or -1.
func lastArrow(text string) int {
	at := -1
	scan(text, func(i, _ int) bool {
		if text[i] == '>' && i > 0 && text[i-1] == '-' {
			at = i - 1
		}
		return true
	})
	return at
}

// indexWord is the offset of a word outside brackets and quotes, whatever its
// case, or -1.
func indexWord(text, word string) int {
	at := -1
	scan(text, func(i, depth int) bool {
		end := i + len(word)
		if depth == 0 && end <= len(text) && strings.EqualFold(text[i:end], word) &&
			(i == 0 || text[i-1] == ' ') && (end == len(text) || text[end] == ' ') {
			at = i
			return false
		}
		return true
	})
	return at
}

// cutNotNull cuts NOT NULL off the end of a type.
func cutNotNull(t string) (string, bool) {
	words := strings.Fields(t)
	if n := len(words); n > 2 && strings.EqualFold(words[n-2], "NOT") && strings.EqualFold(words[n-1], "NULL") {
		end := strings.LastIndex(strings.ToUpper(t), "NOT")
		return strings.TrimSpace(t[:end]), true
	}
	return t, false
}

// depth is the deepest nesting of brackets in a text of a type.
func depth(text string) int {
	deepest := 0
	scan(text, func(_, d int) bool {
		deepest = max(deepest, d)
		return true
	})
	return deepest
}
