package enginetest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
)

// newTimedTrial is a random query over tables with event time, whose rows come in
// disorder, some of them late, in several splits.
func newTimedTrial(seed uint64) *trial { return drawTimed(seed, rand.New(rand.NewPCG(seed, 8)), false) }

// newVersionedTrial is a timed trial with a join with the versions of a table.
func newVersionedTrial(seed uint64) *trial {
	return drawTimed(seed, rand.New(rand.NewPCG(seed, 9)), true)
}

func drawTimed(seed uint64, r *rand.Rand, versioned bool) *trial {
	c := emptyTrial(seed)
	c.timed = true
	types := []sqltype.Type{sqltype.IntType}
	for range 1 + r.IntN(3) {
		types = append(types, columnTypes[r.IntN(len(columnTypes)-3)]) // none that is nested
	}
	event := sqltype.TimestampOf(3)
	if r.IntN(4) == 0 {
		event = sqltype.TimestampLTZOf(3)
	}
	for i := range 1 + r.IntN(2) {
		c.tables = append(c.tables, newTimedTable(r, fmt.Sprintf("t%d", i), types, event, []int{1, 10, 20, 20, 40}[r.IntN(5)]))
	}
	g := &timeGrammar{grammar: &grammar{r: r, tables: c.tables, types: types, leaves: 1, forms: forms()}}
	if versioned || r.IntN(8) == 0 {
		g.versions = newVersionedTable(r, types, event)
		c.tables = append(c.tables, g.versions)
	}
	c.query = g.query()
	switch {
	case r.IntN(3) == 0:
		c.insert = upserted
	case r.IntN(8) == 0:
		c.insert = retracted
	}
	return c
}

// newTimedTable has the columns k, v, ts and some of the given types.
func newTimedTable(r *rand.Rand, name string, types []sqltype.Type, event sqltype.Type, steps int) *randomTable {
	t := &randomTable{name: name, mode: sqltype.AppendMode, splits: 1 + r.IntN(3)}
	if r.IntN(3) == 0 {
		t.mode = sqltype.RetractMode
	}
	t.schema = sqltype.Schema{{Name: "k", Type: sqltype.IntType}, {Name: "v", Type: sqltype.IntType}, {Name: "ts", Type: event}}
	for i := range r.IntN(3) {
		t.schema = append(t.schema, sqltype.Column{Name: fmt.Sprintf("c%d", i), Type: types[r.IntN(len(types))]})
	}
	if r.IntN(3) == 0 {
		t.schema[2].Type.NotNull = true
	}
	t.watermark = []string{"ts", "ts - INTERVAL '1' SECOND", "ts - INTERVAL '3' SECOND", "ts - INTERVAL '12' SECOND"}[r.IntN(4)]
	disorder := []int{0, 2, 5, 15}[r.IntN(4)]
	unit := []int64{1000, 1000, 500, 1}[r.IntN(4)]
	ids := 2 + r.IntN(8)
	for i := range steps {
		s := step{id: r.IntN(ids), apart: r.IntN(4) == 0}
		if t.mode.InsertOnly() {
			s.id = r.IntN(1 << 20)
		}
		if t.mode.InsertOnly() || r.IntN(5) > 0 {
			s.row = t.randomRow(r, s.id)
			s.row[0] = int64(r.IntN(3))
			if r.IntN(12) == 0 {
				s.row[0] = nil
			}
			at := int64(i)*1000 + int64(r.IntN(2*disorder*1000+1)) - int64(disorder)*1000
			s.row[2] = at / unit * unit
			if !t.schema[2].Type.NotNull && r.IntN(12) == 0 {
				s.row[2] = nil
			}
		}
		t.steps = append(t.steps, s)
	}
	return t
}

// newVersionedTable has versions of few keys.
func newVersionedTable(r *rand.Rand, types []sqltype.Type, event sqltype.Type) *randomTable {
	t := newTimedTable(r, "w", types, event, 5+r.IntN(20))
	t.mode = []sqltype.ChangelogMode{sqltype.AppendMode, sqltype.RetractMode, sqltype.UpsertMode}[r.IntN(3)]
	t.key = 1
	t.schema[0].Type.NotNull = true
	for i := range t.steps {
		s := &t.steps[i]
		s.id, s.keyful = s.id%4, r.IntN(2) == 0
		if t.mode.InsertOnly() && s.row == nil {
			s.row = t.randomRow(r, s.id)
			s.row[2] = int64(i) * 1000
		}
		if s.row != nil {
			s.row[0] = int64(s.id)
		}
	}
	return t
}

// timeGrammar draws queries over tables with event time.
type timeGrammar struct {
	*grammar
	versions *randomTable // with a key, or nil
	whole    bool         // the query reads all that its parts compute
}

// stream is what a window function, OVER or a join in time reads: its columns, those of
// time among them.
type stream struct {
	from
	cols []*term
	time string // the name of its event time
	rows float64
}

func column(alias, name string, t sqltype.Type) *term {
	return &term{pattern: alias + "." + name, typ: t, most: 2 * most}
}

// stream draws a table, or a query that passes its event time on.
func (g *timeGrammar) stream(depth int) stream {
	s := stream{from: from{alias: fmt.Sprintf("a%d", g.aliases), join: " JOIN "}, time: "ts"}
	g.aliases++
	switch {
	case depth > 0 && g.chance(4):
		sub := &query{}
		in := g.stream(depth - 1)
		g.read(sub, in)
		sub.items = []item{{g.column(in, in.time), "ts"}}
		g.list(sub, nil)
		if g.chance(2) {
			sub.where = g.boolean(1)
		}
		s.sub, s.rows = sub, in.rows
		if other := g.stream(0); g.chance(3) && other.typ("ts").Equal(in.typ(in.time).Optional()) {
			side := &query{}
			g.read(side, other)
			side.items = []item{{g.column(other, "ts"), "ts"}}
			for _, it := range sub.items[1:] {
				side.items = append(side.items, item{g.term(it.typ, 1), it.name})
			}
			s.sub = &query{sides: []*query{sub, side}, set: " UNION ALL ", items: sub.items, rows: in.rows + other.rows}
			s.rows += other.rows
		}
	case depth > 0 && g.chance(8):
		sub := g.intervalJoin(depth - 1)
		at := slices.IndexFunc(sub.items, func(it item) bool { return it.name == "ts" })
		if at < 0 {
			return g.stream(depth - 1)
		}
		s.sub, s.rows = sub, sub.rows
	case depth > 0 && g.chance(4):
		sub := g.windowed(depth - 1)
		at := slices.IndexFunc(sub.items, func(it item) bool { return it.name == "window_time" })
		if at < 0 {
			return g.stream(depth - 1)
		}
		sub.items[at].name = "ts"
		for i, it := range sub.items {
			sub.items[i].name = strings.Replace(it.name, "window_", "w_", 1)
		}
		s.sub, s.rows = sub, sub.rows
	default:
		t := g.tables[g.r.IntN(len(g.tables))]
		s.table, s.rows = t.name, float64(len(t.steps))
		for _, c := range t.schema {
			s.cols = append(s.cols, column(s.alias, c.Name, c.Type))
		}
		return s
	}
	for _, it := range s.sub.items {
		s.cols = append(s.cols, &term{pattern: s.alias + "." + it.name, typ: it.typ, most: it.most, inexact: it.inexact})
	}
	return s
}

// typ is the type of a column of the stream.
func (s stream) typ(name string) sqltype.Type {
	i := slices.IndexFunc(s.cols, func(c *term) bool { return c.pattern == s.alias+"."+name })
	return s.cols[i].typ
}

func (g *timeGrammar) column(s stream, name string) *term { return column(s.alias, name, s.typ(name)) }

// read adds a stream to FROM and its columns to the scope.
func (g *timeGrammar) read(q *query, s stream) {
	if len(q.froms) == 0 {
		g.scope, q.rows = nil, 1
	}
	q.froms = append(q.froms, s.from)
	g.scope = slices.Concat(g.scope, s.cols)
	q.rows *= s.rows + 1
}

func (g *timeGrammar) seconds(n int) string { return fmt.Sprintf("INTERVAL '%d' SECOND", n) }

// window puts a stream in windows, which are columns of it then.
func (g *timeGrammar) window(s stream) stream {
	kind := g.pick("TUMBLE", "TUMBLE", "HOP", "HOP", "CUMULATE", "SESSION")
	return g.windowLike(s, kind, 1+g.r.IntN(5), g.steps(kind))
}

// steps is how many steps a window of HOP or CUMULATE is long: of HOP sometimes as many as
// are merged beforehand.
func (g *timeGrammar) steps(kind string) int {
	if kind == "HOP" && g.chance(6) {
		if g.chance(5) {
			return 128 + g.r.IntN(40)
		}
		return 8 + g.r.IntN(40)
	}
	return 1 + g.r.IntN(3)
}

func (g *timeGrammar) windowLike(s stream, kind string, size, steps int) stream {
	args := g.seconds(size * steps)
	table := "%s"
	switch kind {
	case "HOP", "CUMULATE":
		args = g.seconds(size) + ", " + args
		s.rows *= float64(steps)
	case "SESSION":
		args = g.seconds(size)
		if g.chance(2) {
			table += " PARTITION BY k"
			if !slices.ContainsFunc(s.cols, func(c *term) bool { return c.pattern == s.alias+".k" }) {
				table = "%s"
			}
		}
	}
	if kind != "SESSION" && size*steps > 1 && g.chance(5) {
		args += ", " + g.seconds(1)
	}
	s.from.window = fmt.Sprintf("%s(%s, DESCRIPTOR(%s), %s)", kind, table, s.time, args)
	bound := sqltype.TimestampOf(3).Required()
	s.cols = slices.Clone(s.cols)
	s.cols = append(s.cols, column(s.alias, "window_start", bound), column(s.alias, "window_end", bound), column(s.alias, "window_time", s.typ(s.time).Required()))
	return s
}

// query draws a query.
func (g *timeGrammar) query() *query {
	if g.versions != nil {
		return g.temporalJoin(1)
	}
	if g.chance(12) {
		return g.changelog()
	}
	q := g.inTime(1 + g.r.IntN(2))
	if g.whole || !g.chance(4) || q.sides != nil {
		return q
	}
	return g.around(q)
}

// around draws a query without time over another.
func (g *timeGrammar) around(q *query) *query {
	outer := &query{rows: q.rows, froms: []from{{alias: fmt.Sprintf("a%d", g.aliases), sub: q}}}
	g.scope = nil
	for _, it := range q.items {
		g.scope = append(g.scope, &term{pattern: outer.froms[0].alias + "." + it.name, typ: it.typ, most: it.most, inexact: it.inexact})
	}
	if g.chance(2) {
		g.group(outer)
	} else {
		g.list(outer, nil)
	}
	return outer
}

// changelog draws a query over the changes of a table.
func (g *timeGrammar) changelog() *query {
	t := g.tables[g.r.IntN(len(g.tables))]
	q := &query{rows: 2 * float64(len(t.steps))}
	s := stream{from: from{alias: fmt.Sprintf("a%d", g.aliases), table: "TO_CHANGELOG(input => TABLE " + t.name + ")"}}
	g.aliases++
	s.cols = append(s.cols, column(s.alias, "op", sqltype.StringType))
	for _, c := range t.schema {
		s.cols = append(s.cols, column(s.alias, c.Name, c.Type.Plain()))
	}
	q.froms, g.scope = []from{s.from}, s.cols
	if g.chance(2) {
		g.group(q)
	} else {
		g.items(q, s)
	}
	return q
}

// inTime draws a query that works on event time.
func (g *timeGrammar) inTime(depth int) *query {
	switch g.r.IntN(16) {
	case 5, 6, 7, 8:
		return g.overs(depth)
	case 9, 10:
		return g.intervalJoin(depth)
	case 0:
		return g.inWindows(depth)
	case 1:
		return g.windowRank(depth)
	case 2:
		return g.windowJoin(depth)
	case 3:
		return g.first(depth)
	case 4:
		return g.groupWindow(depth)
	}
	return g.windowed(depth)
}

// inWindows passes on rows with their windows.
func (g *timeGrammar) inWindows(depth int) *query {
	q := &query{}
	s := g.window(g.stream(depth))
	g.read(q, s)
	g.item(q, g.column(s, g.pick("window_start", "window_end", "window_time")))
	g.list(q, nil)
	if g.chance(3) {
		q.where = g.boolean(1)
	}
	return q
}

// windowed draws an aggregation of windows.
func (g *timeGrammar) windowed(depth int) *query { return g.windowedOf(g.stream(depth)) }

func (g *timeGrammar) windowedOf(in stream) *query {
	q := &query{}
	s := g.window(in)
	g.read(q, s)
	if g.chance(4) {
		q.where = g.boolean(1)
	}
	q.grouped = true
	keys := []string{"window_start", "window_end"}
	if g.chance(2) {
		keys = append(keys, "window_time")
	}
	for _, name := range keys {
		q.keys = append(q.keys, g.column(s, name))
		q.items = append(q.items, item{q.keys[len(q.keys)-1], name})
	}
	q.fixed = len(q.keys)
	for range g.r.IntN(3) {
		k := s.cols[g.r.IntN(len(s.cols)-3)]
		if k.typ.IsNested() || slices.ContainsFunc(q.keys, func(o *term) bool { return o.String() == k.String() }) {
			continue
		}
		q.keys = append(q.keys, k)
		g.item(q, k)
	}
	if len(q.keys) > q.fixed && g.chance(4) {
		q.sets = g.pick("ROLLUP", "CUBE")
	}
	g.aggregates(q)
	return q
}

// aggregates completes a grouped query.
func (g *timeGrammar) aggregates(q *query) {
	var aggs []*term
	for range 1 + g.r.IntN(3) {
		aggs = append(aggs, g.aggregate(q.rows))
	}
	for _, a := range aggs {
		g.item(q, a)
	}
	g.scope = slices.Concat(q.keys[q.fixed:], aggs)
	if g.chance(5) {
		q.having = g.boolean(1)
	}
}

// groupWindow draws GROUP BY TUMBLE(..) and the like.
func (g *timeGrammar) groupWindow(depth int) *query {
	q := &query{grouped: true, fixed: 1}
	s := g.stream(depth)
	g.read(q, s)
	if g.chance(4) {
		q.where = g.boolean(1)
	}
	kind, args := g.pick("TUMBLE", "HOP", "SESSION"), g.seconds(1+g.r.IntN(5))
	if kind == "HOP" {
		args += ", " + g.seconds(1+g.r.IntN(8))
		q.rows *= 8
	}
	args = fmt.Sprintf("(%s.%s, %s)", s.alias, s.time, args)
	q.keys = []*term{{pattern: kind + args}}
	bound := sqltype.TimestampOf(3).Required()
	q.items = []item{{&term{pattern: kind + "_START" + args, typ: bound}, "window_start"}}
	if g.chance(2) {
		q.items = append(q.items, item{&term{pattern: kind + "_END" + args, typ: bound}, "window_end"})
	}
	if g.chance(2) {
		q.items = append(q.items, item{&term{pattern: kind + "_ROWTIME" + args, typ: s.typ(s.time).Required()}, "window_time"})
	}
	if k := s.cols[g.r.IntN(len(s.cols))]; g.chance(2) && !k.typ.IsNested() {
		q.keys = append(q.keys, k)
		g.item(q, k)
	}
	g.aggregates(q)
	return q
}

// windowRank draws the first rows of windows.
func (g *timeGrammar) windowRank(depth int) *query {
	q := &query{}
	s := g.window(g.stream(depth))
	g.read(q, s)
	g.items(q, s, "window_start", "window_end")
	over := g.over(s, "window_start", "window_end")
	q.qualify = over + g.pick(" <= 2", " = 1", " < 4", " <= 1")
	return q
}

// items lists some columns of a stream, and those of the names.
func (g *timeGrammar) items(q *query, s stream, names ...string) {
	for _, n := range names {
		q.items = append(q.items, item{g.column(s, n), n})
	}
	for _, c := range s.cols {
		if g.chance(2) {
			g.item(q, c)
		}
	}
	if len(q.items) == 0 {
		g.item(q, s.cols[0])
	}
}

// over draws a number of rows, in partitions of some columns and, maybe, another.
func (g *timeGrammar) over(s stream, names ...string) string {
	var by []string
	for _, n := range names {
		by = append(by, s.alias+"."+n)
	}
	if c := s.cols[g.r.IntN(len(s.cols))]; g.chance(2) && exactTerm(c) {
		by = append(by, c.String())
	}
	function := "ROW_NUMBER()"
	var order []string
	for _, i := range g.r.Perm(len(s.cols)) {
		if exactTerm(s.cols[i]) {
			order = append(order, s.cols[i].String()+g.pick("", " DESC")+g.pick("", "", " NULLS LAST"))
		}
	}
	if slices.ContainsFunc(s.cols, func(c *term) bool { return !exactTerm(c) }) || g.chance(2) {
		function, order = g.pick("RANK()", "DENSE_RANK()"), order[:1]
	}
	partition := ""
	if len(by) > 0 {
		partition = "PARTITION BY " + strings.Join(by, ", ") + " "
	}
	return fmt.Sprintf("%s OVER (%sORDER BY %s)", function, partition, strings.Join(order, ", "))
}

func exactTerm(t *term) bool {
	return !t.inexact && !t.typ.IsNested() && t.typ.ID != sqltype.Float && t.typ.ID != sqltype.Double
}

// first draws the first or last row of each key in time.
func (g *timeGrammar) first(depth int) *query {
	q := &query{}
	s := g.stream(depth)
	g.read(q, s)
	g.items(q, s)
	direction := g.pick("", " DESC")
	order := []string{s.alias + "." + s.time + direction}
	if g.chance(2) {
		for _, c := range s.cols {
			if exactTerm(c) && c.String() != s.alias+"."+s.time {
				order = append(order, c.String()+g.pick("", " DESC"))
			}
		}
	}
	partition := ""
	if c := s.cols[g.r.IntN(len(s.cols))]; exactTerm(c) && g.r.IntN(4) > 0 && c.String() != s.alias+"."+s.time {
		partition = "PARTITION BY " + c.String() + " "
	}
	q.qualify = fmt.Sprintf("ROW_NUMBER() OVER (%sORDER BY %s) = 1", partition, strings.Join(order, ", "))
	return q
}

// windowJoin draws a join of rows in equal windows.
func (g *timeGrammar) windowJoin(depth int) *query {
	q := &query{}
	kind, size := g.pick("TUMBLE", "TUMBLE", "HOP", "CUMULATE"), 1+g.r.IntN(5)
	steps := g.steps(kind)
	left := g.windowLike(g.stream(depth), kind, size, steps)
	right := g.stream(depth)
	if !left.typ(left.time).Optional().Equal(right.typ(right.time).Optional()) {
		return g.inWindows(depth)
	}
	right = g.windowLike(right, kind, size, steps)
	right.join = g.pick(" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ")
	for _, name := range []string{"window_start", "window_end"} {
		right.on = append(right.on, apply("%s = %s", sqltype.BoolType, g.column(left, name), g.column(right, name)))
	}
	if g.chance(2) {
		right.on = append(right.on, apply("%s = %s", sqltype.BoolType, left.cols[0], right.cols[0]))
		if !comparable(left.cols[0].typ, right.cols[0].typ) {
			right.on = right.on[:2]
		}
	}
	g.scope = slices.Concat(left.cols, right.cols)
	if g.chance(3) {
		right.on = append(right.on, g.boolean(1))
	}
	if g.chance(4) && right.window != "" { // rows with or without a partner
		g.read(q, left)
		g.items(q, left)
		q.where = g.exists(right, right.on)
		return q
	}
	g.read(q, left)
	g.read(q, right)
	g.items(q, left)
	for _, c := range right.cols {
		if g.chance(2) {
			g.item(q, c)
		}
	}
	return q
}

// intervalJoin draws a join of rows whose times are not far apart.
func (g *timeGrammar) intervalJoin(depth int) *query {
	q := &query{}
	left, right := g.stream(depth), g.stream(depth)
	if !left.typ(left.time).Optional().Equal(right.typ(right.time).Optional()) {
		return g.windowed(depth)
	}
	l, r := g.column(left, left.time), g.column(right, right.time)
	from, to := g.r.IntN(8)-4, g.r.IntN(8)
	shifted := func(n int) string {
		if n < 0 {
			return "%[2]s - " + g.seconds(-n)
		}
		return "%[2]s + " + g.seconds(n)
	}
	on := []*term{apply(fmt.Sprintf("%%[1]s BETWEEN %s AND %s", shifted(from), shifted(from+to)), sqltype.BoolType, l, r)}
	if g.chance(3) {
		on[0] = apply("%s = %s", sqltype.BoolType, l, r)
	}
	if k := g.r.IntN(min(len(left.cols), len(right.cols))); g.chance(2) && comparable(left.cols[k].typ, right.cols[k].typ) {
		on = append(on, apply("%s = %s", sqltype.BoolType, left.cols[k], right.cols[k]))
	}
	g.scope = slices.Concat(left.cols, right.cols)
	if g.chance(4) {
		on = append(on, g.boolean(1))
	}
	right.join, right.on = g.pick(" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "), on
	g.read(q, left)
	q.items = []item{{l, "ts"}}
	g.items(q, left)
	if g.chance(5) {
		q.where = g.exists(right, on)
		return q
	}
	g.read(q, right)
	if right.join == " RIGHT JOIN " || right.join == " FULL JOIN " {
		l = column(left.alias, left.time, l.typ.Optional())
		q.items[0].term = l
	}
	for _, c := range right.cols {
		if g.chance(2) {
			g.item(q, c)
		}
	}
	return q
}

// exists asks for a partner, or for none.
func (g *timeGrammar) exists(right stream, on []*term) *term {
	conds := make([]string, len(on))
	for i, c := range on {
		conds[i] = c.String()
	}
	text := fmt.Sprintf("%sEXISTS (SELECT 1 FROM %s WHERE %s)", g.pick("", "NOT "), right.from, strings.Join(conds, " AND "))
	return &term{pattern: strings.ReplaceAll(text, "%", "%%"), typ: sqltype.BoolType}
}
