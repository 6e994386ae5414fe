package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// code is WebAssembly code that is being written.
type code []byte

// emptyBlock is the block type without parameters and results.
const emptyBlock = 0x40

func (c *code) op(o wasm.Code) {
	if p := o.Prefix(); p != 0 {
		*c = append(*c, p)
		c.u32(uint32(o & 0xff))
		return
	}
	*c = append(*c, byte(o))
}

// index writes an operation with the index or label it names.
func (c *code) index(o wasm.Code, i uint32) {
	c.op(o)
	c.u32(i)
}

func (c *code) i32(v int32) {
	c.op(wasm.I32Const)
	c.s64(int64(v))
}

func (c *code) i64(v int64) {
	c.op(wasm.I64Const)
	c.s64(v)
}

// open writes the begin of a block.
func (c *code) open(o wasm.Code, blockType ...byte) {
	c.op(o)
	*c = append(*c, blockType...)
}

func (c *code) u32(v uint32) {
	for ; v >= 0x80; v >>= 7 {
		*c = append(*c, byte(v)|0x80)
	}
	*c = append(*c, byte(v))
}

func (c *code) s64(v int64) {
	for {
		b := byte(v) & 0x7f
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			*c = append(*c, b)
			return
		}
		*c = append(*c, b|0x80)
	}
}

func (c *code) name(s string) {
	c.u32(uint32(len(s)))
	*c = append(*c, s...)
}

// locals writes the declaration of locals, equal neighbours together.
func (c *code) locals(types []wasm.ValueType) {
	runs := 0
	for i, t := range types {
		if i == 0 || t != types[i-1] {
			runs++
		}
	}
	c.u32(uint32(runs))
	for i := 0; i < len(types); {
		n := i
		for n < len(types) && types[n] == types[i] {
			n++
		}
		c.u32(uint32(n - i))
		*c = append(*c, byte(types[i]))
		i = n
	}
}
