package meter

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weirdb/weir/udf/internal/wasm"
	"github.com/weirdb/weir/udf/internal/wasmtest"
)

// outcome calls every exported function with some arguments in turn and writes down what
// can be seen from outside: results, traps, memory. A trap ends it, as the host discards
// an instance then.
func (h *host) outcome(m api.Module, d *wasm.Module, seed int64) string {
	rng := rand.New(rand.NewSource(seed))
	var b strings.Builder
	for _, e := range d.Exports {
		if e.Kind != wasm.ExternFunc {
			continue
		}
		t := d.Func(e.Index)
		for range 3 {
			args := make([]uint64, len(t.Params))
			for i, p := range t.Params {
				switch v := int64(rng.Intn(200) - 50); p {
				case wasm.F32:
					args[i] = api.EncodeF32(float32(v) / 4)
				case wasm.F64:
					args[i] = api.EncodeF64(float64(v) / 4)
				case wasm.I32:
					args[i] = uint64(uint32(v))
				default:
					args[i] = uint64(v * 12345)
				}
			}
			if len(args) > 0 {
				args[0] = uint64(rng.Intn(6)) // the depth
			}
			res, err := m.ExportedFunction(e.Name).Call(h.ctx, args...)
			for i, r := range t.Results {
				if err == nil && (r == wasm.F32 && math.IsNaN(float64(api.DecodeF32(res[i]))) || r == wasm.F64 && math.IsNaN(api.DecodeF64(res[i]))) {
					res[i] = 0xbad // payloads differ from run to run of the same code
				}
			}
			fmt.Fprintf(&b, "%s%x %x", e.Name, args, res)
			if err != nil {
				text, _, _ := strings.Cut(err.Error(), "\n")
				fmt.Fprintf(&b, " %s", text)
			}
			sum := fnv.New64a()
			if mem := m.Memory(); mem != nil {
				bytes, _ := mem.Read(0, mem.Size())
				sum.Write(bytes)
				fmt.Fprintf(&b, " %d", mem.Size())
			}
			fmt.Fprintf(&b, " %x\n", sum.Sum64())
			if err != nil {
				return b.String()
			}
		}
	}
	return b.String()
}

// sameOutcome compares a module with the metered one at several quanta.
func sameOutcome(t *testing.T, h *host, mod []byte, seed int64) string {
	t.Helper()
	r, err := Rewrite(mod, Limits{Limits: wasm.Limits{MemoryPages: 3}})
	if err != nil {
		t.Fatal(err)
	}
	plain := h.start(t, mod)
	want := h.outcome(plain, r.Module, seed)
	plain.Close(h.ctx)
	again := h.compile(t, r.Wasm)
	defer again.Close(h.ctx)
	spent := int64(0)
	for _, q := range []int32{0, 1, 60, MaxFuel} {
		h.quantum, h.left = q, math.MaxInt64
		m, err := h.r.InstantiateModule(h.ctx, again, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		got := h.outcome(m, r.Module, seed)
		word := m.ExportedGlobal(MeterGlobal).Get()
		spent = h.spent(m, math.MaxInt64)
		m.Close(h.ctx)
		if got != want {
			t.Fatalf("quantum %d:\n%s\nnot\n%s", q, got, want)
		}
		if !strings.Contains(got, "wasm error") && Stack(word) != 4<<20 {
			t.Fatalf("quantum %d: %d bytes of stack are left when no call runs", q, Stack(word))
		}
	}
	if !strings.Contains(want, "wasm error") {
		if exact := h.exactly(t, mod, r.Module, seed); spent < exact || spent > 4*exact {
			t.Fatalf("%d units are charged for %d", spent, exact)
		}
	}
	return want
}

func (h *host) compile(t *testing.T, mod []byte) wazero.CompiledModule {
	t.Helper()
	c, err := h.r.CompileModule(h.ctx, mod)
	if err != nil {
		t.Fatalf("the metered module is not valid: %v", err)
	}
	return c
}

// exactly returns what a module costs when no way pays for another: every block is charged
// by itself.
func (h *host) exactly(t *testing.T, mod []byte, d *wasm.Module, seed int64) int64 {
	t.Helper()
	r, err := rewrite(mod, Limits{Limits: wasm.Limits{MemoryPages: 3}}.WithDefaults(), options{most: 1 << 12, long: 1 << 13, leaf: 1 << 8})
	if err != nil {
		t.Fatal(err)
	}
	h.left = math.MaxInt64
	m := h.start(t, r.Wasm)
	defer m.Close(h.ctx)
	h.outcome(m, d, seed)
	return h.spent(m, math.MaxInt64)
}

func TestGeneratedPrograms(t *testing.T) {
	h := newHost(t, wazero.NewRuntimeConfigCompiler())
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	n, traps := rounds(80), 0
	for i := range n {
		g := generator{Rand: rand.New(rand.NewSource(seed + int64(i)))}
		text := g.program()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Log("\n" + text)
				}
			}()
			if strings.Contains(sameOutcome(t, h, wasmtest.Assemble(text), seed), "wasm error") {
				traps++
			}
		})
	}
	t.Logf("%d programs, %d of them trap", n, traps)
}

// Guests that compilers wrote give the same results.
func TestGuests(t *testing.T) {
	h := newHost(t, wazero.NewRuntimeConfigCompiler())
	mods := map[string][]byte{"C": guestC(t)}
	if !testing.Short() {
		mods["Go"] = guestGo(t)
	}
	for name, mod := range mods {
		r, err := Rewrite(mod, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", name, r.Stats)
		plain, counted := h.start(t, mod), h.start(t, r.Wasm)
		h.quantum = MinFuel
		for _, e := range r.Module.Exports {
			if e.Kind != wasm.ExternFunc || len(r.Module.Func(e.Index).Params) != 1 {
				continue
			}
			for n := range uint64(3) {
				want, err := plain.ExportedFunction(e.Name).Call(h.ctx, n)
				if err != nil {
					t.Fatal(err)
				}
				got, err := counted.ExportedFunction(e.Name).Call(h.ctx, n)
				if err != nil || got[0] != want[0] {
					t.Errorf("%s(%d) = %d, metered %d %v", e.Name, n, want, got, err)
				}
			}
		}
	}
}

// The output depends on the input only.
func TestDeterministic(t *testing.T) {
	for _, mod := range append(seeds(), guestC(t)) {
		a, err := Rewrite(mod, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Rewrite(mod, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Wasm, b.Wasm) {
			t.Error("a module is rewritten in two ways")
		}
	}
}
