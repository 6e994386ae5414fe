package meter

import (
	"strings"

	"github.com/weirdb/weir/udf/internal/wasm"
)

// pass is the rewriting of one module.
type pass struct {
	in     []byte
	m      *wasm.Module
	v      *wasm.Validator
	limits Limits
	opt    options
	stats  Stats
	funcs  []function // defined ones

	imports uint32 // functions imported by the original; the refuel function comes next
	meter   uint32 // index of the meter
	types   []byte // types that are added
	added   uint32 // their number
	blocks  map[string]uint32
	helpers []helper
	charges charges
	out     code
	body    code
}

func rewrite(mod []byte, l Limits, o options) (*Result, error) {
	m, err := wasm.Decode(mod, l.Limits)
	if err != nil {
		return nil, err
	}
	p := &pass{
		in: mod, m: m, v: wasm.NewValidator(m), limits: l, opt: o,
		imports: uint32(len(m.Imports)), meter: uint32(len(m.Globals)), blocks: map[string]uint32{},
	}
	if err := p.reserved(); err != nil {
		return nil, err
	}
	if err := p.survey(); err != nil {
		return nil, err
	}
	resolve(p.funcs, &p.opt)
	if err := p.module(); err != nil {
		return nil, err
	}
	p.stats.Functions = len(p.funcs)
	p.stats.BytesBefore, p.stats.BytesAfter = len(mod), len(p.out)
	return &Result{Wasm: p.out, Module: m, Stats: p.stats}, nil
}

// reserved refuses modules that use the names of the pass.
func (p *pass) reserved() error {
	for _, i := range p.m.Imports {
		if i.Module == RefuelModule && i.Name == RefuelName {
			return errorf("import", "import %q %q is reserved", i.Module, i.Name)
		}
	}
	for _, e := range p.m.Exports {
		if strings.HasPrefix(e.Name, ReservedPrefix) {
			return errorf("export", "export %q is reserved: names must not begin with %q", e.Name, ReservedPrefix)
		}
	}
	return nil
}

// survey validates all functions and finds what resolve needs.
func (p *pass) survey() error {
	m := p.m
	p.funcs = make([]function, len(m.Funcs))
	p.pin()
	whole := options{slack: 1 << 30, exit: 1 << 30, after: 1 << 30, most: 1 << 30}
	units := func(op *wasm.Op) (uint32, bool) { return cost(op.Code), false }
	for i := range p.funcs {
		b, err := p.v.Body(i)
		if err != nil {
			return err
		}
		f := &p.funcs[i]
		f.plain = true
		for j := range b.Ops {
			switch op := &b.Ops[j]; op.Code {
			case wasm.Call:
				if op.Imm < p.imports {
					f.plain = false
				} else {
					f.calls = append(f.calls, op.Imm-p.imports)
				}
			case wasm.CallIndirect:
				f.plain, f.indirect = false, true
			case wasm.Loop, wasm.MemoryGrow:
				f.plain = false
			default:
				if bulk(op.Code) {
					f.plain = false
				}
			}
		}
		if f.plain {
			p.charges.trace(b)
			p.charges.plan(b, units, &whole)
			f.path = p.charges.start
		}
		f.frame = frame(b)
		s := &p.stats
		s.MaxBody = max(s.MaxBody, b.Bytes)
		s.MaxLocals = max(s.MaxLocals, len(b.Locals))
		s.MaxNesting = max(s.MaxNesting, b.Nesting)
		s.MaxHeight = max(s.MaxHeight, b.MaxHeight)
		s.MaxFrame = max(s.MaxFrame, f.frame)
		if s.Targets += len(b.Targets); s.Targets > p.limits.ModuleTargets {
			return p.errorf(i, "%d branch targets in the module, the limit is %d", s.Targets, p.limits.ModuleTargets)
		}
	}
	return nil
}

// pin marks the functions that others than callers by name call.
func (p *pass) pin() {
	pin := func(f uint32) {
		if f != wasm.NullFunc && f >= p.imports {
			p.funcs[f-p.imports].pinned = true
		}
	}
	pin(p.m.Start)
	for _, e := range p.m.Exports {
		if e.Kind == wasm.ExternFunc {
			pin(e.Index)
		}
	}
	for _, g := range p.m.Globals {
		if g.Init.Code == wasm.RefFunc {
			pin(g.Init.Func)
		}
	}
	for _, e := range p.m.Elements {
		for _, f := range e.Funcs {
			pin(f)
		}
	}
}

// errorf returns an error in defined function i.
func (p *pass) errorf(i int, format string, args ...any) error {
	err := errorf("code", format, args...).(*wasm.Error)
	err.Func = len(p.m.Imports) + i
	err.Name = p.m.FuncName(uint32(err.Func))
	return err
}

// shift returns the index of a function in the rewritten module: the refuel function
// stands between the imported and the defined.
func (p *pass) shift(f uint32) uint32 {
	if f >= p.imports {
		return f + 1
	}
	return f
}

// refuel is the index of the refuel function.
func (p *pass) refuel() uint32 { return p.imports }

// addType adds a function type and returns its index.
func (p *pass) addType(t string) uint32 {
	i, ok := p.blocks[t]
	if !ok {
		i = uint32(len(p.m.Types)) + p.added
		p.blocks[t] = i
		p.types = append(p.types, t...)
		p.added++
	}
	return i
}

// blockType returns the type of a block that takes nothing and gives the results.
func (p *pass) blockType(results []wasm.ValueType) []byte {
	switch len(results) {
	case 0:
		return []byte{emptyBlock}
	case 1:
		return []byte{byte(results[0])}
	}
	t := code{0x60, 0}
	t.u32(uint32(len(results)))
	for _, r := range results {
		t = append(t, byte(r))
	}
	var c code
	c.s64(int64(p.addType(string(t))))
	return c
}
