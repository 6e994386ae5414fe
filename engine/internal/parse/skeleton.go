package parse

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"

	"github.com/weirdb/weir/engine/errs"
)

// skeleton is what vitess gets, a part for each of its tokens.
type skeleton []part

// part is a piece in its place.
type part struct {
	kind   pieceKind
	number int32 // see piece
	tail   int32 // of a leaf that stands for a list: the last mark of it, else its number
	tok    int32 // the token that it comes from
}

func (s *skeleton) push(tok int, p piece) {
	*s = append(*s, part{p.kind, p.number, p.number, int32(tok)})
}

// kind is that of the nth part from the end.
func (s skeleton) kind(n int) pieceKind {
	if n > len(s) {
		return pieceWord
	}
	return s[len(s)-n].kind
}

// skeleton puts the pieces of all tokens together, in order. With fold, see
// there, there are fewer.
func (f *fragment) skeleton(fold bool) skeleton {
	s := make(skeleton, 0, f.hi-f.lo+1)
	add := func(tok int, p piece) {
		if fold {
			f.fold(&s, tok, p)
		} else {
			s.push(tok, p)
		}
	}
	chain := func(tok int, i int32) {
		for ; i >= 0; i = f.pieces[i].next {
			add(tok, f.pieces[i])
		}
	}
	if !f.isQuery {
		add(f.lo, plain(pieceSelect))
	}
	for i := f.lo; i < f.hi; i++ {
		c := f.cell(i)
		chain(i, c.before)
		if c.taken {
			chain(i, c.own)
		} else {
			add(i, f.asIs(i))
		}
		chain(i, c.after)
	}
	if fold {
		f.foldEnd(&s, pieceEnd)
	}
	return s
}

// render is the skeleton as SQL.
func (f *fragment) render(s skeleton) string {
	var b strings.Builder
	b.Grow(6*len(s) + 16)
	for i := range s {
		f.writePart(&b, &s[i])
	}
	b.WriteString("  ") // tells a bad last token from an early end
	return b.String()
}

func (f *fragment) writePart(b *strings.Builder, p *part) {
	var digits [12]byte
	switch p.kind {
	case pieceLeaf:
		b.WriteString(":v")
		b.Write(strconv.AppendInt(digits[:0], int64(p.number), 10))
	case pieceName:
		b.WriteByte('`')
		b.Write(strconv.AppendInt(digits[:0], int64(p.number), 10))
		b.WriteByte('`')
	case pieceWord:
		if t := &f.toks[p.number]; t.isWord {
			b.WriteString(f.wordOf(t))
		} else {
			b.WriteString(f.source(t))
		}
	default:
		b.WriteString(pieceTexts[p.kind])
	}
	b.WriteByte(' ')
}

// tokenAt is the token that the byte at offset of the text comes from.
func (f *fragment) tokenAt(s skeleton, offset int) int {
	var b strings.Builder
	i := 0
	for f.writePart(&b, &s[i]); b.Len() <= offset && i < len(s)-1; f.writePart(&b, &s[i]) {
		i++
	}
	return int(s[i].tok)
}

// parse has vitess parse the fragment.
func (f *fragment) parse() (sqlparser.Statement, *errs.Error) {
	if err := f.rewrite(); err != nil {
		return nil, err
	}
	s := f.skeleton(true)
	stmt, err := sqlparser.Parse(f.render(s))
	if err == nil {
		return stmt, nil
	}
	// The exact place of the error is known where nothing is put together.
	f.unfold()
	s = f.skeleton(false)
	text := f.render(s)
	if stmt, err = sqlparser.Parse(text); err == nil {
		return stmt, nil
	}
	syntax, ok := vterrors.AsSyntaxError(err)
	switch {
	case !ok:
		return nil, errs.New(errs.Syntax, f.tokPos(f.lo), "the statement cannot be parsed")
	case strings.HasPrefix(syntax.Message, "max nesting level"):
		return nil, errs.New(errs.Limit, f.tokPos(f.tokenAt(s, syntax.Position-2)), "expressions are nested too deep")
	case syntax.Position > len(text):
		return nil, f.syntaxError(f.hi)
	}
	return nil, f.syntaxError(f.tokenAt(s, syntax.Position-2))
}
