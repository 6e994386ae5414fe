package wasm

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
)

// FuncType is the type of a function, or of a block.
type FuncType struct{ Params, Results []ValueType }

// ExternKind says what an import or export is.
type ExternKind byte

// The kinds of imports and exports.
const (
	ExternFunc ExternKind = iota
	ExternTable
	ExternMemory
	ExternGlobal
)

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

// Global is the type of a global.
type Global struct {
	Type    ValueType
	Mutable bool
}

// Module is a decoded, valid module.
type Module struct {
	Types   []FuncType
	Imports []Import
	Exports []Export
	Memory  *Memory // nil: none
	Globals []Global
	Customs []Custom
}

// Func returns the type of a function, imported ones first.
func (m *Module) Func(index uint32) *FuncType { panic("soon") }

// FuncName returns the name the name section gives to a function, or "".
func (m *Module) FuncName(index uint32) string { panic("soon") }

// Export returns the export of that name.
func (m *Module) Export(name string) (Export, bool) { panic("soon") }

// Custom returns the custom sections of that name.
func (m *Module) Custom(name string) []Custom { panic("soon") }

// Decode decodes and validates a module.
func Decode(b []byte, l Limits) (*Module, error) { panic("soon") }
