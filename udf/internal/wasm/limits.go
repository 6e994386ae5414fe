package wasm

// Limits bound what a module may declare. A zero field stands for the value of
// DefaultLimits, so the zero Limits are the defaults.
type Limits struct {
	Module       int // bytes of the whole module
	Types        int // function types
	Params       int // parameters or results of one type
	Functions    int // functions, imported and defined
	Globals      int
	Tables       int
	TableEntries int // entries of all tables together; also what a table may grow to
	MemoryPages  int // pages of 64 KiB the memory may have
	Segments     int // element and data segments
	Body         int // bytes of one function body
	Locals       int // parameters and locals of one function
	Nesting      int // nested blocks in one function
	Targets      int // targets of all br_table instructions
}

// DefaultLimits are the limits of version 1 of the ABI.
func DefaultLimits() Limits {
	return Limits{
		Module: 8 << 20, Types: 4096, Params: 64, Functions: 1 << 16, Globals: 1024, Tables: 8,
		TableEntries: 1 << 16, MemoryPages: 256, Segments: 1 << 16, Body: 256 << 10, Locals: 2048,
		Nesting: 2048, Targets: 1 << 17,
	}
}
