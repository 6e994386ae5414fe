package meter

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/udf/internal/wasm"
	. "github.com/weirdb/weir/udf/internal/wasmtest"
)

// bodies returns a module of functions () -> () with the given code and declarations of
// locals.
func bodies(locals []byte, code ...[]byte) []byte {
	var types, list [][]byte
	for _, c := range code {
		types = append(types, []byte{0})
		list = append(list, Bytes(locals, c, []byte{byte(wasm.End)}))
	}
	return Module(
		Section(SecType, Vec([]byte{0x60, 0, 0})), Section(SecFunction, Vec(types...)),
		Section(SecMemory, Vec([]byte{0, 1})), Section(SecCode, Vec(list...)),
	)
}

// around nests n blocks.
func around(n int) []byte {
	return slices.Concat(slices.Repeat([]byte{byte(wasm.Block), 0x40}, n), slices.Repeat([]byte{byte(wasm.End)}, n))
}

// Modules that must be refused, by the rows of the design: none may reach wazero, take
// long, or take memory by what it claims.
func TestHostile(t *testing.T) {
	memory := "memory 1 4\n"
	text := func(s string) []byte { return Assemble(memory + s) }
	none := []byte{0} // no locals
	for _, c := range []struct {
		row    string
		mod    []byte
		reason string
	}{
		{"3 data out of range of a smaller offset type", text("data 0 \"x\"\nsection 11 1 0 0x42 0 0x0b 0"), "constant is i64, not i32"},
		{"4 uses the index of the injected global", text("global $g mut i64 0\nfunc ()\ni64.const 1000 global.set 1\nend"), "global 1 does not exist"},
		{"4 reads it", text("func ()\nglobal.get 0 drop\nend"), "global 0 does not exist"},
		{"4 exports it", text("export \"g\" global 0"), "global 0 does not exist"},
		{"5 the global after it", text("func ()\nglobal.get 1 drop\nend"), "global 1 does not exist"},
		{"6 calls a function that is there after the pass", text("func ()\ncall 1\nend"), "function 1 does not exist"},
		{"6 takes its reference", text("func ()\nref.func 1 drop\nend"), "function 1 does not exist"},
		{"6 has it in a table", text("table 1 funcref\nfunc ()\nend\nelem 0 1"), "function 1 does not exist"},
		{"6 starts with it", text("func ()\nend\nstart 1"), "function 1 does not exist"},
		{"6 exports it", text("func ()\nend\nexport \"f\" func 1"), "function 1 does not exist"},
		{"6 block of a type that is there after the pass", text("func ()\nblock\nraw 0x02 0x01 0x0b\nend\nend"), "block type 1 does not exist"},
		{"6 calls through a type that is there after it", text("table 1 funcref\nfunc ()\ni32.const 0 raw 0x11 0x01 0x00\nend"), "type 1 does not exist"},
		{"6 a local of the pass", text("func ()\nlocal.get 0 drop\nend"), "local 0 does not exist"},
		{"7 imports the refuel function", text("import \"weir\" \"__refuel\" ()"), `import "weir" "__refuel" is reserved`},
		{"8 exports a reserved name", text("global $g mut i64 0\nexport \"weir.meter\" global $g"), `export "weir.meter" is reserved`},
		{"8 exports a function of a reserved name", text("func export \"weir.x\" ()\nend"), `export "weir.x" is reserved`},
		{"9 imports a memory", text("section 2 1 3 0x65 0x6e 0x76 1 0x6d 2 0 1"), `import "env" "m" is a memory: only functions can be imported`},
		{"9 imports a global", text("section 2 1 3 0x65 0x6e 0x76 1 0x67 3 0x7f 0"), `import "env" "g" is a global`},
		{"9 imports a table", text("section 2 1 3 0x65 0x6e 0x76 1 0x74 1 0x70 0 1"), `import "env" "t" is a table`},
		{"10 4 G locals in 6 bytes", bodies(Vec(append(U32(0xffffffff), 0x7f)), nil), "4294967295 locals, the limit is 2048"},
		{"10 the same in two parts", bodies(Vec(append(U32(0xffffffff), 0x7f), append(U32(0xffffffff), 0x7e)), nil), "the limit is 2048"},
		{"11 50 M locals", bodies(Vec(append(U32(50_000_000), 0x7b)), nil), "50000000 locals"},
		{"12 60 k br_if", bodies(none, slices.Concat([]byte{2, 0x40}, slices.Repeat([]byte{0x41, 0, 0x0d, 0}, 60_000), []byte{0x0b})), "basic blocks, the limit is 4096"},
		{"13 40 k small blocks, 20 locals", bodies(Vec([]byte{20, 0x7f}), slices.Repeat(around(1), 40_000)), "basic blocks, the limit is 4096"},
		{"14 100 functions with 2000 nested blocks each", bodies(none, slices.Repeat([][]byte{around(2000)}, 100)...), "too costly to compile"},
		{"15 60 k nested blocks", bodies(none, around(60_000)), "2049 nested blocks, the limit is 2048"},
		{"16 600 k br_table targets", bodies(none, slices.Repeat([][]byte{slices.Concat([]byte{0x41, 0, 0x0e}, U32(99_999), make([]byte, 100_000))}, 6)...), "200000 branch targets in the module"},
		{"16 all of them in one", bodies(none, slices.Concat([]byte{0x41, 0, 0x0e}, U32(199_999), make([]byte, 200_000))), "200000 branch targets"},
		{"17 300 k calls in a body", bodies(none, slices.Repeat([]byte{0x10, 0}, 300_000)), "600002 bytes in a function, the limit is 262144"},
		{"17 300 k additions in a body", bodies(none, slices.Concat([]byte{0x41, 0}, slices.Repeat([]byte{0x41, 1, 0x6a}, 300_000), []byte{0x1a})), "bytes in a function"},
		{"18 empty", nil, "not a WebAssembly module"},
		{"18 header only cut", []byte(Header[:7]), "not a WebAssembly module"},
		{"18 a component", []byte("\x00asm\x0d\x00\x01\x00"), "version"},
		{"18 garbage", []byte(Header + "garbage after the header"), "unknown section 103"},
		{"18 garbage that claims much", []byte(Header + "\x01\xff\xff\xff\xff\x0f"), "section is longer than the module"},
		{"18 count of 4 G types", Module(SectionOfLength(SecType, 6, U32(0xffffffff), []byte{0x60})), "count is past the end"},
		{"18 count of 4 G functions", Module(Section(SecType, Vec([]byte{0x60, 0, 0})), Section(SecFunction, U32(0xffffffff), []byte{0})), "count is past the end"},
		{"18 count of 4 G elements", text("table 1 funcref\nsection 9 1 0 0x41 0 0x0b 0xff 0xff 0xff 0xff 0x0f"), "count is past the end"},
		{"18 count of 4 G names", text("section 7 0xff 0xff 0xff 0xff 0x0f"), "count is past the end"},
		{"18 section that wraps", Module(SectionOfLength(SecType, 0xfffffff0, Vec())), "section is longer than the module"},
		{"18 section longer than what it holds", Module(Section(SecType, Vec(), []byte{0})), "section is longer than what it holds"},
		{"18 number of six bytes", Module(Section(SecType, U32Wide(1, 6), []byte{0x60, 0, 0})), "number too long"},
		{"18 number of 33 bits", Module(Section(SecType, []byte{0x81, 0x80, 0x80, 0x80, 0x10, 0x60, 0, 0})), "number too large"},
		{"18 truncated body", Module(Section(SecType, Vec([]byte{0x60, 0, 0})), Section(SecFunction, Vec([]byte{0})), Section(SecCode, Vec([]byte{9, 0}))), "length is past the end"},
		{"18 body without end", bodies(none, []byte{2, 0x40}), "unexpected end"},
		{"18 code after the end", bodies(none, []byte{0x0b}), "code after the end of the function"},
		{"18 functions without code", Module(Section(SecType, Vec([]byte{0x60, 0, 0})), Section(SecFunction, Vec([]byte{0}))), "0 bodies for 1 functions"},
		{"18 sections out of order", Module(Section(SecMemory, Vec([]byte{0, 1})), Section(SecType, Vec())), "out of order"},
		{"18 a section twice", Module(Section(SecType, Vec()), Section(SecType, Vec())), "repeated"},
		{"18 name that is not UTF-8", Module(Section(SecCustom, []byte{2, 0xff, 0xfe})), "not UTF-8"},
		{"19 tail call", text("func ()\nraw 0x12 0x00\nend"), "tail calls are not supported"},
		{"19 shared memory", Module(Section(SecMemory, Vec([]byte{3, 1, 2}))), "shared"},
		{"19 memory64", Module(Section(SecMemory, Vec([]byte{4, 1}))), "64 bits"},
		{"19 two memories", Module(Section(SecMemory, Vec([]byte{0, 1}, []byte{0, 1}))), "more than one memory"},
		{"19 relaxed SIMD", text("func ()\nraw 0xfd 0x80 0x02\nend"), "relaxed SIMD is not supported"},
		{"19 threads", text("func ()\nraw 0xfe 0x03 0x00\nend"), "threads are not supported"},
		{"19 exceptions", text("func ()\nraw 0x06 0x40\nend"), "exceptions are not supported"},
		{"19 garbage collection", text("func ()\nraw 0xfb 0x00\nend"), "typed references are not supported"},
		{"19 exception section", Module(Section(13, Vec())), "unknown section 13"},
		{"19 unknown operation", text("func ()\nraw 0xff\nend"), "unknown operation"},
		{"19 unknown operation after a prefix", text("func ()\nraw 0xfc 0x12\nend"), "unknown operation"},
		{"19 the same, wrapping", text("func ()\nraw 0xfd 0x8c 0x80 0x80 0x80 0x20\nend"), "number too large"},
		{"19 vector operation with code inside of its number", text("func ()\nraw 0xfd 0x8c 0x80 0x00\nend"), "longer than it needs to be"},
		{"19 unknown value type", bodies(Vec([]byte{1, 0x6e}), nil), "unknown value type"},
		{"20 table of 2^27 entries", text("table 0x8000000 funcref"), "134217728 table entries, the limit is 65536"},
		{"20 several tables", text("table 40000 funcref\ntable 40000 funcref"), "80000 table entries"},
		{"20 many tables", text(strings.Repeat("table 1 funcref\n", 9)), "9 tables, the limit is 8"},
		{"22 memory begins with 4 GiB", Module(Section(SecMemory, Vec(append([]byte{0}, U32(65536)...)))), "65536 pages of memory, the limit is 256"},
		{"22 maximum over 4 GiB", Module(Section(SecMemory, Vec(slices.Concat([]byte{1, 1}, U32(65537))))), "65537 pages"},
		{"23 start with parameters", text("func $f (i32)\nend\nstart $f"), "start function 0 has parameters"},
		{"29 30 k operands", bodies(none, slices.Concat(slices.Repeat([]byte{0x41, 0}, 40_000), slices.Repeat([]byte{0x1a}, 40_000))), "32769 operands"},
		{"55 2000 custom sections", Module(slices.Repeat([][]byte{Section(SecCustom, Name("udf.manifest"))}, 2000)...), "1025 custom sections"},
		{"- 2000 globals", text(strings.Repeat("global i32 0\n", 2000)), "2000 globals, the limit is 1024"},
		{"- 100 parameters", text("func (" + strings.Repeat("i32 ", 100) + ")\nend"), "100 parameters, the limit is 64"},
		{"- module over the limit", append([]byte(Header), make([]byte, 9<<20)...), "the limit is 8388608"},
		{"- data without a count section", text("data passive \"x\"\nsection 12 0\nfunc ()\ndata.drop 0\nend"), "data segment"},
		{"- reference that is not declared", text("func ()\nref.func 0 drop\nend"), "reference to function 0"},
	} {
		t.Run(c.row, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Rewrite(c.mod, Limits{})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var e *wasm.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.reason) {
				t.Fatalf("got %v, not %q", err, c.reason)
			}
			if most := 256*uint64(len(c.mod)) + 1<<20; after.TotalAlloc-before.TotalAlloc > most {
				t.Errorf("allocated %d bytes for %d", after.TotalAlloc-before.TotalAlloc, len(c.mod))
			}
			if took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// What is let through, but changed.
func TestHostileChanged(t *testing.T) {
	r, err := Rewrite(Assemble(`
memory 1 60000
table 1 200000000 funcref
table 1 externref
table 1 5 funcref
custom ".debug_info" "dwarf"
custom "other" "x"
`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := wasm.Decode(r.Wasm, wasm.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Memory.Max != 256 {
		t.Errorf("memory may grow to %d pages", m.Memory.Max)
	}
	var most []string
	for _, table := range m.Tables {
		most = append(most, fmt.Sprint(table.Max))
	}
	if got := strings.Join(most, " "); got != "65536 65536 5" { // row 21
		t.Errorf("tables may grow to %s", got)
	}
	if len(m.Customs) != 1 || m.Customs[0].Name != "name" {
		t.Errorf("custom sections are left: %v", m.Customs)
	}
	if len(r.Module.Custom("other")) != 1 {
		t.Error("the result has lost the custom sections")
	}
}
