package wasmtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirdb/weir/udf/internal/wasmtest"
)

// What is printed can be assembled again to the same module.
func TestPrint(t *testing.T) {
	text := `func $f (i32) -> (i32)
  locals i64 f32
  block i32
    loop (i32) -> (i32)
      local.get 0
      br_if 1
      i32.const -5
      br_table 0 1 0
    end
  end
  if
    i64.const -9223372036854775808
    local.set 1
    f64.const 1.5
    drop
  else
    unreachable
  end
  local.get 0
end
`
	text = strings.Replace(text, "    loop (i32) -> (i32)", "    i32.const 1\n    loop (i32) -> (i32)", 1)
	mod := wasmtest.Assemble(text)
	got := wasmtest.Print(mod)
	if got != text {
		t.Errorf("got\n%s\nnot\n%s", got, text)
	}
	if string(wasmtest.Assemble(got)) != string(mod) {
		t.Error("assembled again it is another module")
	}
}

func TestAssembleErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"nonsense", `line 1: unknown statement "nonsense"`},
		{"memory", "line 1: something is missing"},
		{"memory 1 2 3", `line 1: "3" is too much`},
		{"\nfunc ()\n  i32.nonsense\nend", `line 3: unknown operation "i32.nonsense"`},
		{"func ()\n  br $x\nend", "line 2: no block $x is open"},
		{"func ()\n  call $x\nend", "line 2: $x is not defined"},
		{"func ()\n  i32.const 0x1ffffffff\nend", "is not a number of 32 bits"},
		{"func ()", "function does not end"},
		{"func $f ()\nend\nfunc $f ()\nend", "line 3: $f is defined twice"},
		{"custom \"open", "string does not end"},
		{"global i33 0", "a value type is missing"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%q: got %s, not %s", c.text, got, c.want)
				}
			}()
			wasmtest.Assemble(c.text)
		}()
	}
}

func ExampleAssemble() {
	mod := wasmtest.Assemble(`
memory 1
func $add export "add" (i32 i32) -> (i32)
  local.get 0
  local.get 1
  i32.add
end
`)
	fmt.Print(wasmtest.Print(mod))
	// Output:
	// memory 1
	// export "add" function 0
	// func $add (i32 i32) -> (i32)
	//   local.get 0
	//   local.get 1
	//   i32.add
	// end
}
