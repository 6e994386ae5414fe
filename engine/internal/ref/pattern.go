package ref

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
)

// patterns are LIKE and its kin, and regular expressions.
func patterns() map[string]definition {
	return map[string]definition{
		"LIKE":           func(c call) (any, error) { return like(c, c.text(0), c.text(1)) },
		"ILIKE":          func(c call) (any, error) { return like(c, strings.ToLower(c.text(0)), strings.ToLower(c.text(1))) },
		"SIMILAR TO":     similar,
		"REGEXP":         func(c call) (any, error) { return matches(c, c.text(1)) },
		"REGEXP_EXTRACT": regexpExtract,
		"REGEXP_REPLACE": regexpReplace,
	}
}

func constant(e expr.Expr) bool { return len(expr.Columns(e)) == 0 && expr.Deterministic(e) }

func invalid(c call, what string) error { return errs.New(errs.Invalid, c.At, "%s", what) }

// escape is the third argument, one character, or -1 when there is none.
func escape(c call) (rune, error) {
	if len(c.args) < 3 {
		return -1, nil
	}
	if characters(c.text(2)) != 1 {
		return 0, invalid(c, "an escape is one character")
	}
	r, _ := utf8.DecodeRuneInString(c.text(2))
	if c.Func.Name == "ILIKE" {
		r, _ = utf8.DecodeRuneInString(strings.ToLower(c.text(2)))
	}
	return r, nil
}

// wild is a character of a pattern, or one of the wildcards % and _.
type wild struct {
	r        rune
	wildcard bool
}

func like(c call, s, pattern string) (any, error) {
	esc, err := escape(c)
	if err != nil {
		return nil, err
	}
	var p []wild
	rest := []rune(pattern)
	for i := 0; i < len(rest); i++ {
		r := rest[i]
		if r != esc {
			p = append(p, wild{r, r == '%' || r == '_'})
			continue
		}
		if i++; i == len(rest) || rest[i] != '%' && rest[i] != '_' && rest[i] != esc {
			return nil, invalid(c, "nothing that could be escaped follows the escape character")
		}
		p = append(p, wild{rest[i], false})
	}
	return likes([]rune(s), p), nil
}

// likes tells of every end of the text whether the rest of the pattern matches it, from
// the back of the pattern to its front.
func likes(s []rune, p []wild) bool {
	fits := make([]bool, len(s)+1) // the text from i on
	fits[len(s)] = true
	for k := len(p) - 1; k >= 0; k-- {
		next := make([]bool, len(s)+1)
		for i := len(s); i >= 0; i-- {
			switch {
			case p[k].wildcard && p[k].r == '%':
				next[i] = fits[i] || i < len(s) && next[i+1]
			case i < len(s) && (p[k].wildcard || p[k].r == s[i]):
				next[i] = fits[i+1]
			}
		}
		fits = next
	}
	return fits[0]
}

// compiled is a regular expression, RE2's.
func compiled(c call, pattern string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, invalid(c, err.Error())
	}
	return re, nil
}

func matches(c call, pattern string) (any, error) {
	re, err := compiled(c, pattern)
	if err != nil {
		return nil, err
	}
	return re.MatchString(c.text(0)), nil
}

// similar reads the pattern as SQL has it: _ and % are wildcards, what is no operator
// stands for itself, and the whole string has to match.
func similar(c call) (any, error) {
	esc, err := escape(c)
	if err != nil {
		return nil, err
	}
	re, rest := "", []rune(c.text(1))
	inClass := false
	for len(rest) > 0 {
		r := rest[0]
		rest = rest[1:]
		switch name, isNamed := strings.CutPrefix(string(rest), ":"); {
		case r == esc:
			if len(rest) == 0 {
				return nil, invalid(c, "nothing follows the escape character")
			}
			re += regexp.QuoteMeta(string(rest[0]))
			rest = rest[1:]
		case inClass && r == '[' && isNamed && strings.Contains(name, ":]"):
			name, after, _ := strings.Cut(name, ":]")
			re += "[:" + strings.ToLower(name) + ":]"
			rest = []rune(after)
		case inClass && strings.ContainsRune(`\[&`, r):
			re += `\` + string(r)
		case inClass:
			re += string(r)
			inClass = r != ']'
		case r == '[':
			re += "["
			inClass = true
		case r == '%':
			re += "(?s:.*)"
		case r == '_':
			re += "(?s:.)"
		case strings.ContainsRune("|*+?{}()", r):
			re += string(r)
		default:
			re += regexp.QuoteMeta(string(r))
		}
	}
	return matches(c, `\A(?:`+re+`)\z`)
}

// regexpExtract is NULL where nothing matches, or the group took no part. A group that
// is not there is an error when it can be seen beforehand.
func regexpExtract(c call) (any, error) {
	re, err := compiled(c, c.text(1))
	if err != nil {
		return nil, err
	}
	group := int64(0)
	if len(c.args) == 3 {
		group = c.int(2)
	}
	if group < 0 || group > int64(re.NumSubexp()) {
		if constant(c.Args[1]) && constant(c.Args[2]) {
			return nil, invalid(c, "there is no such group")
		}
		return nil, nil
	}
	at := re.FindStringSubmatchIndex(c.text(0))
	if at == nil || at[2*group] < 0 {
		return nil, nil
	}
	return c.text(0)[at[2*group]:at[2*group+1]], nil
}

// regexpReplace knows $1 to $9 in the replacement, $0 for the whole, and \ before what
// stands for itself.
func regexpReplace(c call) (any, error) {
	re, err := compiled(c, c.text(1))
	if err != nil {
		return nil, err
	}
	s, out, from := c.text(0), "", 0
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		out += s[from:at[0]]
		from = at[1]
		with := c.text(2)
		for i := 0; i < len(with); i++ {
			group, err := strconv.Atoi(with[min(i+1, len(with)):min(i+2, len(with))])
			switch {
			case with[i] == '\\' && i+1 < len(with):
				i++
				out += with[i : i+1]
			case with[i] == '$' && err == nil:
				i++
				if group <= re.NumSubexp() && at[2*group] >= 0 {
					out += s[at[2*group]:at[2*group+1]]
				}
			default:
				out += with[i : i+1]
			}
		}
	}
	return out + s[from:], nil
}
