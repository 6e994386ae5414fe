package parse

import "strings"

// reserved are the words that are no identifiers unless quoted. All others are
// keywords only where the grammar has a place for them.
var reserved = words(`
	ALL AND AS ASC BETWEEN BY CASE CROSS DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FALSE FETCH FOR FROM FULL
	GROUP HAVING IN INNER INSERT INTERSECT INTO IS JOIN LATERAL LEFT LIKE LIMIT NATURAL NOT NULL OFFSET ON OR ORDER
	OUTER OVER QUALIFY RIGHT SELECT THEN TRUE UNION UNNEST USING VALUES WHEN WHERE WITH
	CAST TRY_CAST CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP TABLE CREATE DROP`)

// callable are the reserved words that are also names of functions.
var callable = words(`LEFT RIGHT CAST TRY_CAST CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP UNNEST INSERT`)

// noParens are the functions that are called without parentheses. The first
// group is reserved; CURRENT_USER and the like are not known.
var noParens = words(`CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP`)

// keyword is where a word or operator has a meaning for rewriting. Most tokens
// have none in most passes, which then do not look at the word itself.
type keyword struct {
	uses  uses
	piece pieceKind // 0 if it is like any other word
}

// uses are the passes that look at a word. These passes see no other words.
type uses uint16

const (
	forSections uses = 1 << iota
	forChains
	forLiterals
	forQueries
	forGrouping
	forOperators
	forCalls
	forTails
	forQuantifiers
	forReserved // not a pass: the word is no name
)

// passWords are the words of each use.
var passWords = map[uses]string{
	forSections: `( ) [ ] , WITH SELECT VALUES FROM WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT OFFSET FETCH EMIT UNION INTERSECT EXCEPT
		MINUS ON USING FOR JOIN INNER CROSS NATURAL FULL LEFT RIGHT`,
	forChains:    `AND OR NOT CASE JOIN UNION INTERSECT EXCEPT`,
	forLiterals:  `NULL TRUE FALSE INTERVAL DATE TIME TIMESTAMP TIMESTAMP_LTZ`,
	forQueries:   `( RECURSIVE MINUS VALUES ORDER LIMIT OFFSET FETCH EMIT HAVING WINDOW QUALIFY TOP ON FOR`,
	forGrouping:  `( GROUPING ROLLUP CUBE WITH ALL DISTINCT`,
	forOperators: `|| != <=> IS ILIKE RLIKE REGEXP SIMILAR OVERLAPS SYMMETRIC ASYMMETRIC AT ANY SOME ALL MOD DIV XOR`,
	forCalls: `=> TABLE PARTITION CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP CAST TRY_CAST CONVERT EXTRACT FLOOR CEIL
		CEILING TIMESTAMPADD TIMESTAMPDIFF POSITION SUBSTRING SUBSTR OVERLAY TRIM ROW ARRAY MAP DESCRIPTOR GROUP_CONCAT`,
	forTails:       `OVER FILTER WITHIN IGNORE RESPECT ORDER`,
	forQuantifiers: `ALL DISTINCT`,
}

// keywords are the words that have any use.
var keywords = func() map[string]keyword {
	out := map[string]keyword{}
	for use, list := range passWords {
		for w := range fields(list) {
			out[w] = keyword{uses: out[w].uses | use}
		}
	}
	for w := range noOperators {
		out[w] = keyword{uses: out[w].uses | forOperators}
	}
	for w := range reserved {
		out[w] = keyword{uses: out[w].uses | forReserved}
	}
	for kind, text := range pieceTexts {
		if text != "" {
			out[text] = keyword{out[text].uses, pieceKind(kind)}
		}
	}
	return out
}()

// keywordOf is what is known of a word or operator.
func keywordOf(word string) keyword {
	k, ok := keywords[word]
	if !ok && strings.HasPrefix(word, "JSON_") {
		k.uses = forCalls
	}
	return k
}
