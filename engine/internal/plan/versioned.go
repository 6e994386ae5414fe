package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// versioned is a table of which it is known what its rows were at any time: every change
// of it says from when on it is a row of its key.
type versioned struct {
	name string
	pos  errs.Position
	// node has the changes. Its columns are those of the table, and further ones.
	node Node
	key  []int // of node; none when the table has no key
	time int   // the column of node that is event time, or -1
	attr sqltype.TimeAttr
	// live are BOOLEAN columns of node: a version is a row of the table where all are TRUE.
	live []int
	// adds says that node has nothing but versions, of which the last of a key counts.
	adds bool
	// lost says why there is no time, or no key.
	lostTime, lostKey string
	// function is the temporal table function that the versions are of, or nil.
	function *catalog.Function
}

// versioned finds the versions of a table, of which some columns are compared in the
// condition of the join. n is changed.
func (b *binder) versioned(n Node, name string, pos errs.Position, compared []string) (versioned, error) {
	n = pushDown(simplifier{b.session.Options.TimeZone}.node(n), nil)
	v := versionsOf(n)
	v.name, v.pos = name, pos
	if len(v.key) == 0 {
		why := v.lostKey
		if why == "" {
			why = "it declares no PRIMARY KEY"
		}
		return v, errs.New(errs.Invalid, pos, "FOR SYSTEM_TIME AS OF needs to know which rows of %q are versions of one thing, and it has no key: %s", name, why).
			WithHint("%s", v.keyHint(compared))
	}
	return v, nil
}

// versionsOf finds what the versions of the rows of n are.
func versionsOf(n Node) versioned {
	switch n := n.(type) {
	case *Scan:
		v := versioned{node: n, time: -1}
		if pk := n.Table.Declaration.PrimaryKey; len(pk) > 0 && subset(pk, n.Columns) {
			v.key = positions(pk, n.Columns)
		}
		return v
	case *Normalize:
		return versionsOf(n.Input)
	case *WatermarkAssigner:
		v := versionsOf(n.Input)
		v.node, v.time, v.attr, v.lostTime = newWatermarkAssigner(v.node, n), n.Column, sqltype.Rowtime, ""
		return v
	case *Calc:
		return n.versions()
	case *Rank:
		if v, ok := n.versions(); ok {
			return v
		}
	}
	v := versioned{node: n, time: -1}
	if a, ok := n.(*Aggregate); ok {
		v.key = upTo(len(a.Keys))
	}
	for i := range n.Schema() {
		if attr := timeAttribute(n, i); attr == sqltype.Rowtime {
			v.time, v.attr = i, attr
			break
		}
	}
	v.lostKey = "the rows of " + n.Op() + where(n.Pos()) + " have none, or one that changes"
	v.losesTime(n)
	return v
}

// versions of a Calc are those of its input, of which some are no rows of the result.
func (n *Calc) versions() versioned {
	v := versionsOf(n.Input)
	exprs, names := slices.Clone(n.Exprs), n.schema.Names()
	further := func(e expr.Expr, name string) int {
		exprs, names = append(exprs, e), append(names, name)
		return len(exprs) - 1
	}
	live := v.live
	v.live = nil
	if n.Filter != nil {
		v.live = append(v.live, further(n.Filter, "$live"))
	}
	for _, c := range live {
		v.live = append(v.live, further(expr.NewColumn(v.node.Schema(), c, n.at), "$live"))
	}
	key := v.key
	v.key = nil
	for _, k := range key {
		at := n.forwarded(k)
		if at < 0 {
			v.key, v.lostKey = nil, "the column "+v.node.Schema()[k].Name+" of its key is not in it"
			break
		}
		v.key = append(v.key, at)
	}
	if v.time >= 0 {
		name := v.node.Schema()[v.time].Name
		if v.time = n.forwarded(v.time); v.time < 0 {
			v.lostTime = "the column " + name + " is not in it"
			v.losesTime(n)
		}
	} else if v.lostTime != "" {
		v.losesTime(n)
	} else if at := slices.IndexFunc(n.Exprs, func(e expr.Expr) bool {
		c, ok := e.(*expr.Call)
		return ok && c.Func.Name == "PROCTIME"
	}); at >= 0 && v.attr == sqltype.NoTime {
		v.attr = sqltype.Proctime
	}
	v.node = newCalc(v.node, nil, exprs, names, n.at)
	return v
}

// losesTime says by what a column of n lost its time, if one did.
func (v *versioned) losesTime(n Node) {
	for i, c := range n.Schema() {
		if c.Type.IsTimestamp() && timeAttribute(n, i) == sqltype.NoTime {
			if why := loss(n, i); why != "" {
				v.lostTime = c.Name + " was event time: " + why
				return
			}
		}
	}
}

// versions of rows of which the last in time is kept are all of them.
func (n *Rank) versions() (versioned, bool) {
	if !n.single() || n.Time != sqltype.Rowtime || len(n.Order) != 1 || len(n.Partition) == 0 {
		return versioned{}, false
	}
	v := versioned{key: n.Partition, time: n.Order[0].Column, attr: sqltype.Rowtime, adds: true}
	if v.node = Node(n); !n.Order[0].Desc {
		return v, true
	}
	if v.node = n.Input; n.Number {
		exprs := append(columns(n.Input), &expr.Literal{Value: int64(1), T: n.schema[n.Width()].Type, At: n.at})
		v.node = newCalc(n.Input, nil, exprs, n.schema.Names(), n.at)
	}
	return v, true
}

// needRowtime refuses versions that are not of event time.
func (v *versioned) needRowtime(at errs.Position) error {
	if v.attr == sqltype.Rowtime && v.time >= 0 {
		return nil
	}
	what := "it has no column with a WATERMARK"
	if v.attr == sqltype.Proctime {
		what = "its time is processing time"
	}
	if v.lostTime != "" {
		what = v.lostTime
	}
	return errs.New(errs.Invalid, at, "the time of the left side is event time, and %q does not say from when its rows hold: %s", v.name, what).
		WithHint("declare WATERMARK FOR the column with the time of a change in %q, and pass it on as it is", v.name)
}

// needTime refuses, for processing time, a table that says of no row from when it holds.
func (v *versioned) needTime(at errs.Position) error {
	if v.function != nil || v.attr == sqltype.Rowtime && v.time >= 0 {
		return nil
	}
	e := errs.New(errs.Invalid, at, "of %q it is not known when it has been read, as it is a stream without event time: a row would find what happens to have come", v.name)
	if v.lostTime != "" {
		e = errs.New(errs.Invalid, at, "of %q it is not known when it has been read, as it has no event time: %s", v.name, v.lostTime)
	}
	key := strings.Join(v.node.Schema().Project(v.key).Names(), ", ")
	return e.WithHint("declare a WATERMARK for %[1]q, or use a table that can be asked by key; or say that what has come is what is wanted: "+
		"CREATE VIEW now AS SELECT *, PROCTIME() AS proctime FROM %[2]s; CREATE TEMPORAL TABLE FUNCTION f AS TABLE now TIME proctime KEY (%[3]s); and FROM o, LATERAL TABLE(f(o.proctime)) AS r WHERE ..",
		v.name, parse.QuoteIdent(v.name), key)
}

// keyHint is a statement that gives a table without a key one, which has the columns that
// are compared.
func (v *versioned) keyHint(compared []string) string {
	key, time := "k", "rowtime"
	for i, c := range compared {
		if compared[i] = parse.QuoteIdent(c); i == 0 {
			key = ""
		} else {
			key += ", "
		}
		key += compared[i]
	}
	if v.time >= 0 {
		time = parse.QuoteIdent(v.node.Schema()[v.time].Name)
	}
	return "declare PRIMARY KEY (" + key + ") NOT ENFORCED for the table, or join with a view of the last row of each: CREATE VIEW versions AS SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY " +
		key + " ORDER BY " + time + " DESC) AS n FROM " + parse.QuoteIdent(v.name) + ") WHERE n = 1"
}
