package wasm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weirdb/weir/udf/internal/wasm"
	"github.com/weirdb/weir/udf/internal/wasmtest"
)

func TestDecode(t *testing.T) {
	mod := wasmtest.Assemble(`
import "weir" "log" $log (i32 i32 i32)
memory 1 4
table 2 9 funcref
global $g mut i64 5
func $add export "add" (i32 i64) -> (i64)
  local.get 1
end
func $start ()
end
start $start
elem 1 $add $start
data 8 "abc"
custom "udf.manifest" "{}"
custom "udf.manifest" "[]"
`)
	m, err := wasm.Decode(mod, wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	e, ok := m.Export("add")
	for _, c := range []struct{ got, want any }{
		{len(m.Imports), 1},
		{m.Imports[0].Module + "." + m.Imports[0].Name, "weir.log"},
		{m.FuncCount(), 3},
		{*m.Memory, wasm.Memory{Min: 1, Max: 4, HasMax: true}},
		{m.Tables[0].Max, uint32(9)},
		{m.Globals[0].Mutable, true},
		{ok, true},
		{e, wasm.Export{Name: "add", Kind: wasm.ExternFunc, Index: 1}},
		{fmt.Sprint(m.Func(e.Index).Params), "[i32 i64]"},
		{fmt.Sprint(m.Func(0).Params), "[i32 i32 i32]"},
		{m.FuncName(1), "add"},
		{m.FuncName(7), ""},
		{m.Start, uint32(2)},
		{fmt.Sprint(m.Elements[0].Funcs), "[1 2]"},
		{string(m.Data[0].Bytes), "abc"},
		{len(m.Custom("udf.manifest")), 2},
		{string(m.Custom("udf.manifest")[1].Data), "[]"},
		{len(m.Custom("none")), 0},
	} {
		if c.got != c.want {
			t.Errorf("got %v, not %v", c.got, c.want)
		}
	}
	if _, ok := m.Export("none"); ok {
		t.Error("an export that is not there")
	}
}

func TestBody(t *testing.T) {
	m, err := wasm.Decode(wasmtest.Assemble(`
func $f (i32) -> (i32)
  locals 2 i64 v128
  block i32
    block block
      local.get 0
      br_table 0 1 0
    end end
    i32.const 1 i32.const 2 i32.const 3 i32.add
    br 0
    block
      i32.const 4 drop
    end
  end
  i32.add
end
`+"func ()\nend\n"), wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v := wasm.NewValidator(m)
	if _, err := v.Body(0); err == nil {
		t.Fatal("an operand is missing")
	}
	if _, err := v.Body(1); err != nil {
		t.Fatalf("after an error: %v", err)
	}
	m, err = wasm.Decode(wasmtest.Assemble(`
func $f (i32) -> (i32)
  locals 2 i64 v128
  block i32
    block block
      local.get 0
      br_table 0 1 0
    end end
    i32.const 1 i32.const 2 i32.const 3 i32.add
    br 0
    block
      i32.const 4 drop
    end
  end
end
`), wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := wasm.NewValidator(m).Body(0)
	if err != nil {
		t.Fatal(err)
	}
	var dead []string
	for _, op := range b.Ops {
		if op.Dead {
			dead = append(dead, op.Code.Operation().Name)
		}
	}
	for _, c := range []struct{ got, want any }{
		{fmt.Sprint(b.Locals), "[i32 i64 i64 v128]"},
		{b.MaxHeight, 3},
		{b.Nesting, 3},
		{fmt.Sprint(b.Targets), "[0 1 0]"},
		{strings.Join(dead, " "), "end block i32.const drop end end"},
		{b.Ops[len(b.Ops)-1].Code, wasm.End},
	} {
		if c.got != c.want {
			t.Errorf("got %v, not %v", c.got, c.want)
		}
	}
}

func TestError(t *testing.T) {
	mod := wasmtest.Assemble("func $first ()\nend\nfunc $second ()\n i32.const 1 i64.eqz drop\nend\n")
	m, err := wasm.Decode(mod, wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = wasm.NewValidator(m).Body(1)
	var e *wasm.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	if mod[e.Offset] != 0x50 {
		t.Errorf("offset %#x is of byte %#x", e.Offset, mod[e.Offset])
	}
	want := fmt.Sprintf("wasm: code section, function 1 (second), offset %#x: operand is i32, not i64", e.Offset)
	if err.Error() != want {
		t.Errorf("got %q, not %q", err, want)
	}
}

// Names are for messages: a broken section is as good as none.
func TestBrokenNames(t *testing.T) {
	for _, section := range [][]byte{
		{1, 0xff},
		{1, 2, 1, 9},
		{1, 5, 2, 1, 1, 'b', 0}, // ends within a name
		{1, 7, 2, 1, 1, 'b', 0, 1, 'a'},
		{0, 2, 1, 0xff},
		{1, 6, 0xff, 0xff, 0xff, 0xff, 0x0f, 0},
	} {
		mod := append(wasmtest.Assemble("func ()\nend\nfunc ()\nend\n"), wasmtest.Section(wasmtest.SecCustom, wasmtest.Name("name"), section)...)
		m, err := wasm.Decode(mod, wasm.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Names) > 0 || m.Name != "" {
			t.Errorf("%x: names %v %q", section, m.Names, m.Name)
		}
	}
}

// Every field of the limits is honoured, and its value the largest that is let through.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit func(*wasm.Limits) *int
		needs int
	}{
		{"func (i32)\nend\nfunc ()\nend", func(l *wasm.Limits) *int { return &l.Types }, 2},
		{"func (i32 i32 i32)\nend", func(l *wasm.Limits) *int { return &l.Params }, 3},
		{"func ()\nend\nfunc ()\nend\nfunc ()\nend", func(l *wasm.Limits) *int { return &l.Functions }, 3},
		{"import \"a\" \"b\" ()\nimport \"a\" \"c\" ()", func(l *wasm.Limits) *int { return &l.Functions }, 2},
		{"global i32 0\nglobal i32 0", func(l *wasm.Limits) *int { return &l.Globals }, 2},
		{"table 1 funcref\ntable 1 funcref", func(l *wasm.Limits) *int { return &l.Tables }, 2},
		{"table 10 funcref\ntable 3 funcref", func(l *wasm.Limits) *int { return &l.TableEntries }, 13},
		{"memory 5", func(l *wasm.Limits) *int { return &l.MemoryPages }, 5},
		{"memory 1\ndata 0 \"a\"\ndata 0 \"a\"", func(l *wasm.Limits) *int { return &l.Segments }, 2},
		{"table 1 funcref\nelem 0\nelem 0\nelem 0", func(l *wasm.Limits) *int { return &l.Segments }, 3},
		{"memory 1\nexport \"a\" memory 0\nexport \"b\" memory 0", func(l *wasm.Limits) *int { return &l.Exports }, 2},
		{"custom \"a\" \"\"\ncustom \"a\" \"\"\ncustom \"b\" \"\"", func(l *wasm.Limits) *int { return &l.Customs }, 3},
		{"func ()\n nop nop nop\nend", func(l *wasm.Limits) *int { return &l.Body }, 5},
		{"func (i32)\n locals 5 i32\nend", func(l *wasm.Limits) *int { return &l.Locals }, 6},
		{"func (i32)\n local.get 0 local.get 0 i32.add drop\nend", func(l *wasm.Limits) *int { return &l.Operands }, 2},
		{"func ()\n block block block end end end\nend", func(l *wasm.Limits) *int { return &l.Nesting }, 3},
		{"func ()\n i32.const 0 br_table 0 0 0\nend", func(l *wasm.Limits) *int { return &l.Targets }, 3},
	} {
		mod := wasmtest.Assemble(c.text + "\n")
		check := func(n int) error {
			var l wasm.Limits
			*c.limit(&l) = n
			m, err := wasm.Decode(mod, l)
			if err != nil {
				return err
			}
			v := wasm.NewValidator(m)
			for i := range m.Funcs {
				if _, err := v.Body(i); err != nil {
					return err
				}
			}
			return nil
		}
		if err := check(c.needs); err != nil {
			t.Errorf("%q within the limit of %d: %v", c.text, c.needs, err)
		}
		if err := check(c.needs - 1); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the limit is %d", c.needs-1)) {
			t.Errorf("%q over the limit of %d: %v", c.text, c.needs-1, err)
		}
	}
}
