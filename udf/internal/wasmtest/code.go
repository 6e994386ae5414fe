package wasmtest

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirdb/weir/udf/internal/wasm"
)

// operations returns the codes by their names.
func operations() map[string]wasm.Code {
	m := make(map[string]wasm.Code, 512)
	for _, prefix := range []wasm.Code{0, 0xfc00, 0xfd00} {
		for c := range wasm.Code(256) {
			if o := (prefix | c).Operation(); o.Name != "" {
				m[o.Name] = prefix | c
			}
		}
	}
	return m
}

// Opcode returns the bytes of an operation's code.
func Opcode(c wasm.Code) []byte {
	if p := c.Prefix(); p != 0 {
		return append([]byte{p}, U32(uint32(c&0xff))...)
	}
	return []byte{byte(c)}
}

// code encodes the lines of a function.
func (a *assembler) code(f *function) []byte {
	var b []byte
	labels := []string{""}
	ops := operations()
	for k, line := range f.code {
		a.line, a.tokens = f.line+k+1, line
		for a.more() {
			name := a.next()
			if name == "raw" {
				for a.more() {
					b = append(b, byte(a.u32()))
				}
				continue
			}
			c, ok := ops[name]
			if !ok {
				a.fail("unknown operation %q", name)
			}
			if c == wasm.Select && valueTypes[a.peek()] != 0 {
				c = wasm.SelectTyped
			}
			b = append(b, Opcode(c)...)
			switch c {
			case wasm.Block, wasm.Loop, wasm.If:
				labels = append(labels, a.label())
			case wasm.End:
				labels = labels[:len(labels)-1]
			}
			b = append(b, a.immediate(c, labels)...)
		}
	}
	return b
}

func (a *assembler) labelIndex(labels []string) uint32 {
	name := a.label()
	if name == "" {
		return a.u32()
	}
	for i := len(labels) - 1; i >= 0; i-- {
		if labels[i] == name {
			return uint32(len(labels) - 1 - i)
		}
	}
	a.fail("no block $%s is open", name)
	return 0
}

func (a *assembler) isNumber() bool {
	c := a.peek()
	return c != "" && (c[0] >= '0' && c[0] <= '9' || c[0] == '-')
}

// optional reads an index that may be left out.
func (a *assembler) optional() []byte {
	if a.isNumber() {
		return U32(a.u32())
	}
	return []byte{0}
}

func (a *assembler) immediate(c wasm.Code, labels []string) []byte {
	o := c.Operation()
	switch o.Imm {
	case wasm.ImmNone:
		return nil
	case wasm.ImmBlock:
		if a.peek() == "(" {
			return S64(int64(a.funcType()))
		}
		if valueTypes[a.peek()] != 0 {
			return []byte{a.valueType()}
		}
		return []byte{0x40}
	case wasm.ImmLabel:
		return U32(a.labelIndex(labels))
	case wasm.ImmTargets:
		var t [][]byte
		for a.isNumber() || strings.HasPrefix(a.peek(), "$") {
			t = append(t, U32(a.labelIndex(labels)))
		}
		return slices.Concat(Vec(t[:len(t)-1]...), t[len(t)-1])
	case wasm.ImmFunc:
		return U32(a.index(a.funcs))
	case wasm.ImmCallIndirect:
		return append(U32(a.funcType()), a.optional()...)
	case wasm.ImmTypes:
		return []byte{1, a.valueType()}
	case wasm.ImmGlobal:
		return U32(a.index(a.globals))
	case wasm.ImmLocal, wasm.ImmElem, wasm.ImmData:
		return U32(a.u32())
	case wasm.ImmTable, wasm.ImmMemory:
		return a.optional()
	case wasm.ImmTable2, wasm.ImmMemory2:
		return append(a.optional(), a.optional()...)
	case wasm.ImmElemTable, wasm.ImmDataMemory:
		return append(U32(a.u32()), a.optional()...)
	case wasm.ImmMem:
		return a.access(o)
	case wasm.ImmMemLane:
		return append(a.access(o), byte(a.u32()))
	case wasm.ImmLane:
		return []byte{byte(a.u32())}
	case wasm.ImmLanes:
		b := make([]byte, 16)
		for i := range b {
			b[i] = byte(a.u32())
		}
		return b
	case wasm.ImmI32:
		return S64(a.number(32))
	case wasm.ImmI64:
		return S64(a.number(64))
	case wasm.ImmF32:
		return a.float(wasm.F32)[1:]
	case wasm.ImmF64:
		return a.float(wasm.F64)[1:]
	case wasm.ImmV128:
		b := binary.LittleEndian.AppendUint64(nil, uint64(a.number(64)))
		return binary.LittleEndian.AppendUint64(b, uint64(a.number(64)))
	case wasm.ImmRefType:
		return []byte{a.valueType()}
	}
	a.fail("no encoding of the immediate of %s", o.Name)
	return nil
}

// access reads offset=n and align=n, where align is a power of two.
func (a *assembler) access(o *wasm.Operation) []byte {
	align, offset := uint32(o.Width), uint32(0)
	for {
		k, v, _ := strings.Cut(a.peek(), "=")
		n, err := strconv.ParseUint(v, 0, 32)
		switch {
		case k == "offset" && err == nil:
			offset = uint32(n)
		case k == "align" && err == nil:
			align = uint32(n)
		default:
			return append(U32(align), U32(offset)...)
		}
		a.next()
	}
}

// float reads a constant and returns the operation for it.
func (a *assembler) float(t wasm.ValueType) []byte {
	x, err := strconv.ParseFloat(a.next(), 64)
	if err != nil {
		a.fail("a number is missing")
	}
	if t == wasm.F32 {
		return binary.LittleEndian.AppendUint32([]byte{byte(wasm.F32Const)}, math.Float32bits(float32(x)))
	}
	return binary.LittleEndian.AppendUint64([]byte{byte(wasm.F64Const)}, math.Float64bits(x))
}
