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
	TableEntries int // entries that the tables begin with, together
	MemoryPages  int // pages of 64 KiB that the memory may begin with
	Segments     int // element segments, and data segments
	Exports      int
	Customs      int // custom sections
	Body         int // bytes of one function body
	Locals       int // parameters and locals of one function
	Operands     int // operands on the stack of one function
	Nesting      int // nested blocks in one function
	Targets      int // targets of the br_table operations of one function
}

// DefaultLimits are the limits of version 1 of the ABI.
func DefaultLimits() Limits {
	return Limits{
		Module: 8 << 20, Types: 4096, Params: 64, Functions: 1 << 16, Globals: 1024, Tables: 8,
		TableEntries: 1 << 16, MemoryPages: 256, Segments: 1 << 16, Exports: 1 << 14, Customs: 1024, Body: 256 << 10,
		Locals: 2048, Operands: 1 << 15, Nesting: 2048, Targets: 1 << 17,
	}
}

// WithDefaults returns the limits with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ field, value *int }{
		{&l.Module, &d.Module},
		{&l.Types, &d.Types},
		{&l.Params, &d.Params},
		{&l.Functions, &d.Functions},
		{&l.Globals, &d.Globals},
		{&l.Tables, &d.Tables},
		{&l.TableEntries, &d.TableEntries},
		{&l.MemoryPages, &d.MemoryPages},
		{&l.Segments, &d.Segments},
		{&l.Exports, &d.Exports},
		{&l.Customs, &d.Customs},
		{&l.Body, &d.Body},
		{&l.Locals, &d.Locals},
		{&l.Operands, &d.Operands},
		{&l.Nesting, &d.Nesting},
		{&l.Targets, &d.Targets},
	} {
		if *f.field == 0 {
			*f.field = *f.value
		}
	}
	return l
}
