package parse

import "github.com/weirdb/weir/engine/errs"

// tokenKind is the lexical class of a token.
type tokenKind uint8

const (
	tokEnd     tokenKind = iota // end of the text
	tokWord                     // bare identifier or keyword
	tokQuoted                   // `x` or "x": always an identifier
	tokString                   // '...'
	tokHex                      // X'...'
	tokInt                      // 12
	tokDecimal                  // 1.2
	tokApprox                   // 1e3
	tokOp                       // operator or punctuation
	tokHint                     // /*+ ... */
)

// token is one token of the script.
type token struct {
	kind       tokenKind
	start, end int32 // bytes of the text, quotes included
	line, col  int32
	isWord     bool // a keyword, maybe, or an operator: see script.wordOf
	keyword         // of what is a word or operator
}

func (t *token) pos() errs.Position {
	return errs.Position{Line: int(t.line), Column: int(t.col), Offset: int(t.start)}
}

// reserved reports whether t is a word that is no name.
func (t *token) reserved() bool { return t.uses&forReserved != 0 }

// isName reports whether t can be an identifier where one is expected.
func (t *token) isName() bool {
	return t.kind == tokQuoted || t.kind == tokWord && !t.reserved()
}

// set is a fixed set of words.
type set map[string]bool

func words(lists ...string) set {
	s := set{}
	for _, l := range lists {
		for w := range fields(l) {
			s[w] = true
		}
	}
	return s
}

// fields yields the words of s, which are separated by white space.
func fields(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i := 0; i <= len(s); i++ {
			blank := i == len(s) || s[i] == ' ' || s[i] == '\n' || s[i] == '\t'
			switch {
			case !blank && start < 0:
				start = i
			case blank && start >= 0:
				if !yield(s[start:i]) {
					return
				}
				start = -1
			}
		}
	}
}

// units are the units of interval literals, singular and plural.
var units = map[string]Unit{
	"YEAR": Year, "YEARS": Year, "MONTH": Month, "MONTHS": Month, "QUARTER": Quarter, "QUARTERS": Quarter, "WEEK": Week, "WEEKS": Week,
	"DAY": Day, "DAYS": Day, "HOUR": Hour, "HOURS": Hour, "MINUTE": Minute, "MINUTES": Minute, "SECOND": Second, "SECONDS": Second,
}

// fieldUnits are what EXTRACT, FLOOR .. TO and TIMESTAMPADD take besides units.
var fieldUnits = map[string]Unit{
	"MILLISECOND": Millisecond, "MILLISECONDS": Millisecond, "MICROSECOND": Microsecond, "MICROSECONDS": Microsecond,
	"NANOSECOND": Nanosecond, "EPOCH": Epoch, "DECADE": Decade, "CENTURY": Century, "MILLENNIUM": Millennium,
	"DOW": DayOfWeek, "ISODOW": ISODow, "DOY": DayOfYear, "ISOYEAR": ISOYear,
	"SQL_TSI_SECOND": Second, "SQL_TSI_MINUTE": Minute, "SQL_TSI_HOUR": Hour, "SQL_TSI_DAY": Day, "SQL_TSI_WEEK": Week,
	"SQL_TSI_MONTH": Month, "SQL_TSI_QUARTER": Quarter, "SQL_TSI_YEAR": Year,
}

// unitOf is the unit that a word names.
func unitOf(word string) (Unit, bool) {
	if u, ok := units[word]; ok {
		return u, true
	}
	u, ok := fieldUnits[word]
	return u, ok
}
