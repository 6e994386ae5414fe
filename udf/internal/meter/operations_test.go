package meter

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/weirdb/weir/udf/internal/wasm"
	"github.com/weirdb/weir/udf/internal/wasmtest"
)

// TestOperations runs every operation that takes operands of known types on random ones.
func TestOperations(t *testing.T) {
	var b strings.Builder
	b.WriteString("memory 1 2\ntable 8 16 funcref\nelem passive $first\ndata passive \"some bytes that are copied\"\n")
	b.WriteString("func $first ()\nend\n")
	n := 0
	for _, prefix := range []wasm.Code{0, 0xfc00, 0xfd00} {
		for c := range wasm.Code(256) {
			c |= prefix
			o := c.Operation()
			if o.Takes == "" && o.Gives == "" || o.Imm == wasm.ImmBlock || o.Imm == wasm.ImmLabel || o.Imm == wasm.ImmTargets || o.Imm == wasm.ImmCallIndirect {
				continue
			}
			var params, body strings.Builder
			if strings.HasSuffix(o.Gives, string(rune(wasm.V128))) {
				body.WriteString("i32.const 64 ")
			}
			local := 0
			for _, p := range []byte(o.Takes) {
				if p == byte(wasm.V128) {
					fmt.Fprintf(&params, " i64 i64")
					fmt.Fprintf(&body, "local.get %d i64x2.splat local.get %d i64x2.replace_lane 1 ", local, local+1)
					local += 2
					continue
				}
				fmt.Fprintf(&params, " %s", wasm.ValueType(p))
				fmt.Fprintf(&body, "local.get %d ", local)
				if bulk(c) || o.Imm == wasm.ImmMem || o.Imm == wasm.ImmMemLane {
					if p == byte(wasm.I32) {
						body.WriteString("i32.const 7 i32.and ")
					}
				}
				local++
			}
			body.WriteString("\nraw")
			for _, x := range append(wasmtest.Opcode(c), wasmtest.Immediate(o.Imm)...) {
				fmt.Fprintf(&body, " %#x", x)
			}
			result := ""
			if o.Gives != "" {
				if result = wasm.ValueType(o.Gives[0]).String(); result == "v128" {
					body.WriteString("\nv128.store")
					result = ""
				}
			}
			fmt.Fprintf(&b, "func export %q (%s) -> (%s)\n%s\nend\n", o.Name, params.String(), result, body.String())
			n++
		}
	}
	mod := wasmtest.Assemble(b.String())
	h := newHost(t, wazero.NewRuntimeConfigCompiler())
	h.quantum = 50
	r, err := Rewrite(mod, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Int63()
	t.Logf("%d operations, seed %d", n, seed)
	rng := rand.New(rand.NewSource(seed))
	plain, counted := h.start(t, mod), h.start(t, r.Wasm)
	for _, e := range r.Module.Exports {
		for range 8 {
			args := make([]uint64, len(r.Module.Func(e.Index).Params))
			for i, p := range r.Module.Func(e.Index).Params {
				if args[i] = rng.Uint64() >> rng.Intn(64); p == wasm.I32 || p == wasm.F32 {
					args[i] = uint64(uint32(args[i]))
				}
			}
			want, werr := plain.ExportedFunction(e.Name).Call(h.ctx, args...)
			got, gerr := counted.ExportedFunction(e.Name).Call(h.ctx, args...)
			text := func(err error) string {
				s, _, _ := strings.Cut(fmt.Sprint(err), "\n")
				return s
			}
			if !slices.Equal(want, got) || text(werr) != text(gerr) {
				t.Fatalf("%s(%x) = %x %v, metered %x %v", e.Name, args, want, werr, got, gerr)
			}
			x, _ := plain.Memory().Read(0, 256)
			y, _ := counted.Memory().Read(0, 256)
			if !slices.Equal(x, y) {
				t.Fatalf("%s(%x): memory is %x, metered %x", e.Name, args, x, y)
			}
		}
	}
}
