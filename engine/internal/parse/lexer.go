package parse

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/errs"
)

// lexer cuts a script into tokens. Strings are ANSI: ” is a quote and the
// backslash an ordinary character. Comments are dropped, hints are kept.
type lexer struct {
	text      string
	upper     string
	at        int
	line      int
	lineStart int // offset of the line's first byte
	wide      int // bytes of the line up to at that continue a character
	toks      []token
	first     int // the first token of the current statement
}

// lex returns the tokens of text, the last one a tokEnd; upper is the text with
// its ASCII letters in upper case.
func lex(text, upper string) ([]token, *errs.Error) {
	l := &lexer{text: text, upper: upper, line: 1, toks: make([]token, 0, min(len(text)/3, 1<<14)+8)}
	if strings.HasPrefix(text, "\ufeff") {
		l.step(len("\ufeff")) // a byte order mark
	}
	for {
		l.skipBlank()
		if l.at == len(text) {
			l.add(tokEnd, l.at)
			return l.toks, nil
		}
		if err := l.next(); err != nil {
			return nil, err
		}
		if err := l.checkSize(); err != nil {
			return nil, err
		}
	}
}

// checkSize refuses a statement that is too large before more of it is read.
func (l *lexer) checkSize() *errs.Error {
	last := len(l.toks) - 1
	if last < 0 {
		return nil
	}
	if t := &l.toks[last]; l.text[t.start:t.end] == ";" {
		l.first = last + 1
		return nil
	}
	if first := &l.toks[min(l.first, last)]; last-l.first > maxTokens || l.at-int(first.start) > maxBytes {
		return errs.New(errs.Limit, first.pos(), "the statement is larger than %d bytes or %d words", maxBytes, maxTokens)
	}
	return nil
}

func (l *lexer) pos() errs.Position {
	return errs.Position{Line: l.line, Column: l.at - l.lineStart - l.wide + 1, Offset: l.at}
}

// step moves n bytes on and keeps count of lines and characters.
func (l *lexer) step(n int) {
	for _, c := range []byte(l.text[l.at : l.at+n]) {
		l.at++
		switch {
		case c == '\n':
			l.line++
			l.lineStart, l.wide = l.at, 0
		case c&0xC0 == 0x80:
			l.wide++
		}
	}
}

// add appends the token from the current place to end and moves there. It has
// one line and ASCII characters only.
func (l *lexer) add(kind tokenKind, end int) *token {
	l.toks = append(l.toks, token{
		kind: kind, start: int32(l.at), end: int32(end),
		line: int32(l.line), col: int32(l.at - l.lineStart - l.wide + 1),
	})
	l.at = end
	return &l.toks[len(l.toks)-1]
}

// addText is add for a token with any characters, which is no keyword.
func (l *lexer) addText(kind tokenKind, end int) {
	at := l.at
	l.add(kind, end)
	l.at = at
	l.step(end - at)
}

func (l *lexer) skipBlank() {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			l.at++
		case c == '\n':
			l.step(1)
		case c < utf8.RuneSelf:
			return
		default:
			r, n := utf8.DecodeRuneInString(l.text[l.at:])
			if !unicode.IsSpace(r) {
				return
			}
			l.step(n)
		}
	}
}

// next reads one token or comment.
func (l *lexer) next() *errs.Error {
	rest := l.text[l.at:]
	c := rest[0]
	switch {
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
		if (c == 'x' || c == 'X') && len(rest) > 1 && rest[1] == '\'' {
			return l.hex()
		}
		l.wordToken()
		return nil
	case c == '\'' || c == '"' || c == '`':
		return l.quoted(c)
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9' && !l.afterName():
		return l.number()
	case strings.HasPrefix(rest, "--"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		l.step(n)
		return nil
	case strings.HasPrefix(rest, "/*"):
		return l.comment(rest)
	}
	if op := operatorAt(rest); op != "" {
		t := l.add(tokOp, l.at+len(op))
		t.isWord, t.keyword = true, keywords[op]
		return nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	if isWordStart(r) {
		l.wordToken()
		return nil
	}
	return l.strange(r)
}

// afterName reports whether the last token is a name without a gap: t.1 is no number.
func (l *lexer) afterName() bool {
	if len(l.toks) == 0 {
		return false
	}
	t := l.toks[len(l.toks)-1]
	return int(t.end) == l.at && (t.kind == tokWord || t.kind == tokQuoted || l.text[t.start] == ']' || l.text[t.start] == ')')
}

// strange is the error for a character that begins no token.
func (l *lexer) strange(r rune) *errs.Error {
	e := errs.New(errs.Syntax, l.pos(), "unexpected character %q", r)
	switch r {
	case '“', '”', '„', '‘', '’', '´':
		return e.WithHint("use plain quotes: 'text' for strings, `name` or \"name\" for identifiers")
	case '#':
		return e.WithHint("comments begin with --")
	case '\\':
		return e.WithHint("a statement ends with ;")
	case '@', '$':
		return e.WithHint("variables and parameters are not known; names that begin with %c are quoted with backquotes", r)
	case utf8.RuneError:
		return e.WithHint("the text is not UTF-8")
	}
	return e
}

func isWordStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}

// wordEnd is the offset after the word that begins at offset at.
func wordEnd(text string, at int) int {
	for at < len(text) {
		c := text[at]
		if isWordByte(c) {
			at++
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		at += n
	}
	return at
}

// longestKeyword bounds the words that are looked up.
const longestKeyword = 24

func (l *lexer) wordToken() {
	end := l.at
	for end < len(l.text) && isWordByte(l.text[end]) {
		end++
	}
	if full := wordEnd(l.text, end); full > end || end-l.at > longestKeyword {
		l.addText(tokWord, full)
		return
	}
	word := l.upper[l.at:end]
	t := l.add(tokWord, end)
	t.isWord, t.keyword = true, keywordOf(word)
}

// upperASCII is s with its ASCII letters in upper case; every byte stays where
// it is.
func upperASCII(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// quoted reads '...', "..." or `...`; the doubled quote stands for itself.
func (l *lexer) quoted(q byte) *errs.Error {
	for at := l.at + 1; ; {
		n := strings.IndexByte(l.text[at:], q)
		if n < 0 {
			break
		}
		at += n + 1
		if at < len(l.text) && l.text[at] == q {
			at++
			continue
		}
		if q == '\'' {
			l.addText(tokString, at)
			return nil
		}
		if at-l.at == 2 {
			return errs.New(errs.Syntax, l.pos(), "an identifier in quotes is empty").WithHint("strings are written in single quotes: ''")
		}
		l.addText(tokQuoted, at)
		return nil
	}
	if q == '\'' {
		return errs.New(errs.Syntax, l.pos(), "the string is not closed").WithHint("close it with '; a quote inside a string is written twice: ''")
	}
	return errs.New(errs.Syntax, l.pos(), "the identifier in quotes is not closed").WithHint("close it with %c", q)
}

func (l *lexer) hex() *errs.Error {
	end := strings.IndexByte(l.text[l.at+2:], '\'')
	if end < 0 {
		return errs.New(errs.Syntax, l.pos(), "the binary string is not closed").WithHint("close it with '")
	}
	digits := l.text[l.at+2 : l.at+2+end]
	if len(digits)%2 != 0 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return errs.New(errs.Syntax, l.pos(), "X'%s' is no binary string", clip(digits)).WithHint("two hexadecimal digits make a byte: X'0AFF'")
	}
	l.add(tokHex, l.at+3+end)
	return nil
}

func (l *lexer) number() *errs.Error {
	at, kind := l.at, tokInt
	digits := func() {
		for at < len(l.text) && l.text[at] >= '0' && l.text[at] <= '9' {
			at++
		}
	}
	digits()
	if at < len(l.text) && l.text[at] == '.' && !strings.HasPrefix(l.text[at:], "..") {
		kind = tokDecimal
		at++
		digits()
	}
	if at < len(l.text) && (l.text[at] == 'e' || l.text[at] == 'E') {
		mark := at
		at++
		if at < len(l.text) && (l.text[at] == '+' || l.text[at] == '-') {
			at++
		}
		first := at
		digits()
		if at > first {
			kind = tokApprox
		} else {
			at = mark
		}
	}
	if end := wordEnd(l.text, at); end > at {
		word := l.text[l.at:end]
		e := errs.New(errs.Syntax, l.pos(), "%q is neither a number nor a name", clip(word))
		switch {
		case strings.HasPrefix(word, "0x") || strings.HasPrefix(word, "0X"):
			return e.WithHint("binary strings are written X'0AFF'")
		case kind == tokInt:
			return e.WithHint("a name that begins with a digit is quoted: `%s`", clip(word))
		}
		return e
	}
	l.add(kind, at)
	return nil
}

func (l *lexer) comment(rest string) *errs.Error {
	n := strings.Index(rest[2:], "*/")
	if n < 0 {
		return errs.New(errs.Syntax, l.pos(), "the comment is not closed").WithHint("close it with */")
	}
	if strings.HasPrefix(rest, "/*+") && n > 0 {
		l.addText(tokHint, l.at+n+4)
	} else {
		l.step(n + 4)
	}
	return nil
}

// operatorAt is the longest operator that s begins with, or "". Those that the
// dialect lacks are here too, for a good error message.
func operatorAt(s string) string {
	n := 1
	switch s[0] {
	case '(', ')', '[', ']', '{', '}', ',', ';', '+', '*', '/', '%', '?', '~', '^':
	case '<':
		switch {
		case strings.HasPrefix(s, "<=>"):
			n = 3
		case strings.HasPrefix(s, "<>"), strings.HasPrefix(s, "<="):
			n = 2
		}
	case '-':
		switch {
		case strings.HasPrefix(s, "->>"):
			n = 3
		case strings.HasPrefix(s, "->"):
			n = 2
		}
	case '>', '!':
		n = 1 + followedBy(s, '=')
	case '=':
		n = 1 + followedBy(s, '=', '>')
	case ':':
		n = 1 + followedBy(s, ':', '=')
	case '|', '&', '.':
		n = 1 + followedBy(s, s[0])
	default:
		return ""
	}
	return s[:n]
}

// followedBy is 1 when the second byte of s is one of these, else 0.
func followedBy(s string, any ...byte) int {
	if len(s) > 1 && slices.Contains(any, s[1]) {
		return 1
	}
	return 0
}

// clip shortens what an error message quotes.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
