package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// Lookup makes a Join one in which the right side is a table that is asked for rows by
// key: each left row is joined once, with what the table has at the time. The pass lookups
// turns it into a LookupJoin, when filters and columns are where they belong.
type Lookup struct {
	Table *catalog.Table
	// Source is asked; nil for a table that can only be read as a whole.
	Source   connector.LookupSource
	Settings connector.LookupSettings
	// MissRetries is how often a key without rows is asked for again, after MissDelay.
	MissRetries int
	MissDelay   time.Duration
	at          errs.Position
}

// LookupJoin joins each row of its input with the rows of an external table that have its
// key at the time.
type LookupJoin struct {
	unary
	Lookup
	Kind JoinKind // InnerJoin or LeftJoin
	// Keys are columns of the input, and TableKeys those of Exprs that equal them.
	Keys, TableKeys []int
	// Whole is the table as it is read with a full cache; else Ask is what is asked.
	Whole connector.Source
	Ask   connector.Ask
	Read  sqltype.Schema // the columns that are read
	// Filter and Exprs make the rows that are joined of those that are read.
	Filter expr.Expr
	Exprs  []expr.Expr
	// Residual is a condition over the columns of the input and Exprs, or nil.
	Residual expr.Expr
	Output   []int // of these columns, those that leave the node
	// InputAppendOnly says that nothing is ever taken back.
	InputAppendOnly bool

	table sqltype.Schema // of Exprs
}

// Op is "LookupJoin".
func (*LookupJoin) Op() string { return "LookupJoin" }

// lookupSource is the side of a table that is asked for rows by key; nil without an error
// for one that has none, and can be read as a whole if whole says so.
func lookupSource(t *catalog.Table) (src connector.LookupSource, whole bool, err error) {
	if c, ok := t.Connector.(connector.Lookups); ok {
		src, err = c.Lookup(t.Declaration, t.Options)
		if err == nil {
			return src, false, nil
		}
		if errs.CodeOf(err) != errs.Unsupported {
			return nil, false, err
		}
	}
	scan, err := t.Source()
	return nil, err == nil && scan.Bounded() && scan.Mode().InsertOnly(), nil
}

// canLookUp reports whether rows of a table can be asked for by key while a query runs.
func canLookUp(t *catalog.Table) bool {
	src, whole, err := lookupSource(t)
	return src != nil || whole || err != nil
}

// lookupJoin binds a join FOR SYSTEM_TIME AS OF processing time with a table whose rows
// can be asked for: left is bound already, ref names the table t.
func (b *binder) lookupJoin(j *parse.Join, left Node, ls *scope, ref *parse.TableName, t *catalog.Table) (Node, *scope, error) {
	if j.Kind == parse.RightJoin || j.Kind == parse.FullJoin {
		return nil, nil, errs.New(errs.Invalid, j.At, "%s with FOR SYSTEM_TIME AS OF would have all rows of %s, which is only asked for rows by key", j.Kind, t.ID.Object).
			WithHint("write JOIN or LEFT JOIN")
	}
	for _, h := range ref.Hints {
		if h.Name == "OPTIONS" {
			var err error
			if t, err = b.session.WithOptions(b.ctx, t, h.Options); err != nil {
				return nil, nil, err
			}
		}
	}
	src, whole, err := lookupSource(t)
	if err != nil {
		return nil, nil, placed(err, ref.At)
	}
	l := &Lookup{Table: t, Source: src, at: ref.At}
	if l.Settings, err = t.Options.Lookup(whole); err != nil {
		return nil, nil, placed(err, ref.At)
	}
	if l.Settings.Cache == connector.FullCache && src != nil {
		if scan, err := t.Source(); err != nil || !scan.Bounded() || !scan.Mode().InsertOnly() {
			return nil, nil, errs.New(errs.Option, ref.At, "the table %q cannot be read to its end, and 'lookup.cache' = 'FULL' would keep the whole of it", t.ID.Object).
				WithHint("write 'lookup.cache' = 'PARTIAL' or 'NONE'")
		}
	}
	id := t.ID
	name := tableRef{name: ref.Name.Last().Value, pos: ref.At, path: []string{id.Catalog, id.Database, id.Object}}
	right, rs, err := b.named(l.scan(), name, ref.Alias)
	if err != nil {
		return nil, nil, err
	}
	if err := b.hintLookup(l, fromName(ref)); err != nil {
		return nil, nil, err
	}
	n, both, err := b.pair(left, right, ls, rs, j)
	if err != nil {
		return nil, nil, err
	}
	joinBelow(n).Lookup = l
	return n, both, nil
}

// joinBelow is the join that b.pair made.
func joinBelow(n Node) *Join {
	for {
		switch m := n.(type) {
		case *Join:
			return m
		case *Calc:
			n = m.Input
		default:
			panic("plan: a join was bound as " + n.Op())
		}
	}
}

// scan is the table as it is read: without event time, and without a log of its changes.
func (l *Lookup) scan() Node {
	src, err := l.Table.Source()
	if err != nil {
		src = nil // it is only asked
	}
	t := l.Table
	var n Node = newScan(t, src, upTo(len(t.Declaration.Schema)), l.at)
	exprs, names := declared(t, n.Schema(), l.at)
	return newCalc(n, nil, exprs, names, l.at)
}

// lookupHints reads the hints LOOKUP of a SELECT.
func lookupHints(s *parse.Select) []parse.Hint {
	var out []parse.Hint
	for _, h := range s.Hints {
		if h.Name == "LOOKUP" {
			out = append(out, h)
		}
	}
	return out
}

// lookupHintKeys are what the hint LOOKUP may have, by Flink's names. Whether and how
// batches are asked for side by side is the connector's business.
var lookupHintKeys = [...]string{
	"table", "async", "output-mode", "capacity", "timeout", "retry-predicate", "retry-strategy", "fixed-delay", "max-attempts", "shuffle",
}

// hintLookup gives a lookup what the hints say about the table of that name.
func (b *binder) hintLookup(l *Lookup, name string) error {
	for _, h := range b.lookups {
		value := func(key string) (parse.Option, bool) {
			i := slices.IndexFunc(h.Options, func(o parse.Option) bool { return o.Key == key })
			if i < 0 {
				return parse.Option{}, false
			}
			return h.Options[i], true
		}
		for _, o := range h.Options {
			if !slices.Contains(lookupHintKeys[:], o.Key) {
				return hintNames(errs.New(errs.NotFound, o.At, "the hint LOOKUP has no %q", o.Key), o.Key, lookupHintKeys[:], "it has")
			}
		}
		table, ok := value("table")
		if !ok {
			return errs.New(errs.Invalid, h.At, "the hint LOOKUP does not say which table it is for").WithHint("write LOOKUP('table' = '%s')", name)
		}
		if !strings.EqualFold(table.Value, name) && !strings.EqualFold(table.Value, l.Table.ID.Object) {
			continue
		}
		duration := func(key string, to *time.Duration) error {
			o, ok := value(key)
			if !ok {
				return nil
			}
			d, err := connector.ParseDuration(o.Value)
			if err != nil {
				return errs.New(errs.Invalid, o.ValueAt, "the hint LOOKUP: %w", err)
			}
			*to = d
			return nil
		}
		if err := duration("timeout", &l.Settings.Timeout); err != nil {
			return err
		}
		if _, ok := value("retry-predicate"); !ok {
			continue
		}
		if err := duration("fixed-delay", &l.MissDelay); err != nil {
			return err
		}
		attempts, ok := value("max-attempts")
		n, err := strconv.Atoi(attempts.Value)
		if !ok || err != nil || n < 1 || l.MissDelay <= 0 {
			return errs.New(errs.Invalid, h.At, "the hint LOOKUP with 'retry-predicate' needs 'fixed-delay' and 'max-attempts'").
				WithHint("write 'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', 'fixed-delay' = '1 s', 'max-attempts' = '3'")
		}
		l.MissRetries = n
	}
	return nil
}

// lookups turns joins with tables that are asked into LookupJoins.
func lookups(n Node) (Node, error) {
	for i, in := range n.Inputs() {
		made, err := lookups(in)
		if err != nil {
			return nil, err
		}
		n.setInput(i, made)
	}
	if j, ok := n.(*Join); ok && j.Lookup != nil {
		return j.lookUp()
	}
	return n, nil
}

// lookUp is a join with a table that is asked as a LookupJoin.
func (n *Join) lookUp() (Node, error) {
	out := &LookupJoin{Lookup: *n.Lookup, Kind: n.Kind, Residual: n.Residual, Output: n.Output}
	out.Input, out.at, out.table = n.Left, n.at, n.Right.Schema()
	scan := out.fetch(n.Right)
	out.Read = scan.schema
	width := len(n.Left.Schema())
	all := slices.Concat(n.Left.Schema(), out.table)
	var conds []expr.Expr
	if n.Residual != nil {
		conds = expr.Conjuncts(n.Residual)
	}
	for i, l := range n.LeftKeys {
		r := n.RightKeys[i]
		_, plain := out.Exprs[r].(*expr.Column)
		if n.NullSafe[i] || !plain && out.Source != nil && out.Settings.Cache != connector.FullCache {
			op := "="
			if n.NullSafe[i] {
				op = "IS NOT DISTINCT FROM"
			}
			cond, err := expr.Apply(op, n.at, expr.NewColumn(all, l, n.at), expr.NewColumn(all, width+r, n.at))
			if err != nil {
				return nil, err
			}
			conds = append(conds, cond)
			continue
		}
		out.Keys, out.TableKeys = append(out.Keys, l), append(out.TableKeys, r)
	}
	if len(conds) > 0 {
		out.Residual = expr.And(conds...)
	}
	if len(out.Keys) == 0 && out.Source != nil && out.Settings.Cache != connector.FullCache {
		return nil, errs.New(errs.Invalid, n.at, "the table %q is asked for rows by key, and no column of it has to equal one of the left side", out.Table.ID.Object).
			WithHint("write ON left.column = %s.column AND .., with a column as it is and of the same type, or set '%s' = '%s' for the table", out.Table.ID.Object, "lookup.cache", connector.FullCache)
	}
	out.ask(scan)
	out.schema = n.schema
	return out, nil
}

// fetch puts what stands between a table and the join into Filter and Exprs, over the
// columns of the scan, which it returns.
func (n *LookupJoin) fetch(in Node) *Scan {
	switch in := in.(type) {
	case *Scan:
		n.Exprs = columns(in)
		return in
	case *Calc:
		scan := n.fetch(in.Input)
		var conds []expr.Expr
		if n.Filter != nil {
			conds = append(conds, n.Filter)
		}
		if in.Filter != nil {
			conds = append(conds, replace(in.Filter, n.Exprs))
		}
		exprs := make([]expr.Expr, len(in.Exprs))
		for i, e := range in.Exprs {
			exprs[i] = replace(e, n.Exprs)
		}
		n.Exprs = exprs
		if len(conds) > 0 {
			n.Filter = expr.And(conds...)
		}
		return scan
	}
	panic("plan: a table that is asked lies below " + in.Op())
}

// ask says what the table is asked for: key columns, the others, and the conditions that
// its connector takes.
func (n *LookupJoin) ask(scan *Scan) {
	n.Ask = connector.Ask{Columns: scan.Columns}
	if n.Settings.Cache == connector.FullCache {
		if n.Whole, n.Source = scan.Source, nil; n.Whole == nil {
			panic("plan: a table without a source is read as a whole")
		}
		return
	}
	for _, k := range n.TableKeys {
		n.Ask.Keys = append(n.Ask.Keys, scan.Columns[n.Exprs[k].(*expr.Column).Index])
	}
	if n.Filter == nil {
		return
	}
	for _, c := range expr.Conjuncts(n.Filter) {
		if f, ok := pushedFilter(c); ok {
			if f.Column = scan.Columns[f.Column]; n.Source.Takes(f) {
				n.Ask.Filters = append(n.Ask.Filters, f)
			}
		}
	}
}

// pushedFilter is a condition as connectors know it, on the columns that are read.
func pushedFilter(cond expr.Expr) (connector.Filter, bool) {
	c, ok := cond.(*expr.Call)
	if !ok {
		return connector.Filter{}, false
	}
	ops := map[string]connector.FilterOp{
		"=": connector.Equal, "<>": connector.NotEqual, "<": connector.Less, "<=": connector.LessOrEqual, ">": connector.Greater,
		">=": connector.GreaterOrEqual, "IS NULL": connector.IsNull, "IS NOT NULL": connector.IsNotNull,
	}
	for name, op := range ops {
		if c.Func != function.MustScalar(name) {
			continue
		}
		if len(c.Args) == 1 {
			col, ok := c.Args[0].(*expr.Column)
			if !ok {
				return connector.Filter{}, false
			}
			return connector.Filter{Column: col.Index, Op: op}, true
		}
		return comparison(c.Args[0], c.Args[1], op)
	}
	return connector.Filter{}, false
}

// comparison is a comparison of a column with a constant, in either order.
func comparison(a, b expr.Expr, op connector.FilterOp) (connector.Filter, bool) {
	if _, ok := a.(*expr.Literal); ok {
		a, b = b, a
		switch op {
		case connector.Less:
			op = connector.Greater
		case connector.LessOrEqual:
			op = connector.GreaterOrEqual
		case connector.Greater:
			op = connector.Less
		case connector.GreaterOrEqual:
			op = connector.LessOrEqual
		}
	}
	col, isColumn := a.(*expr.Column)
	lit, isLiteral := b.(*expr.Literal)
	if !isColumn || !isLiteral || lit.Value == nil || !hashAlike(col.T, lit.T) {
		return connector.Filter{}, false
	}
	v := goValue(lit.Value, col.T)
	return connector.Filter{Column: col.Index, Op: op, Values: []any{v}}, v != nil
}

// goValue is the value of a literal as connectors take it, or nil.
func goValue(v any, t sqltype.Type) any {
	n, isInt := v.(int64)
	switch {
	case t.ID == sqltype.Date && isInt:
		return time.Unix(n*24*60*60, 0).UTC()
	case t.IsTimestamp() && isInt:
		per := int64(time.Second / t.Unit())
		whole := n / per
		if n%per < 0 {
			whole--
		}
		return time.Unix(whole, (n-whole*per)*int64(t.Unit())).UTC()
	case t.ID == sqltype.Time && isInt:
		return time.Duration(n) * t.Unit()
	case t.IsInteger() || t.IsApprox() || t.ID == sqltype.Boolean || t.ID == sqltype.Decimal || t.IsString() || t.IsBinary():
		return v
	}
	return nil
}

// filterTexts are the conditions that the connector takes.
func (n *LookupJoin) filterTexts() []string {
	var out []string
	schema := n.Table.Declaration.Schema
	for _, f := range n.Ask.Filters {
		text := schema[f.Column].Name + " " + f.Op.String()
		for _, v := range f.Values {
			switch v := v.(type) {
			case string:
				text += " '" + v + "'"
			case time.Time:
				text += " '" + v.Format("2006-01-02 15:04:05.999999999") + "'"
			default:
				text += fmt.Sprintf(" %v", v)
			}
		}
		out = append(out, text)
	}
	return out
}

// cacheText says what is kept of the table.
func (n *LookupJoin) cacheText() string {
	s := n.Settings
	switch s.Cache {
	case connector.FullCache:
		if s.Reload > 0 {
			return "the whole table, read every " + shortDuration(s.Reload)
		}
		return "the whole table, read once"
	case connector.PartialCache:
		text := fmt.Sprintf("about %s asked for last", rowCount(s.MaxRows))
		if s.AfterWrite > 0 {
			text += ", for " + shortDuration(s.AfterWrite)
		}
		if s.AfterAccess > 0 {
			text += ", for " + shortDuration(s.AfterAccess) + " after their use"
		}
		return text
	}
	return "none"
}

// details are what EXPLAIN shows.
func (n *LookupJoin) details(add func(name string, values ...string)) {
	keys := make([]string, len(n.Keys))
	for i, k := range n.Keys {
		keys[i] = n.Input.Schema()[k].Name + " = " + n.table[n.TableKeys[i]].Name
	}
	add("on", keys...)
	if n.Residual != nil {
		like := &Join{Left: n.Input, Right: newCalc(n.Input, nil, n.Exprs, n.table.Names(), n.at), Residual: n.Residual}
		add("and", like.residualText())
	}
	add("asks for", n.Read.Names()...)
	add("asks where", n.filterTexts()...)
	if n.Filter != nil {
		add("filter", n.Filter.String())
	}
	add("cache", n.cacheText())
	if n.MissRetries > 0 {
		add("asks again", fmt.Sprintf("%d times for keys without rows, every %s", n.MissRetries, shortDuration(n.MissDelay)))
	}
}

// derive sets what is known of the changelog. A row has one partner at most if the keys
// are a key of the table.
func (n *LookupJoin) derive(t *Traits) {
	in := n.Input.Traits()
	n.InputAppendOnly = in.Mode.InsertOnly()
	t.Mode, t.Keys = sqltype.AppendMode, nil
	if !n.InputAppendOnly {
		t.Mode = t.Mode.With(remove)
	}
	if !n.unique() {
		return
	}
	for _, k := range in.Keys {
		if cols, ok := n.visible(k.Columns); ok {
			t.Keys = append(t.Keys, Key{Columns: union(cols), Ordered: k.Ordered})
		}
	}
	t.Keys = smallest(t.Keys)
}

// unique reports whether no two rows of the table have one key.
func (n *LookupJoin) unique() bool {
	pk := n.Table.Declaration.PrimaryKey
	if len(pk) == 0 {
		return false
	}
	var have []int
	for _, k := range n.TableKeys {
		if c, ok := n.Exprs[k].(*expr.Column); ok {
			have = append(have, n.Ask.Columns[c.Index])
		}
	}
	return subset(pk, have)
}

// visible are where columns of the input are in the output.
func (n *LookupJoin) visible(cols []int) ([]int, bool) {
	out := make([]int, len(cols))
	for i, c := range cols {
		if out[i] = slices.Index(n.Output, c); out[i] < 0 {
			return nil, false
		}
	}
	return out, true
}

// placeExchanges brings equal rows together where some may be taken back: what was emitted
// for them is kept. Where nothing is looked for by key any columns do.
func (n *LookupJoin) placeExchanges() (err error) {
	if n.Input, err = (deriver{}).node(n.Input); err != nil {
		return err
	}
	t := n.Input.Traits()
	if hashed := t.Dist.Kind == HashShards && len(n.Keys) == 0; !hashed && !t.Mode.InsertOnly() {
		n.Input = onKeys(n.Input, n.Keys)
	}
	return nil
}

func (n *LookupJoin) distribution() Distribution {
	d := n.Input.Traits().Dist
	if d.Kind != HashShards {
		return d
	}
	keys, ok := n.visible(d.Keys)
	if !ok {
		return Distribution{}
	}
	return Distribution{Kind: HashShards, Keys: keys}
}

func (n *LookupJoin) stateBound() string {
	if n.InputAppendOnly {
		return ""
	}
	return growth(n.Input, "what was emitted for "+liveRows(n.Input))
}

// timeAttribute of a column is that of the left side.
func (n *LookupJoin) timeAttribute(col int) sqltype.TimeAttr {
	if c := n.Output[col]; c < len(n.Input.Schema()) {
		return timeAttribute(n.Input, c)
	}
	return sqltype.NoTime
}

// subject is the table, and what becomes of rows without partners.
func (n *LookupJoin) subject() string {
	if n.Kind == LeftJoin {
		return n.Kind.String() + " " + n.Table.ID.Object
	}
	return n.Table.ID.Object
}

// probeTime is the time attribute of a column of a join whose left rows are joined once:
// those of the left side stay what they are.
func (n *Join) probeTime(col int) sqltype.TimeAttr {
	if in, c := n.side(col); in == n.Left {
		return timeAttribute(in, c)
	}
	return sqltype.NoTime
}

// carry adds the hidden column of the left side to a join whose left rows are joined once.
func (n *Join) carry(below int) {
	moved := func(c int) int {
		if c >= below {
			c++
		}
		return c
	}
	for i, c := range n.Output {
		n.Output[i] = moved(c)
	}
	if n.Residual != nil {
		n.Residual = expr.Remap(n.Residual, moved)
	}
	n.Output = append(n.Output[:len(n.Output):len(n.Output)], below)
	n.describe()
}
