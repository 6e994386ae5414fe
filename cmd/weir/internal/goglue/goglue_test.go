package goglue_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirdb/weir/cmd/weir/internal/goglue"
)

const header = "package p\n\nimport (\n\t\"time\"\n\n\tsdk \"github.com/weirdb/weir/sdk/go\"\n)\n\nvar _ time.Time\nvar _ sdk.Date\n\n"

func generate(t *testing.T, source string) (*goglue.Glue, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(header+source), 0o644); err != nil {
		t.Fatal(err)
	}
	return goglue.Generate(dir)
}

// TestManifest reads what directives and Go types say of a function.
func TestManifest(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a int64) int64 { return a }", `"name":"f","kind":"scalar","args":[{"name":"a","type":"BIGINT"}],"returns":"BIGINT","nullable":false}`},
		{"//weir:scalar f(a BIGINT) BIGINT deterministic\nfunc f(a sdk.Null[int64]) sdk.Null[int64] { return a }", `"returns":"BIGINT","nulls":"called","deterministic":true}`},
		{"//weir:scalar f(a BIGINT) BIGINT deterministic constant\nfunc f(a sdk.Column[int64], out *sdk.Builder[int64]) {}", `"returns":"BIGINT","deterministic":true,"accepts":["constant"]}`},
		{"//weir:scalar f(a BIGINT) BIGINT called\nfunc f(a sdk.Column[int64], out *sdk.Builder[int64]) {}", `"nulls":"called"`},
		{"//weir:scalar f(a INT DEFAULT 3) INT\nfunc f(a int32) int32 { return a }", `{"name":"a","type":"INT","default":"3"}`},
		{"//weir:scalar f(xs STRING...) INT\nfunc f(xs ...string) int32 { return 0 }", `"variadic":true`},
		{"//weir:scalar f(a INT) INT\n//weir:export f_int\nfunc f(a int32) int32 { return a }", `"export":"f_int"`},
		{"//weir:scalar f(a INT) INT\nfunc f(a int32) int32 { return a }\n\n//weir:scalar f(a STRING) INT\nfunc fText(a string) int32 { return 0 }", `"name":"f","export":"fText"`},
		{"//weir:aggregate f(a INT) INT\n//weir:state 3\ntype f struct{ n int32; d [2]sdk.Decimal }\nfunc (f *f) Add(a int32) {}\nfunc (f *f) Finish() int32 { return 0 }\nfunc (f *f) Merge(o *f) {}\nfunc (f *f) Retract(a int32) {}", `"nullable":false,"state":{"size":40,"version":3},"retract":true,"merge":true}`},
		{"//weir:module name 2.1\n//weir:limit memory 64MiB\n\n//weir:scalar f() INT\nfunc f() int32 { return 0 }", `"module":"name","version":"2.1"`},
		{"//weir:module name 2.1\n//weir:limit memory 64MiB\n\n//weir:scalar f() INT\nfunc f() int32 { return 0 }", `"memory":"64MiB"`},
		// Types of the package, and an import under another name.
		{"type cents int64\ntype row struct { A cents; B sdk.Null[time.Time] }\n\n//weir:scalar f(r ROW<a BIGINT, b TIMESTAMP(3)>) ARRAY<BIGINT>\nfunc f(r row) []cents { return nil }", `"returns":"ARRAY<BIGINT>"`},
	} {
		g, err := generate(t, c.source)
		if err != nil {
			t.Errorf("%s\n%v", c.source, err)
			continue
		}
		text, err := g.Manifest.JSON()
		if err != nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s\n%s, %v; want %s", c.source, text, err, c.want)
		}
	}
}

// TestErrors sees what authors are told; places are those of the directive.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a int32) int64 { return 0 }", "p.go:12:1: f: argument a: BIGINT is int64 in Go, not int32"},
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a int64) int { return 0 }", "result: BIGINT is int64 in Go, not int"},
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a, b int64) int64 { return 0 }", "takes 2 values for 1 arguments"},
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a int64) (int64, int64) { return 0, 0 }", "returns one value"},
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a int64) {}", "takes a column for each argument and one more to fill"},
		{"//weir:scalar f(a BIGINT) BIGINT constant\nfunc f(a, out []int64) {}", "take a weir.Column"},
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a []int64, out []int32) {}", "result: BIGINT is no slice []int32"},
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a sdk.Strings, out []int64) {}", "no column of BIGINT is a weir.Strings"},
		{"//weir:scalar f(a BIGINT\nfunc f(a int64) int64 { return 0 }", "no closing parenthesis"},
		{"//weir:scalar f\nfunc f(a int64) int64 { return 0 }", "want name(arguments)"},
		{"//weir:scalar f(a BIGNIT) BIGINT\nfunc f(a int64) int64 { return 0 }", "argument a: type \"BIGNIT\""},
		{"//weir:scalar f(a BIGINT)\nfunc f(a int64) int64 { return 0 }", "result: type"},
		{"//weir:scaler f(a BIGINT) BIGINT\nfunc f(a int64) int64 { return 0 }", "//weir:scaler is no kind of function"},
		{"//weir:scalar f(a BIGINT) BIGINT\n//weir:keys STRING\nfunc f(a int64) int64 { return 0 }", "//weir:keys: means nothing with kind scalar"},
		{"//weir:scalar f(a BIGINT) BIGINT\n\nvar x = 1", "stands above nothing"},
		{"//weir:scalar f(a BIGINT) BIGINT\ntype f struct{}", "a scalar function is a func"},
		{"//weir:aggregate f(a BIGINT) BIGINT\nfunc f(a int64) int64 { return 0 }", "an aggregate is a type"},
		{"//weir:aggregate f(a BIGINT) BIGINT\ntype f struct{ n int64 }", "no method Add"},
		{"//weir:aggregate f(a BIGINT) BIGINT\ntype f struct{ n int }\nfunc (f *f) Add(a int64) {}", "f.n is of type int"},
		{"//weir:aggregate f(a BIGINT) BIGINT\ntype f struct{ n map[string]int64 }\nfunc (f *f) Add(a int64) {}", "AppendState(dst []byte) []byte and LoadState"},
		{"//weir:aggregate f(a BIGINT) BIGINT\ntype f struct{ n int64 }\nfunc (f *f) Add(a int64) {}", "no method Finish"},
		{"//weir:aggregate f(a BIGINT) BIGINT\ntype f struct{ n int64 }\nfunc (f *f) Add(a int64) {}\nfunc (f *f) Retract(a int32) {}\nfunc (f *f) Finish() int64 { return 0 }", "take the same arguments"},
		{"//weir:table_aggregate f(a BIGINT) ROW<x INT>\ntype f struct{ n int64 }\nfunc (f *f) Add(a int64) {}", "one of the methods Emit"},
		{"//weir:table f(a BIGINT) ROW<x INT>\nfunc f(a int64) int64 { return 0 }", "returns a slice of rows"},
		{"//weir:table f(a BIGINT) ROW<x INT>\ntype f struct{}", "no method Open"},
		{"//weir:table f(a BIGINT) BIGINT\nfunc f(a int64) []int64 { return nil }", "ROW"},
		{"//weir:temporal f() ROW<x INT>\nfunc f() {}", "needs //weir:keys"},
		{"type r struct { B, A int64 }\n//weir:scalar f(a ROW<a BIGINT, b BIGINT>) BIGINT\nfunc f(a r) int64 { return 0 }", "fields go by their order"},
		{"type r struct { A int64 }\n//weir:scalar f(a ROW<a BIGINT, b BIGINT>) BIGINT\nfunc f(a r) int64 { return 0 }", "has 2 fields, r has 1"},
		{"//weir:scalar f(a MAP<INT, INT>) BIGINT\nfunc f(a map[int32]int32) int64 { return 0 }", "is []weir.Entry in Go"},
		{"//weir:limit memroy 1MiB\n\n//weir:scalar f() INT\nfunc f() int32 { return 0 }", "limit memroy: there are memory"},
		{"//weir:scalar f(xs BIGINT...) BIGINT\nfunc f(xs int64) int64 { return 0 }", "is TYPE... in SQL and ...T in Go"},
		{"//weir:scalar f(a BIGINT) BIGINT\nfunc f(a int64) int64 { return 0 }\n\n//weir:scalar f(a BIGINT) BIGINT\nfunc g(a int64) int64 { return 0 }", "another overload takes the same types"},
	} {
		if _, err := generate(t, c.source); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v\nwant %s", c.source, err, c.want)
		}
	}
}

// TestRowsInLoops sees which functions have the row noted that is being computed: those
// that can panic or ask for it.
func TestRowsInLoops(t *testing.T) {
	for _, c := range []struct {
		function string
		noted    bool
	}{
		{"func f(a, b int64) int64 { return a + b }", false},
		{"func f(a, b int64) int64 { if x := a % 7; x < b { return -x << 3 }; return ^int64(int32(b)) }", false},
		{"func f(a, b int64) int64 { n := int64(0); for a > b { a /= 2; n++ }; return min(n, a) }", false},
		{"func f(a, b int64) int64 { return a / b }", true},
		{"func f(a, b int64) int64 { return a % b }", true},
		{"func f(a, b int64) int64 { a /= b; return a }", true},
		{"func f(a, b int64) int64 { return a << b }", true},
		{"func f(a, b int64) int64 { return g(a) }\nfunc g(a int64) int64 { return a }", true},
		{"func f(a, b int64) int64 { var x [4]int64; return x[a] }", true},
		{"func f(a, b int64) int64 { panic(a) }", true},
		{"func f(a, b int64) int64 { p := &a; return *p }", true},
		{"func f(c *sdk.Call, a, b int64) int64 { return a }", true},
		{"func f(a, b int64) (int64, error) { return a, nil }", true},
	} {
		g, err := generate(t, "//weir:scalar f(a BIGINT, b BIGINT) BIGINT\n"+c.function)
		if err != nil {
			t.Errorf("%s\n%v", c.function, err)
			continue
		}
		if got := strings.Contains(string(g.Source), "c.At("); got != c.noted {
			t.Errorf("%s\nthe row is noted: %v", c.function, got)
		}
	}
}
