package wasmtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirdb/weir/udf/internal/wasm"
)

// Assemble returns the module that the text describes and panics on text it does not
// understand. It does not check the module. One statement stands on a line:
//
//	import "weir" "log" $log (i32 i32 i32)
//	memory 1 16                              ;; pages: minimum, maximum
//	table 4 10 funcref
//	global $g mut i64 5
//	func $add export "add" (i32 i32) -> (i32)
//	  locals i64 f32
//	  local.get 0
//	  local.get 1 i32.add                    ;; operations may share a line
//	end
//	start $add
//	elem 0 $add $add                         ;; active in table 0 from an offset on
//	elem passive $add                        ;; or: elem declare $add
//	data 16 "text\x00"                       ;; or: data passive "text"
//	export "m" memory 0
//	custom "udf.manifest" "{}"
//	section 1 0x00 0xff                      ;; any bytes as a section, at this place of the order
//
// Names of functions, globals and labels begin with $ and may be used before they are
// defined; the names of functions go to the name section. Blocks are written
// block $label i32, loop (i32 i32) -> (i32); memory accesses i32.load offset=8 align=2;
// br_table 0 1 2 ends with the default; call_indirect (i32) -> (i32) names its type;
// v128.const has two 64-bit numbers; raw 0xfe 0x00 puts bytes into a body.
func Assemble(text string) []byte {
	a := &assembler{funcs: map[string]uint32{}, globals: map[string]uint32{}}
	a.parse(text)
	return a.module()
}

type assembler struct {
	types   []string // encoded, each once
	imports [][]byte
	defined []*function
	tables  [][]byte
	memory  [][]byte
	globs   [][]byte
	exports [][]byte
	start   string
	elems   []func() []byte
	data    [][]byte
	customs [][]byte
	extra   map[int][]byte
	names   []string // of functions
	funcs   map[string]uint32
	globals map[string]uint32
	passive bool // a data count section is needed

	line   int
	tokens []string // of the current line
}

type function struct {
	typ    uint32
	locals []byte
	line   int
	code   [][]string // tokens by line
}

func (a *assembler) fail(format string, args ...any) {
	panic(fmt.Sprintf("wasmtest: line %d: %s", a.line, fmt.Sprintf(format, args...)))
}

// split returns the tokens of a line.
func (a *assembler) split(line string) []string {
	var t []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		n := 0
		switch {
		case strings.HasPrefix(line, ";;"):
			return t
		case line[0] == '"':
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				a.fail("string does not end")
			}
			n = len(q)
		case line[0] == '(' || line[0] == ')':
			n = 1
		default:
			if n = strings.IndexAny(line, " \t()\""); n < 0 {
				n = len(line)
			}
		}
		t, line = append(t, line[:n]), line[n:]
	}
	return t
}

func (a *assembler) more() bool { return len(a.tokens) > 0 }

func (a *assembler) peek() string {
	if a.more() {
		return a.tokens[0]
	}
	return ""
}

func (a *assembler) next() string {
	if !a.more() {
		a.fail("something is missing")
	}
	t := a.tokens[0]
	a.tokens = a.tokens[1:]
	return t
}

func (a *assembler) accept(t string) bool {
	if a.peek() != t {
		return false
	}
	a.tokens = a.tokens[1:]
	return true
}

func (a *assembler) text() string {
	s, err := strconv.Unquote(a.next())
	if err != nil {
		a.fail("a string is missing")
	}
	return s
}

// label takes a name that begins with $, if one follows.
func (a *assembler) label() string {
	if strings.HasPrefix(a.peek(), "$") {
		return a.next()[1:]
	}
	return ""
}

func (a *assembler) number(bits int) int64 {
	t := a.next()
	v, err := strconv.ParseInt(t, 0, bits)
	if err != nil {
		u, err := strconv.ParseUint(t, 0, bits)
		if err != nil {
			a.fail("%q is not a number of %d bits", t, bits)
		}
		if v = int64(u); bits == 32 {
			v = int64(int32(u))
		}
	}
	return v
}

func (a *assembler) u32() uint32 { return uint32(a.number(32)) }

var valueTypes = map[string]wasm.ValueType{
	"i32": wasm.I32, "i64": wasm.I64, "f32": wasm.F32, "f64": wasm.F64, "v128": wasm.V128,
	"funcref": wasm.FuncRef, "externref": wasm.ExternRef,
}

func (a *assembler) valueType() byte {
	t, ok := valueTypes[a.next()]
	if !ok {
		a.fail("a value type is missing")
	}
	return byte(t)
}

// list reads (t t t) and returns it as a vector.
func (a *assembler) list() []byte {
	if !a.accept("(") {
		a.fail("( is missing")
	}
	var t []byte
	for !a.accept(")") {
		t = append(t, a.valueType())
	}
	return Bytes(t)
}

// funcType reads (t) -> (t) and returns the index of that type.
func (a *assembler) funcType() uint32 {
	params, results := a.list(), []byte{0}
	if a.accept("->") {
		results = a.list()
	}
	t := string(slices.Concat([]byte{0x60}, params, results))
	i := slices.Index(a.types, t)
	if i < 0 {
		i = len(a.types)
		a.types = append(a.types, t)
	}
	return uint32(i)
}

func (a *assembler) limits() []byte {
	lo := a.u32()
	if c := a.peek(); c == "" || c[0] < '0' || c[0] > '9' {
		return append([]byte{0}, U32(lo)...)
	}
	return slices.Concat([]byte{1}, U32(lo), U32(a.u32()))
}

// index reads an index or a name.
func (a *assembler) index(space map[string]uint32) uint32 {
	name := a.label()
	if name == "" {
		return a.u32()
	}
	i, ok := space[name]
	if !ok {
		a.fail("$%s is not defined", name)
	}
	return i
}

func (a *assembler) parse(text string) {
	lines := strings.Split(text, "\n")
	a.declare(lines)
	for k := 0; k < len(lines); k++ {
		a.line = k + 1
		a.tokens = a.split(lines[k])
		if !a.more() {
			continue
		}
		if kind := a.next(); kind == "func" {
			k = a.function(lines, k)
		} else {
			a.statement(kind)
		}
		if a.more() {
			a.fail("%q is too much", a.peek())
		}
	}
}

// declare finds the names of functions and globals, so that they may be used anywhere.
func (a *assembler) declare(lines []string) {
	funcs, globals := 0, 0
	for k, line := range lines {
		a.line = k + 1
		t := append(a.split(line), "", "", "", "")
		switch t[0] {
		case "import":
			a.define(a.funcs, t[3], funcs)
			funcs++
		case "func":
			a.define(a.funcs, t[1], funcs)
			funcs++
		case "global":
			a.define(a.globals, t[1], globals)
			globals++
		}
	}
}

func (a *assembler) define(space map[string]uint32, name string, index int) {
	name, ok := strings.CutPrefix(name, "$")
	if !ok {
		return
	}
	if _, twice := space[name]; twice {
		a.fail("$%s is defined twice", name)
	}
	space[name] = uint32(index)
}

func (a *assembler) statement(kind string) {
	switch kind {
	case "import":
		if len(a.defined) > 0 {
			a.fail("imports come first")
		}
		module, name := a.text(), a.text()
		a.names = append(a.names, a.label())
		a.imports = append(a.imports, slices.Concat(Name(module), Name(name), []byte{0}, U32(a.funcType())))
	case "memory":
		a.memory = append(a.memory, a.limits())
	case "table":
		l := a.limits()
		a.tables = append(a.tables, append([]byte{a.valueType()}, l...))
	case "global":
		a.label()
		mutable := byte(0)
		if a.accept("mut") {
			mutable = 1
		}
		t := a.valueType()
		a.globs = append(a.globs, slices.Concat([]byte{t, mutable}, a.constant(t)))
	case "start":
		a.start = a.next()
	case "export":
		name := a.text()
		kind := slices.Index([]string{"func", "table", "memory", "global"}, a.next())
		if kind < 0 {
			a.fail("unknown kind of export")
		}
		space := map[string]uint32(nil)
		switch kind {
		case 0:
			space = a.funcs
		case 3:
			space = a.globals
		}
		a.exports = append(a.exports, slices.Concat(Name(name), []byte{byte(kind)}, U32(a.index(space))))
	case "elem":
		a.elem()
	case "data":
		if a.accept("passive") {
			a.passive = true
			a.data = append(a.data, append([]byte{1}, Name(a.text())...))
			break
		}
		at := a.constant(byte(wasm.I32))
		a.data = append(a.data, slices.Concat([]byte{0}, at, Name(a.text())))
	case "custom":
		a.customs = append(a.customs, Section(SecCustom, Name(a.text()), []byte(a.text())))
	case "section":
		id := a.u32()
		var b []byte
		for a.more() {
			b = append(b, byte(a.u32()))
		}
		if a.extra == nil {
			a.extra = map[int][]byte{}
		}
		a.extra[int(id)] = Section(byte(id), b)
	default:
		a.fail("unknown statement %q", kind)
	}
}

// constant reads what a global of type t begins with.
func (a *assembler) constant(t byte) []byte {
	var b []byte
	switch wasm.ValueType(t) {
	case wasm.I32:
		b = append([]byte{byte(wasm.I32Const)}, S64(int64(int32(a.number(32))))...)
	case wasm.I64:
		b = append([]byte{byte(wasm.I64Const)}, S64(a.number(64))...)
	case wasm.F32, wasm.F64:
		b = a.float(wasm.ValueType(t))
	case wasm.FuncRef, wasm.ExternRef:
		if a.accept("null") {
			b = []byte{byte(wasm.RefNull), t}
		} else {
			b = append([]byte{byte(wasm.RefFunc)}, U32(a.index(a.funcs))...)
		}
	default:
		a.fail("no constant of this type")
	}
	return append(b, byte(wasm.End))
}

func (a *assembler) elem() {
	flag, at := byte(0), []byte(nil)
	switch {
	case a.accept("passive"):
		flag, at = 1, []byte{0}
	case a.accept("declare"):
		flag, at = 3, []byte{0}
	default:
		at = a.constant(byte(wasm.I32))
	}
	tokens, line := a.tokens, a.line
	a.tokens = nil
	a.elems = append(a.elems, func() []byte {
		a.tokens, a.line = tokens, line
		var items [][]byte
		for a.more() {
			items = append(items, U32(a.index(a.funcs)))
		}
		return slices.Concat([]byte{flag}, at, Vec(items...))
	})
}

// function reads a function's head and finds its lines. Its code is encoded when all
// names are known. It returns the last line.
func (a *assembler) function(lines []string, k int) int {
	index := len(a.imports) + len(a.defined)
	a.names = append(a.names, a.label())
	for a.accept("export") {
		a.exports = append(a.exports, slices.Concat(Name(a.text()), []byte{0}, U32(uint32(index))))
	}
	f := &function{typ: a.funcType(), line: k + 1}
	a.defined = append(a.defined, f)
	for depth := 1; depth > 0; {
		if k++; k == len(lines) {
			a.fail("function does not end")
		}
		a.line = k + 1
		t := a.split(lines[k])
		if len(t) > 0 && t[0] == "locals" {
			saved := a.tokens
			a.tokens = t[1:]
			var groups [][]byte
			for a.more() {
				n := uint32(1)
				if c := a.peek()[0]; c >= '0' && c <= '9' {
					n = a.u32()
				}
				groups = append(groups, append(U32(n), a.valueType()))
			}
			f.locals, a.tokens = Vec(groups...), saved
			t = nil
		}
		for _, w := range t {
			switch w {
			case "block", "loop", "if":
				depth++
			case "end":
				depth--
			}
		}
		f.code = append(f.code, t)
	}
	if f.locals == nil {
		f.locals = []byte{0}
	}
	return k
}

func (a *assembler) module() []byte {
	var bodies, funcs [][]byte
	for _, f := range a.defined {
		funcs = append(funcs, U32(f.typ))
		bodies = append(bodies, Bytes(f.locals, a.code(f)))
	}
	var elems [][]byte
	for _, e := range a.elems {
		elems = append(elems, e())
	}
	var start []byte
	if a.start != "" {
		a.tokens = []string{a.start}
		start = U32(a.index(a.funcs))
	}
	var types [][]byte
	for _, t := range a.types {
		types = append(types, []byte(t))
	}
	out := []byte(Header)
	put := func(id int, content []byte, wanted bool) {
		if extra, ok := a.extra[id]; ok {
			out = append(out, extra...)
		} else if wanted {
			out = append(out, Section(byte(id), content)...)
		}
	}
	vec := func(id int, items [][]byte) { put(id, Vec(items...), len(items) > 0) }
	vec(SecType, types)
	vec(SecImport, a.imports)
	vec(SecFunction, funcs)
	vec(SecTable, a.tables)
	vec(SecMemory, a.memory)
	vec(SecGlobal, a.globs)
	vec(SecExport, a.exports)
	put(SecStart, start, start != nil)
	vec(SecElement, elems)
	put(SecDataCount, U32(uint32(len(a.data))), a.passive)
	vec(SecCode, bodies)
	vec(SecData, a.data)
	var names [][]byte
	for i, n := range a.names {
		if n != "" {
			names = append(names, append(U32(uint32(i)), Name(n)...))
		}
	}
	if len(names) > 0 {
		out = append(out, Section(SecCustom, Name("name"), []byte{1}, Bytes(Vec(names...)))...)
	}
	return append(out, slices.Concat(a.customs...)...)
}
