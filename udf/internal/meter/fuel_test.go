package meter

import (
	"errors"
	"flag"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/weirdb/weir/udf/internal/wasmtest"
)

// loops are functions of n whose cost is known.
const loops = `
memory 256
table 2 2 funcref
elem 0 $leaf $self
data passive "bytes that are copied"
func $leaf (i32) -> (i32)
  local.get 0 i32.const 3 i32.mul i32.const 1 i32.add
end
func export "empty" (i32)
  loop
    local.get 0 i32.const 1 i32.sub local.tee 0
    br_if 0
  end
end
func export "condition" (i32)
  locals i32
  loop
    local.get 0 i32.const 3 i32.and
    if
      local.get 1 i32.const 5 i32.add i32.const 5 i32.mul i32.const 5 i32.xor i32.const 5 i32.add i32.const 5 i32.mul
      i32.const 5 i32.add i32.const 5 i32.mul i32.const 5 i32.xor i32.const 5 i32.add i32.const 5 i32.mul local.set 1
    end
    local.get 0 i32.const 1 i32.sub local.tee 0
    br_if 0
  end
end
func export "nested" (i32)
  locals i32
  loop
    i32.const 10 local.set 1
    loop
      local.get 1 i32.const 1 i32.sub local.tee 1
      br_if 0
    end
    local.get 0 i32.const 1 i32.sub local.tee 0
    br_if 0
  end
end
func export "calls" (i32)
  loop
    i32.const 5 call $leaf drop
    local.get 0 i32.const 1 i32.sub local.tee 0
    br_if 0
  end
end
func export "indirect" (i32)
  loop
    i32.const 5 i32.const 0 call_indirect (i32) -> (i32) drop
    local.get 0 i32.const 1 i32.sub local.tee 0
    br_if 0
  end
end
func $self export "recursion" (i32) -> (i32)
  local.get 0 i32.eqz
  if
    i32.const 0
    return
  end
  local.get 0 i32.const 1 i32.sub call $self
end
func export "fill" (i32)
  i32.const 0 i32.const 7 local.get 0 memory.fill
end
func export "copy" (i32)
  i32.const 100 i32.const 0 local.get 0 memory.copy
end
func export "division" (i32)
  locals i64
  i64.const -1 local.set 1
  loop
    local.get 1 i64.const 3 i64.div_u i64.const -4 i64.or local.set 1
    local.get 0 i32.const 1 i32.sub local.tee 0
    br_if 0
  end
end
`

// Every operation is paid for, and not much more than that: least is the sum of the costs
// in a round, most has what may be charged on a way that does not take it.
func TestFuel(t *testing.T) {
	h := newHost(t, wazero.NewRuntimeConfigCompiler())
	m := h.start(t, metered(t, wasmtest.Assemble(loops)))
	for _, c := range []struct {
		name        string
		n           uint64
		least, most float64 // a round
	}{
		{"empty", 100_000, 5, 5},
		{"condition", 100_000, 9 + 22*3/4, 9 + 22},
		{"nested", 10_000, 57, 60},
		{"calls", 100_000, 15, 15},
		{"indirect", 100_000, 22, 22},
		{"recursion", 1000, 9, 9 + 16},
		{"fill", 16 << 20, 1.0 / 8, 1.0/8 + 0.001},
		{"copy", 15 << 20, 1.0 / 8, 1.0/8 + 0.001},
		{"division", 100_000, 18, 18},
	} {
		h.left = math.MaxInt64 / 2
		had := h.left + Fuel(m.ExportedGlobal(MeterGlobal).Get())
		if _, err := m.ExportedFunction(c.name).Call(h.ctx, c.n); err != nil {
			t.Fatal(err)
		}
		spent := float64(h.spent(m, had))
		t.Logf("%-10s %8.3f units a round", c.name, spent/float64(c.n))
		if spent < c.least*float64(c.n) || spent > c.most*float64(c.n)+100 {
			t.Errorf("%s: %v units for %d rounds, not %v to %v each", c.name, spent, c.n, c.least, c.most)
		}
	}
}

// A guest that has no fuel left ends, whatever it does, and never costs much more.
func TestOutOfFuel(t *testing.T) {
	h := newHost(t, wazero.NewRuntimeConfigCompiler())
	for _, c := range []struct{ name, text string }{
		{"empty loop", "func export \"f\" ()\nloop\nbr 0\nend\nend"},
		{"loop with operands", "func export \"f\" ()\ni32.const 1\nloop (i32)\ni32.const 1 i32.add br 0\nend\nend"},
		{"loop by br_table", "func export \"f\" ()\nloop\ni32.const 7 br_table 0 0\nend\nend"},
		{"loop by br_if", "func export \"f\" ()\nloop\ni32.const 7 br_if 0\nend\nend"},
		{"loop of calls", "func $g ()\nend\nfunc export \"f\" ()\nloop\ncall $g br 0\nend\nend"},
		{"loop around another", "func export \"f\" ()\nloop\nloop\nend br 0\nend\nend"},
		{"calls without a loop", doubling(40)},
		{"bulk operations", "func export \"f\" ()\nloop\ni32.const 0 i32.const 0 i32.const 0x100000 memory.fill br 0\nend\nend"},
		{"bulk operations without a loop", "func export \"f\" ()\n" + strings.Repeat("i32.const 0 i32.const 0 i32.const 0x100000 memory.fill\n", 3000) + "end"},
		{"copies without a loop", "func export \"f\" ()\n" + strings.Repeat("i32.const 0 i32.const 1 i32.const 0xfffff memory.copy\n", 3000) + "end"},
		{"growing", "func export \"f\" ()\nloop\ni32.const 0 memory.grow drop br 0\nend\nend"},
		{"growing tables", "table 1 funcref\nfunc export \"f\" ()\nloop\nref.null funcref i32.const 1 table.grow drop br 0\nend\nend"},
		{"in the start function", "func $f export \"f\" ()\nloop\nbr 0\nend\nend\nstart $f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const budget = 3_000_000
			h.quantum, h.left = MinFuel, budget
			m, err := h.instantiate(metered(t, wasmtest.Assemble("memory 16\n"+c.text)))
			if err == nil {
				_, err = m.ExportedFunction("f").Call(h.ctx)
				m.Close(h.ctx)
			}
			if !errors.Is(err, errFuel) {
				t.Fatalf("got %v", err)
			}
			if h.left < -20_000 {
				t.Errorf("%d units were taken without asking", -h.left)
			}
		})
	}
}

// doubling has a function f that makes 2^n calls.
func doubling(n int) string {
	s := "func $f0 (i32) -> (i32)\nlocal.get 0 i32.const 0x10001 i32.mul local.get 0 i32.rotl i32.const 3 i32.div_u i32.const 7 i32.div_u i32.const 7 i32.div_u i32.const 7 i32.div_u\nend\n"
	for i := range n {
		s += strings.NewReplacer("N", itoa(i+1), "P", itoa(i)).Replace("func $fN (i32) -> (i32)\nlocal.get 0 call $fP call $fP\nend\n")
	}
	return s + "func export \"f\" ()\ni32.const 1 call $f" + itoa(n) + " drop\nend\n"
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}

// Recursion ends by the estimate, for frames of all sizes, long before the runtime's own
// stack does.
func TestOutOfStack(t *testing.T) {
	h := newHost(t, wazero.NewRuntimeConfigCompiler())
	for _, c := range []struct{ name, text string }{
		{"small frames", "func $f export \"f\" (i32) -> (i32)\nlocal.get 0 i32.const 1 i32.add call $f\nend"},
		{"many locals", "func $f export \"f\" (i32) -> (i32)\nlocals 2000 i64\nlocal.get 0 i32.const 1 i32.add call $f\nend"},
		{"many operands", "func $f export \"f\" (i32) -> (i32)\n" + strings.Repeat("local.get 0\n", 20000) + "local.get 0 i32.const 1 i32.add call $f\n" + strings.Repeat("i32.add\n", 20000) + "end"},
		{"through a table", "table 1 funcref\nelem 0 $f\nfunc $f export \"f\" (i32) -> (i32)\nlocal.get 0 i32.const 0 call_indirect (i32) -> (i32)\nend"},
		{"in turns", "func $f export \"f\" (i32) -> (i32)\nlocal.get 0 call $g\nend\nfunc $g (i32) -> (i32)\nlocal.get 0 call $f\nend"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.left = math.MaxInt64 / 2
			m := h.start(t, metered(t, wasmtest.Assemble(c.text)))
			_, err := m.ExportedFunction("f").Call(h.ctx, 1)
			m.Close(h.ctx)
			if !errors.Is(err, errStack) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(err.Error(), ".f(") {
				t.Errorf("the stack trace names no function:\n%v", err)
			}
		})
	}
}

// TestQuantum shows how long the guest keeps control with the most fuel it gets at a time.
// It fails only for what is far out: other load on the machine takes time too. Pages that
// are touched for the first time take longer; whoever gives memory to guests sees to that.
func TestQuantum(t *testing.T) {
	h := newHost(t, wazero.NewRuntimeConfigCompiler())
	slow := `
memory 256
func $deep (i32) -> (i32)
  local.get 0 i32.eqz
  if
    i32.const 1
    return
  end
  local.get 0 i32.const 1 i32.sub call $deep
  i32.const 0xffffff i32.and i32.load8_u i32.const 4097 i32.mul i32.const 0xffffff i32.and i32.load8_u
end
func export "unwind" ()
  loop
    i32.const 40000 call $deep drop br 0
  end
end
func export "chase" ()
  locals i32 i32
  i32.const 0 i32.const 1 i32.const 0x1000000 memory.fill
  loop
    local.get 0 i32.const 0x9e3779b1 i32.mul local.tee 0 local.get 1 i32.add i32.const 0xfffffc i32.and i32.load local.set 1
    br 0
  end
end
func export "divide" ()
  locals i64
  loop
    local.get 0 i64.const 1 i64.or i64.const 0x7fffffffffffffff local.get 0 i64.sub i64.rem_s local.set 0
    br 0
  end
end
func export "root" ()
  locals f64
  loop
    local.get 0 f64.sqrt f64.const 3.3 f64.add f64.sqrt local.set 0
    br 0
  end
end
func export "fill" ()
  loop
    i32.const 0 i32.const 1 i32.const 0x1000000 memory.fill
    br 0
  end
end
func export "copy" ()
  loop
    i32.const 1 i32.const 0 i32.const 0xffffff memory.copy
    br 0
  end
end
func export "small copies" ()
  loop
    i32.const 1 i32.const 0 i32.const 1 memory.copy
    br 0
  end
end
func export "grow" ()
  loop
    i32.const 0 memory.grow drop
    br 0
  end
end
func export "reference" ()
  loop
    ref.func 0 drop
    br 0
  end
end
elem declare 0
func export "vector" ()
  locals v128 v128
  loop
    local.get 0 local.get 1 i64x2.mul local.get 1 i8x16.popcnt i32x4.trunc_sat_f32x4_u i64x2.mul i32.const 3 i8x16.shr_s local.tee 1 local.set 0
    br 0
  end
end
func export "round" ()
  locals f64 i64
  loop
    local.get 0 f64.const 1.5 f64.add f64.nearest f64.ceil i64.trunc_sat_f64_u f64.convert_i64_u f64.const 3 f64.min local.set 0
    br 0
  end
end
`
	mod := metered(t, wasmtest.Assemble(slow))
	for _, name := range []string{"chase", "divide", "root", "fill", "copy", "small copies", "grow", "reference", "vector", "round", "unwind"} {
		var gaps []time.Duration
		at := time.Now()
		h.quantum, h.left = MaxFuel, 100*MaxFuel
		h.onFuel = func() { gaps = append(gaps, time.Since(at)); at = time.Now() }
		m := h.start(t, mod)
		_, err := m.ExportedFunction(name).Call(h.ctx)
		m.Close(h.ctx)
		if !errors.Is(err, errFuel) {
			t.Fatalf("%s: %v", name, err)
		}
		least, total := time.Hour, time.Duration(0)
		for _, g := range gaps[1:] {
			least, total = min(least, g), total+g
		}
		mean := total / time.Duration(len(gaps)-1)
		t.Logf("%-12s %v between refuels, at least %v: %.2f ns a unit", name, mean, least, float64(mean)/MaxFuel)
		if least > 2*time.Millisecond {
			t.Errorf("%s keeps control for %v at least", name, least)
		}
	}
	h.onFuel = nil
}

var rewriteGoldens = flag.Bool("rewrite", false, "write the goldens anew")

// TestGolden shows what the pass makes of a small module.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := wasmtest.Print(metered(t, wasmtest.Assemble(string(text))))
	if *rewriteGoldens {
		if err := os.WriteFile("testdata/small.golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/small.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nnot\n%s", got, want)
	}
}
