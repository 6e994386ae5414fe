package wasm

import "slices"

// ValueType is the type of an operand, as its byte in the binary format.
type ValueType byte

// The value types.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f

	unknown ValueType = 0 // an operand of unreachable code
)

func (t ValueType) valid() bool { return t >= V128 && t <= I32 || t.IsRef() }

// IsRef says whether values of the type are references.
func (t ValueType) IsRef() bool { return t == FuncRef || t == ExternRef }

func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case FuncRef:
		return "funcref"
	case ExternRef:
		return "externref"
	}
	return "unknown"
}

// FuncType is the type of a function, or of a block.
type FuncType struct{ Params, Results []ValueType }

// Equal says whether the types are the same.
func (t *FuncType) Equal(o *FuncType) bool {
	return slices.Equal(t.Params, o.Params) && slices.Equal(t.Results, o.Results)
}

// ExternKind says what an import or export is.
type ExternKind byte

// The kinds of imports and exports.
const (
	ExternFunc ExternKind = iota
	ExternTable
	ExternMemory
	ExternGlobal
)

func (k ExternKind) String() string {
	switch k {
	case ExternFunc:
		return "function"
	case ExternTable:
		return "table"
	case ExternMemory:
		return "memory"
	case ExternGlobal:
		return "global"
	}
	return "unknown"
}

// Import is an imported function; other imports are refused.
type Import struct {
	Module, Name string
	Type         uint32 // index into Module.Types
}

// Export is an exported item; Index counts in the index space of its kind.
type Export struct {
	Name  string
	Kind  ExternKind
	Index uint32
}

// Custom is a custom section. Data borrows from the module's bytes.
type Custom struct {
	Name string
	Data []byte
}

// Memory is the module's memory, in pages of 64 KiB.
type Memory struct {
	Min, Max uint32
	HasMax   bool
}

// Table is a table of references.
type Table struct {
	Type     ValueType
	Min, Max uint32
	HasMax   bool
}

// Global is a global and what it begins with.
type Global struct {
	Type    ValueType
	Mutable bool
	Init    ConstExpr
}

// ConstExpr is a constant expression. As no global can be imported, it is one constant.
type ConstExpr struct {
	Code  Code
	Func  uint32 // of ref.func
	Bytes []byte // as in the module, with the end; borrows
}

// NullFunc stands for a null reference in an element segment.
const NullFunc = ^uint32(0)

// Element is an element segment.
type Element struct {
	Flags  uint32 // 0 to 7, as in the binary format
	Table  uint32
	Type   ValueType
	Offset ConstExpr // of an active segment
	Funcs  []uint32  // functions or NullFunc
}

// Active says whether the segment is copied into a table when the module starts.
func (e *Element) Active() bool { return e.Flags&1 == 0 }

// Data is a data segment. Bytes borrows from the module's bytes.
type Data struct {
	Active bool
	Offset ConstExpr
	Bytes  []byte
}

// FuncName is an entry of the name section.
type FuncName struct {
	Index uint32
	Name  string
}

// Module is a decoded module whose sections are valid. Its function bodies are decoded
// and validated one at a time by a Validator. It borrows from the bytes it was made of.
type Module struct {
	Types    []FuncType
	Imports  []Import
	Funcs    []uint32 // types of the defined functions
	Tables   []Table
	Memory   *Memory // nil: none
	Globals  []Global
	Exports  []Export
	Start    uint32 // NullFunc: none
	Elements []Element
	Data     []Data
	Customs  []Custom
	Name     string     // by the name section
	Names    []FuncName // of the name section, ascending; none when that is broken

	bytes     []byte
	bodies    []span
	dataCount int // -1: no such section
	limits    Limits
	declared  []bool // functions that ref.func may name
}

type span struct{ start, end int }

// Func returns the type of a function, imported ones first.
func (m *Module) Func(index uint32) *FuncType {
	if n := uint32(len(m.Imports)); index >= n {
		return &m.Types[m.Funcs[index-n]]
	}
	return &m.Types[m.Imports[index].Type]
}

// FuncCount returns the number of functions, imported ones included.
func (m *Module) FuncCount() int { return len(m.Imports) + len(m.Funcs) }

// FuncName returns the name the name section gives to a function, or "".
func (m *Module) FuncName(index uint32) string {
	i, ok := slices.BinarySearchFunc(m.Names, index, func(n FuncName, i uint32) int { return int(int64(n.Index) - int64(i)) })
	if !ok {
		return ""
	}
	return m.Names[i].Name
}

// Export returns the export of that name.
func (m *Module) Export(name string) (Export, bool) {
	for _, e := range m.Exports {
		if e.Name == name {
			return e, true
		}
	}
	return Export{}, false
}

// Custom returns the custom sections of that name.
func (m *Module) Custom(name string) []Custom {
	var c []Custom
	for _, s := range m.Customs {
		if s.Name == name {
			c = append(c, s)
		}
	}
	return c
}

// DataCount returns what the data count section says, if there is one.
func (m *Module) DataCount() (n int, ok bool) { return m.dataCount, m.dataCount >= 0 }
