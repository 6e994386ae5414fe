package parse

// piece is a part of the text for vitess.
type piece struct {
	kind   pieceKind
	number int32 // of the mark of a leaf or name, of the token of a word
	next   int32 // in f.pieces: the next one of the token, or -1
}

// pieceKind says what a piece is. Most words are all the same, but some are told
// apart because passes write them or fold looks for them.
type pieceKind uint8

const (
	pieceLeaf pieceKind = iota // :vn, a whole operand
	pieceName                  // `n`, the name of a table, a column, or of the call that follows
	pieceWord                  // the token as it is

	pieceOpen
	pieceIn
	pieceOn
	pieceSelect
	pieceDistinct
	pieceBy
	pieceAs
	pieceLike
	pieceNull
	pieceBar
	pieceShift
	pieceModulo
	pieceCaret
	pieceEqual // the comparisons
	pieceNotEqual
	pieceLess
	pieceLessOrEqual
	pieceGreater
	pieceGreaterOrEqual
	pieceAnd // what ends a condition
	pieceOr
	pieceWhen
	pieceThen
	pieceJoin
	pieceInner
	pieceLeft
	pieceRight
	pieceFull
	pieceComma // what ends a condition or an item of a list
	pieceClose
	pieceFrom
	pieceWhere
	pieceGroup
	pieceHaving
	pieceOrder
	pieceUnion
	pieceIntersect
	pieceExcept
	pieceEnd // of the text
)

var pieceTexts = [...]string{
	pieceOpen: "(", pieceIn: "IN", pieceOn: "ON", pieceSelect: "SELECT", pieceDistinct: "DISTINCT", pieceBy: "BY", pieceAs: "AS",
	pieceLike: "LIKE", pieceNull: "NULL", pieceBar: "|", pieceShift: "<<", pieceModulo: "%", pieceCaret: "^",
	pieceEqual: "=", pieceNotEqual: "<>", pieceLess: "<", pieceLessOrEqual: "<=", pieceGreater: ">", pieceGreaterOrEqual: ">=",
	pieceAnd: "AND", pieceOr: "OR", pieceWhen: "WHEN", pieceThen: "THEN",
	pieceJoin: "JOIN", pieceInner: "INNER", pieceLeft: "LEFT", pieceRight: "RIGHT", pieceFull: "FULL",
	pieceComma: ",", pieceClose: ")", pieceFrom: "FROM", pieceWhere: "WHERE", pieceGroup: "GROUP", pieceHaving: "HAVING",
	pieceOrder: "ORDER", pieceUnion: "UNION", pieceIntersect: "INTERSECT", pieceExcept: "EXCEPT",
}

func plain(k pieceKind) piece { return piece{kind: k} }

func leafOf(mark int32) piece { return piece{kind: pieceLeaf, number: mark} }

func nameOf(mark int32) piece { return piece{kind: pieceName, number: mark} }

// asIs is token i itself.
func (f *fragment) asIs(i int) piece {
	if kind := f.toks[i].piece; kind != 0 {
		return plain(kind)
	}
	return piece{kind: pieceWord, number: int32(i)}
}

// take replaces token i by pieces.
func (f *fragment) take(i int, pieces ...piece) {
	c := f.cell(i)
	c.own, c.taken = f.chain(pieces, -1), true
}

// drop takes the tokens [from, to) out.
func (f *fragment) drop(from, to int) {
	for i := from; i < to; i++ {
		c := f.cell(i)
		c.own, c.taken = -1, true
	}
}

// putBefore puts pieces before token i and all that is before it.
func (f *fragment) putBefore(i int, pieces ...piece) {
	c := f.cell(i)
	c.before = f.chain(pieces, c.before)
}

// putAfter puts pieces after token i and all that is after it.
func (f *fragment) putAfter(i int, pieces ...piece) {
	first := f.chain(pieces, -1)
	at := &f.cell(i).after
	for *at >= 0 {
		at = &f.pieces[*at].next
	}
	*at = first
}

// chain adds pieces, followed by the one with number next, and returns the
// number of the first.
func (f *fragment) chain(pieces []piece, next int32) int32 {
	for i := len(pieces) - 1; i >= 0; i-- {
		p := pieces[i]
		p.next = next
		next = int32(len(f.pieces))
		f.pieces = append(f.pieces, p)
	}
	return next
}
