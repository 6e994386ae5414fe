package csdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/abi"
	csdk "github.com/weirdb/weir/sdk/c"
	"github.com/weirdb/weir/sdk/c/csdktest"
)

// TestLayout has clang compare every offset and constant of weir.h with package abi.
func TestLayout(t *testing.T) {
	csdktest.Clang(t)
	var b strings.Builder
	b.WriteString("#include \"weir.h\"\n")
	assert := func(c string, want int) {
		fmt.Fprintf(&b, "WEIR__ASSERT((%s) == %d, \"abi has %d\");\n", c, want, want)
	}
	assert("WEIR_VERSION", abi.Version)
	assert("sizeof(weir_call)", abi.CallBytes)
	assert("sizeof(weir_column)", abi.ColumnBytes)
	assert("sizeof(weir_view)", abi.ViewBytes)
	for _, f := range []struct {
		field string
		at    int
	}{
		{"call, version", abi.CallVersionAt},
		{"call, size", abi.CallSizeAt},
		{"call, rows", abi.CallRowsAt},
		{"call, flags", abi.CallFlagsAt},
		{"call, n_in", abi.CallNInAt},
		{"call, in", abi.CallInAt},
		{"call, n_out", abi.CallNOutAt},
		{"call, out", abi.CallOutAt},
		{"call, cursor", abi.CallCursorAt},
		{"call, now", abi.CallNowAt},
		{"call, seed", abi.CallSeedAt},
		{"call, groups", abi.CallGroupsAt},
		{"call, group", abi.CallGroupAt},
		{"call, sign", abi.CallSignAt},
		{"call, state", abi.CallStateAt},
		{"call, state_size", abi.CallStateSizeAt},
		{"call, other", abi.CallOtherAt},
		{"call, other_size", abi.CallOtherSizeAt},
		{"call, other_version", abi.CallOtherVersionAt},
		{"call, max_rows", abi.CallMaxRowsAt},
		{"call, out_rows", abi.CallOutRowsAt},
		{"call, parent", abi.CallParentAt},
		{"call, kind", abi.CallKindAt},
		{"call, err", abi.CallErrAt},
		{"call, err_len", abi.CallErrLenAt},
		{"call, err_row", abi.CallErrRowAt},
		{"column, type", abi.ColumnTypeAt},
		{"column, flags", abi.ColumnFlagsAt},
		{"column, length", abi.ColumnLengthAt},
		{"column, null_count", abi.ColumnNullCountAt},
		{"column, validity", abi.ColumnValidityAt},
		{"column, offsets", abi.ColumnOffsetsAt},
		{"column, data", abi.ColumnDataAt},
		{"column, data_len", abi.ColumnDataLenAt},
		{"column, data_cap", abi.ColumnDataCapAt},
		{"column, row_cap", abi.ColumnRowCapAt},
		{"column, children", abi.ColumnChildrenAt},
		{"column, n_children", abi.ColumnNChildrenAt},
		{"view, ptr", abi.ViewPtrAt},
		{"view, len", abi.ViewLenAt},
		{"view, cap", abi.ViewCapAt},
		{"view, scratch", abi.ViewScratchAt},
	} {
		assert("offsetof(weir_"+f.field+")", f.at)
	}
	for _, c := range []struct {
		name string
		want int
	}{
		{"WEIR_OK", int(abi.OK)},
		{"WEIR_FAILED", int(abi.Fail)},
		{"WEIR_MORE", int(abi.More)},
		{"WEIR_NO_ROW", abi.NoRow},
		{"WEIR_CONSTANT", abi.ColumnConstant},
		{"WEIR_DICTIONARY", abi.ColumnDictionary},
		{"WEIR_ADD", abi.RowAdd},
		{"WEIR_RETRACT", abi.RowRetract},
		{"WEIR_BOOLEAN", int(abi.Boolean)},
		{"WEIR_TINYINT", int(abi.TinyInt)},
		{"WEIR_SMALLINT", int(abi.SmallInt)},
		{"WEIR_INT", int(abi.Integer)},
		{"WEIR_BIGINT", int(abi.BigInt)},
		{"WEIR_FLOAT", int(abi.Float)},
		{"WEIR_DOUBLE", int(abi.Double)},
		{"WEIR_DECIMAL", int(abi.Decimal)},
		{"WEIR_DATE", int(abi.Date)},
		{"WEIR_TIME", int(abi.Time)},
		{"WEIR_TIMESTAMP", int(abi.Timestamp)},
		{"WEIR_STRING", int(abi.String)},
		{"WEIR_BINARY", int(abi.Binary)},
		{"WEIR_INTERVAL_MONTH", int(abi.IntervalMonth)},
		{"WEIR_INTERVAL_DAY", int(abi.IntervalDay)},
		{"WEIR_ARRAY", int(abi.Array)},
		{"WEIR_MAP", int(abi.Map)},
		{"WEIR_ROW", int(abi.Row)},
		{"WEIR_SECOND", int(abi.Second)},
		{"WEIR_MILLISECOND", int(abi.Millisecond)},
		{"WEIR_MICROSECOND", int(abi.Microsecond)},
		{"WEIR_NANOSECOND", int(abi.Nanosecond)},
		{"WEIR_DEBUG", int(abi.Debug)},
		{"WEIR_INFO", int(abi.Info)},
		{"WEIR_WARN", int(abi.Warn)},
		{"WEIR_ERROR", int(abi.Error)},
	} {
		assert(c.name, c.want)
	}
	source := filepath.Join(t.TempDir(), "layout.c")
	if err := os.WriteFile(source, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, language := range [][]string{
		{"clang", "-std=c99", "-Wno-c11-extensions"},
		{"clang", "-std=c11", "-pedantic"},
		{"clang++", "-xc++", "-std=c++14"},
		{"clang++", "-xc++", "-std=c++20"},
	} {
		args := append(language[1:], "--target=wasm32", "-ffreestanding", "-mbulk-memory", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I.", source)
		if out, err := exec.Command(language[0], args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", language, err, out)
		}
	}
}

// TestCPlusPlus compiles functions of every kind as C++.
func TestCPlusPlus(t *testing.T) {
	csdktest.Clang(t)
	args := []string{"-xc++", "-std=c++14", "--target=wasm32", "-ffreestanding", "-msimd128", "-mbulk-memory", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I.", "testdata/kinds.c"}
	if out, err := exec.Command("clang++", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestProject builds what weir udf new gives, with its Makefile's flags and ours.
func TestProject(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for name, text := range csdk.Project("hello") {
		names = append(names, name)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
		if name != "weir.h" && strings.Contains(string(text), "example") {
			t.Errorf("%s still says example", name)
		}
	}
	slices.Sort(names)
	if want := []string{"Makefile", "README.md", "hello.c", "weir.h"}; !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
	makefile, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range csdk.Command(".", "$@", "hello.c") {
		if !slices.Contains(strings.Fields(string(makefile)), flag) {
			t.Errorf("the Makefile of the template has no %s", flag)
		}
	}
	m, err := abi.ReadManifest(csdktest.Build(t, dir, filepath.Join(dir, "hello.c")))
	if err != nil {
		t.Fatal(err)
	}
	if m.Module != "hello" || len(m.Functions) != 1 || m.Functions[0].Name != "hello_add" || !m.Functions[0].Deterministic {
		t.Errorf("%+v", m)
	}
}

// TestRebuild builds the guests of testdata again.
func TestRebuild(t *testing.T) {
	for _, name := range []string{"kinds", "bench"} {
		t.Run(name, func(t *testing.T) {
			csdktest.Rebuild(t, "testdata/"+name+".wasm", ".", "testdata/"+name+".c")
		})
	}
}

// TestManifests holds what the macros write against what the parser reads.
func TestManifests(t *testing.T) {
	module, err := os.ReadFile("testdata/kinds.wasm")
	if err != nil {
		t.Fatal(err)
	}
	m, err := abi.ReadManifest(module)
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]abi.Function{}
	for _, f := range m.Functions {
		functions[f.Export] = f
	}
	if f := functions["add_double"]; f.Name != "add" || f.Kind != abi.Scalar || f.Args[1].Type != "DOUBLE" {
		t.Errorf("%+v", f)
	}
	if f := functions["or_else"]; f.Nullable || !f.Called || f.Args[1].Default != "0" {
		t.Errorf("%+v", f)
	}
	if f := functions["total"]; !f.Variadic || f.Args[0].Type != "BIGINT" {
		t.Errorf("%+v", f)
	}
	if f := functions["scale"]; !f.Accept(abi.AcceptConstant) {
		t.Errorf("%+v", f)
	}
	if f := functions["rate_at"]; f.Kind != abi.Temporal || !slices.Equal(f.Keys, []string{"STRING"}) || f.Time != "TIMESTAMP(3)" || f.Ceil != abi.CeilFinal {
		t.Errorf("%+v", f)
	}
	if f := functions["avg2"]; f.Kind != abi.Aggregate || f.State != (abi.State{Size: 16, Version: 2}) || !f.Retract || !f.Merge {
		t.Errorf("%+v", f)
	}
	if f := functions["str_agg"]; f.State != (abi.State{Size: 0, Version: 1}) || f.Retract {
		t.Errorf("%+v", f)
	}
	if f := functions["top2"]; f.Kind != abi.TableAggregate || f.Emit != abi.EmitRetract {
		t.Errorf("%+v", f)
	}
}
