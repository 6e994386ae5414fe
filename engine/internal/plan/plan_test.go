package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	gofunction "github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// The files of testdata hold scripts. exec runs statements that change the catalog,
// plan shows the plan of a query, with pass=(name, ..) also what these passes make
// of it, json shows EXPLAIN JSON without ids, and fail shows the error.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := catalog.New(connector.NewRegistry(testConnector{})).NewSession()
		for _, f := range testFunctions() {
			if err := s.Catalog().Register(f); err != nil {
				t.Fatal(err)
			}
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "exec":
				if err := execute(s, d.Input); err != nil {
					return message(err)
				}
				return "ok"
			case "fail":
				err := execute(s, d.Input)
				if err == nil {
					d.Fatalf(t, "no error from %s", d.Input)
				}
				return message(err)
			case "plan":
				return planned(t, d, s)
			case "json":
				p, _, err := build(s, d.Input, nil)
				if err != nil {
					return message(err)
				}
				return withoutIDs(t, p.JSON())
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

// testFunctions are functions of users: slow; draw, which is not deterministic; f and g,
// which are overloaded.
func testFunctions() []gofunction.Function {
	named := func(name string, ret sqltype.Type, args ...sqltype.Type) *gofunction.ScalarFunction {
		return &gofunction.ScalarFunction{Name: name, Args: args, Returns: ret, Eval: gofunction.EachRow(func(r gofunction.Row) (any, error) {
			return nil, errors.New("called")
		})}
	}
	draw := named("draw", sqltype.BigIntType, sqltype.BigIntType)
	draw.NonDeterministic = true
	return []gofunction.Function{
		draw,
		named("slow", sqltype.BigIntType, sqltype.StringType), named("slow", sqltype.BigIntType, sqltype.BigIntType),
		named("f", sqltype.BigIntType, sqltype.BigIntType), named("f", sqltype.DoubleType, sqltype.DoubleType),
		named("f", sqltype.StringType, sqltype.StringType), named("f", sqltype.IntType, sqltype.SmallType),
		named("g", sqltype.BigIntType, sqltype.BigIntType, sqltype.DoubleType), named("g", sqltype.BigIntType, sqltype.DoubleType, sqltype.BigIntType),
	}
}

func message(err error) string {
	return fmt.Sprintf("%s %s", errs.CodeOf(err), oneLine(err.Error()))
}

// execute runs a script; queries in it are planned.
func execute(s *catalog.Session, sql string) error {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, stmt := range stmts {
		switch stmt := stmt.(type) {
		case *parse.CreateTable:
			err = plan.CreateTable(ctx, stmt, s)
		case *parse.CreateTemporalFunction:
			err = plan.CreateTemporalFunction(ctx, stmt, s)
		case *parse.CreateView:
			err = plan.CreateView(ctx, stmt, s)
		case *parse.Alter:
			err = plan.AlterTable(ctx, stmt, s)
		case *parse.CreateDatabase:
			err = s.CreateDatabase(stmt)
		case *parse.Drop:
			err = s.Drop(stmt)
		case *parse.Use:
			err = s.Use(stmt)
		case *parse.Set:
			err = s.Options.Set(stmt.Option)
		case *parse.Reset:
			err = s.Options.Reset(stmt.Key, stmt.KeyAt)
		default:
			_, err = plan.Build(ctx, stmt, s, plan.Options{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func build(s *catalog.Session, sql string, passes []string) (*plan.Plan, string, error) {
	stmts, err := parse.Parse(sql)
	if err != nil {
		return nil, "", err
	}
	var b strings.Builder
	p, err := plan.Build(context.Background(), stmts[0], s, plan.Options{Trace: func(pass string, roots []plan.Node) {
		if slices.Contains(passes, pass) {
			fmt.Fprintf(&b, "%s:\n%s\n", pass, plan.Text(roots))
		}
	}})
	return p, b.String(), err
}

func planned(t *testing.T, d *datadriven.TestData, s *catalog.Session) string {
	var passes []string
	for _, a := range d.CmdArgs {
		if a.Key == "pass" {
			passes = a.Vals
		}
	}
	p, trace, err := build(s, d.Input, passes)
	if err != nil {
		return message(err)
	}
	for _, r := range p.Roots {
		if err := verify(r); err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	return trace + p.Text()
}

func withoutIDs(t *testing.T, text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "id")
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// ids maps each operator of a plan to its id, and fails when two share one.
func ids(t *testing.T, p *plan.Plan) map[string]string {
	out, seen, walked := map[string]string{}, map[string]bool{}, map[plan.Node]bool{}
	var walk func(n plan.Node)
	walk = func(n plan.Node) {
		if walked[n] {
			return
		}
		walked[n] = true
		id := n.Traits().ID
		if id == "" || seen[id] {
			t.Errorf("%s has the id %q, which is empty or taken", n.Op(), id)
		}
		seen[id] = true
		out[fmt.Sprintf("%s %v", n.Op(), n.Schema().Names())] = id
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	for _, r := range p.Roots {
		walk(r)
	}
	return out
}

// Operators with state keep their ids when a filter or an expression is added.
func TestIDsAreStable(t *testing.T) {
	s := catalog.New(connector.NewRegistry(testConnector{})).NewSession()
	const ddl = `CREATE TABLE t (k INT, v INT) WITH ('connector' = 'test');
		CREATE TABLE out1 (k INT, v BIGINT) WITH ('connector' = 'test', 'changes' = 'retract')`
	if err := execute(s, ddl); err != nil {
		t.Fatal(err)
	}
	id := func(query string) (string, string) {
		p, _, err := build(s, query, nil)
		if err != nil {
			t.Fatal(err)
		}
		ids(t, p)
		var agg, join string
		var walk func(n plan.Node)
		walk = func(n plan.Node) {
			switch n.(type) {
			case *plan.Aggregate:
				agg = n.Traits().ID
			case *plan.Join:
				join = n.Traits().ID
			}
			for _, in := range n.Inputs() {
				walk(in)
			}
		}
		walk(p.Roots[0])
		return agg, join
	}
	agg, join := id(`INSERT INTO out1 SELECT a.k, COUNT(*) FROM t a JOIN t b ON a.k = b.k GROUP BY a.k`)
	agg2, join2 := id(`INSERT INTO out1 SELECT a.k, COUNT(*) + 1 FROM t a JOIN t b ON a.k = b.k WHERE a.v > 3 AND a.v < b.v GROUP BY a.k HAVING COUNT(*) > 1`)
	if agg != agg2 || join != join2 || agg == join {
		t.Errorf("ids changed: %s %s, then %s %s", agg, join, agg2, join2)
	}
}

// A shared operator keeps its id when its INSERTs change places.
func TestIDsOfSharedOperators(t *testing.T) {
	s := catalog.New(connector.NewRegistry(testConnector{})).NewSession()
	const ddl = `CREATE TABLE t (k INT, v INT) WITH ('connector' = 'test');
		CREATE TABLE out1 (k INT, v BIGINT) WITH ('connector' = 'test', 'changes' = 'retract');
		CREATE TABLE out2 (k2 INT, v BIGINT) WITH ('connector' = 'test', 'changes' = 'retract');
		CREATE VIEW counts AS SELECT k, COUNT(*) AS n FROM t GROUP BY k`
	if err := execute(s, ddl); err != nil {
		t.Fatal(err)
	}
	const first, second = "INSERT INTO out1 SELECT * FROM counts WHERE n > 1;", "INSERT INTO out2 SELECT * FROM counts;"
	var want map[string]string
	for _, sql := range []string{first + second, second + first} {
		p, _, err := build(s, "EXECUTE STATEMENT SET BEGIN "+sql+" END", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(t, p); want == nil {
			want = got
		} else if !maps.Equal(got, want) {
			t.Errorf("ids changed: %v, then %v", want, got)
		}
	}
}
