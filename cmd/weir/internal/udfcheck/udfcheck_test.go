package udfcheck_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/cmd/weir/internal/udfbuild"
	"github.com/weirdb/weir/cmd/weir/internal/udfcheck"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

func bad(t *testing.T) []byte {
	t.Helper()
	module, _, err := udfbuild.Go(t.Context(), "testdata/bad", "go")
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// TestBadFunctions finds what is wrong with each.
func TestBadFunctions(t *testing.T) {
	results, err := udfcheck.Run(t.Context(), "bad.wasm", bad(t), udfcheck.Options{Seed: 1, Limits: udf.Limits{Timeout: 30 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // the check that fails, and why
		"counts":     "rows on their own: rows depend on what else is in the batch",
		"tells_time": "used instance: it is declared deterministic, but",
		"running":    "rows on their own: rows depend on what else is in the batch",
		"leaks":      "many batches: ",
		"traps":      "edge and random values: function traps",
		"no_text":    "edge and random values: function no_text",
		"too_wide":   "edge and random values: function too_wide",
		"endless":    "edge and random values: function endless",
		"short":      "",
		"lossy":      "merge: merged states give another result than one update",
		"eager":      "states are kept: ",
	}
	failed := map[string][]string{}
	for _, r := range results {
		switch {
		case r.Status == udfcheck.Broken:
			failed[r.Function] = append(failed[r.Function], r.Check+": "+r.Detail)
		case r.Status == udfcheck.Skipped && (r.Function == "refuses" || r.Function == "short"):
			delete(want, r.Function)
		}
	}
	for name, text := range want {
		found := false
		for _, f := range failed[name] {
			found = found || strings.HasPrefix(f, text)
		}
		if !found {
			t.Errorf("%s: %q, want %s", name, failed[name], text)
		}
	}
	if len(failed["refuses"]) > 0 {
		t.Errorf("a function that refuses every row failed: %q", failed["refuses"])
	}
	retracted := false
	for _, f := range failed["lossy"] {
		retracted = retracted || strings.HasPrefix(f, "retract: rows added and taken away again")
	}
	if !retracted {
		t.Errorf("lossy: %q", failed["lossy"])
	}
}

// TestPlugin passes a module that keeps its promises, with values for an argument
// that takes few.
func TestPlugin(t *testing.T) {
	code, err := os.ReadFile("../../../../plugins/money/money.wasm")
	if err != nil {
		t.Fatal(err)
	}
	o := udfcheck.Options{Seed: 2, Only: "to_minor", Values: map[string][]string{"currency": {"EUR", "JPY"}}}
	results, err := udfcheck.Run(t.Context(), "money.wasm", code, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Status != udfcheck.Passed {
			t.Errorf("%+v", r)
		}
	}
	o.Values = nil
	if results, err = udfcheck.Run(t.Context(), "money.wasm", code, o); err != nil || results[len(results)-1].Status != udfcheck.Skipped {
		t.Errorf("%+v, %v", results, err)
	}
	o.Only = "nothing"
	if _, err := udfcheck.Run(t.Context(), "money.wasm", code, o); err == nil {
		t.Error("a function that is not there is checked")
	}
}

// TestValues makes values of every type: each can be written and read.
func TestValues(t *testing.T) {
	const seed = 3
	g := udfcheck.NewValues(seed, map[string][]string{"given": {"7", "8"}})
	p := vector.NewCheckedPool()
	for _, text := range []string{
		"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(1, 0)", "DECIMAL(38, 38)", "DATE", "TIME(0)", "TIME(9)",
		"TIMESTAMP(3)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(6)", "CHAR(2)", "VARCHAR(3)", "STRING", "BINARY(2)", "BYTES",
		"INTERVAL YEAR TO MONTH", "INTERVAL DAY TO SECOND", "ARRAY<STRING>", "MAP<INT, ARRAY<DOUBLE>>", "MULTISET<STRING>", "ROW<a INT, b ROW<c DATE>>",
	} {
		typ, err := sqltype.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, null := range []float64{0, 0.5, 1} {
			v, err := g.Column(p, "a", typ, 500, null)
			if err != nil || v.Len() != 500 || v.Kind() != typ.Kind() {
				t.Fatal(text, err)
			}
			if n := v.Nulls(); (null == 0) != (n == 0) || (null == 1) != (n == 500) {
				t.Errorf("%s: %d rows of 500 are NULL, want a share of %v", text, n, null)
			}
			v.Release()
		}
	}
	v, err := g.Column(p, "Given", sqltype.IntType, 50, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range vector.Values[int32](v) {
		if x != 7 && x != 8 {
			t.Errorf("row %d is %d", i, x)
		}
	}
	v.Release()
	if _, err := g.Column(p, "given", sqltype.BoolType, 1, 0); err == nil {
		t.Error("7 is a BOOLEAN")
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
