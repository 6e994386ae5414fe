package wasm_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/weirdb/weir/udf/internal/wasm"
	"github.com/weirdb/weir/udf/internal/wasmtest"
)

// validate decodes a module and all of its functions.
func validate(mod []byte) error {
	m, err := wasm.Decode(mod, wasm.Limits{})
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

// oracle says what wazero says of a module.
func oracle(t testing.TB) func([]byte) error {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { r.Close(ctx) })
	return func(mod []byte) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		c, err := r.CompileModule(ctx, mod)
		if err != nil {
			return err
		}
		return c.Close(ctx)
	}
}

// Every code that either knows must be valid, or not, for both: alone, where operands may
// be of any type, and with its operands one by one replaced by wrong ones.
func TestCodes(t *testing.T) {
	valid := oracle(t)
	raw := func(b []byte) string {
		s := "raw"
		for _, c := range b {
			s += fmt.Sprintf(" %#x", c)
		}
		return s
	}
	wrong := map[wasm.ValueType]string{wasm.I32: "i64.const 0", wasm.I64: "i32.const 0", wasm.F32: "f64.const 0", wasm.F64: "f32.const 0", wasm.V128: "i32.const 0"}
	right := map[wasm.ValueType]string{wasm.I32: "i32.const 0", wasm.I64: "i64.const 0", wasm.F32: "f32.const 0", wasm.F64: "f64.const 0", wasm.V128: "v128.const 0 0"}
	known := 0
	for _, prefix := range []wasm.Code{0, 0xfc00, 0xfd00} {
		for c := range wasm.Code(256) {
			c |= prefix
			o := c.Operation()
			if o.Name == "end" || o.Name == "else" || c == 0xfc || c == 0xfd {
				continue
			}
			code := raw(append(wasmtest.Opcode(c), wasmtest.Immediate(o.Imm)...))
			end := ""
			if o.Imm == wasm.ImmBlock {
				end = "\nend"
			}
			check := func(what, before, after string, ok bool) {
				// The text of the body has no block that its lines could count.
				mod := wasmtest.Assemble(wasmtest.Everything + "func ()\nlocals i32\n" + before + "\n" + code + "\n" + after + "\nend\n")
				mine, theirs := validate(mod), valid(mod)
				if (mine == nil) != (theirs == nil) || ok != (mine == nil) {
					t.Errorf("%#x %s %s: got %v, wazero says %v", c, o.Name, what, mine, theirs)
				}
			}
			if end != "" {
				end = "raw 0x0b"
			}
			check("alone", "unreachable", end+"\nunreachable", o.Name != "")
			if o.Name == "" {
				continue
			}
			known++
			if o.Takes == "" && o.Gives == "" || o.Imm == wasm.ImmBlock || o.Imm == wasm.ImmLabel || o.Imm == wasm.ImmTargets || o.Imm == wasm.ImmCallIndirect {
				continue
			}
			operands := make([]string, len(o.Takes))
			for i := range operands {
				operands[i] = right[wasm.ValueType(o.Takes[i])]
			}
			lines := func(s []string) string {
				out := ""
				for _, l := range s {
					out += l + "\n"
				}
				return out
			}
			drops := lines(slices.Repeat([]string{"drop"}, len(o.Gives)))
			check("with its operands", lines(operands), drops, true)
			for i := range operands {
				bad := slices.Clone(operands)
				bad[i] = wrong[wasm.ValueType(o.Takes[i])]
				check(fmt.Sprintf("with a wrong operand %d", i), lines(bad), drops, false)
			}
			if len(operands) > 0 {
				check("with an operand too few", lines(operands[1:]), drops, false)
			}
			check("with an operand too many", "i32.const 0\n"+lines(operands), drops, false)
			if len(o.Gives) == 1 {
				back := map[wasm.ValueType]string{wasm.I32: "i32.eqz drop", wasm.I64: "i64.eqz drop", wasm.F32: "f32.neg drop", wasm.F64: "f64.neg drop", wasm.V128: "v128.not drop"}
				for of, use := range back {
					check("used as "+of.String(), lines(operands), use, of == wasm.ValueType(o.Gives[0]))
				}
			}
		}
	}
	t.Logf("%d operations", known)
}
