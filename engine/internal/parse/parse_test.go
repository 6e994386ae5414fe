package parse

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weirdb/weir/engine/errs"
)

// TestParse runs the files in testdata. The commands:
//
//	parse   statements to a dump of their trees, or the error
//	error   one statement a line that is wrong; the error and the place it points at
//	format  one expression a line to its canonical text
//	skeleton  what vitess is given
//	passes    what is left of the user's text after each pass that changes it
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return parseDump(d.Input)
			case "error":
				return eachLine(d.Input, func(sql string) string {
					if _, err := Parse(sql); err != nil {
						return pointed(sql, err)
					}
					return "parsed"
				})
			case "script-error":
				if _, err := Parse(d.Input); err != nil {
					return pointed(d.Input, err) + "\n"
				}
				return "parsed\n"
			case "format":
				return eachLine(d.Input, formatted)
			case "passes":
				return eachLine(d.Input, passTexts)
			case "skeleton":
				return eachLine(d.Input, skeletonText)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func parseDump(sql string) string {
	stmts, err := Parse(sql)
	var b strings.Builder
	for _, s := range stmts {
		b.WriteString(dump(s))
	}
	if err != nil {
		b.WriteString(pointed(sql, err) + "\n")
	}
	return b.String()
}

func eachLine(input string, f func(string) string) string {
	var b strings.Builder
	for line := range strings.Lines(input) {
		b.WriteString(f(strings.TrimSpace(line)) + "\n")
	}
	return b.String()
}

// pointed is the error's code, the text it points at, and its message.
func pointed(sql string, err error) string {
	var e *errs.Error
	if !errors.As(err, &e) {
		return "no errs.Error: " + err.Error()
	}
	at := sql[e.Pos.Offset:]
	if line, _, cut := strings.Cut(at, "\n"); cut {
		at = line
	}
	if len(at) > 16 {
		at = at[:16]
	}
	return fmt.Sprintf("%s [%s] %s", e.Code, strings.TrimSpace(at), err)
}

// formatted is the expression's text, with a note when it does not read back as
// the same.
func formatted(sql string) string {
	e, err := ParseExpr(sql)
	if err != nil {
		return pointed(sql, err)
	}
	text := Format(e)
	again, err := ParseExpr(text)
	if err != nil {
		return text + "  -- does not parse: " + err.Error()
	}
	if twice := Format(again); twice != text {
		return text + "  -- reads back as: " + twice
	}
	return text
}

func skeletonText(sql string) string {
	s, err := newScript(sql)
	if err != nil {
		return err.Error()
	}
	f := newFragment(s, 0, len(s.toks)-1, true)
	if err := f.rewrite(); err != nil {
		return err.Error()
	}
	return f.textFor(true)
}

// textFor is the text for vitess at any stage.
func (f *fragment) textFor(fold bool) string {
	return strings.TrimRight(f.render(f.skeleton(fold)), " ")
}

func passTexts(sql string) string {
	s, err := newScript(sql)
	if err != nil {
		return err.Error()
	}
	f := newFragment(s, 0, len(s.toks)-1, true)
	var b strings.Builder
	last := ""
	for _, p := range passes {
		if p.run(f); f.err != nil {
			return f.err.Error()
		}
		if text := f.textFor(false); text != last {
			fmt.Fprintf(&b, "%-14s %s\n", p.name, text)
			last = text
		}
	}
	fmt.Fprintf(&b, "%-14s %s\n", "fold", f.textFor(true))
	return strings.TrimRight(b.String(), "\n")
}
