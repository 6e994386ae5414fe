package meter

import "github.com/weirdb/weir/udf/internal/wasm"

// module writes the sections of the rewritten module. The code comes first, as it adds
// types and helpers.
func (p *pass) module() error {
	var bodies code
	for i := range p.funcs {
		if err := p.function(i); err != nil {
			return err
		}
		bodies.u32(uint32(len(p.body)))
		bodies = append(bodies, p.body...)
	}
	for _, h := range p.helpers {
		bodies.u32(uint32(len(h.body)))
		bodies = append(bodies, h.body...)
	}
	p.out = make(code, 0, len(p.in)+len(bodies))
	p.out = append(p.out, p.in[:8]...)
	refuelType := p.addType("\x60\x00\x00")
	p.section(1, p.typeSection())
	p.section(2, p.importSection(refuelType))
	p.section(3, p.functionSection())
	p.section(4, p.tableSection())
	p.section(5, p.memorySection())
	p.section(6, p.globalSection())
	p.section(7, p.exportSection())
	if p.m.Start != wasm.NullFunc {
		var c code
		c.u32(p.shift(p.m.Start))
		p.section(8, c)
	}
	p.section(9, p.elementSection())
	if n, ok := p.m.DataCount(); ok {
		var c code
		c.u32(uint32(n))
		p.section(12, c)
	}
	var count code
	if n := len(p.funcs) + len(p.helpers); n > 0 {
		count.u32(uint32(n))
		p.section(10, append(count, bodies...))
	}
	p.section(11, p.dataSection())
	p.section(0, p.nameSection())
	return nil
}

// section writes a section; one without content is left out.
func (p *pass) section(id byte, content code) {
	if len(content) == 0 {
		return
	}
	p.out = append(p.out, id)
	p.out.u32(uint32(len(content)))
	p.out = append(p.out, content...)
}

func (p *pass) typeSection() code {
	var c code
	c.u32(uint32(len(p.m.Types)) + p.added)
	for _, t := range p.m.Types {
		c = append(c, 0x60)
		for _, list := range [][]wasm.ValueType{t.Params, t.Results} {
			c.u32(uint32(len(list)))
			for _, v := range list {
				c = append(c, byte(v))
			}
		}
	}
	return append(c, p.types...)
}

func (p *pass) importSection(refuelType uint32) code {
	var c code
	c.u32(p.imports + 1)
	for _, i := range p.m.Imports {
		c.name(i.Module)
		c.name(i.Name)
		c = append(c, byte(wasm.ExternFunc))
		c.u32(i.Type)
	}
	c.name(RefuelModule)
	c.name(RefuelName)
	c = append(c, byte(wasm.ExternFunc))
	c.u32(refuelType)
	return c
}

func (p *pass) functionSection() code {
	n := len(p.m.Funcs) + len(p.helpers)
	if n == 0 {
		return nil
	}
	var c code
	c.u32(uint32(n))
	for _, t := range p.m.Funcs {
		c.u32(t)
	}
	for _, h := range p.helpers {
		c.u32(h.typ)
	}
	return c
}

// tableSection writes the tables, with maxima that keep them from growing over the limit.
func (p *pass) tableSection() code {
	if len(p.m.Tables) == 0 {
		return nil
	}
	var c code
	c.u32(uint32(len(p.m.Tables)))
	for _, t := range p.m.Tables {
		hi := uint32(p.limits.TableEntries)
		if t.HasMax {
			hi = min(hi, t.Max)
		}
		c = append(c, byte(t.Type), 1)
		c.u32(t.Min)
		c.u32(hi)
	}
	return c
}

func (p *pass) memorySection() code {
	if p.m.Memory == nil {
		return nil
	}
	hi := uint32(p.limits.MemoryPages)
	if p.m.Memory.HasMax {
		hi = min(hi, p.m.Memory.Max)
	}
	c := code{1, 1}
	c.u32(p.m.Memory.Min)
	c.u32(hi)
	return c
}

func (p *pass) globalSection() code {
	var c code
	c.u32(uint32(len(p.m.Globals)) + 1)
	for _, g := range p.m.Globals {
		mutable := byte(0)
		if g.Mutable {
			mutable = 1
		}
		c = append(c, byte(g.Type), mutable)
		p.constExpr(&c, &g.Init)
	}
	c = append(c, byte(wasm.I64), 1)
	c.i64(int64(Pack(0, int32(p.limits.Stack))))
	c.op(wasm.End)
	return c
}

func (p *pass) constExpr(c *code, e *wasm.ConstExpr) {
	if e.Code != wasm.RefFunc {
		*c = append(*c, e.Bytes...)
		return
	}
	c.index(wasm.RefFunc, p.shift(e.Func))
	c.op(wasm.End)
}

func (p *pass) exportSection() code {
	var c code
	c.u32(uint32(len(p.m.Exports)) + 1)
	for _, e := range p.m.Exports {
		c.name(e.Name)
		c = append(c, byte(e.Kind))
		if e.Kind == wasm.ExternFunc {
			c.u32(p.shift(e.Index))
		} else {
			c.u32(e.Index)
		}
	}
	c.name(MeterGlobal)
	c = append(c, byte(wasm.ExternGlobal))
	c.u32(p.meter)
	return c
}

func (p *pass) elementSection() code {
	if len(p.m.Elements) == 0 {
		return nil
	}
	var c code
	c.u32(uint32(len(p.m.Elements)))
	for i := range p.m.Elements {
		e := &p.m.Elements[i]
		c.u32(e.Flags)
		if e.Active() {
			if e.Flags&2 != 0 {
				c.u32(e.Table)
			}
			p.constExpr(&c, &e.Offset)
		}
		if e.Flags&3 != 0 {
			if e.Flags&4 != 0 {
				c = append(c, byte(e.Type))
			} else {
				c = append(c, 0)
			}
		}
		c.u32(uint32(len(e.Funcs)))
		for _, f := range e.Funcs {
			switch {
			case e.Flags&4 == 0:
				c.u32(p.shift(f))
			case f == wasm.NullFunc:
				c.op(wasm.RefNull)
				c = append(c, byte(e.Type), byte(wasm.End))
			default:
				c.index(wasm.RefFunc, p.shift(f))
				c.op(wasm.End)
			}
		}
	}
	return c
}

func (p *pass) dataSection() code {
	if len(p.m.Data) == 0 {
		return nil
	}
	size := 0
	for i := range p.m.Data {
		size += len(p.m.Data[i].Bytes) + 16
	}
	c := make(code, 0, size)
	c.u32(uint32(len(p.m.Data)))
	for i := range p.m.Data {
		d := &p.m.Data[i]
		if d.Active {
			c = append(c, 0)
			c = append(c, d.Offset.Bytes...)
		} else {
			c = append(c, 1)
		}
		c.u32(uint32(len(d.Bytes)))
		c = append(c, d.Bytes...)
	}
	return c
}

// nameSection names the functions for stack traces: as the module does, else as it
// exports them.
func (p *pass) nameSection() code {
	names := make([]string, p.m.FuncCount())
	for _, e := range p.m.Exports {
		if e.Kind == wasm.ExternFunc && names[e.Index] == "" {
			names[e.Index] = e.Name
		}
	}
	for _, n := range p.m.Names {
		if uint64(n.Index) < uint64(len(names)) {
			names[n.Index] = n.Name
		}
	}
	count := uint32(0)
	var list code
	put := func(i uint32, name string) {
		if name != "" {
			list.u32(i)
			list.name(name)
			count++
		}
	}
	for i, n := range names[:p.imports] {
		put(uint32(i), n)
	}
	put(p.refuel(), RefuelModule+"."+RefuelName)
	for i, n := range names[p.imports:] {
		put(p.imports+1+uint32(i), n)
	}
	for i, h := range p.helpers {
		put(p.helperIndex(i), h.name)
	}
	var c code
	c.name("name")
	if p.m.Name != "" {
		var n code
		n.name(p.m.Name)
		c = append(c, 0)
		c.u32(uint32(len(n)))
		c = append(c, n...)
	}
	var n code
	n.u32(count)
	n = append(n, list...)
	c = append(c, 1)
	c.u32(uint32(len(n)))
	return append(c, n...)
}
