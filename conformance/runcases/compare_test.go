package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/conformance/scenario"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func result(key []int, changes ...rows.Row) *scenario.Result {
	return &scenario.Result{
		Schema: sqltype.Schema{{Name: "k", Type: sqltype.StringType}, {Name: "v", Type: sqltype.DoubleType}},
		Key:    key,
		Rows:   changes,
	}
}

func change(kind vector.RowKind, values ...string) rows.Row {
	return rows.Row{Kind: kind, Values: values}
}

func TestCompare(t *testing.T) {
	one, more := json.Number("1.0"), json.Number("0.30000000000000001")
	updated := result(nil, change(vector.Insert, "a", "1.0"), change(vector.UpdateBefore, "a", "1.0"), change(vector.UpdateAfter, "a", "0.30000000000000004"))
	changelog := []Row{{"+U", "a", more}, {"+I", "a", one}, {"-U", "a", one, map[string]any{"phase": json.Number("2")}}}
	tests := []struct {
		name  string
		got   *scenario.Result
		want  Expected
		exact bool
		diff  string
	}{
		{"changes in any order", updated, Expected{Strict: "changelog", Changelog: changelog}, true, ""},
		{"changes in this order", updated, Expected{Strict: "changelog", Changelog: changelog, Order: "exact"}, true, "the order differs"},
		{"content of a changelog", updated, Expected{Strict: "changelog", Changelog: changelog}, false, ""},
		{"content", updated, Expected{Strict: "final", Final: []Row{{"a", more}}}, true, ""},
		{"other content", updated, Expected{Final: []Row{{"a", one}}}, false, "missing a 1; unexpected a 0.3"},
		{"row missing", updated, Expected{Final: []Row{{"a", more}, {"b", nil}}}, false, "missing b NULL"},
		{"row too many", updated, Expected{Final: []Row{}}, false, "unexpected a 0.3"},
		{"upserts", result([]int{0}, change(vector.Insert, "a", "1.0"), change(vector.UpdateAfter, "a", "2.0")), Expected{Final: []Row{{"a", json.Number("2")}}}, true, ""},
		{"arity", updated, Expected{Final: []Row{{"a"}}}, false, "1 values for 2 columns"},
		{"taken away and never added", result(nil, change(vector.Delete, "a", "1.0")), Expected{Final: []Row{}}, false, "taken away"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.want.compare(tt.got, tt.exact)
			if tt.diff == "" && err != nil || tt.diff != "" && (err == nil || !strings.Contains(err.Error(), tt.diff)) {
				t.Errorf("got %v, want %q", err, tt.diff)
			}
		})
	}
}

const sample = `{"format": "stream-sql-case/1", "family": "sample", "cases": [
{"name": "filter", "family": "sample",
 "tables": [{"name": "t", "columns": [{"name": "a", "type": "INT", "not_null": true}, {"name": "s", "type": "VARCHAR"}, {"name": "b", "as": "a * 2"}],
   "primary_key": ["a"], "changelog_mode": "I", "rows": [["+I", 1, "x"], ["+I", 2, null, {"phase": 2}]]}],
 "sinks": [{"name": "out", "columns": [{"name": "a", "type": "INT"}, {"name": "s", "type": "STRING"}]}],
 "restart_after_phase_1": true,
 "sql": ["INSERT INTO out SELECT b, s FROM t WHERE a > 0"],
 "expected": {"outputs": [{"sink": "out", "order": "any", "changelog": [["+I", 4, null, {"phase": 2}], ["+I", 2, "x"]], "strict": "changelog"}]}},
{"name": "udf", "family": "sample", "functions": [{"name": "f", "kind": "scalar"}], "sql": ["INSERT INTO out SELECT f(a) FROM t"]}
]}`

func readSample(t *testing.T) []Case {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sample.json"), []byte(sample), 0o644); err != nil {
		t.Fatal(err)
	}
	cases, err := readCases([]string{dir})
	if err != nil || len(cases) != 2 {
		t.Fatal(len(cases), err)
	}
	return cases
}

func TestReadCases(t *testing.T) {
	c := readSample(t)[0]
	if got, want := c.Tables[0].columns(), "`a` INT NOT NULL, `s` STRING, `b` AS a * 2, PRIMARY KEY (`a`) NOT ENFORCED"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	steps := c.steps()
	if len(steps) != 3 || len(steps[0].Rows) != 1 || len(steps[2].Rows) != 1 {
		t.Errorf("got steps %v", steps)
	}
}

func TestRun(t *testing.T) {
	cases := readSample(t)
	for _, tt := range []struct {
		set    settings
		c      Case
		status Status
	}{
		{settings{batch: 1, parallel: 1}, cases[0], Passed},
		{settings{batch: 100, parallel: 2}, cases[0], Passed},
		{settings{batch: 1, parallel: 1, restart: true}, cases[0], Passed},
		{settings{batch: 100, parallel: 2, restart: true, after: 3}, cases[0], Passed},
		{settings{batch: 1, parallel: 1}, cases[1], Skipped},
	} {
		if got := tt.c.run(context.Background(), tt.set); got.Status != tt.status {
			t.Errorf("%v: %v, want %s", tt.set, got, tt.status)
		}
	}
}

func TestTableEndsWithTheCounts(t *testing.T) {
	var out strings.Builder
	err := writeTable(&out, []Outcome{
		{"a", "x", Passed, ""}, {"b", "x", Failed, "missing 1"}, {"c", "y", Skipped, "OVER"}, {"d", "y", Skipped, "OVER"},
	})
	want := `family  passed  failed  skipped
x       1       1       0
y       0       0       2

skipped for want of
    2  OVER

FAILED b (x)
  missing 1

1 passed, 1 failed, 2 skipped
`
	if err != nil || out.String() != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, out.String(), want)
	}
}

func TestTables(t *testing.T) {
	c := Case{
		Tables: []Table{{Name: "t", Mode: "I,UA,D", KeyDeletes: true}, {Name: "u", Mode: "UA"}},
		Sinks:  []Sink{{Name: "s", PrimaryKey: []string{"a"}, Options: map[string]string{"sink.supports-delete-by-key": "true"}}, {Name: "r"}},
	}
	tables, err := c.tables()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"I,UA,D(key)", "UA", "I,UA,D(key)", "I,UB,UA,D"} {
		if got := tables[i].Mode.String(); got != want {
			t.Errorf("table %s has %s, want %s", tables[i].Name, got, want)
		}
	}
}

func TestOrdersOfArrival(t *testing.T) {
	phase2 := map[string]any{"phase": json.Number("2")}
	c := Case{
		Config: map[string]any{"table.exec.mini-batch.enabled": true, "table.exec.mini-batch.size": json.Number("1")},
		Tables: []Table{{Name: "a", Rows: []Row{{"+I", "1"}, {"+I", "2"}, {"+I", "3", phase2}}}, {Name: "b", Rows: []Row{{"+I", "x"}}}},
	}
	text := func(steps []Step) string {
		var out []string
		for _, s := range steps {
			switch {
			case s.Sync:
				out = append(out, "sync")
			case s.Feed == "":
				out = append(out, "pass")
			}
			for _, r := range s.Rows {
				out = append(out, s.Feed+r[1].(string))
			}
		}
		return strings.Join(out, " ")
	}
	for want, steps := range map[string][]Step{
		"a1 a2 bx pass a3":      c.steps(),
		"bx a1 a2 pass a3":      c.backwards(),
		"a1 bx a2 pass a3":      c.inTurn(),
		"a1 sync a2 bx pass a3": c.cut(1),
	} {
		if got := text(steps); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestFunctions(t *testing.T) {
	for _, f := range functions() {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
	}
	for want, c := range map[string]Case{
		"the case's function f":         {Functions: []Function{{Name: "f", Kind: "scalar"}}},
		"":                              {},
		"user-defined function (table)": {Functions: []Function{{Name: "udf1", Kind: "table"}}},
	} {
		_, err := c.functions()
		if len(c.Functions) == 0 {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	c := Case{}
	c.Expected.Error = "the sink takes no updates"
	for code, status := range map[errs.Code]Status{errs.Changelog: Passed, errs.NotFound: Failed, errs.Syntax: Failed, errs.Unsupported: Failed} {
		if err := c.refused(errs.New(code, errs.Position{}, "no")); (err == nil) != (status == Passed) {
			t.Errorf("%s: %v", code, err)
		}
	}
	if c.refused(nil) == nil {
		t.Error("a statement that was accepted passed")
	}
}
