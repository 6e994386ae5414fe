package function

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func patternFunctions() []*Scalar {
	like := []string{"(STRING, STRING pattern)", "(STRING, STRING pattern, STRING escape)"}
	regex := []string{"(STRING, STRING regex)"}
	list := []*Scalar{
		{Name: "LIKE", Doc: "matches a pattern of % and _", Signatures: like, Infer: inferStrings(2, 3, sqltype.BoolType), Bind: bindLike(false)},
		{Name: "ILIKE", Doc: "matches a pattern of % and _ in any case", Signatures: like, Infer: inferStrings(2, 3, sqltype.BoolType), Bind: bindLike(true)},
		{Name: "SIMILAR TO", Doc: "matches an SQL regular expression as a whole", Signatures: like, Infer: inferStrings(2, 3, sqltype.BoolType), Bind: bindSimilar},
		{Name: "REGEXP", Doc: "contains a match of a regular expression", Signatures: regex, Infer: inferStrings(2, 2, sqltype.BoolType), Bind: bindRegexp},
		{
			Name: "REGEXP_EXTRACT", Doc: "the match of a regular expression, or a group of it", Signatures: []string{"(STRING, STRING regex)", "(STRING, STRING regex, INT group)"},
			MayNull: true, Infer: inferPattern("ss|ssi", sqltype.StringType), Bind: bindExtract,
		},
		{
			Name: "REGEXP_REPLACE", Doc: "with every match of a regular expression replaced", Signatures: []string{"(STRING, STRING regex, STRING)"},
			Infer: inferStrings(3, 3, sqltype.StringType), Bind: bindRegexpReplace,
		},
	}
	for _, s := range list {
		s.Deterministic = true
	}
	return list
}

// likePattern is a compiled LIKE pattern. Patterns of one literal with % around it
// are matched by a search; others rune by rune.
type likePattern struct {
	shape likeShape
	text  []byte
	runes []rune // anyOne, anyRun or a character
}

type likeShape uint8

const (
	exactly likeShape = iota
	beginning
	ending
	containing
	general
)

const (
	anyOne rune = -1
	anyRun rune = -2
)

// compileLike reads a pattern; escape is 0 when there is none.
func compileLike(pattern string, escape rune) (likePattern, error) {
	var p likePattern
	special := 0
	for i := 0; i < len(pattern); {
		r, size := utf8.DecodeRuneInString(pattern[i:])
		i += size
		switch {
		case escape != 0 && r == escape:
			if i == len(pattern) {
				return p, errs.New(errs.Invalid, errs.Position{}, "the pattern '%s' ends in its escape character", pattern)
			}
			r, size = utf8.DecodeRuneInString(pattern[i:])
			if r != '%' && r != '_' && r != escape {
				return p, errs.New(errs.Invalid, errs.Position{}, "in the pattern '%s' the escape character stands before '%c'", pattern, r).
					WithHint("it may stand before %%, _ and itself")
			}
			i += size
		case r == '_':
			r = anyOne
			special++
		case r == '%':
			r = anyRun
			if n := len(p.runes); n > 0 && p.runes[n-1] == anyRun {
				continue
			}
			special++
		}
		p.runes = append(p.runes, r)
	}
	lead := len(p.runes) > 0 && p.runes[0] == anyRun
	trail := len(p.runes) > 1 && p.runes[len(p.runes)-1] == anyRun
	text := p.runes
	switch {
	case special == 0:
		p.shape = exactly
	case special == 1 && lead:
		p.shape, text = ending, text[1:]
	case special == 1 && trail:
		p.shape, text = beginning, text[:len(text)-1]
	case special == 2 && lead && trail:
		p.shape, text = containing, text[1:len(text)-1]
	default:
		p.shape = general
		return p, nil
	}
	p.text = []byte(string(text))
	return p, nil
}

func (p *likePattern) match(s []byte) bool {
	switch p.shape {
	case exactly:
		return bytes.Equal(s, p.text)
	case beginning:
		return bytes.HasPrefix(s, p.text)
	case ending:
		return bytes.HasSuffix(s, p.text)
	case containing:
		return bytes.Contains(s, p.text)
	}
	// On a mismatch go back to the last % and let it take one character more.
	at, i, star, retry := 0, 0, -1, 0
	for at < len(s) {
		if i < len(p.runes) {
			if p.runes[i] == anyRun {
				star, retry = i, at
				i++
				continue
			}
			r, size := utf8.DecodeRune(s[at:])
			if p.runes[i] == anyOne || p.runes[i] == r {
				at += size
				i++
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, size := utf8.DecodeRune(s[retry:])
		retry += size
		at, i = retry, star+1
	}
	for i < len(p.runes) && p.runes[i] == anyRun {
		i++
	}
	return i == len(p.runes)
}

func escapeRune(s string) (rune, error) {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 || size != len(s) {
		return 0, errs.New(errs.Invalid, errs.Position{}, "an escape is one character, not '%s'", s)
	}
	return r, nil
}

// cached keeps what was compiled from the last text, so that a pattern that is no
// constant is compiled only when it changes.
type cached[T any] struct {
	text, escape string
	known        bool
	value        T
}

// matcher is a compiled pattern. It matches a run of rows at a time, so that its loops
// stand where the kind of pattern is known.
type matcher interface {
	// matchRows writes to dst[from:to] which of the texts match.
	matchRows(dst []bool, s texts, from, to int)
}

func (p *likePattern) matchRows(dst []bool, s texts, from, to int) {
	text := string(p.text)
	switch p.shape {
	case exactly:
		for i := from; i < to; i++ {
			dst[i] = string(s.at(i)) == text
		}
	case beginning:
		for i := from; i < to; i++ {
			b := s.at(i)
			dst[i] = len(b) >= len(text) && string(b[:len(text)]) == text
		}
	case ending:
		for i := from; i < to; i++ {
			b := s.at(i)
			dst[i] = len(b) >= len(text) && string(b[len(b)-len(text):]) == text
		}
	case containing:
		for i := from; i < to; i++ {
			dst[i] = bytes.Contains(s.at(i), p.text)
		}
	default:
		for i := from; i < to; i++ {
			dst[i] = p.match(s.at(i))
		}
	}
}

// foldedLike matches in lower case.
type foldedLike struct {
	likePattern
	low []byte
}

func (p *foldedLike) matchRows(dst []bool, s texts, from, to int) {
	for i := from; i < to; i++ {
		p.low = appendLower(p.low[:0], s.at(i))
		dst[i] = p.match(p.low)
	}
}

// compiler turns a pattern into a matcher; escape is 0 when there is none.
type compiler func(pattern string, escape rune) (matcher, error)

func bindLike(fold bool) func(Binding) (Kernel, error) {
	return bindMatch(func(pattern string, escape rune) (matcher, error) {
		if fold {
			p, err := compileLike(strings.ToLower(pattern), unicode.ToLower(escape))
			return &foldedLike{likePattern: p}, err
		}
		p, err := compileLike(pattern, escape)
		return &p, err
	})
}

// bindMatch is a BOOLEAN function of a string and a pattern, with an escape or not. A
// pattern that is no constant is compiled whenever it changes from row to row.
func bindMatch(compile compiler) func(Binding) (Kernel, error) {
	withEscape := func(pattern string, escape string, some bool) (matcher, error) {
		r := rune(0)
		if some {
			var err error
			if r, err = escapeRune(escape); err != nil {
				return nil, err
			}
		}
		return compile(pattern, r)
	}
	return func(b Binding) (Kernel, error) {
		some := len(b.Args) == 3
		pattern, constant := b.Args[1].Value.(string)
		escape := ""
		if some && constant {
			escape, constant = b.Args[2].Value.(string)
		}
		if constant {
			m, err := withEscape(pattern, escape, some)
			if err != nil {
				return nil, err
			}
			return func(c *Call) (*vector.Vector, error) {
				out := c.Pool.New(vector.Bool, c.N)
				m.matchRows(vector.Values[bool](out), textsOf(c.Args[0]), 0, c.N)
				return out, nil
			}, nil
		}
		var last cached[matcher]
		return func(c *Call) (*vector.Vector, error) {
			out := c.Pool.New(vector.Bool, c.N)
			dst, s := vector.Values[bool](out), textsOf(c.Args[0])
			for i := range dst {
				if c.Valid != nil && !c.Valid.Get(i) {
					dst[i] = false
					continue
				}
				p, e := string(textsOf(c.Args[1]).at(i)), ""
				if some {
					e = string(textsOf(c.Args[2]).at(i))
				}
				if !last.known || p != last.text || e != last.escape {
					m, err := withEscape(p, e, some)
					if err != nil {
						return checked(out, err)
					}
					last = cached[matcher]{text: p, escape: e, known: true, value: m}
				}
				last.value.matchRows(dst, s, i, i+1)
			}
			return out, nil
		}, nil
	}
}

// regex is a regular expression and a text that every match contains, which is
// searched for first: Go's regexp is slow.
type regex struct {
	re       *regexp.Regexp
	required []byte
}

func compileRegex(pattern string) (regex, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return regex{}, errs.New(errs.Invalid, errs.Position{}, "bad regular expression '%s': %w", pattern, err)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return regex{re: re}, nil
	}
	return regex{re: re, required: requiredText(parsed.Simplify())}, nil
}

// requiredText is the longest literal that the top level of a regular expression
// insists on.
func requiredText(r *syntax.Regexp) []byte {
	switch r.Op {
	case syntax.OpLiteral:
		if r.Flags&syntax.FoldCase == 0 {
			return []byte(string(r.Rune))
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredText(r.Sub[0])
	case syntax.OpConcat:
		var best []byte
		for _, s := range r.Sub {
			if t := requiredText(s); len(t) > len(best) {
				best = t
			}
		}
		return best
	}
	return nil
}

func (r *regex) possible(s []byte) bool { return len(r.required) == 0 || bytes.Contains(s, r.required) }

func (r *regex) matchRows(dst []bool, s texts, from, to int) {
	for i := from; i < to; i++ {
		b := s.at(i)
		dst[i] = r.possible(b) && r.re.Match(b)
	}
}

func bindRegexp(b Binding) (Kernel, error) {
	return bindMatch(func(pattern string, _ rune) (matcher, error) {
		r, err := compileRegex(pattern)
		return &r, err
	})(b)
}

func bindSimilar(b Binding) (Kernel, error) {
	return bindMatch(func(pattern string, escape rune) (matcher, error) {
		text, err := similarToRegex(pattern, escape)
		if err != nil {
			return nil, err
		}
		r, err := compileRegex(text)
		return &r, err
	})(b)
}

// similarToRegex translates an SQL regular expression: % and _ are wildcards, the
// operators | * + ? {} () [] keep their meaning, all else is literal.
func similarToRegex(pattern string, escape rune) (string, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	class := false
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case escape != 0 && r == escape:
			i++
			if i == len(runes) {
				return "", errs.New(errs.Invalid, errs.Position{}, "the pattern '%s' ends in its escape character", pattern)
			}
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		case class:
			if rest := string(runes[i:]); strings.HasPrefix(rest, "[:") {
				if end := strings.Index(rest, ":]"); end > 0 {
					b.WriteString("[:" + strings.ToLower(rest[2:end]) + ":]")
					i += utf8.RuneCountInString(rest[:end+2]) - 1
					continue
				}
			}
			if r == '\\' || r == '[' || r == '&' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			class = r != ']'
		case r == '[':
			class = true
			b.WriteRune(r)
		case r == '%':
			b.WriteString(".*")
		case r == '_':
			b.WriteByte('.')
		case strings.ContainsRune("|*+?{}()", r):
			b.WriteRune(r)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString(`)\z`)
	return b.String(), nil
}

// regexCache compiles the regular expression of a row.
type regexCache struct {
	constant bool
	last     cached[regex]
}

func newRegexCache(a Arg) (*regexCache, error) {
	k := &regexCache{}
	if s, ok := a.Value.(string); a.Const && ok {
		r, err := compileRegex(s)
		if err != nil {
			return nil, err
		}
		k.constant, k.last.value = true, r
	}
	return k, nil
}

func (k *regexCache) of(pattern []byte) (*regex, error) {
	if !k.constant && (!k.last.known || string(pattern) != k.last.text) {
		r, err := compileRegex(string(pattern))
		if err != nil {
			return nil, err
		}
		k.last = cached[regex]{text: string(pattern), known: true, value: r}
	}
	return &k.last.value, nil
}

// bindExtract gives NULL where nothing matches, or the group took no part.
func bindExtract(b Binding) (Kernel, error) {
	cache, err := newRegexCache(b.Args[1])
	if err != nil {
		return nil, err
	}
	if len(b.Args) == 3 && cache.constant {
		if g, ok := b.Args[2].Value.(int64); ok && (g < 0 || g > int64(cache.last.value.re.NumSubexp())) {
			return nil, errs.New(errs.Invalid, errs.Position{}, "the regular expression has %d groups, no group %d", cache.last.value.re.NumSubexp(), g)
		}
	}
	var text kernel.TextBuffer
	var missing kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		missing.Reset()
		s, pattern := textsOf(c.Args[0]), textsOf(c.Args[1])
		for i := range c.N {
			group, found := 0, false
			if c.Valid == nil || c.Valid.Get(i) {
				re, err := cache.of(pattern.at(i))
				if err != nil {
					return nil, err
				}
				if len(c.Args) == 3 {
					group = int(bigintsOf(c.Args[2]).at(i))
				}
				if in := s.at(i); re.possible(in) && group >= 0 && group <= re.re.NumSubexp() {
					if at := re.re.FindSubmatchIndex(in); at != nil && at[2*group] >= 0 {
						text.Data = append(text.Data, in[at[2*group]:at[2*group+1]]...)
						found = true
					}
				}
			}
			if !found {
				missing.Rows = append(missing.Rows, int32(i))
			}
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

func bindRegexpReplace(b Binding) (Kernel, error) {
	cache, err := newRegexCache(b.Args[1])
	if err != nil {
		return nil, err
	}
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		s, pattern, repl := textsOf(c.Args[0]), textsOf(c.Args[1]), textsOf(c.Args[2])
		for i := range c.N {
			if c.Valid == nil || c.Valid.Get(i) {
				re, err := cache.of(pattern.at(i))
				if err != nil {
					return nil, err
				}
				in := s.at(i)
				if re.possible(in) {
					in = re.re.ReplaceAll(in, goTemplate(repl.at(i)))
				}
				text.Data = append(text.Data, in...)
			}
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}, nil
}

// goTemplate turns Java's $1 into Go's ${1}, which ends where it should.
func goTemplate(s []byte) []byte {
	if !bytes.ContainsAny(s, `$\`) {
		return s
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] == '$' {
				out = append(out, '$')
			}
			out = append(out, s[i])
		case s[i] == '$' && i+1 < len(s) && s[i+1]-'0' <= 9:
			out = append(out, '$', '{', s[i+1], '}')
			i++
		default:
			out = append(out, s[i])
		}
	}
	return out
}

func tooLong(n int64) error {
	return errs.New(errs.Limit, errs.Position{}, "a string of %d characters is too long", n).WithHint("the limit is %d bytes", maxText)
}
