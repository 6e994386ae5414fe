//go:build !wasip1

package abi

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// full has every key.
const full = `{"abi": [1,1], "module": "demo", "version": "1.0.0", "x-note": {"any": [1, "thing"]}, "functions": [
 {"name": "add", "kind": "scalar", "args": [{"name": "a", "type": "BIGINT"}, {"name": "b", "type": "BIGINT", "default": "1"}],
  "returns": "BIGINT", "nullable": false, "nulls": "strict", "deterministic": true, "accepts": ["constant"]},
 {"name": "add", "export": "add_all", "kind": "scalar", "args": [{"name": "a", "type": "DOUBLE"}], "variadic": true,
  "returns": "DOUBLE", "nulls": "called", "x-mine": 1},
 {"name": "split", "kind": "table", "args": [{"name": "s", "type": "STRING"}], "returns": "ROW<piece STRING, pos INT>"},
 {"name": "avg2", "kind": "aggregate", "args": [{"name": "x", "type": "BIGINT"}], "returns": "BIGINT",
  "state": {"size": 16, "version": 2}, "retract": true, "merge": true},
 {"name": "top2", "kind": "table_aggregate", "args": [{"name": "v", "type": "INT"}], "returns": "ROW<v INT, rank INT>",
  "state": {"size": 0, "version": 1}, "retract": false, "merge": true, "emit": "retract"},
 {"name": "rate_at", "kind": "temporal", "keys": ["STRING"], "time": "TIMESTAMP(3)", "version_row": "ROW<rate DECIMAL(20,6)>",
  "args": [], "returns": "ROW<rate DECIMAL(20,6)>", "ceil": "final"}],
 "limits": {"memory": "16MiB", "fuel": 5, "fuel-per-row": 6, "timeout": "1s", "stack": 65536, "log": "1KiB", "max-rows-out": 7, "state-bytes": "2GiB"}}`

func fullManifest() *Manifest {
	add := NewFunction("add", Scalar)
	add.Args = []Argument{{Name: "a", Type: "BIGINT"}, {Name: "b", Type: "BIGINT", Default: "1", HasDefault: true}}
	add.Returns, add.Nullable, add.Deterministic, add.Accepts = "BIGINT", false, true, []string{AcceptConstant}
	all := NewFunction("add", Scalar)
	all.Export, all.Args, all.Variadic = "add_all", []Argument{{Name: "a", Type: "DOUBLE"}}, true
	all.Returns, all.Called = "DOUBLE", true
	split := NewFunction("split", Table)
	split.Args, split.Returns = []Argument{{Name: "s", Type: "STRING"}}, "ROW<piece STRING, pos INT>"
	avg := NewFunction("avg2", Aggregate)
	avg.Args, avg.Returns = []Argument{{Name: "x", Type: "BIGINT"}}, "BIGINT"
	avg.State, avg.Retract, avg.Merge = State{16, 2}, true, true
	top := NewFunction("top2", TableAggregate)
	top.Args, top.Returns = []Argument{{Name: "v", Type: "INT"}}, "ROW<v INT, rank INT>"
	top.Merge, top.Emit = true, EmitRetract
	rate := NewFunction("rate_at", Temporal)
	rate.Keys, rate.Time, rate.VersionRow = []string{"STRING"}, "TIMESTAMP(3)", "ROW<rate DECIMAL(20,6)>"
	rate.Returns, rate.Ceil = "ROW<rate DECIMAL(20,6)>", CeilFinal
	return &Manifest{
		MinABI: 1, MaxABI: 1, Module: "demo", Version: "1.0.0", Functions: []Function{add, all, split, avg, top, rate},
		Limits: Limits{Memory: 16 << 20, Fuel: 5, FuelPerRow: 6, Timeout: time.Second, Stack: 65536, Log: 1024, RowsOut: 7, StateBytes: 2 << 30},
	}
}

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if want := fullManifest(); !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	text, err := m.JSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseManifest(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(m, again) {
		t.Errorf("got  %+v\nwant %+v", again, m)
	}
}

func TestExports(t *testing.T) {
	want := map[string]string{
		"add": "add", "add_all": "add_all", "split": "split", "rate_at": "rate_at",
		"avg2": "avg2.init? avg2.update avg2.merge avg2.finish avg2.upgrade?",
		"top2": "top2.init? top2.update top2.merge top2.emit top2.upgrade?",
	}
	for _, f := range fullManifest().Functions {
		var got []string
		for _, e := range f.Exports() {
			name := e.Name
			if e.Optional {
				name += "?"
			}
			got = append(got, name)
		}
		if s := strings.Join(got, " "); s != want[f.Export] {
			t.Errorf("%s: %s, want %s", f.Export, s, want[f.Export])
		}
	}
}

// TestManifestErrors cuts and changes the full manifest.
func TestManifestErrors(t *testing.T) {
	one := func(function string) string {
		return `{"abi":[1,1],"module":"m","functions":[` + function + `]}`
	}
	scalar := func(more string) string {
		return one(`{"name":"f","kind":"scalar","args":[{"name":"a","type":"INT"}],"returns":"INT"` + more + `}`)
	}
	kind := func(kind, more string) string {
		return one(`{"name":"f","kind":"` + kind + `","args":[{"name":"a","type":"INT"}],"returns":"ROW<a INT>"` + more + `}`)
	}
	deep := strings.Repeat("ARRAY<", 1000) + "INT" + strings.Repeat(">", 1000)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "manifest: ends too early (at byte 0)"},
		{"cut", `{"abi":[1,1],"functions":[{`, "manifest: functions[0]: ends too early"},
		{"no JSON", `{"abi":[1,1],}`, "manifest: invalid character"},
		{"after the end", scalar("") + "{}", "goes on after its end"},
		{"no UTF-8", "{\"abi\":[1,1],\"module\":\"\xff\"}", "is no UTF-8"},
		{"array", "[]", "want an object"},
		{"no versions", `{"module":"m"}`, `"abi" is missing`},
		{"other version", `{"abi":[2,3],"module":"m","kinds":[]}`, "the module speaks versions 2 to 3, the host version 1"},
		{"versions backwards", `{"abi":[2,1]}`, "abi: want two numbers"},
		{"version 0", `{"abi":[0,1]}`, "abi: want two numbers"},
		{"one version", `{"abi":[1]}`, "abi: want two numbers"},
		{"three versions", `{"abi":[1,1,1]}`, "abi[2]: want two numbers"},
		{"version as text", `{"abi":["1",1]}`, "abi[0]: want a whole number"},
		{"half a version", `{"abi":[1.5,2]}`, "abi[0]: want a whole number"},
		{"no module name", `{"abi":[1,1],"functions":[]}`, "module: want a name"},
		{"module is null", `{"abi":[1,1],"module":null}`, "module: want a string"},
		{"no functions", `{"abi":[1,1],"module":"m"}`, "functions: want at least one"},
		{"key twice", `{"abi":[1,1],"abi":[1,1]}`, "abi: occurs twice"},
		{"empty key", scalar(`,"":1`), `functions[0]: a key without a name`},
		{"misspelt", scalar(`,"determinstic":true`), `functions[0].determinstic: unknown key`},
		{"other case", scalar(`,"Deterministic":true`), `functions[0].Deterministic: unknown key`},
		{"argument key", one(`{"name":"f","kind":"scalar","args":[{"nam":"a"}],"returns":"INT"}`), "functions[0].args[0].nam: unknown key"},
		{"no type", one(`{"name":"f","kind":"scalar","args":[{"name":"a"}],"returns":"INT"}`), `functions[0].args[0]: "type" is missing`},
		{"no argument name", one(`{"name":"f","kind":"scalar","args":[{"type":"INT"}],"returns":"INT"}`), `args[0].name: "" is no name`},
		{"no kind", one(`{"name":"f"}`), `"kind" is missing`},
		{"unknown kind", kind("window", ""), `unknown kind "window"`},
		{"no args", one(`{"name":"f","kind":"scalar","returns":"INT"}`), `"args" is missing`},
		{"no returns", one(`{"name":"f","kind":"scalar","args":[]}`), `"returns" is missing`},
		{"no name", one(`{"kind":"scalar","args":[],"returns":"INT"}`), `name: "" is no name`},
		{"bad name", one(`{"name":"1f","kind":"scalar","args":[],"returns":"INT"}`), `name: "1f" is no name`},
		{"reserved export", scalar(`,"export":"weir.__refuel"`), `names that begin with "weir." are the host's`},
		{"known export", scalar(`,"export":"udf_alloc"`), `"udf_alloc" has a meaning of its own`},
		{"empty export", scalar(`,"export":""`), `export: want up to`},
		{"blank export", scalar(`,"export":"a b"`), `export: want up to`},
		{"nullable is text", scalar(`,"nullable":"false"`), "nullable: want true or false"},
		{"nulls", scalar(`,"nulls":"skip"`), `"nulls" is "strict" or "called", not "skip"`},
		{"accepts text", scalar(`,"accepts":"constant"`), "accepts: want an array"},
		{"accepts twice", scalar(`,"accepts":["constant","constant"]`), "accepts[1]: "},
		{"accepts no word", scalar(`,"accepts":["no word"]`), `accepts[0]: "no word" is no word`},
		{"state of a scalar", scalar(`,"state":{"size":8}`), `"state" does not belong to kind scalar`},
		{"merge of a table", kind("table", `,"merge":true`), `"merge" does not belong to kind table`},
		{"emit of an aggregate", kind("aggregate", `,"state":{"size":8},"emit":"full"`), `"emit" does not belong to kind aggregate`},
		{"ceil of a table", kind("table", `,"ceil":"none"`), `"ceil" does not belong to kind table`},
		{"no state", kind("aggregate", ""), `"state" is missing`},
		{"no size", kind("aggregate", `,"state":{}`), `state: "size" is missing`},
		{"odd size", kind("aggregate", `,"state":{"size":12}`), "state.size: want a multiple of 8"},
		{"large state", kind("aggregate", `,"state":{"size":4104}`), "state.size: want a multiple of 8"},
		{"negative state", kind("aggregate", `,"state":{"size":-8}`), "state.size: want a whole number"},
		{"state version", kind("aggregate", `,"state":{"size":8,"version":0}`), "state.version: want a positive number"},
		{"emit", kind("table_aggregate", `,"state":{"size":8},"emit":"all"`), `"emit" is "full" or "retract", not "all"`},
		{"no keys", kind("temporal", ""), `"keys" is missing`},
		{"empty keys", kind("temporal", `,"keys":[],"time":"TIMESTAMP","version_row":"ROW<a INT>"`), "keys: want at least one type"},
		{"time", kind("temporal", `,"keys":["INT"],"time":"DATE","version_row":"ROW<a INT>"`), "time: want a TIMESTAMP"},
		{"version", kind("temporal", `,"keys":["INT"],"time":"TIMESTAMP","version_row":"INT"`), "version_row: want ROW<...>"},
		{"ceil", kind("temporal", `,"keys":["INT"],"time":"TIMESTAMP","version_row":"ROW<a INT>","ceil":"late"`), `"ceil" is "none" or "final", not "late"`},
		{"table without rows", one(`{"name":"f","kind":"table","args":[],"returns":"INT"}`), "kind table returns rows"},
		{"ROWS is no row", one(`{"name":"f","kind":"table","args":[],"returns":"ROWS<a INT>"}`), "kind table returns rows"},
		{"variadic", one(`{"name":"f","kind":"scalar","args":[],"returns":"INT","variadic":true}`), "variadic: there is no argument to repeat"},
		{"default and variadic", one(`{"name":"f","kind":"scalar","args":[{"name":"a","type":"INT","default":"1"}],"returns":"INT","variadic":true}`), "a variadic function has no default values"},
		{"default before", one(`{"name":"f","kind":"scalar","args":[{"name":"a","type":"INT","default":"1"},{"name":"b","type":"INT"}],"returns":"INT"}`), "args[1].default: is missing after"},
		{"empty default", one(`{"name":"f","kind":"scalar","args":[{"name":"a","type":"INT","default":" "}],"returns":"INT"}`), "args[0].default: want SQL text"},
		{"argument twice", one(`{"name":"f","kind":"scalar","args":[{"name":"a","type":"INT"},{"name":"A","type":"INT"}],"returns":"INT"}`), "two arguments are named A"},
		{"deep type", one(`{"name":"f","kind":"scalar","args":[{"name":"a","type":"` + deep + `"}],"returns":"INT"}`), "args[0].type: want a type of up to"},
		{"nine levels", one(`{"name":"f","kind":"scalar","args":[],"returns":"` + strings.Repeat("ARRAY<", 9) + "INT" + strings.Repeat(">", 9) + `"}`), "returns: is nested deeper than 8 levels"},
		{"control character", one(`{"name":"f","kind":"scalar","args":[],"returns":"INT\u0000"}`), "returns: want a type of up to"},
		{"export twice", one(`{"name":"f","kind":"scalar","args":[],"returns":"INT"},{"name":"f","kind":"scalar","args":[{"name":"a","type":"INT"}],"returns":"INT"}`), `the name "f" is taken`},
		{"part is a function", one(`{"name":"f","kind":"aggregate","args":[],"returns":"INT","state":{"size":8}},{"name":"g","export":"f.update","kind":"scalar","args":[],"returns":"INT"}`), `the name "f.update" is taken`},
		{"overload of another kind", one(`{"name":"f","kind":"scalar","args":[],"returns":"INT"},{"name":"F","export":"g","kind":"table","args":[],"returns":"ROW<a INT>"}`), "overloads are of one kind, another one is scalar"},
		{"same overload", one(`{"name":"f","kind":"scalar","args":[],"returns":"INT"},{"name":"f","export":"g","kind":"scalar","args":[],"returns":"DATE"}`), "another overload takes the same types"},
		{"memory", `{"abi":[1,1],"module":"m","limits":{"memory":"lots"}}`, `limits.memory: want a size, as "16MiB"`},
		{"no fuel", `{"abi":[1,1],"module":"m","limits":{"fuel":0}}`, `limits.fuel: want a positive whole number`},
		{"timeout", `{"abi":[1,1],"module":"m","limits":{"timeout":10}}`, `limits.timeout: want a string`},
		{"no timeout", `{"abi":[1,1],"module":"m","limits":{"timeout":"0s"}}`, `limits.timeout: want a duration`},
		{"unknown limit", `{"abi":[1,1],"module":"m","limits":{"threads":1}}`, `limits.threads: unknown key`},
		{"signature and args", scalar(`,"signature":"-> INT"`), `"signature" and "args" exclude each other`},
		{"bad signature", one(`{"name":"f","kind":"scalar","signature":"a INT"}`), `signature: want arguments, "->"`},
		{"long", `{"abi":[1,1],"x-":"` + strings.Repeat("x", MaxManifestBytes) + `"}`, "at most 65536 are read"},
	} {
		_, err := ParseManifest([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
			continue
		}
		var me *ManifestError
		var ve *VersionError
		if !errors.As(err, &me) && !errors.As(err, &ve) {
			t.Errorf("%s: %T", c.name, err)
		}
	}
}

// TestValidateJoins shows that all problems are told at once.
func TestValidateJoins(t *testing.T) {
	m := fullManifest()
	m.Module = ""
	m.Functions[0].Returns = ""
	m.Functions[3].State.Size = 3
	_, err := m.JSON()
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("want three problems: %v", err)
	}
}

func TestSignature(t *testing.T) {
	for _, c := range []struct {
		text string
		want Function
	}{
		{"-> INT", Function{Returns: "INT", Nullable: true}},
		{"() -> INT NOT NULL", Function{Returns: "INT"}},
		{"a BIGINT, b BIGINT -> BIGINT", Function{
			Args:    []Argument{{Name: "a", Type: "BIGINT"}, {Name: "b", Type: "BIGINT"}},
			Returns: "BIGINT", Nullable: true,
		}},
		{"(a DECIMAL(10, 2), r ROW<x INT, `y->z` STRING NOT NULL>) -> MAP<STRING, ARRAY<INT>>", Function{
			Args:    []Argument{{Name: "a", Type: "DECIMAL(10, 2)"}, {Name: "r", Type: "ROW<x INT, `y->z` STRING NOT NULL>"}},
			Returns: "MAP<STRING, ARRAY<INT>>", Nullable: true,
		}},
		{"s STRING DEFAULT 'a, -> b', x INT default 1 -> STRING", Function{
			Args: []Argument{
				{Name: "s", Type: "STRING", Default: "'a, -> b'", HasDefault: true},
				{Name: "x", Type: "INT", Default: "1", HasDefault: true},
			},
			Returns: "STRING", Nullable: true,
		}},
		{"f STRING, x INT NOT NULL... -> BOOLEAN", Function{
			Args:    []Argument{{Name: "f", Type: "STRING"}, {Name: "x", Type: "INT NOT NULL"}},
			Returns: "BOOLEAN", Variadic: true, Nullable: true,
		}},
	} {
		f := Function{Nullable: true}
		if err := f.SetSignature(c.text); err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if !reflect.DeepEqual(f, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.text, f, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", `want arguments, "->"`},
		{"a INT", `want arguments, "->"`},
		{"a INT ->", "the type of the result is missing"},
		{"a -> INT", `argument "a": want a name and a type`},
		{"a INT, -> INT", `argument "": want a name and a type`},
		{"a INT..., b INT -> INT", "only the last argument repeats"},
		{"a INT DEFAULT -> INT", "a value is missing after DEFAULT"},
		{"a DEFAULT 1 -> INT", "want a name and a type"},
	} {
		var f Function
		if err := f.SetSignature(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "65536": 65536, "12B": 12, "64KiB": 65536, "16MiB": 16 << 20, "3 GiB": 3 << 30} {
		if n, err := ParseSize(text); n != want || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		if n, err := ParseSize(FormatSize(want)); n != want || err != nil {
			t.Errorf("%s: %d, %v", FormatSize(want), n, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5MiB", "16MB", "KiB", "8589934592GiB", "99999999999999999999"} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("%q: %d", text, n)
		}
	}
}

// FuzzParseManifest: nothing panics, and what is valid is written and read back.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"abi":[1,1],"module":"m","functions":[{"name":"f","kind":"scalar","signature":"a INT, b STRING DEFAULT 'x' -> ROW<a INT> NOT NULL"}]}`))
	f.Add([]byte(`{"abi":[1,2],"module":"m","x-a":[[[[]]]],"limits":{"fuel":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest(text)
		if err != nil {
			return
		}
		out, err := m.JSON()
		if err != nil {
			if len(text) < MaxManifestBytes/8 { // a control character takes six bytes
				t.Fatal(err)
			}
			return
		}
		again, err := ParseManifest(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if last, _ := again.JSON(); string(last) != string(out) {
			t.Errorf("%s\n%s", out, last)
		}
	})
}

// TestSpecManifest holds the example of SPEC.md.
func TestSpecManifest(t *testing.T) {
	spec, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(spec), "```json\n")
	text, _, ok2 := strings.Cut(text, "```")
	if !ok || !ok2 {
		t.Fatal("SPEC.md has no manifest")
	}
	if _, err := ParseManifest([]byte(text)); err != nil {
		t.Error(err)
	}
}
