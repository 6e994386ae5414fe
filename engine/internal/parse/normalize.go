package parse

import "strings"

// Normalize is a statement's text without comments, hints apart, and with single blanks
// between its words: what stays the same when it is written in other lines. A text that
// cannot be read stays as it is.
func Normalize(sql string) string {
	s, err := newScript(sql)
	if err != nil {
		return sql
	}
	var b strings.Builder
	for i := range s.toks {
		t := &s.toks[i]
		text := sql[t.start:t.end]
		if t.kind == tokEnd || text == ";" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}
