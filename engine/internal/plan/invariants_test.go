package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// verify checks what every plan promises to those who run it.
func verify(n plan.Node) error {
	for _, in := range n.Inputs() {
		if err := verify(in); err != nil {
			return err
		}
	}
	v := verifier{n: n}
	v.node()
	return v.err
}

type verifier struct {
	n   plan.Node
	err error
}

func (v *verifier) that(ok bool, format string, args ...any) {
	if !ok && v.err == nil {
		v.err = fmt.Errorf("%s %v: %s", v.n.Op(), v.n.Schema(), fmt.Sprintf(format, args...))
	}
}

// over checks that e reads columns of the schema, as they are.
func (v *verifier) over(e expr.Expr, s sqltype.Schema) {
	expr.Walk(e, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Column); ok {
			if c.Index < 0 || c.Index >= len(s) {
				v.that(false, "%s is column %d of %d", c.Name, c.Index, len(s))
				return false
			}
			v.that(c.T.Kind() == s[c.Index].Type.Kind(), "%s is %v, the column %v", c.Name, c.T, s[c.Index].Type)
			v.that(!c.T.NotNull || s[c.Index].Type.NotNull, "%s is NOT NULL, the column %v", c.Name, s[c.Index].Type)
		}
		return true
	})
}

func (v *verifier) columns(cols []int, s sqltype.Schema) {
	for _, c := range cols {
		v.that(c >= 0 && c < len(s), "column %d of %d", c, len(s))
	}
}

func (v *verifier) node() {
	t, s := v.n.Traits(), v.n.Schema()
	v.that(t.Mode != 0, "no mode")
	v.that(t.ID != "", "no id")
	for _, k := range t.Keys {
		v.columns(k.Columns, s)
		v.that(slices.IsSorted(k.Columns), "key %v is not sorted", k.Columns)
	}
	v.columns(t.Dist.Keys, s)
	v.that((t.Dist.Kind == plan.HashShards) == (len(t.Dist.Keys) > 0), "distribution %v", t.Dist)
	if t.Mode.DeletesByKey() {
		v.that(len(t.Keys) > 0, "deletions by key without a key")
		switch v.n.(type) {
		case *plan.Scan, *plan.Calc, *plan.Exchange, *plan.Join, *plan.Sink:
		default:
			v.that(false, "mode %v", t.Mode)
		}
	}
	switch n := v.n.(type) {
	case *plan.Calc:
		v.that(len(n.Exprs) == len(s), "%d expressions", len(n.Exprs))
		for _, e := range n.Exprs {
			v.over(e, n.Input.Schema())
		}
		if n.Filter != nil {
			v.over(n.Filter, n.Input.Schema())
			cols, byKey := n.DeleteColumns()
			for _, c := range expr.Columns(n.Filter) {
				v.that(!byKey || slices.Contains(cols, c), "the filter reads column %d, and a -D has %v", c, cols)
			}
		}
	case *plan.Scan:
		v.that(len(n.Columns) == len(s), "columns %v", n.Columns)
	case *plan.Union:
		for _, in := range n.Ins {
			v.that(slices.Equal(in.Schema().Kinds(), s.Kinds()), "input has %v", in.Schema())
		}
	case *plan.Aggregate:
		in := n.Input.Schema()
		v.columns(n.Keys, in)
		v.that(len(s) == len(n.Keys)+len(n.Aggs), "%d keys, %d aggregates", len(n.Keys), len(n.Aggs))
		for _, a := range n.Aggs {
			for _, arg := range a.Args {
				v.over(arg, in)
			}
			if a.Filter != nil {
				v.over(a.Filter, in)
			}
		}
		v.gathered(n.Input, n.Keys)
		v.complete(n.Input, n.InputAppendOnly)
	case *plan.SetOperation:
		v.that(slices.Equal(n.Left.Schema().Kinds(), s.Kinds()) && slices.Equal(n.Right.Schema().Kinds(), s.Kinds()), "inputs have %v and %v", n.Left.Schema(), n.Right.Schema())
		for _, in := range n.Inputs() {
			v.that(in.Traits().Dist.Kind != plan.AnyShard, "input is on any shard")
			v.complete(in, in.Traits().Mode.InsertOnly())
		}
		ld, rd := n.Left.Traits().Dist, n.Right.Traits().Dist
		v.that(ld.Kind == rd.Kind && slices.Equal(ld.Keys, rd.Keys), "distributions %v and %v", ld, rd)
	case *plan.Join:
		v.join(n)
	case *plan.TemporalJoin:
		if n.Attr == sqltype.Rowtime {
			v.columns([]int{n.Time}, n.Left.Schema())
		}
		v.columns(n.Key, n.Right.Schema())
		v.that(len(n.LeftKeys) == len(n.Key) && len(n.RightKeys) == len(n.Key), "keys %v and %v for %v", n.LeftKeys, n.RightKeys, n.Key)
		v.gathered(n.Left, n.LeftKeys)
		v.gathered(n.Right, n.RightKeys)
	case *plan.Expand:
		v.columns(n.Keys, n.Input.Schema())
		v.columns(n.Forward, n.Input.Schema())
		v.that(len(s) == len(n.Keys)+1+len(n.Forward), "%d keys, %d columns", len(n.Keys), len(n.Forward))
	case *plan.Sort:
		v.gathered(n.Input, nil)
		v.complete(n.Input, n.InputAppendOnly)
	case *plan.TemporalSort:
		v.gathered(n.Input, nil)
		v.complete(n.Input, true)
	case *plan.Over:
		v.columns(n.Partition, n.Input.Schema())
		v.gathered(n.Input, n.Partition)
		v.complete(n.Input, n.Input.Traits().Mode.InsertOnly())
		v.that(n.Strategy != plan.OverTime || n.Input.Traits().Mode.InsertOnly(), "input changes")
		v.that(len(s) == n.Width()+len(n.Calls), "%d calls", len(n.Calls))
	case *plan.Rank:
		v.columns(n.Partition, n.Input.Schema())
		v.gathered(n.Input, n.Partition)
		if n.Strategy != plan.RankReplacing {
			v.complete(n.Input, n.Strategy < plan.RankReplacing)
		}
	case *plan.Limit:
		v.gathered(n.Input, nil)
		v.that(n.Input.Traits().Mode.InsertOnly(), "input changes")
	case *plan.Normalize:
		v.columns(n.Keys, s)
		v.gathered(n.Input, n.Keys)
	case *plan.Consolidate:
		v.gathered(n.Input, n.Keys)
		v.complete(n.Input, n.Input.Traits().Mode.InsertOnly())
	case *plan.Materialize:
		v.gathered(n.Input, n.Keys)
		v.complete(n.Input, n.Input.Traits().Mode.InsertOnly())
	case *plan.Sink:
		v.that(slices.Equal(n.Input.Schema().Kinds(), s.Kinds()), "input has %v", n.Input.Schema())
		takes := n.Target.Mode()
		if n.Mode != plan.SinkUpsert {
			v.that(n.Input.Traits().Mode&^takes == 0, "gets %v, takes %v", n.Input.Traits().Mode, takes)
		}
		v.that(!n.Input.Traits().Mode.DeletesByKey() || takes.DeletesByKey(), "gets %v, takes %v", n.Input.Traits().Mode, takes)
	}
}

func (v *verifier) join(n *plan.Join) {
	l, r := n.Left.Schema(), n.Right.Schema()
	pair := slices.Concat(l, r)
	v.columns(n.Output, pair)
	v.that(slices.Equal(pair.Project(n.Output).Kinds(), v.n.Schema().Kinds()), "output %v", n.Output)
	v.columns(n.LeftKeys, l)
	v.columns(n.RightKeys, r)
	v.that(len(n.LeftKeys) == len(n.RightKeys) && len(n.NullSafe) == len(n.LeftKeys), "keys %v and %v", n.LeftKeys, n.RightKeys)
	v.that(slices.Equal(l.Project(n.LeftKeys).Kinds(), r.Project(n.RightKeys).Kinds()), "keys %v and %v", n.LeftKeys, n.RightKeys)
	if n.Residual != nil {
		v.over(n.Residual, pair)
	}
	for i, c := range n.Output {
		left := c < len(l)
		v.that(left || n.Kind.Pairs(), "a %v join has column %d of the right", n.Kind, c-len(l))
		padded := left && n.Kind.PadsLeft() || !left && n.Kind.PadsRight()
		v.that(!padded || !v.n.Schema()[i].Type.NotNull, "a padded column is %v", v.n.Schema()[i])
	}
	if n.Upsert {
		v.upserts(n, n.Left, n.LeftAppendOnly, n.LeftKeys, n.LeftUnique)
		v.upserts(n, n.Right, n.RightAppendOnly, n.RightKeys, n.RightUnique)
	} else {
		v.complete(n.Left, n.LeftAppendOnly)
		v.complete(n.Right, n.RightAppendOnly)
	}
	// Rows with equal keys meet: both on one shard, or hashed by the same keys in the
	// same order.
	ld, rd := n.Left.Traits().Dist, n.Right.Traits().Dist
	v.that(ld.Kind == rd.Kind && ld.Kind != plan.AnyShard && len(ld.Keys) == len(rd.Keys), "distributions %v and %v", ld, rd)
	for i := range ld.Keys {
		meet := false
		for k := range n.LeftKeys {
			meet = meet || n.LeftKeys[k] == ld.Keys[i] && n.RightKeys[k] == rd.Keys[i]
		}
		v.that(meet, "distributions %v and %v", ld, rd)
	}
}

// gathered checks that rows with equal keys are on one shard.
func (v *verifier) gathered(in plan.Node, keys []int) {
	d := in.Traits().Dist
	ok := d.Kind == plan.SingleShard
	if d.Kind == plan.HashShards {
		ok = true
		for _, k := range d.Keys {
			ok = ok && slices.Contains(keys, k)
		}
	}
	v.that(ok, "input is distributed %v, keys are %v", d, keys)
}

// complete checks that an operator that undoes rows is given the rows to undo.
func (v *verifier) complete(in plan.Node, appendOnly bool) {
	m := in.Traits().Mode
	v.that(m.InsertOnly() == appendOnly, "input has %v, append-only is %v", m, appendOnly)
	v.that(!m.Has(vector.UpdateAfter) || m.Has(vector.UpdateBefore), "input has %v", m)
	v.that(!m.DeletesByKey(), "input has %v", m)
}

// upserts checks a side of a join that replaces rows by key: the key holds all the
// time and has the columns by which partners are found.
func (v *verifier) upserts(n *plan.Join, in plan.Node, appendOnly bool, keys, unique []int) {
	t := in.Traits()
	v.that(n.Kind == plan.InnerJoin, "a %v join replaces rows", n.Kind)
	v.that(t.Mode.InsertOnly() == appendOnly, "input has %v, append-only is %v", t.Mode, appendOnly)
	ordered := slices.ContainsFunc(t.Keys, func(k plan.Key) bool { return k.Ordered && slices.Equal(k.Columns, unique) })
	v.that(ordered, "input has keys %v, its rows are replaced by %v", t.Keys, unique)
	for _, k := range keys {
		v.that(appendOnly || slices.Contains(unique, k), "rows with keys %v are replaced by %v", keys, unique)
	}
}

// Random queries are planned, or refused as what is not supported, and the plans
// keep their promises.
func TestRandomQueries(t *testing.T) {
	s := catalog.New(connector.NewRegistry(testConnector{})).NewSession()
	const ddl = `
		CREATE TABLE a (k BIGINT NOT NULL, i INT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'test');
		CREATE TABLE r (k BIGINT NOT NULL, i INT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'test', 'changes' = 'retract');
		CREATE TABLE u (k BIGINT NOT NULL, i INT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'test', 'changes' = 'upsert');
		CREATE TABLE d (k BIGINT NOT NULL, i INT NOT NULL, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'test', 'changes' = 'upsert', 'key-deletes' = 'true');
		CREATE TABLE n (k BIGINT, i INT, s STRING) WITH ('connector' = 'test');
		CREATE TABLE bykey (k BIGINT, i INT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'test', 'changes' = 'upsert', 'key-deletes' = 'true');
		CREATE TABLE sink (k BIGINT, i INT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'test', 'changes' = 'upsert')`
	if err := execute(s, ddl); err != nil {
		t.Fatal(err)
	}
	planned, partial := 0, 0
	for seed := range uint64(1000) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		sql := g.query(3)
		if g.r.IntN(3) == 0 {
			if g.r.IntN(3) == 0 {
				sql = g.keyed(3)
			}
			sql = "INSERT INTO " + g.pick("sink ", "bykey ") + sql + g.pick("", "", " ON CONFLICT DO DEDUPLICATE")
		}
		p, _, err := build(s, sql, nil)
		if err != nil {
			switch errs.CodeOf(err) {
			case errs.Unsupported, errs.Changelog:
				continue
			}
			t.Fatalf("seed %d: %v\n%s", seed, err, sql)
		}
		planned++
		if p.Roots[0].Traits().Mode.DeletesByKey() {
			partial++
		}
		ids(t, p)
		for _, r := range p.Roots {
			if err := verify(r); err != nil {
				t.Fatalf("seed %d: %v\n%s\n%s", seed, err, sql, p.Text())
			}
		}
	}
	if planned < 700 || partial < 10 {
		t.Errorf("only %d of 1000 queries were planned, %d with deletions by key", planned, partial)
	}
}

// generator writes queries whose columns are k BIGINT, i INT and s STRING.
type generator struct{ r *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.r.IntN(len(from))] }

func (g generator) query(depth int) string {
	switch g.r.IntN(6) {
	case 0:
		if depth > 0 {
			return fmt.Sprintf("%s UNION %s%s", g.query(depth-1), g.pick("ALL ", "ALL ", ""), g.query(depth-1))
		}
	case 1:
		return g.grouped(depth)
	case 2:
		if depth > 0 {
			return g.join(depth)
		}
	}
	if depth > 0 && g.r.IntN(4) == 0 {
		return fmt.Sprintf("SELECT t.k AS k, t.i AS i, t.s AS s FROM %s WHERE %s", g.from(depth-1, "t"), g.member(depth-1))
	}
	return fmt.Sprintf("SELECT %s%s AS k, %s AS i, %s AS s FROM %s%s", g.pick("", "", "", "DISTINCT "), g.big("t"), g.integer("t"), g.text("t"), g.from(depth, "t"), g.where("t"))
}

func (g generator) from(depth int, alias string) string {
	if depth > 0 && g.r.IntN(2) == 0 {
		return "(" + g.query(depth-1) + ") AS " + alias
	}
	if g.r.IntN(8) == 0 {
		return "(VALUES (CAST(1 AS BIGINT), 2, 'x'), (3, NULL, 'yy')) AS " + alias + "(k, i, s)"
	}
	return g.pick("a", "r", "u", "d", "n") + " AS " + alias
}

// keyed is a query that keeps the key of its tables.
func (g generator) keyed(depth int) string {
	where := g.pick("", "", " WHERE t.k > 3", " WHERE t.k <> 5 AND t.k < 9")
	if depth == 0 || g.r.IntN(2) == 0 {
		return fmt.Sprintf("SELECT t.k AS k, %s AS i, %s AS s FROM %s AS t%s", g.integer("t"), g.text("t"), g.pick("a", "r", "u", "d", "d"), where)
	}
	return fmt.Sprintf("SELECT t.k AS k, %s AS i, %s AS s FROM (%s) AS t JOIN (%s) AS y ON %s%s",
		g.integer("y"), g.text("t"), g.keyed(depth-1), g.keyed(depth-1), g.pick("t.k = y.k", "y.k = t.k AND t.k > y.k - 1", "t.i = y.k"), where)
}

func (g generator) big(t string) string {
	return g.pick(t+".k", t+".k", t+".k", t+".k + 1", "CAST("+t+".i AS BIGINT)")
}

func (g generator) integer(t string) string {
	return g.pick(t+".i", t+".i", t+".i * 2", "CASE WHEN "+t+".i > 3 THEN 1 ELSE "+t+".i END", "7")
}

func (g generator) text(t string) string {
	return g.pick(t+".s", t+".s", "UPPER("+t+".s)", "CAST(NULL AS STRING)")
}

func (g generator) where(tables ...string) string {
	var conds []string
	for range g.r.IntN(3) {
		conds = append(conds, g.condition(tables[g.r.IntN(len(tables))]))
	}
	if len(conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conds, g.pick(" AND ", " AND ", " OR "))
}

// member is a condition on t with a subquery.
func (g generator) member(depth int) string {
	from := g.from(depth, "u")
	return g.pick("", "NOT ") + g.pick(
		"t.i IN (SELECT u.i FROM "+from+")", "t.k IN (SELECT u.k FROM "+from+g.where("u")+")", "(t.k, t.i) IN (SELECT u.k, u.i FROM "+from+")",
		"EXISTS (SELECT 1 FROM "+from+" WHERE u.k = t.k)", "EXISTS (SELECT 1 FROM "+from+" WHERE u.k = t.k AND u.i > t.i)", "EXISTS (SELECT 1 FROM "+from+")",
		"(t.i > 3 OR t.k IN (SELECT u.k FROM "+from+"))", "t.i = (SELECT MAX(u.i) FROM "+from+")", "t.i < (SELECT COUNT(*) FROM "+from+" WHERE u.k = t.k)",
		"t.i IN (SELECT u.i FROM "+from+" WHERE u.s = t.s)")
}

func (g generator) condition(t string) string {
	return g.pick(t+".k > 3", t+".k = 5", t+".i IN (1, 2)", t+".s LIKE 'x%'", t+".i IS NULL", "1 = 1", t+".k = "+t+".i", "NOT "+t+".i > 3", "FALSE")
}

func (g generator) grouped(depth int) string {
	key := g.pick("t.k", "t.k", "t.k + t.i", "CAST(t.i AS BIGINT)")
	having := g.pick("", "", " HAVING COUNT(*) > 2", " HAVING "+key+" > 3", " HAVING MAX(t.i) > 2 AND "+key+" = 7")
	agg := g.pick("MAX(t.i)", "MIN(t.i) + 1", "CAST(COUNT(DISTINCT t.s) AS INT)", "MAX(t.i) FILTER (WHERE t.k > 3)", "7")
	if g.r.IntN(5) == 0 {
		return fmt.Sprintf("SELECT COUNT(*) AS k, %s AS i, MAX(t.s) AS s FROM %s%s", agg, g.from(depth, "t"), g.where("t"))
	}
	return fmt.Sprintf("SELECT %s AS k, %s AS i, MAX(t.s) AS s FROM %s%s GROUP BY %s%s", key, agg, g.from(depth, "t"), g.where("t"), key, having)
}

func (g generator) join(depth int) string {
	on := g.pick("x.k = y.k", "x.k < y.i", "x.k = y.i", "x.i = y.i AND x.k = y.k", "x.k + 1 = y.k", "x.s = y.s AND x.i > y.i", "y.k = x.k AND x.s IS NOT NULL")
	if g.r.IntN(4) == 0 {
		on = g.pick("x.k IS NOT DISTINCT FROM y.k", "x.i = y.i OR x.i IS NULL AND y.i IS NULL", "x.k = y.k AND x.i > 3", "x.k = y.k AND y.i > 3", "TRUE", "FALSE")
	}
	kind := g.pick("JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
	from := fmt.Sprintf("%s %s %s ON %s", g.from(depth-1, "x"), kind, g.from(depth-1, "y"), on)
	where := g.where("x", "y")
	if g.r.IntN(3) == 0 {
		from = g.from(depth-1, "x") + ", " + g.from(depth-1, "y")
		if where == "" {
			where = " WHERE " + on
		} else {
			where = " WHERE " + on + " AND (" + strings.TrimPrefix(where, " WHERE ") + ")"
		}
	}
	return fmt.Sprintf("SELECT %s AS k, %s AS i, %s AS s FROM %s%s", g.big(g.pick("x", "y")), g.integer(g.pick("x", "y")), g.text(g.pick("x", "y")), from, where)
}
