//go:build linux

package udf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

func hostileResults() map[int][]hostile {
	bad := func(name, function, code, reason string) hostile {
		return hostile{name: name, module: body(function, code), cause: udf.Broken, reason: reason, rows: 4}
	}
	text, arrays := returning("STRING"), returning("ARRAY<INT>")
	// offsets writes the offsets of four rows and the length of the data.
	offsets := func(values ...int64) string {
		code := ""
		for k, v := range values {
			code += putOut(atOffsets, 4*k, v)
		}
		return code + setOut(atDataLen, values[len(values)-1])
	}
	var fields []string
	for k := range 100 {
		fields = append(fields, fmt.Sprintf("b%d BOOLEAN", k))
	}
	// All fields of 100 million rows lie on the same bytes.
	alias := "i32.const 100 memory.grow drop\n" + putOut(atOffsets, 0, 0) + putOut(atOffsets, 4, 0) + putOut(atOffsets, 8, 0) + putOut(atOffsets, 12, 0) + putOut(atOffsets, 16, 50_000_000)
	alias += "local.get 0 i32.load offset=28 i32.load offset=40 i32.const 64 i32.store offset=16\n"
	for k := range 100 {
		alias += fmt.Sprintf("local.get 0 i32.load offset=28 i32.load offset=40 i32.load offset=40 i32.const 64 i32.store offset=%d\n", 64*k+atValidity)
		alias += fmt.Sprintf("local.get 0 i32.load offset=28 i32.load offset=40 i32.load offset=40 i32.const 64 i32.store offset=%d\n", 64*k+atData)
	}
	failing := func(name, code, reason string) hostile {
		return hostile{name: name, module: guest("", scalarManifest, "func $f export \"f\" (i32) -> (i32)\n"+code+"\ni32.const 1\nend\n"), cause: udf.Refused, reason: reason, rows: 4}
	}
	message := "i32.const 64 i32.const 65 i32.const 60000 memory.fill local.get 0 i32.const 64 i32.store offset=112\n"
	table := func(name, code, reason string, status int) hostile {
		return hostile{name: name, module: guest("", tableOfInts, fmt.Sprintf("func $f export \"f\" (i32) -> (i32)\n%s\ni32.const %d\nend\n", code, status)), cause: udf.Broken, reason: reason, rows: 4}
	}
	parents := func(values ...int) string {
		code := fmt.Sprintf("local.get 0 i32.const %d i32.store offset=100\n", len(values))
		for k, v := range values {
			code += fmt.Sprintf("local.get 0 i32.load offset=104 i32.const %d i32.store offset=%d\n", v, 4*k)
		}
		return code
	}
	return map[int][]hostile{
		36: {
			{name: "unknown status", module: guest("", scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 77\nend\n"), cause: udf.Broken, reason: "status 77"},
			{name: "MORE of a scalar function", module: guest("", scalarManifest, "func $f export \"f\" (i32) -> (i32)\ni32.const 2\nend\n"), cause: udf.Broken, reason: "status 2"},
		},
		37: {
			{name: "message out of range", module: guest("", scalarManifest, "func $f export \"f\" (i32) -> (i32)\nlocal.get 0 i32.const -4 i32.store offset=112\nlocal.get 0 i32.const 100 i32.store offset=116\ni32.const 1\nend\n"), cause: udf.Broken, reason: "message outside"},
			failing("message of 4 G", message+"local.get 0 i32.const -1 i32.store offset=116", "row -1 "+strings.Repeat("A", 4096)),
			failing("control characters", "i32.const 64 i64.const 0x41ff1b0a07e280ae i64.store\nlocal.get 0 i32.const 64 i32.store offset=112 local.get 0 i32.const 8 i32.store offset=116", "A"),
			failing("row 999999", message+"local.get 0 i32.const 1 i32.store offset=116 local.get 0 i32.const 999999 i32.store offset=120", "row -1 A"),
			failing("row 3", message+"local.get 0 i32.const 1 i32.store offset=116 local.get 0 i32.const 3 i32.store offset=120", "row 3 A"),
		},
		38: {
			bad("data out of range", scalarManifest, setOut(atData, 0x7ffffff8), "outside"),
			bad("data wraps", scalarManifest, setOut(atData, 0xfffffff8), "outside"),
			bad("data at 0", scalarManifest, setOut(atData, 0), "data at 0x0"),
			bad("data misaligned", scalarManifest, setOut(atData, 68), "multiple of 8"),
			bad("offsets misaligned", text, setOut(atOffsets, 66), "multiple of 4"),
		},
		39: {{name: "result in the arguments", module: body(scalarManifest, "local.get 0 i32.load offset=28 local.get 0 i32.load offset=20 i32.load offset=24 i32.store offset=24")}},
		40: {
			bad("type changed", scalarManifest, setOut(atType, 4), "type was changed"),
			bad("flags changed", scalarManifest, setOut(atFlags, 1), "flags were changed"),
			{name: "call written over", module: body(scalarManifest, "local.get 0 i32.const 255 i32.const 128 memory.fill")},
			{name: "arguments written over", module: body(scalarManifest, "local.get 0 i32.load offset=20 i32.const 255 i32.const 64 memory.fill")},
		},
		41: {
			bad("offsets descend", text, offsets(0, 4, 3, 5, 6), "ascend"),
			bad("offsets begin at 1", text, offsets(1, 2, 3, 4, 5), "ascend"),
			bad("offsets end behind the data", text, offsets(0, 1, 2, 3, 4)+setOut(atDataLen, 3), "last offset"),
			bad("offsets of 2 G", text, offsets(0, 1, 2, 3, 0x7fffffff), "outside"),
			bad("negative offset", text, offsets(0, 1, 2, 3, -1), "last offset"),
			bad("offsets of arrays descend", arrays, offsets(0, 4, 3, 5, 6), "ascend"),
			bad("arrays of 2 G", arrays, offsets(0, 1, 2, 3, 0x7fffffff), "outside"),
		},
		42: {
			bad("differences wrap", text, offsets(0, 0x7fffffff, -0x80000000, -1, 5), "ascend"),
			bad("differences of arrays wrap", arrays, offsets(0, 0x7fffffff, -0x80000000, -1, 5), "ascend"),
		},
		43: {
			bad("invalid UTF-8", text, offsets(0, 1, 2, 3, 4)+putOut(atData, 0, 0x4142fe43), "UTF-8"),
			bad("row begins inside of a character", text, offsets(0, 1, 2, 3, 4)+putOut(atData, 0, 0x41ac82e2), "inside of a character"),
		},
		44: {
			bad("NULLs without a bitmap", scalarManifest, setOut(atNulls, 4)+setOut(atValidity, 0), "validity at 0x0"),
			{name: "count of NULLs is wrong", module: body(scalarManifest, setOut(atNulls, 77))},
		},
		45: {{name: "writes over a result after it was checked", module: guest("", text, `global $old mut i32 0
func $f export "f" (i32) -> (i32)
  global.get $old
  if
    global.get $old i32.const 255 i32.const 8 memory.fill
  end
  local.get 0 i32.load offset=28 i32.load offset=20 global.set $old
  global.get $old i64.const 0x0000000300000000 i64.store
  local.get 0 i32.load offset=28 i32.const 3 i32.store offset=28
  i32.const 0
end
`), run: heldResult, limits: udf.Limits{}}},
		46: {
			table("MORE without progress", "", "without a row", 2),
			table("MORE with a moving cursor", "local.get 0 local.get 0 i64.load offset=32 i64.const 1 i64.add i64.store offset=32", "without a row", 2),
			{
				name: "endless rows", module: guest("", tableOfInts, "func $f export \"f\" (i32) -> (i32)\nlocal.get 0 local.get 0 i32.load offset=96 i32.store offset=100\nlocal.get 0 i32.load offset=104 i32.const 0 local.get 0 i32.load offset=96 i32.const 4 i32.mul memory.fill\ni32.const 2\nend\n"),
				limits: udf.Limits{Fuel: 1 << 40, RowsOut: 100_000}, cause: udf.Overflow, reason: "100000",
			},
			{name: "endless rows of little fuel", module: guest("", tableOfInts, "func $f export \"f\" (i32) -> (i32)\nlocal.get 0 i32.const 1 i32.store offset=100\nlocal.get 0 i32.load offset=104 i32.const 0 i32.store\ni32.const 2\nend\n"), cause: udf.Fuel, reason: "fuel"},
		},
		47: {
			table("more rows than allowed", "local.get 0 local.get 0 i32.load offset=96 i32.const 1 i32.add i32.store offset=100", "for at most", 0),
			table("parent out of range", parents(0, 4), "of 4", 0),
			table("negative parent", parents(-1), "of 4", 0),
			table("parents descend", parents(2, 1), "after one of row 2", 0),
		},
		49: {
			bad("child out of range", arrays, setOut(atChildren, -64), "children were moved"),
			bad("child is its parent", arrays, "local.get 0 i32.load offset=28 local.get 0 i32.load offset=28 i32.store offset=40", "children were moved"),
			bad("no child", arrays, setOut(44, 0), "children were moved"),
			bad("child of another type", arrays, "local.get 0 i32.load offset=28 i32.load offset=40 i32.const 5 i32.store", "type was changed"),
		},
		50: {
			{name: "udf_alloc returns 0", module: allocReturning("i32.const 0"), cause: udf.Memory, reason: "bytes for a batch"},
			{name: "udf_alloc returns a misaligned address", module: allocReturning("i32.const 1000"), cause: udf.Broken, reason: "multiple of 64"},
			{name: "udf_alloc returns an address out of range", module: allocReturning("i32.const 0x7fffffc0"), cause: udf.Broken, reason: "outside"},
			{name: "udf_alloc returns an address that wraps", module: allocReturning("i32.const -64"), cause: udf.Broken, reason: "outside"},
			{name: "udf_alloc returns another function's stack", module: allocReturning("i32.const 64 i32.const 256 memory.grow drop"), run: noCrash},
		},
		53: {
			bad("decimal too large", returning("DECIMAL(3, 1)"), putOut(atData, 0, 1000), "is no DECIMAL(3, 1)"),
			bad("TIME beyond a day", returning("TIME(3)"), putOut(atData, 4, 86_400_000), "row 1 is no TIME(3)"),
			bad("negative TIME", returning("TIME(6)"), putOut(atData, 4, -1), "row 0 is no TIME(6)"),
			bad("string too long", returning("VARCHAR(2)"), offsets(0, 3, 3, 3, 3)+putOut(atData, 0, 0x41414141), "row 0 is no VARCHAR(2)"),
			bad("bytes too long", returning("VARBINARY(2)"), offsets(0, 0, 3, 3, 3), "row 1 is no VARBINARY(2)"),
			bad("map key NULL", returning("MAP<INT, INT>"), offsets(0, 1, 1, 1, 1)+putChild(0, atValidity, 0, 0), "is NULL"),
			bad("element NULL", returning("ARRAY<INT NOT NULL>"), offsets(0, 1, 1, 1, 1)+putChild(0, atValidity, 0, 0), "is NULL"),
			bad("count of a multiset", returning("MULTISET<INT>"), offsets(0, 1, 1, 1, 1)+putChild(1, atData, 0, 0), "occurs 0 times"),
			bad("result NULL", strings.Replace(scalarManifest, `"nulls"`, `"nullable":false,"nulls"`, 1), putOut(atValidity, 0, 0), "row 0 is NULL"),
			bad("decimal in an array", returning("ARRAY<DECIMAL(3, 1)>"), offsets(0, 1, 1, 1, 1)+putChild(0, atData, 0, 1000), "child 0"),
			{name: "too large, but NULL", module: body(returning("DECIMAL(3, 1)"), putOut(atData, 0, 1000)+putOut(atValidity, 0, -2)), rows: 4},
			{name: "too large, in an array that is NULL", module: body(returning("ARRAY<DECIMAL(3, 1) NOT NULL>"), offsets(0, 1, 1, 1, 1)+putChild(0, atData, 0, 1000)+putChild(0, atValidity, 0, 0)+putOut(atValidity, 0, -2)), rows: 4},
		},
		54: {{name: "counts its calls", module: guest("", scalarManifest, "global $n mut i64 0\nfunc $f export \"f\" (i32) -> (i32)\nglobal.get $n i64.const 1 i64.add global.set $n\nlocal.get 0 i32.load offset=28 i32.load offset=24 global.get $n i64.store\ni32.const 0\nend\n")}},
		56: {{name: "children on the same bytes", module: body(returning("ARRAY<ROW<"+strings.Join(fields, ", ")+">>"), alias), cause: udf.Broken, reason: "overlap", rows: 4}},
	}
}

func allocReturning(code string) func() []byte {
	module := body(scalarManifest, "")
	return func() []byte {
		_ = module
		return replaceAlloc(code)
	}
}

const (
	fixedAggregate = `{"name":"f","kind":"aggregate","args":[{"name":"a","type":"BIGINT"}],"returns":"BIGINT","nulls":"called","state":{"size":8,"version":1}}`
	viewAggregate  = `{"name":"f","kind":"aggregate","args":[{"name":"a","type":"BIGINT"}],"returns":"BIGINT","nulls":"called","state":{"size":0,"version":1}}`
	changesOfTable = `{"name":"f","kind":"table_aggregate","args":[{"name":"a","type":"BIGINT"}],"returns":"ROW<x INT>","nulls":"called","state":{"size":8,"version":1},"emit":"retract"}`
)

func hostileStates() map[int][]hostile {
	finish := "func export \"f.finish\" (i32) -> (i32)\ni32.const 0\nend\n"
	update := func(code string) string {
		return "func export \"f.update\" (i32) -> (i32)\nlocals i32\n" + code + "\ni32.const 0\nend\n"
	}
	// each runs code for every view, whose address is in local 1.
	each := func(code string) string {
		return "local.get 0 i32.load offset=76 local.set 1\nloop\n" + code +
			"\nlocal.get 1 i32.const 16 i32.add local.tee 1\nlocal.get 0 i32.load offset=76 local.get 0 i32.load offset=64 i32.const 16 i32.mul i32.add i32.lt_u br_if 0\nend\n"
	}
	view := func(name, code string, cause udf.Cause, reason string) hostile {
		return hostile{name: name, module: guest("", viewAggregate, finish+update(code)), rows: 4096, cause: cause, reason: reason, run: updateStates}
	}
	emit := func(name, code, reason string) hostile {
		return hostile{name: name, module: guest("", changesOfTable, update("")+"func export \"f.emit\" (i32) -> (i32)\n"+code+"\ni32.const 0\nend\n"), cause: udf.Broken, reason: reason, rows: 4, run: emitStates}
	}
	return map[int][]hostile{
		47: {
			emit("kind 2", "local.get 0 i32.const 1 i32.store offset=100 local.get 0 i32.load offset=104 i32.const 0 i32.store local.get 0 i32.load offset=108 i32.const 2 i32.store8", "kind 2"),
			emit("group out of range", "local.get 0 i32.const 1 i32.store offset=100 local.get 0 i32.load offset=104 i32.const 4 i32.store", "of 4"),
		},
		48: {
			view("4096 views on the same MiB", "i32.const 16 memory.grow drop "+each("local.get 1 i32.const 65536 i32.store local.get 1 i32.const 1048576 i32.store offset=4"), udf.Overflow, "overlap"),
			view("view out of range", each("local.get 1 i32.const -16 i32.store local.get 1 i32.const 32 i32.store offset=4"), udf.Broken, "outside"),
			view("view at 0", each("local.get 1 i32.const 0 i32.store local.get 1 i32.const 32 i32.store offset=4"), udf.Broken, "outside"),
			view("view of 2 MiB", each("local.get 1 i32.const 64 i32.store local.get 1 i32.const 2097152 i32.store offset=4"), udf.Overflow, "at most 1048576"),
			view("empty views anywhere", each("local.get 1 i32.const -16 i32.store local.get 1 i32.const 0 i32.store offset=4"), 0, ""),
		},
		51: {{
			name: "traps after half of the states", module: guest("", fixedAggregate, finish+update("local.get 0 i32.load offset=76 i32.const 255 local.get 0 i32.load offset=64 i32.const 4 i32.mul memory.fill\nunreachable")),
			cause: udf.Trapped, reason: "unreachable", run: updateStates,
		}},
	}
}

// updateStates updates as many groups as there are rows, and checks that a failure leaves
// the states as they were.
func updateStates(r *guestRun) error {
	s := &udf.States{}
	group := make([]uint32, r.rows)
	for g := range group {
		group[g] = uint32(g)
		if r.i.Function().StateSize == 0 {
			s.Views = append(s.Views, []byte("before"))
		} else {
			s.Fixed = append(s.Fixed, "before.."...)
		}
	}
	v := int64s(r.pool, r.rows)
	defer v.Release()
	err := r.i.Update(context.Background(), &udf.Call{Args: []*vector.Vector{v}, Rows: r.rows, Pool: r.pool}, group, nil, s)
	if err == nil {
		return nil
	}
	for _, b := range s.Views {
		if string(b) != "before" {
			return errors.New("a failed call changed the states")
		}
	}
	if len(bytes.ReplaceAll(s.Fixed, []byte("before.."), nil)) > 0 {
		return errors.New("a failed call changed the states")
	}
	return err
}

func emitStates(r *guestRun) error {
	s := &udf.States{Fixed: make([]byte, 8*r.rows)}
	return r.i.Emit(context.Background(), &udf.Call{Pool: r.pool}, s, func(rows *udf.Rows) error { rows.Release(); return nil })
}
