package wasm

import "fmt"

// Sections of the binary format by their number.
var sectionNames = [...]string{
	"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data",
	"data count",
}

const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
)

// Decode decodes the sections of a module and validates all but the bodies of its
// functions. Errors are *Error. Time and memory are linear in the bytes.
func Decode(b []byte, l Limits) (*Module, error) {
	d := &decoder{m: &Module{bytes: b, Start: NullFunc, dataCount: -1, limits: l.WithDefaults()}}
	d.r = reader{b: b, fn: -1}
	d.module()
	if d.r.err != nil {
		return nil, d.r.err
	}
	return d.m, nil
}

type decoder struct {
	r reader
	m *Module
}

func (d *decoder) failf(at int, format string, args ...any) {
	d.r.fail(at, fmt.Sprintf(format, args...))
}

// within checks a number that the module declares against its limit.
func (d *decoder) within(at int, what string, n, limit int) bool {
	if n > limit {
		d.failf(at, "%d %s, the limit is %d", n, what, limit)
	}
	return d.r.err == nil
}

func (d *decoder) module() {
	r, m := &d.r, d.m
	if !d.within(0, "bytes", len(m.bytes), m.limits.Module) {
		return
	}
	if len(m.bytes) < 8 || string(m.bytes[:4]) != "\x00asm" {
		r.fail(0, "not a WebAssembly module")
		return
	}
	if string(m.bytes[4:8]) != "\x01\x00\x00\x00" {
		r.fail(4, "unknown version of the binary format, or a component")
		return
	}
	r.pos = 8
	codeAt, last := len(m.bytes), 0
	for r.left() > 0 && r.err == nil {
		r.section = ""
		at := r.pos
		id := int(r.byte())
		if id >= len(sectionNames) {
			d.failf(at, "unknown section %d", id)
			return
		}
		size := r.u32()
		if uint64(size) > uint64(r.left()) {
			r.fail(at, "section is longer than the module")
			return
		}
		r.section = sectionNames[id]
		if id != secCustom {
			if order(id) <= last {
				r.fail(at, "section is repeated or out of order")
				return
			}
			last = order(id)
		}
		if id == secCode {
			codeAt = r.pos
		}
		whole, end := r.b, r.pos+int(size)
		r.b = whole[:end]
		d.section(id)
		if r.err == nil && r.pos != end {
			r.fail(r.pos, "section is longer than what it holds")
		}
		r.b = whole
	}
	if r.err != nil {
		return
	}
	r.section = "code"
	if len(m.bodies) != len(m.Funcs) {
		d.failf(codeAt, "%d bodies for %d functions", len(m.bodies), len(m.Funcs))
	}
	if m.dataCount >= 0 && m.dataCount != len(m.Data) {
		r.section = "data"
		d.failf(len(m.bytes), "%d data segments, the data count section says %d", len(m.Data), m.dataCount)
	}
	d.declare()
	if names := m.Custom("name"); len(names) > 0 {
		m.Name, m.Names = decodeNames(names[0].Data, m.FuncCount())
	}
}

// order returns the place of a section among the others.
func order(id int) int {
	switch {
	case id == secDataCount:
		return secCode
	case id >= secCode:
		return id + 1
	}
	return id
}

func (d *decoder) section(id int) {
	switch id {
	case secCustom:
		d.custom()
	case secType:
		d.types()
	case secImport:
		d.imports()
	case secFunction:
		d.functions()
	case secTable:
		d.tables()
	case secMemory:
		d.memory()
	case secGlobal:
		d.globals()
	case secExport:
		d.exports()
	case secStart:
		d.start()
	case secElement:
		d.elements()
	case secCode:
		d.code()
	case secData:
		d.data()
	case secDataCount:
		at := d.r.pos
		d.m.dataCount = int(d.r.u32())
		d.within(at, "data segments", d.m.dataCount, d.m.limits.Segments)
	}
}

func (d *decoder) custom() {
	r := &d.r
	name := r.name()
	c := Custom{name, r.take(uint32(r.left()))}
	if r.err != nil {
		return
	}
	if d.within(r.pos, "custom sections", len(d.m.Customs)+1, d.m.limits.Customs) {
		d.m.Customs = append(d.m.Customs, c)
	}
}

func (d *decoder) types() {
	r, m := &d.r, d.m
	at := r.pos
	n := r.count(3)
	if !d.within(at, "types", n, m.limits.Types) {
		return
	}
	m.Types = make([]FuncType, 0, n)
	for range n {
		at := r.pos
		if form := r.byte(); form != 0x60 && r.err == nil {
			d.failf(at, "unknown form of type %#x", form)
		}
		t := FuncType{d.valueTypes("parameters"), d.valueTypes("results")}
		if r.err != nil {
			return
		}
		m.Types = append(m.Types, t)
	}
}

func (d *decoder) valueTypes(what string) []ValueType {
	r := &d.r
	at := r.pos
	n := r.count(1)
	if !d.within(at, what, n, d.m.limits.Params) {
		return nil
	}
	t := make([]ValueType, n)
	for i := range t {
		t[i] = r.valueType()
	}
	return t
}

func (d *decoder) typeIndex() uint32 {
	at := d.r.pos
	i := d.r.u32()
	if i >= uint32(len(d.m.Types)) {
		d.failf(at, "type %d does not exist", i)
	}
	return i
}

func (d *decoder) imports() {
	r, m := &d.r, d.m
	n := r.count(4)
	for range n {
		at := r.pos
		i := Import{Module: r.name(), Name: r.name()}
		switch kind := ExternKind(r.byte()); {
		case r.err != nil:
		case kind > ExternGlobal:
			d.failf(at, "import %q %q is of an unknown kind %d", i.Module, i.Name, kind)
		case kind != ExternFunc:
			d.failf(at, "import %q %q is a %s: only functions can be imported", i.Module, i.Name, kind)
		}
		i.Type = d.typeIndex()
		if r.err != nil || !d.within(at, "functions", len(m.Imports)+1, m.limits.Functions) {
			return
		}
		m.Imports = append(m.Imports, i)
	}
}

func (d *decoder) functions() {
	r, m := &d.r, d.m
	at := r.pos
	n := r.count(1)
	if !d.within(at, "functions", n+len(m.Imports), m.limits.Functions) {
		return
	}
	m.Funcs = make([]uint32, 0, n)
	for range n {
		m.Funcs = append(m.Funcs, d.typeIndex())
	}
}

// limits reads the limits of a table or memory.
func (d *decoder) limits(what string) (lo, hi uint32, hasMax bool) {
	r := &d.r
	at := r.pos
	switch flags := r.byte(); flags {
	case 0:
		return r.u32(), 0, false
	case 1:
		lo, hi = r.u32(), r.u32()
		if hi < lo {
			d.failf(at, "%s begins with %d, more than its maximum of %d", what, lo, hi)
		}
		return lo, hi, true
	default:
		d.failf(at, "%s is shared, of 64 bits, or of an unknown form (%#x)", what, flags)
		return 0, 0, false
	}
}

func (d *decoder) tables() {
	r, m := &d.r, d.m
	at := r.pos
	n := r.count(3)
	if !d.within(at, "tables", n, m.limits.Tables) {
		return
	}
	entries := 0
	for range n {
		at := r.pos
		t := Table{Type: r.refType()}
		t.Min, t.Max, t.HasMax = d.limits("table")
		if entries += int(t.Min); !d.within(at, "table entries", entries, m.limits.TableEntries) {
			return
		}
		m.Tables = append(m.Tables, t)
	}
}

func (d *decoder) memory() {
	r, m := &d.r, d.m
	at := r.pos
	switch n := r.count(2); {
	case n == 0:
		return
	case n > 1:
		r.fail(at, "more than one memory")
		return
	}
	at = r.pos
	var mem Memory
	mem.Min, mem.Max, mem.HasMax = d.limits("memory")
	if mem.Max > 1<<16 {
		d.failf(at, "memory of up to %d pages: there are 65536", mem.Max)
	}
	if d.within(at, "pages of memory", int(mem.Min), m.limits.MemoryPages) {
		m.Memory = &mem
	}
}

func (d *decoder) globals() {
	r, m := &d.r, d.m
	at := r.pos
	n := r.count(4)
	if !d.within(at, "globals", n, m.limits.Globals) {
		return
	}
	m.Globals = make([]Global, 0, n)
	for range n {
		g := Global{Type: r.valueType()}
		at := r.pos
		switch r.byte() {
		case 0:
		case 1:
			g.Mutable = true
		default:
			r.fail(at, "unknown mutability")
		}
		g.Init = d.constExpr(g.Type)
		if r.err != nil {
			return
		}
		m.Globals = append(m.Globals, g)
	}
}

// constExpr reads a constant expression of type t.
func (d *decoder) constExpr(t ValueType) ConstExpr {
	r := &d.r
	at := r.pos
	var e ConstExpr
	var got ValueType
	e.Code = Code(r.byte())
	switch e.Code {
	case I32Const:
		r.leb(32, true)
		got = I32
	case I64Const:
		r.leb(64, true)
		got = I64
	case F32Const:
		r.take(4)
		got = F32
	case F64Const:
		r.take(8)
		got = F64
	case RefNull:
		got = r.refType()
	case RefFunc:
		e.Func = d.funcIndex()
		got = FuncRef
	case prefixVector:
		if e.Code = r.vectorCode(); e.Code == V128Const {
			r.take(16)
			got = V128
		}
	}
	if r.err == nil && got == unknown {
		r.fail(at, "not a constant: a constant expression is one constant, no global can be imported")
	}
	if r.err == nil && got != t {
		d.failf(at, "constant is %s, not %s", got, t)
	}
	if end := r.pos; r.byte() != byte(End) && r.err == nil {
		r.fail(end, "constant expression does not end after one constant")
	}
	if r.err == nil {
		e.Bytes = r.b[at:r.pos:r.pos]
	}
	return e
}

func (d *decoder) funcIndex() uint32 {
	at := d.r.pos
	i := d.r.u32()
	if uint64(i) >= uint64(d.m.FuncCount()) {
		d.failf(at, "function %d does not exist", i)
	}
	return i
}

func (d *decoder) exports() {
	r, m := &d.r, d.m
	at := r.pos
	n := r.count(3)
	if !d.within(at, "exports", n, m.limits.Exports) {
		return
	}
	seen := make(map[string]struct{}, n)
	m.Exports = make([]Export, 0, n)
	for range n {
		at := r.pos
		e := Export{Name: r.name(), Kind: ExternKind(r.byte()), Index: r.u32()}
		if r.err != nil {
			return
		}
		size := 0
		switch e.Kind {
		case ExternFunc:
			size = m.FuncCount()
		case ExternTable:
			size = len(m.Tables)
		case ExternMemory:
			if m.Memory != nil {
				size = 1
			}
		case ExternGlobal:
			size = len(m.Globals)
		}
		if uint64(e.Index) >= uint64(size) {
			d.failf(at, "export %q: %s %d does not exist", e.Name, e.Kind, e.Index)
		}
		if _, twice := seen[e.Name]; twice {
			d.failf(at, "export %q is repeated", e.Name)
		}
		seen[e.Name] = struct{}{}
		m.Exports = append(m.Exports, e)
	}
}

func (d *decoder) start() {
	at := d.r.pos
	i := d.funcIndex()
	if d.r.err != nil {
		return
	}
	if t := d.m.Func(i); len(t.Params)+len(t.Results) > 0 {
		d.failf(at, "start function %d has parameters or results", i)
	}
	d.m.Start = i
}

func (d *decoder) code() {
	r, m := &d.r, d.m
	at := r.pos
	n := r.count(2)
	if n != len(m.Funcs) {
		d.failf(at, "%d bodies for %d functions", n, len(m.Funcs))
		return
	}
	m.bodies = make([]span, 0, n)
	for i := range n {
		r.fn = len(m.Imports) + i
		at := r.pos
		size := r.u32()
		start := r.pos
		r.take(size)
		if !d.within(at, "bytes in a function", int(size), m.limits.Body) {
			return
		}
		m.bodies = append(m.bodies, span{start, r.pos})
	}
	r.fn = -1
}
