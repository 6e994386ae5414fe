//go:build linux

package udf_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/udf/internal/wasmtest"
	"github.com/weirdb/weir/vector"
)

// hostile is a module that tries something, and what must come of it.
type hostile struct {
	name   string
	module func() []byte
	limits udf.Limits
	rows   int // of the call; 0: 100

	load   string                // in the error of Load; "": it is loaded
	cause  udf.Cause             // of the fault of the call, with reason in it,
	reason string                // or "" when the call succeeds
	run    func(*guestRun) error // how it is called; nil: as its kind is, with random columns
}

const scalarManifest = `{"name":"f","kind":"scalar","args":[{"name":"a","type":"BIGINT"}],"returns":"BIGINT","nulls":"called"}`

// withFunction is a manifest with one function.
func withFunction(function string) string {
	return `{"abi":[1,1],"module":"hostile","functions":[` + function + `]}`
}

// returning is a scalar function of a BIGINT with another result.
func returning(typ string) string {
	return strings.Replace(scalarManifest, `"BIGINT","nulls"`, `"`+typ+`","nulls"`, 1)
}

const growingAlloc = `
func $alloc export "udf_alloc" (i32) -> (i32)
  local.get 0 i32.const 65535 i32.add i32.const 16 i32.shr_u memory.grow i32.const 16 i32.shl
end
`

// guest assembles a module: imports, the usual memory and allocator, the manifest of one
// function, and the rest.
func guest(imports, function, rest string) func() []byte {
	return func() []byte {
		text := imports + "\nmemory 1\nexport \"memory\" memory 0\ncustom \"udf.manifest\" " + strconv.Quote(withFunction(function)) + growingAlloc + rest
		return wasmtest.Assemble(text)
	}
}

// body is a guest whose only function is f, of a call at local 0, which returns OK unless
// the code does something else.
func body(function, code string) func() []byte {
	return guest("", function, "func $f export \"f\" (i32) -> (i32)\n"+code+"\n  i32.const 0\nend\n")
}

// setOut writes a word into the first result column.
func setOut(at int, value int64) string {
	return fmt.Sprintf("  local.get 0 i32.load offset=28 i32.const %d i32.store offset=%d\n", int32(value), at)
}

// putOut writes a word to where a buffer of the first result column lies.
func putOut(buffer, at int, value int64) string {
	return fmt.Sprintf("  local.get 0 i32.load offset=28 i32.load offset=%d i32.const %d i32.store offset=%d\n", buffer, int32(value), at)
}

// putChild does so for a child of the first result column.
func putChild(child, buffer, at int, value int64) string {
	return fmt.Sprintf("  local.get 0 i32.load offset=28 i32.load offset=40 i32.load offset=%d i32.const %d i32.store offset=%d\n", child*64+buffer, int32(value), at)
}

// Offsets of the words of a column.
const (
	atType, atFlags, atNulls, atValidity, atOffsets, atData, atDataLen, atChildren = 0, 4, 12, 16, 20, 24, 28, 40
)

// sections is a module of these bytes.
func sections(s ...[]byte) func() []byte { return func() []byte { return wasmtest.Module(s...) } }

func repeat(code string, n int) string { return strings.Repeat(code, n) }

// withManifest puts a manifest into a module that is refused for something else.
func manifestSection(text string) []byte {
	return wasmtest.Section(wasmtest.SecCustom, wasmtest.Name("udf.manifest"), []byte(text))
}

const (
	logImport   = `import "weir" "log" $log (i32 i32 i32)`
	spin        = "  loop br 0 end\n"
	tableOfInts = `{"name":"f","kind":"table","args":[{"name":"a","type":"BIGINT"}],"returns":"ROW<x INT>"}`
)

// hostiles are what modules may try, by the rows of the list that the design has of them.
func hostiles() map[int][]hostile {
	out := map[int][]hostile{}
	for _, part := range []map[int][]hostile{hostileStarts(), hostileCode(), hostileRuns(), hostileResults(), hostileStates()} {
		for row, list := range part {
			out[row] = append(out[row], list...)
		}
	}
	return out
}

func hostileStarts() map[int][]hostile {
	f := "func $f export \"f\" (i32) -> (i32)\n i32.const 0\nend\n"
	m := manifestSection(withFunction(scalarManifest))
	return map[int][]hostile{
		1: {{name: "start spins", module: guest("", scalarManifest, f+"func $s ()\n"+spin+"end\nstart $s\n"), load: "its fuel is spent"}},
		2: {{name: "initialize spins", module: guest("", scalarManifest, f+"func $s export \"_initialize\" ()\n"+spin+"end\n"), load: "its fuel is spent"}},
		3: {
			{name: "start traps", module: guest("", scalarManifest, f+"func $s ()\nunreachable\nend\nstart $s\n"), load: "unreachable"},
			{name: "data out of range", module: guest("", scalarManifest, f+"data 65530 \"0123456789\"\n"), load: "out of bounds"},
		},
		7: {{name: "imports refuel", module: guest(`import "weir" "__refuel" $r ()`, scalarManifest, f), load: "reserved"}},
		8: {{name: "exports the meter", module: guest("", scalarManifest, f+"global $g mut i64 1\nexport \"weir.meter\" global $g\n"), load: "weir.meter"}},
		9: {
			{name: "imports system", module: guest(`import "env" "system" $s (i32) -> (i32)`, scalarManifest, f), load: "env.system"},
			{name: "imports memory", module: sections(m, wasmtest.Section(wasmtest.SecImport, []byte{1}, wasmtest.Name("env"), wasmtest.Name("memory"), []byte{2, 0, 1})), load: `"env" "memory"`},
			{name: "imports a global", module: sections(m, wasmtest.Section(wasmtest.SecImport, []byte{1}, wasmtest.Name("env"), wasmtest.Name("base"), []byte{3, 0x7f, 0})), load: `"env" "base"`},
			{name: "imports log with another type", module: guest(`import "weir" "log" $log (i64)`, scalarManifest, f), load: "another type"},
		},
		23: {
			{name: "no memory", module: func() []byte {
				return wasmtest.Assemble("custom \"udf.manifest\" " + strconv.Quote(withFunction(scalarManifest)) + "\nfunc $a export \"udf_alloc\" (i32) -> (i32)\ni32.const 0\nend\n" + f)
			}, load: `does not export its memory`},
			{name: "no udf_alloc", module: func() []byte {
				return wasmtest.Assemble("memory 1\nexport \"memory\" memory 0\ncustom \"udf.manifest\" " + strconv.Quote(withFunction(scalarManifest)) + "\n" + f)
			}, load: `"udf_alloc"`},
			{name: "function of another type", module: guest("", scalarManifest, "func $f export \"f\" (i64) -> (i64)\nlocal.get 0\nend\n"), load: "its export \"f\" is (i64) -> (i64)"},
			{name: "no function", module: guest("", scalarManifest, ""), load: `does not export the function "f"`},
			{name: "memory exported as function", module: guest("", scalarManifest, "export \"f\" memory 0\n"), load: `"f" is no function`},
		},
		55: {
			{name: "two manifests", module: sections(m, m), load: "more than one"},
			{name: "manifest of 8 MiB", module: sections(manifestSection(strings.Repeat(" ", 8<<20-1000))), load: "at most 65536"},
			{name: "unknown key", module: sections(manifestSection(withFunction(strings.Replace(scalarManifest, `"nulls"`, `"determinstic":true,"nulls"`, 1)))), load: "determinstic"},
			{name: "type 1000 deep", module: sections(manifestSection(withFunction(returning(strings.Repeat("ARRAY<", 1000) + "INT" + strings.Repeat(">", 1000))))), load: "functions[0]"},
			{name: "type 9 deep", module: sections(manifestSection(withFunction(returning("INT" + strings.Repeat(" ARRAY", 9))))), load: "deeper than 8"},
			{name: "no manifest", module: sections(), load: "udf.manifest"},
			{name: "another version", module: sections(manifestSection(strings.Replace(withFunction(scalarManifest), "[1,1]", "[2,3]", 1))), load: "version"},
		},
	}
}

func hostileCode() map[int][]hostile {
	m := manifestSection(withFunction(scalarManifest))
	refused := func(name, code, load string) hostile {
		return hostile{name: name, module: body(scalarManifest, code), load: load}
	}
	unknown := func(name string, bytes string) hostile {
		return hostile{name: name, module: body(scalarManifest, "  raw "+bytes), load: "code section"}
	}
	nested := "func ()\n" + repeat("block ", 2000) + repeat("end ", 2000) + "\nend\n"
	targets := "  block\n i32.const 0 br_table" + repeat(" 0", 60_000) + "\nend\n"
	return map[int][]hostile{
		4: {refused("uses the meter's index", "  i64.const 1 global.set 0", "global")},
		5: {refused("uses the index after the meter's", "  i64.const 1 global.set 1", "global")},
		6: {
			refused("type of the pass", "  raw 0x02 0x05 0x0b", "type"),
			refused("function of the pass", "  raw 0x10 0x02", "function"),
		},
		10: {{name: "four billion locals", module: guest("", scalarManifest, "func $f export \"f\" (i32) -> (i32)\nlocals 4294967295 i32\ni32.const 0\nend\n"), load: "locals"}},
		11: {{name: "50 million locals", module: guest("", scalarManifest, "func $f export \"f\" (i32) -> (i32)\nlocals 50000000 i64\ni32.const 0\nend\n"), load: "locals"}},
		12: {refused("60000 br_if", "block\n"+repeat("i32.const 0 br_if 0 ", 60_000)+"\nend", "blocks")},
		13: {refused("40000 small blocks", "block\n"+repeat("block i32.const 0 br_if 0 end ", 36_000)+"\nend", "blocks")},
		14: {{name: "100 times 2000 nested blocks", module: guest("", scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 0\nend\n"+repeat(strings.ReplaceAll(nested, "block ", "block i32.const 0 br_if 0 "), 100)), load: "blocks"}},
		15: {refused("80000 nested blocks", repeat("block ", 80_000)+repeat("end ", 80_000), "nest")},
		16: {{name: "600000 branch targets", module: guest("", scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 0\nend\n"+repeat("func ()\n"+targets+"end\n", 10)), load: "targets"}},
		17: {
			refused("300000 calls", repeat("i32.const 0 call 0 drop ", 300_000), "bytes in a function"),
			refused("300000 additions", "i32.const 0\n"+repeat("i32.const 1 i32.add ", 300_000)+"drop", "bytes in a function"),
		},
		18: {
			{name: "vector of 4 G", module: sections(m, wasmtest.Section(wasmtest.SecType, wasmtest.U32(1<<32-1))), load: "type section"},
			{name: "section length wraps", module: sections(m, wasmtest.SectionOfLength(wasmtest.SecType, 1<<32-4)), load: "past the end"},
			{name: "number too long", module: sections(m, wasmtest.Section(wasmtest.SecType, wasmtest.U32Wide(0, 6))), load: "type section"},
			{name: "cut off", module: func() []byte { w := body(scalarManifest, "")(); return w[:len(w)-20] }, load: "refused"},
			{name: "garbage", module: func() []byte { return []byte("\x00asm\x01\x00\x00\x00" + strings.Repeat("\xff\x80garbage", 100)) }, load: "refused"},
			{name: "empty", module: func() []byte { return nil }, load: "no WebAssembly module"},
		},
		19: {
			unknown("tail call", "0x12 0x00"),
			{name: "shared memory", module: sections(m, wasmtest.Section(wasmtest.SecMemory, []byte{1, 3, 1, 1})), load: "memory section"},
			{name: "64-bit memory", module: sections(m, wasmtest.Section(wasmtest.SecMemory, []byte{1, 4, 1})), load: "memory section"},
			unknown("relaxed SIMD", "0xfd 0x80 0x02"),
			unknown("code inside of a number", "0xfd 0xae 0x00"),
			unknown("unknown opcode", "0xff"),
			unknown("atomic", "0xfe 0x03 0x00"),
			unknown("exception", "0x06 0x40 0x0b"),
		},
		20: {{name: "table of 2^27 entries", module: guest("", scalarManifest, "table 134217728 funcref\nfunc $f export \"f\" (i32) -> (i32)\ni32.const 0\nend\n"), load: "table"}},
		22: {{name: "memory of 4 GiB", module: func() []byte {
			return wasmtest.Assemble("memory 65536\nexport \"memory\" memory 0\ncustom \"udf.manifest\" " + strconv.Quote(withFunction(scalarManifest)) + growingAlloc + "func $f export \"f\" (i32) -> (i32)\ni32.const 0\nend\n")
		}, load: "pages"}},
	}
}

func hostileRuns() map[int][]hostile {
	calls := "func $f export \"f\" (i32) -> (i32)\ncall $c40 i32.const 0\nend\nfunc $c0 ()\nend\n"
	for k := 1; k <= 40; k++ {
		calls += fmt.Sprintf("func $c%d ()\ncall $c%d call $c%d\nend\n", k, k-1, k-1)
	}
	recursive := func(locals, before, call, after string) func() []byte {
		return guest("", scalarManifest, "table 2 funcref\nelem 0 $r $r\nfunc $f export \"f\" (i32) -> (i32)\ni32.const 0 call $r\nend\n"+
			"func $r (i32) -> (i32)\n"+locals+before+"\nlocal.get 0 i32.const 1 i32.add "+call+"\n"+after+"\nend\n")
	}
	const wasi = "wasi_snapshot_preview1"
	chase := `func $f export "f" (i32) -> (i32)
locals i32 i32
  i32.const 128 memory.grow i32.const 16 i32.shl local.set 1
  loop $fill
    local.get 1 local.get 2 i32.const 2 i32.shl i32.add
    local.get 1 local.get 2 i32.const 1664525 i32.mul i32.const 1013904223 i32.add i32.const 2097151 i32.and i32.const 2 i32.shl i32.add
    i32.store
    local.get 2 i32.const 1 i32.add local.tee 2 i32.const 2097152 i32.lt_u br_if $fill
  end
  loop $chase
    local.get 1 ` + repeat("i32.load ", 2000) + ` local.set 1
    br $chase
  end
  i32.const 0
end
`
	return map[int][]hostile{
		21: {
			{name: "table.grow to 200 million", module: guest("", scalarManifest, "table 1 funcref\nfunc $f export \"f\" (i32) -> (i32)\nref.null funcref i32.const 200000000 table.grow 0 i32.const -1 i32.ne\nend\n")},
			{name: "table.grow in a loop", module: guest("", scalarManifest, "table 1 funcref\nfunc $f export \"f\" (i32) -> (i32)\nloop\nref.null funcref i32.const 1000 table.grow 0 drop br 0\nend\ni32.const 0\nend\n"), cause: udf.Fuel, reason: "fuel"},
		},
		24: {
			{name: "infinite loop", module: body(scalarManifest, spin), cause: udf.Fuel, reason: "fuel"},
			{name: "infinite loop for long", module: body(scalarManifest, spin), limits: udf.Limits{Fuel: 1 << 50, Timeout: 3e8}, cause: udf.Timeout, reason: "300ms"},
			{name: "infinite loop in udf_alloc", module: func() []byte {
				return wasmtest.Assemble("memory 1\nexport \"memory\" memory 0\ncustom \"udf.manifest\" " + strconv.Quote(withFunction(scalarManifest)) + "\nfunc $a export \"udf_alloc\" (i32) -> (i32)\n" + spin + "unreachable\nend\nfunc $f export \"f\" (i32) -> (i32)\ni32.const 0\nend\n")
			}, cause: udf.Fuel, reason: "fuel"},
		},
		25: {{name: "fills in a loop", module: body(scalarManifest, "i32.const 200 memory.grow drop loop i32.const 0 i32.const 1 i32.const 13000000 memory.fill br 0 end"), cause: udf.Fuel, reason: "fuel"}},
		26: {{name: "3000 fills", module: body(scalarManifest, "i32.const 200 memory.grow drop "+repeat("i32.const 0 i32.const 1 i32.const 13000000 memory.fill ", 3000)), cause: udf.Fuel, reason: "fuel"}},
		27: {{name: "2^40 calls", module: guest("", scalarManifest, calls), cause: udf.Fuel, reason: "fuel"}},
		28: {
			{name: "recursion", module: recursive("", "", "call $r", ""), limits: udf.Limits{Fuel: 1 << 40}, cause: udf.Stack, reason: "nested"},
			{name: "recursion with large frames", module: recursive("locals 1500 i64\n", "", "call $r", ""), limits: udf.Limits{Fuel: 1 << 40}, cause: udf.Stack, reason: "nested"},
			{name: "indirect recursion", module: recursive("", "", "i32.const 1 call_indirect (i32) -> (i32)", ""), limits: udf.Limits{Fuel: 1 << 40}, cause: udf.Stack, reason: "nested"},
		},
		29: {{name: "recursion with 20000 operands", module: recursive("", repeat("local.get 0 ", 20_000), "call $r", repeat("i32.add ", 20_000)), limits: udf.Limits{Fuel: 1 << 40}, cause: udf.Stack, reason: "nested"}},
		30: {{name: "pointer chase", module: guest("", scalarManifest, chase), limits: udf.Limits{Fuel: 60_000_000}, cause: udf.Fuel, reason: "fuel"}},
		31: {
			{name: "log flood", module: guest(logImport, scalarManifest, "func $f export \"f\" (i32) -> (i32)\nloop i32.const 1 i32.const 0 i32.const 65536 call $log br 0 end\ni32.const 0\nend\n"), cause: udf.Fuel, reason: "fuel"},
			{name: "log out of range", module: guest(logImport, scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 1 i32.const -8 i32.const 16 call $log\ni32.const 0\nend\n"), cause: udf.Broken, reason: "outside of its memory"},
			{name: "empty lines", module: guest(`import "`+wasi+`" "fd_write" $w (i32 i32 i32 i32) -> (i32)`, scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 8 i32.const 10 i32.const 60000 memory.fill\ni32.const 4 i32.const 60000 i32.store\ni32.const 0 i32.const 8 i32.store\nloop i32.const 1 i32.const 0 i32.const 1 i32.const 65000 call $w drop br 0 end\ni32.const 0\nend\n"), cause: udf.Fuel, reason: "fuel"},
			{name: "calls of log without a loop", module: guest(logImport, scalarManifest, "func $f export \"f\" (i32) -> (i32)\n"+repeat("i32.const 1 i32.const 0 i32.const 65536 call $log\n", 2000)+"i32.const 0\nend\n")},
		},
		32: {{name: "proc_exit", module: guest(`import "`+wasi+`" "proc_exit" $e (i32)`, scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 0 call $e\ni32.const 0\nend\n"), cause: udf.Exited, reason: "code 0"}},
		33: {
			{name: "sleeps an hour", module: guest(`import "`+wasi+`" "poll_oneoff" $p (i32 i32 i32 i32) -> (i32)`, scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 24 i64.const 3600000000000 i64.store\ni32.const 0 i32.const 100 i32.const 1 i32.const 200 call $p\nend\n")},
			{name: "reads standard input", module: guest(`import "`+wasi+`" "fd_read" $r (i32 i32 i32 i32) -> (i32)`, scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 0 i32.const 16 i32.const 1 i32.const 32 call $r i32.const 32 i32.load i32.add\nend\n")},
			{name: "opens a file", module: guest(`import "`+wasi+`" "path_open" $o (i32 i32 i32 i32 i32 i64 i64 i32 i32) -> (i32)`, scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 3 i32.const 0 i32.const 0 i32.const 4 i32.const 0 i64.const -1 i64.const -1 i32.const 0 i32.const 0 call $o i32.eqz\nend\n"), cause: 0, reason: ""},
			{name: "random bytes in a loop", module: guest(`import "`+wasi+`" "random_get" $r (i32 i32) -> (i32)`, scalarManifest, "func $f export \"f\" (i32) -> (i32)\nloop i32.const 0 i32.const 65536 call $r drop br 0 end\ni32.const 0\nend\n"), cause: udf.Fuel, reason: "fuel"},
		},
		34: {{name: "fills all memory it can get", module: body(scalarManifest, "loop i32.const 1 memory.grow i32.const -1 i32.ne br_if 0 end i32.const 65536 i32.const 7 memory.size i32.const 4 i32.sub i32.const 16 i32.shl memory.fill"), limits: udf.Limits{Fuel: 1 << 30}, run: noCrash}},
		35: {{name: "memory grows in the call", module: body(scalarManifest, "local.get 0 i32.load offset=28 i32.const 2 memory.grow i32.const 16 i32.shl i32.store offset=24")}},
	}
}

// noCrash accepts any result, and any fault.
func noCrash(r *guestRun) error {
	err := r.call()
	var f *udf.Fault
	if err != nil && !errors.As(err, &f) {
		return err
	}
	return nil
}

// heldResult keeps the result of a call while the guest writes over its buffers in the next.
func heldResult(r *guestRun) error {
	one := vector.Of(r.pool, int64(1))
	defer one.Release()
	call := &udf.Call{Args: []*vector.Vector{one}, Rows: 1, Pool: r.pool}
	v, err := r.i.Call(context.Background(), call)
	if err != nil {
		return err
	}
	defer v.Release()
	before := slices.Clone(v.Offsets())
	again, err := r.i.Call(context.Background(), call)
	if err != nil {
		return err
	}
	again.Release()
	if !slices.Equal(before, v.Offsets()) {
		return errors.New("a result that was given out changed")
	}
	return nil
}
