package csdk_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weirdb/weir/abi"
)

// guest is a module that is called as plainly as the contract allows: every call
// gets fresh buffers that are exactly as large as said, so that a guest which writes
// past its room, or believes that there is more, is found out.
type guest struct {
	t      *testing.T
	ctx    context.Context
	mod    api.Module
	log    []string
	guards []uint32 // addresses of the 64 bytes behind each buffer
}

// guard fills what no one may touch.
const guard = 0xa5

func newGuest(t *testing.T, file string) *guest {
	t.Helper()
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{t: t, ctx: t.Context()}
	r := wazero.NewRuntimeWithConfig(g.ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { r.Close(context.WithoutCancel(g.ctx)) })
	_, err = r.NewHostModuleBuilder(abi.ImportModule).NewFunctionBuilder().
		WithFunc(func(_ context.Context, m api.Module, level, ptr, n uint32) {
			text, _ := m.Memory().Read(ptr, n)
			g.log = append(g.log, string(text))
		}).Export(abi.ImportLog).Instantiate(g.ctx)
	if err != nil {
		t.Fatal(err)
	}
	g.mod, err = r.InstantiateWithConfig(g.ctx, module, wazero.NewModuleConfig().WithStartFunctions(abi.ExportInitialize))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *guest) alloc(n uint32) uint32 {
	r, err := g.mod.ExportedFunction(abi.ExportAlloc).Call(g.ctx, uint64(n))
	if err != nil {
		g.t.Fatal(err)
	}
	at := uint32(r[0])
	if at == 0 || at%abi.Align != 0 {
		g.t.Fatalf("udf_alloc(%d) = %#x", n, at)
	}
	return at
}

func (g *guest) free(at, n uint32) {
	if _, err := g.mod.ExportedFunction(abi.ExportFree).Call(g.ctx, uint64(at), uint64(n)); err != nil {
		g.t.Fatal(err)
	}
}

// write puts bytes into memory of their own, between bytes that no one may touch.
func (g *guest) write(b []byte) uint32 {
	padded := (uint32(len(b)) + abi.Align - 1) &^ (abi.Align - 1)
	at := g.alloc(padded + 64)
	m := make([]byte, padded+64)
	copy(m, b)
	for i := padded; i < padded+64; i++ {
		m[i] = guard
	}
	g.mod.Memory().Write(at, m)
	g.guards = append(g.guards, at+padded)
	return at
}

func (g *guest) u32(at uint32) uint32 { v, _ := g.mod.Memory().ReadUint32Le(at); return v }

func (g *guest) bytes(at, n uint32) []byte {
	b, ok := g.mod.Memory().Read(at, n)
	if !ok {
		g.t.Fatalf("%d bytes at %#x are outside of the memory", n, at)
	}
	return append([]byte(nil), b...)
}

// call is the fields of a call that a test sets. Inputs and outputs are built from values and shapes.
type call struct {
	in            []values
	out           []abi.Shape
	rows, outRows uint32 // outRows: what outputs have room for
	tight         bool   // children and bytes get no room
	groups        uint32
	group         []uint32
	sign          []int8
	state, other  uint32
	size, oldSize uint32
	oldVersion    uint32
	now           int64
	seed          uint64

	at, outColumns, parent, kind uint32 // where prepare wrote them
}

// values are the rows of one column: nil is NULL. Numbers are int64 or float64,
// strings are string, arrays and rows []any, maps [][2]any. Constant columns have one.
type values struct {
	shape    abi.Shape
	rows     []any
	constant bool
}

func (g *guest) column(v values, length uint32) []byte {
	c := make([]byte, abi.ColumnBytes)
	put := func(at int, x uint32) { binary.LittleEndian.PutUint32(c[at:], x) }
	put(abi.ColumnTypeAt, uint32(v.shape.Type))
	put(abi.ColumnLengthAt, length)
	if v.constant {
		put(abi.ColumnFlagsAt, abi.ColumnConstant)
	}
	bits, nulls := make([]byte, (len(v.rows)+7)/8), uint32(0)
	for i, x := range v.rows {
		if x == nil {
			nulls++
		} else {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	put(abi.ColumnNullCountAt, nulls)
	if nulls > 0 {
		put(abi.ColumnValidityAt, g.write(bits))
	}
	var data []byte
	offsets := []uint32{0}
	children := make([]values, len(v.shape.Children))
	for k := range children {
		children[k].shape = v.shape.Children[k]
	}
	for i, x := range v.rows {
		switch v.shape.Type.ID() {
		case abi.String, abi.Binary:
			if x != nil {
				data = append(data, x.(string)...)
			} else {
				data = append(data, "null"...) // a null slot has some value
			}
			offsets = append(offsets, uint32(len(data)))
		case abi.Array:
			if x != nil {
				children[0].rows = append(children[0].rows, x.([]any)...)
			}
			offsets = append(offsets, uint32(len(children[0].rows)))
		case abi.Map:
			if x != nil {
				for _, e := range x.([][2]any) {
					children[0].rows, children[1].rows = append(children[0].rows, e[0]), append(children[1].rows, e[1])
				}
			}
			offsets = append(offsets, uint32(len(children[0].rows)))
		case abi.Row:
			fields, _ := x.([]any)
			for k := range children {
				if x == nil {
					children[k].rows = append(children[k].rows, nil)
				} else {
					children[k].rows = append(children[k].rows, fields[k])
				}
			}
		case abi.Boolean:
			if i%8 == 0 {
				data = append(data, 0)
			}
			if x == true {
				data[i/8] |= 1 << (i % 8)
			}
		default:
			data = append(data, encode(v.shape.Type, x)...)
		}
	}
	if v.shape.Type.HasOffsets() {
		put(abi.ColumnOffsetsAt, g.write(binary.LittleEndian.AppendUint32(nil, 0)))
		var b []byte
		for _, o := range offsets {
			b = binary.LittleEndian.AppendUint32(b, o)
		}
		put(abi.ColumnOffsetsAt, g.write(b))
	}
	if v.shape.Type.HasData() {
		put(abi.ColumnDataAt, g.write(data))
		put(abi.ColumnDataLenAt, uint32(len(data)))
	}
	g.children(c, len(children), func(k int) []byte { return g.column(children[k], uint32(len(children[k].rows))) })
	return c
}

// encode is a value of fixed width; NULL is -1.
func encode(t abi.Type, x any) []byte {
	v := int64(-1)
	switch x := x.(type) {
	case int64:
		v = x
	case int:
		v = int64(x)
	case float64:
		if t.ID() == abi.Float {
			v = int64(math.Float32bits(float32(x)))
		} else {
			v = int64(math.Float64bits(x))
		}
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(v))
	return binary.LittleEndian.AppendUint64(b, uint64(v>>63))[:t.Width()]
}

func (g *guest) children(c []byte, n int, column func(k int) []byte) {
	if n == 0 {
		return
	}
	var b []byte
	for k := range n {
		b = append(b, column(k)...)
	}
	binary.LittleEndian.PutUint32(c[abi.ColumnChildrenAt:], g.write(b))
	binary.LittleEndian.PutUint32(c[abi.ColumnNChildrenAt:], uint32(n))
}

// output prepares a column for rows rows; tight leaves its children and bytes no room.
func (g *guest) output(s abi.Shape, rows uint32, tight bool) []byte {
	c := make([]byte, abi.ColumnBytes)
	put := func(at int, x uint32) { binary.LittleEndian.PutUint32(c[at:], x) }
	put(abi.ColumnTypeAt, uint32(s.Type))
	put(abi.ColumnRowCapAt, rows)
	ones := make([]byte, (rows+7)/8)
	for i := range ones {
		ones[i] = 0xff
	}
	put(abi.ColumnValidityAt, g.write(ones))
	if s.Type.HasOffsets() {
		put(abi.ColumnOffsetsAt, g.write(make([]byte, 4*(rows+1))))
	}
	size := rows * uint32(s.Type.Width())
	switch s.Type.ID() {
	case abi.Boolean:
		size = (rows + 7) / 8
	case abi.String, abi.Binary:
		if size = 64 * rows; tight {
			size = 0
		}
	}
	if s.Type.HasData() {
		put(abi.ColumnDataAt, g.write(make([]byte, size)))
		put(abi.ColumnDataCapAt, size)
	}
	inner := rows
	if s.Type.HasOffsets() {
		if inner = 8 * rows; tight {
			inner = 0
		}
	}
	g.children(c, len(s.Children), func(k int) []byte { return g.output(s.Children[k], inner, tight) })
	return c
}

// prepare writes the call; run may be called several times, as with More.
func (g *guest) prepare(c *call) {
	b := make([]byte, abi.CallBytes)
	put := func(at int, x uint32) { binary.LittleEndian.PutUint32(b[at:], x) }
	var in, out []byte
	for _, v := range c.in {
		in = append(in, g.column(v, c.rows)...)
	}
	for _, s := range c.out {
		out = append(out, g.output(s, max(c.outRows, 1), c.tight)...)
	}
	c.outColumns = g.write(out)
	put(abi.CallVersionAt, abi.Version)
	put(abi.CallSizeAt, abi.CallBytes)
	put(abi.CallRowsAt, c.rows)
	put(abi.CallNInAt, uint32(len(c.in)))
	put(abi.CallInAt, g.write(in))
	put(abi.CallNOutAt, uint32(len(c.out)))
	put(abi.CallOutAt, c.outColumns)
	binary.LittleEndian.PutUint64(b[abi.CallNowAt:], uint64(c.now))
	binary.LittleEndian.PutUint64(b[abi.CallSeedAt:], c.seed)
	put(abi.CallGroupsAt, c.groups)
	var group, sign []byte
	for _, x := range c.group {
		group = binary.LittleEndian.AppendUint32(group, x)
	}
	for _, x := range c.sign {
		sign = append(sign, byte(x))
	}
	put(abi.CallGroupAt, g.write(group))
	if c.sign != nil {
		put(abi.CallSignAt, g.write(sign))
	}
	put(abi.CallStateAt, c.state)
	put(abi.CallStateSizeAt, c.size)
	put(abi.CallOtherAt, c.other)
	put(abi.CallOtherSizeAt, c.oldSize)
	put(abi.CallOtherVersionAt, c.oldVersion)
	put(abi.CallMaxRowsAt, c.outRows)
	c.parent, c.kind = g.write(make([]byte, 4*c.outRows)), g.write(make([]byte, c.outRows))
	put(abi.CallParentAt, c.parent)
	put(abi.CallKindAt, c.kind)
	put(abi.CallErrRowAt, abi.NoRow)
	c.at = g.write(b)
}

func (g *guest) run(export string, c *call) abi.Status {
	g.t.Helper()
	r, err := g.mod.ExportedFunction(export).Call(g.ctx, uint64(c.at))
	if err != nil {
		g.t.Fatalf("%s: %v", export, err)
	}
	for _, at := range g.guards {
		if b := g.bytes(at, 64); bytes.Count(b, []byte{guard}) != 64 {
			g.t.Fatalf("%s wrote past the end of a buffer: %x", export, b)
		}
	}
	return abi.Status(r[0])
}

// result decodes n rows of output k.
func (g *guest) result(c *call, k int, n uint32) []any {
	return g.decode(c.out[k], c.outColumns+uint32(k)*abi.ColumnBytes, n)
}

func (g *guest) decode(s abi.Shape, at, n uint32) []any {
	out := make([]any, n)
	if got := abi.Type(g.u32(at + abi.ColumnTypeAt)); got != s.Type {
		g.t.Fatalf("type %v became %v", s.Type, got)
	}
	if room := g.u32(at + abi.ColumnRowCapAt); room < n {
		g.t.Fatalf("%d rows of %v, room for %d", n, s.Type, room)
	}
	bits := g.bytes(g.u32(at+abi.ColumnValidityAt), (n+7)/8)
	var data []byte
	var offsets []uint32
	if s.Type.HasOffsets() {
		b := g.bytes(g.u32(at+abi.ColumnOffsetsAt), 4*(n+1))
		for i := range n + 1 {
			offsets = append(offsets, binary.LittleEndian.Uint32(b[4*i:]))
			if i == 0 && offsets[0] != 0 || i > 0 && offsets[i] < offsets[i-1] {
				g.t.Fatalf("offsets of %v: %d", s.Type, offsets)
			}
		}
	}
	width := uint32(s.Type.Width())
	switch s.Type.ID() {
	case abi.String, abi.Binary:
		if end := g.u32(at + abi.ColumnDataLenAt); end != offsets[n] {
			g.t.Fatalf("data_len %d, last offset %d", end, offsets[n])
		}
		data = g.bytes(g.u32(at+abi.ColumnDataAt), offsets[n])
	case abi.Boolean:
		data = g.bytes(g.u32(at+abi.ColumnDataAt), (n+7)/8)
	default:
		data = g.bytes(g.u32(at+abi.ColumnDataAt), n*width)
	}
	var children [][]any
	for k, c := range s.Children {
		rows := n
		if s.Type.HasOffsets() {
			rows = offsets[n]
		}
		children = append(children, g.decode(c, g.u32(at+abi.ColumnChildrenAt)+uint32(k)*abi.ColumnBytes, rows))
	}
	for i := range n {
		if bits[i/8]>>(i%8)&1 == 0 {
			continue
		}
		switch s.Type.ID() {
		case abi.String, abi.Binary:
			out[i] = string(data[offsets[i]:offsets[i+1]])
		case abi.Array:
			out[i] = append([]any{}, children[0][offsets[i]:offsets[i+1]]...)
		case abi.Map:
			m := [][2]any{}
			for e := offsets[i]; e < offsets[i+1]; e++ {
				m = append(m, [2]any{children[0][e], children[1][e]})
			}
			out[i] = m
		case abi.Row:
			row := []any{}
			for _, c := range children {
				row = append(row, c[i])
			}
			out[i] = row
		case abi.Boolean:
			out[i] = data[i/8]>>(i%8)&1 == 1
		default:
			out[i] = decodeFixed(s.Type, data[i*width:])
		}
	}
	return out
}

func decodeFixed(t abi.Type, b []byte) any {
	switch {
	case t.ID() == abi.Float:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case t.ID() == abi.Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case t.Width() == 1:
		return int64(int8(b[0]))
	case t.Width() == 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case t.Width() == 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}
