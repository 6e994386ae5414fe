package wasmtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/weirdb/weir/udf/internal/wasm"
)

// Print returns the functions of a module in the form that Assemble reads, and its other
// parts in short, so that goldens can be read. A module that is not valid prints as the
// error.
func Print(mod []byte) string {
	m, err := wasm.Decode(mod, wasm.Limits{})
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for i, im := range m.Imports {
		fmt.Fprintf(&b, "import %q %q %s%s\n", im.Module, im.Name, label(m, uint32(i)), signature(m.Func(uint32(i))))
	}
	for _, t := range m.Tables {
		fmt.Fprintf(&b, "table %s%s\n", limits(t.Min, t.Max, t.HasMax), t.Type)
	}
	if m.Memory != nil {
		fmt.Fprintf(&b, "memory %s\n", strings.TrimSpace(limits(m.Memory.Min, m.Memory.Max, m.Memory.HasMax)))
	}
	for _, g := range m.Globals {
		mutable := ""
		if g.Mutable {
			mutable = "mut "
		}
		fmt.Fprintf(&b, "global %s%s %x\n", mutable, g.Type, g.Init.Bytes)
	}
	for _, e := range m.Exports {
		fmt.Fprintf(&b, "export %q %s %d\n", e.Name, e.Kind, e.Index)
	}
	if m.Start != wasm.NullFunc {
		fmt.Fprintf(&b, "start %d\n", m.Start)
	}
	for _, e := range m.Elements {
		fmt.Fprintf(&b, "elem %d %v\n", e.Flags, e.Funcs)
	}
	v := wasm.NewValidator(m)
	for i := range m.Funcs {
		body, err := v.Body(i)
		if err != nil {
			return b.String() + err.Error() + "\n"
		}
		fmt.Fprintf(&b, "func %s%s\n", label(m, body.Index), signature(body.Type))
		if l := body.Locals[len(body.Type.Params):]; len(l) > 0 {
			fmt.Fprintf(&b, "  locals%s\n", list(l))
		}
		depth := 1
		for j := range body.Ops {
			op := &body.Ops[j]
			if op.Code == wasm.End || op.Code == wasm.Else {
				depth--
			}
			fmt.Fprintf(&b, "%s%s%s\n", strings.Repeat("  ", depth), strings.TrimSuffix(op.Code.Operation().Name, "_t"), operands(mod, v, body, op))
			switch op.Code {
			case wasm.Block, wasm.Loop, wasm.If, wasm.Else:
				depth++
			}
		}
	}
	return b.String()
}

func label(m *wasm.Module, i uint32) string {
	if n := m.FuncName(i); n != "" {
		return "$" + n + " "
	}
	return ""
}

func limits(lo, hi uint32, hasMax bool) string {
	if hasMax {
		return fmt.Sprintf("%d %d ", lo, hi)
	}
	return fmt.Sprintf("%d ", lo)
}

func list(types []wasm.ValueType) string {
	var b strings.Builder
	for _, t := range types {
		b.WriteString(" " + t.String())
	}
	return b.String()
}

func signature(t *wasm.FuncType) string {
	s := "(" + strings.TrimPrefix(list(t.Params), " ") + ")"
	if len(t.Results) > 0 {
		s += " -> (" + strings.TrimPrefix(list(t.Results), " ") + ")"
	}
	return s
}

func operands(mod []byte, v *wasm.Validator, body *wasm.Body, op *wasm.Op) string {
	raw := mod[op.Offset+int32(len(Opcode(op.Code))) : op.End]
	switch o := op.Code.Operation(); o.Imm {
	case wasm.ImmNone:
		return ""
	case wasm.ImmBlock:
		switch t := v.BlockType(op); {
		case len(t.Params) > 0 || len(t.Results) > 1:
			return " " + signature(t)
		default:
			return list(t.Results)
		}
	case wasm.ImmTargets:
		return " " + strings.Trim(fmt.Sprint(body.Targets[op.Imm:op.Imm+op.Aux]), "[]")
	case wasm.ImmTypes, wasm.ImmRefType:
		return " " + wasm.ValueType(op.Imm).String()
	case wasm.ImmI32:
		return fmt.Sprintf(" %d", int32(op.Imm))
	case wasm.ImmI64:
		return fmt.Sprintf(" %d", signed(raw))
	case wasm.ImmF32:
		return fmt.Sprintf(" %v", math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	case wasm.ImmF64:
		return fmt.Sprintf(" %v", math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	case wasm.ImmCallIndirect, wasm.ImmTable2, wasm.ImmElemTable:
		return fmt.Sprintf(" %d %d", op.Imm, op.Aux)
	case wasm.ImmMemory, wasm.ImmMemory2:
		return ""
	case wasm.ImmMem, wasm.ImmMemLane, wasm.ImmLanes, wasm.ImmLane, wasm.ImmV128:
		return fmt.Sprintf(" % x", raw)
	}
	return fmt.Sprintf(" %d", op.Imm)
}

func signed(b []byte) int64 {
	v, shift := int64(0), 0
	for _, c := range b {
		v |= int64(c&0x7f) << shift
		shift += 7
	}
	if shift < 64 {
		v = v << (64 - shift) >> (64 - shift)
	}
	return v
}
