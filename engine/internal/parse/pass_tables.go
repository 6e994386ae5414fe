package parse

import "github.com/weirdb/weir/engine/errs"

// tables rewrites what stands in FROM: table functions, UNNEST, aliases with
// columns, derived tables, hints.
func (f *fragment) tables() {
	for i := f.lo; i < f.hi && f.err == nil; i++ {
		if f.kind(i) == tokHint {
			f.tableHint(i)
			continue
		}
		sec := f.in(i)
		if sec == inAsOf && f.word(i) == "FOR" {
			f.systemTime(i)
		}
		if sec == inFrom || sec == inAsOf {
			if unknownFactors[f.word(i)] && f.unknownFactor(i) {
				return
			}
			f.aliasColumns(i)
		}
		if sec != inFrom || f.taken(i) {
			continue
		}
		switch w := f.word(i); {
		case w == "LATERAL" || w == "TABLE" || w == "UNNEST":
			if f.word(i-1) != "." {
				f.tableCall(i)
			}
		case w == "INNER" && f.word(i-1) == "NATURAL":
			f.take(i) // vitess has NATURAL JOIN only
		case w == "(" && f.startsQuery(i+1) && !f.isCallName(i-1):
			f.derived(i)
		case f.isName(i) && f.startsFactor(i):
			f.namedTable(i)
		}
	}
}

// startsFactor reports whether a table begins at token i of FROM.
func (f *fragment) startsFactor(i int) bool {
	switch f.word(i - 1) {
	case "FROM", "JOIN", ",":
		return true
	case "(":
		return f.in(i) == inFrom && (f.in(i-1) == inFrom || f.word(i-2) == "TABLE") && !f.isCallName(i-2)
	}
	return false
}

// unknownFactors are table forms that are not supported, by the word that a
// bracket follows.
var unknownFactors = words("MATCH_RECOGNIZE PIVOT UNPIVOT TABLESAMPLE")

// namedTable rewrites a table or the call of a table function by its name.
func (f *fragment) namedTable(i int) {
	last := f.nameEnd(i)
	next := last + 1
	if f.word(next) == "(" && !unknownFactors[f.word(last)] {
		f.tableFunction(i, i, f.closer(next), false)
		return
	}
}

// unknownFactor refuses such a form when it begins at token i, behind a table.
func (f *fragment) unknownFactor(i int) bool {
	if !f.endsOperand(i-1) && f.kind(i-1) != tokHint || f.word(i-1) == "AS" || f.word(i-1) == "." {
		return false
	}
	open := i + 1
	for open < i+3 && f.kind(open) == tokWord { // as INCLUDE NULLS
		open++
	}
	if f.word(open) != "(" {
		return false // it is an alias
	}
	hints := map[string]string{
		"MATCH_RECOGNIZE": "LAG and LEAD .. OVER (PARTITION BY .. ORDER BY ..) show the rows before and after a row",
		"PIVOT":           "write an aggregate for each value: SUM(v) FILTER (WHERE k = 'a') AS a, .. and GROUP BY",
		"UNPIVOT":         "write a query for each column: SELECT 'a' AS k, a AS v FROM t UNION ALL SELECT 'b', b FROM t",
		"TABLESAMPLE":     "write WHERE MOD(id, 10) = 0 for a tenth of the rows",
	}
	w := f.word(i)
	f.failAt(i, errs.Unsupported, "%s is not supported", w).WithHint("%s", hints[w])
	return true
}

// nameEnd is the last token of the dotted name that begins at i.
func (f *fragment) nameEnd(i int) int {
	for f.word(i+1) == "." && (f.kind(i+2) == tokWord || f.kind(i+2) == tokQuoted) {
		i += 2
	}
	return i
}

// tableCall rewrites LATERAL .., TABLE(..) and UNNEST(..).
func (f *fragment) tableCall(first int) {
	i, lateral := first, false
	if f.word(i) == "LATERAL" {
		lateral = true
		i++
		if f.word(i) == "(" && f.startsQuery(i+1) {
			f.take(first, f.asIs(first))
			return // derived sees the bracket
		}
	}
	switch {
	case f.are(i, "UNNEST", "("):
		f.drop(first, i)
		f.unnest(first, i)
	case f.are(i, "TABLE", "("):
		open := i + 1
		call := open + 1
		if !f.isName(call) || f.word(f.nameEnd(call)+1) != "(" {
			f.failAt(call, errs.Syntax, "expected the call of a table function, found %s", f.describe(&f.toks[call])).
				WithHint("for example TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))")
			return
		}
		args := f.nameEnd(call) + 1
		end := f.closer(args)
		if end+1 != f.closer(open) {
			f.failAt(end+1, errs.Syntax, "expected \")\", found %s", f.describe(&f.toks[end+1]))
			return
		}
		f.drop(first, call)
		f.take(end + 1)
		f.tableFunction(call, first, end+1, lateral)
	case lateral && f.isName(i) && f.word(f.nameEnd(i)+1) == "(":
		f.drop(first, i)
		f.tableFunction(i, first, f.closer(f.nameEnd(i)+1), true)
	case f.word(i) == "TABLE" && f.isName(i+1):
		f.failAt(i, errs.Syntax, "TABLE before a name is for arguments of table functions only").WithHint("leave TABLE out")
	case lateral:
		f.failAt(i, errs.Syntax, "expected a query or TABLE(function) after LATERAL, found %s", f.describe(&f.toks[i]))
	}
}

// tableFunction marks the call whose name begins at token name. The table
// expression spans first to last.
func (f *fragment) tableFunction(name, first, last int, lateral bool) {
	end := f.nameEnd(name)
	open := end + 1
	call := f.call(open).node
	call.Place, call.Name = Place{f.tokPos(name)}, f.nameAt(name)
	f.drop(name, open)
	f.caller(&TableFunction{Place: Place{f.tokPos(first)}, Call: call, Lateral: lateral}, name, last)
	f.marks[len(f.marks)-1].first = first
}

// unnest marks UNNEST(..) [WITH ORDINALITY]; first is the word LATERAL or UNNEST.
func (f *fragment) unnest(first, i int) {
	u := &Unnest{Place: Place{f.tokPos(first)}}
	last := f.closer(i + 1)
	if f.are(last+1, "WITH", "ORDINALITY") {
		u.Ordinality = true
		f.drop(last+1, last+3)
		last += 2
	}
	f.caller(u, i, last)
	f.marks[len(f.marks)-1].first = first
}

// derived sees that the query in brackets at open has an alias, for vitess
// wants one.
func (f *fragment) derived(open int) {
	last := f.closer(open)
	next := last + 1
	switch f.word(next) {
	case "AS":
		return
	}
	if f.isName(next) && f.in(next) == f.in(open) && f.kind(next) != tokHint {
		return
	}
	f.putAfter(last, nameOf(f.mark(&Alias{}, last, last)))
}

// aliasColumns reads the columns of an alias when token i is its name:
// AS t (a, b), or t (a, b) after a table.
func (f *fragment) aliasColumns(i int) {
	if f.word(i+1) != "(" || f.taken(i) || !f.isName(i) {
		return
	}
	if f.word(i-1) != "AS" && (!f.endsOperand(i-1) && f.kind(i-1) != tokHint || f.word(i-1) == "OF" || f.word(i-1) == "TABLE") {
		return
	}
	if unknownFactors[f.word(i)] {
		return
	}
	c := f.cursorAt(i+1, f.hi)
	alias := &Alias{Name: f.script.ident(&f.toks[i]), Columns: c.identifiers(" for a column")}
	if f.done(c) {
		f.drop(i, c.at)
		f.take(i, nameOf(f.mark(alias, i, c.at-1)))
	}
}

// systemTime passes on FOR SYSTEM_TIME AS OF, which vitess knows.
func (f *fragment) systemTime(i int) {
	if !f.are(i, "FOR", "SYSTEM_TIME", "AS", "OF") {
		f.failAt(i, errs.Unsupported, "of FOR SYSTEM_TIME only AS OF is supported")
		return
	}
	for k := i; k < i+4; k++ {
		f.take(k, f.asIs(k))
	}
}

// tableHint takes out a hint, which is legal after SELECT and after a table.
func (f *fragment) tableHint(i int) {
	after := f.word(i-1) == "SELECT" || f.in(i) == inFrom && f.endsOperand(i-1)
	if !after {
		f.failAt(i, errs.Syntax, "a hint cannot stand here").WithHint("hints follow SELECT or the name of a table")
		return
	}
	hints, err := f.parseHint(i)
	if err != nil {
		f.fail(err)
		return
	}
	if f.hints == nil {
		f.hints = map[int][]Hint{}
	}
	f.hints[i] = hints
	f.drop(i, i+1)
}
