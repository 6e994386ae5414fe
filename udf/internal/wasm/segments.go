package wasm

func (d *decoder) elements() {
	r, m := &d.r, d.m
	at := r.pos
	n := r.count(2)
	if !d.within(at, "element segments", n, m.limits.Segments) {
		return
	}
	for range n {
		at := r.pos
		e := Element{Flags: r.u32(), Type: FuncRef}
		if e.Flags > 7 {
			d.failf(at, "unknown form of element segment %d", e.Flags)
		}
		if e.Active() {
			if e.Flags&2 != 0 {
				e.Table = r.u32()
			}
			if uint64(e.Table) >= uint64(len(m.Tables)) {
				d.failf(at, "table %d does not exist", e.Table)
			}
			e.Offset = d.constExpr(I32)
		}
		if e.Flags&3 != 0 {
			at := r.pos
			if e.Flags&4 != 0 {
				e.Type = r.refType()
			} else if kind := r.byte(); kind != 0 {
				d.failf(at, "unknown kind of elements %#x", kind)
			}
		}
		if r.err == nil && e.Active() && m.Tables[e.Table].Type != e.Type {
			d.failf(at, "elements of type %s in a table of %s", e.Type, m.Tables[e.Table].Type)
		}
		k := r.count(1)
		if r.err != nil {
			return
		}
		e.Funcs = make([]uint32, k)
		for i := range e.Funcs {
			if e.Flags&4 == 0 {
				e.Funcs[i] = d.funcIndex()
			} else if c := d.constExpr(e.Type); c.Code == RefFunc {
				e.Funcs[i] = c.Func
			} else {
				e.Funcs[i] = NullFunc
			}
			if r.err != nil {
				return
			}
		}
		m.Elements = append(m.Elements, e)
	}
}

func (d *decoder) data() {
	r, m := &d.r, d.m
	at := r.pos
	n := r.count(2)
	if !d.within(at, "data segments", n, m.limits.Segments) {
		return
	}
	for range n {
		at := r.pos
		var s Data
		switch flags := r.u32(); flags {
		case 0, 2:
			s.Active = true
			if flags == 2 && r.u32() != 0 || m.Memory == nil {
				r.fail(at, "data segment for a memory that does not exist")
			}
			s.Offset = d.constExpr(I32)
		case 1:
		default:
			d.failf(at, "unknown form of data segment %d", flags)
		}
		s.Bytes = r.take(r.u32())
		if r.err != nil {
			return
		}
		m.Data = append(m.Data, s)
	}
}

// declare finds the functions that ref.func may name: those a segment, an export or a
// global names outside of the bodies.
func (d *decoder) declare() {
	m := d.m
	m.declared = make([]bool, m.FuncCount())
	for _, e := range m.Exports {
		if e.Kind == ExternFunc {
			m.declared[e.Index] = true
		}
	}
	for _, g := range m.Globals {
		if g.Init.Code == RefFunc {
			m.declared[g.Init.Func] = true
		}
	}
	for _, e := range m.Elements {
		for _, f := range e.Funcs {
			if f != NullFunc {
				m.declared[f] = true
			}
		}
	}
}
