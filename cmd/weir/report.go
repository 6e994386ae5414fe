package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/weirdb/weir/engine/errs"
)

// script is a text of SQL and what its errors call it.
type script struct {
	name string // a file's name; "" for the text of a flag
	text string
}

// excerptWidth is how much of a long line is shown around a position.
const excerptWidth = 100

// report writes what went wrong, and where the error is one of the script's text
// the line with a caret below:
//
//	weir: q.sql: line 1:8: column "prise" not found; did you mean "price"?
//	  SELECT prise FROM bid
//	         ^
func report(w io.Writer, s script, err error) {
	for _, one := range split(err) {
		var e *errs.Error
		inText := errors.As(one, &e) && e.Source == "" && e.Pos.IsValid()
		prefix := ""
		if inText && s.name != "" {
			prefix = s.name + ": "
		}
		fmt.Fprintf(w, "weir: %s%s\n", prefix, one)
		if inText {
			io.WriteString(w, excerpt(s.text, e.Pos))
		}
	}
}

// split lists the errors that errors.Join put together.
func split(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range j.Unwrap() {
			out = append(out, split(e)...)
		}
		return out
	}
	return []error{err}
}

// excerpt is the line of text at pos and a caret below it, or "".
func excerpt(text string, pos errs.Position) string {
	lines := strings.Split(text, "\n")
	if pos.Line > len(lines) {
		return ""
	}
	line := []rune(strings.TrimRight(lines[pos.Line-1], "\r"))
	at := min(max(pos.Column-1, 0), len(line))
	start, end := 0, len(line)
	if end > excerptWidth {
		start = max(0, at-excerptWidth/2)
		end = min(len(line), start+excerptWidth)
	}
	var under strings.Builder
	for _, r := range line[start:at] {
		if r == '\t' {
			under.WriteByte('\t')
			continue
		}
		for range runewidth.RuneWidth(r) {
			under.WriteByte(' ')
		}
	}
	return fmt.Sprintf("  %s\n  %s^\n", string(line[start:end]), under.String())
}
