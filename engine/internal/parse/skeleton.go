package parse

import (
	"sort"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"

	"github.com/weirdb/weir/engine/errs"
)

// render writes the text for vitess and notes where each token's part begins.
func (f *fragment) render() string {
	var b strings.Builder
	b.Grow(int(f.toks[f.hi].start-f.toks[f.lo].start) + 4*(f.hi-f.lo) + 16)
	f.starts = make([]int, 0, f.hi-f.lo)
	if !f.isQuery {
		b.WriteString("SELECT ")
	}
	for i := f.lo; i < f.hi; i++ {
		f.starts = append(f.starts, b.Len())
		e := &f.edits[i-f.lo]
		text := e.text
		if !e.taken {
			if text = f.toks[i].word; text == "" {
				text = f.source(&f.toks[i])
			}
		}
		b.WriteString(e.before)
		b.WriteString(text)
		b.WriteString(e.after)
		b.WriteByte(' ')
	}
	b.WriteString("  ") // tells a bad last token from an early end
	return b.String()
}

// skeleton rewrites the fragment and has vitess parse it.
func (f *fragment) skeleton() (sqlparser.Statement, *errs.Error) {
	if err := f.rewrite(); err != nil {
		return nil, err
	}
	text := f.render()
	stmt, err := sqlparser.Parse(text)
	if err == nil {
		return stmt, nil
	}
	syntax, ok := vterrors.AsSyntaxError(err)
	if !ok {
		return nil, errs.New(errs.Syntax, f.tokPos(f.lo), "the statement cannot be parsed")
	}
	if strings.HasPrefix(syntax.Message, "max nesting level") {
		return nil, errs.New(errs.Limit, f.tokPos(f.tokenAt(syntax.Position-2)), "expressions are nested too deep")
	}
	if syntax.Position > len(text) {
		return nil, f.syntaxError(f.hi)
	}
	return nil, f.syntaxError(f.tokenAt(syntax.Position - 2))
}

// tokenAt is the token that the byte at offset of vitess's text stands for.
func (f *fragment) tokenAt(offset int) int {
	i := sort.Search(len(f.starts), func(i int) bool { return f.starts[i] > offset })
	return f.lo + max(i-1, 0)
}
