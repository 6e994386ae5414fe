package udf

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/udf/internal/meter"
	"github.com/weirdb/weir/udf/internal/wasm"
)

// Module is a checked and compiled module. It may be used by several goroutines.
type Module struct {
	host      *Host
	key       moduleKey
	name      string
	limits    Limits
	manifest  *abi.Manifest
	functions []*Function
	stats     meter.Stats
	users     int // of the module and its instances; guarded by the host

	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
}

// Name is what Load was told.
func (m *Module) Name() string { return m.name }

// Manifest is what the module says about itself. Read only.
func (m *Module) Manifest() *abi.Manifest { return m.manifest }

// SHA256 is the hash of the module as it was given to Load.
func (m *Module) SHA256() [32]byte { return m.key.sha }

// Limits are the limits in force: no field is zero.
func (m *Module) Limits() Limits { return m.limits }

// Functions lists the functions in the order of the manifest.
func (m *Module) Functions() []*Function { return m.functions }

// Function returns the function with the given export name.
func (m *Module) Function(export string) (*Function, bool) {
	i := slices.IndexFunc(m.functions, func(f *Function) bool { return f.Export == export })
	if i < 0 {
		return nil, false
	}
	return m.functions[i], true
}

// Close gives up the caller's use of the module; each Load needs one Close. The module
// is freed when nobody uses it and no instance is open.
func (m *Module) Close() error {
	m.host.release(m)
	return nil
}

// Stats describe the code of a module, as the limits see it.
type Stats struct {
	Functions  int // defined in the module
	MaxBlocks  int // basic blocks of one function
	MaxLocals  int
	MaxNesting int
	MaxFrame   int // estimated bytes of stack of one function
	Loops      int
	Targets    int // of branch tables
	Work       int // sum of the squared numbers of blocks, which compile time follows
	Bytes      int // as loaded
	Metered    int // bytes with the code that counts
}

// Stats are what the check of the module found.
func (m *Module) Stats() Stats {
	s := m.stats
	return Stats{
		Functions: s.Functions, MaxBlocks: s.MaxBlocks, MaxLocals: s.MaxLocals, MaxNesting: s.MaxNesting, MaxFrame: s.MaxFrame,
		Loops: s.Loops, Targets: s.Targets, Work: s.Work, Bytes: s.BytesBefore, Metered: s.BytesAfter,
	}
}

// loadModule checks and compiles a module. Nothing of it has run before it returned from
// the last check; then it is tried once, so that one that cannot start is refused here.
func loadModule(h *Host, key moduleKey, code []byte) (*Module, error) {
	ctx := context.Background()
	m := &Module{host: h, key: key, name: key.name}
	refuse := func(err error) error {
		return errs.New(errs.Invalid, errs.Position{}, "the module %s is refused: %w", m.name, err)
	}
	if most := key.limits.or(h.config.Limits).or(DefaultLimits()).Module; int64(len(code)) > most {
		return nil, errs.New(errs.Limit, errs.Position{}, "the module %s has %d bytes, at most %d are loaded", m.name, len(code), most).
			WithHint("if the functions need it, raise the limit 'module'")
	}
	var err error
	if m.manifest, err = abi.ReadManifest(code); err != nil {
		return nil, refuse(err)
	}
	m.limits = key.limits.or(limitsOf(m.manifest.Limits, h.config)).or(h.config.Limits).or(DefaultLimits())
	for i := range m.manifest.Functions {
		f, ferr := functionFrom(m, &m.manifest.Functions[i])
		m.functions = append(m.functions, f)
		err = errors.Join(err, ferr)
	}
	if err != nil {
		return nil, refuse(err)
	}
	rewritten, err := h.metered(code, meter.Limits{
		Limits: wasm.Limits{Module: int(m.limits.Module), MemoryPages: int(m.limits.Memory / pageSize)},
		Stack:  int(m.limits.Stack),
	})
	if err != nil {
		return nil, refuse(err)
	}
	m.stats = rewritten.Stats
	imports, err := checkImports(rewritten.Module)
	if err == nil {
		err = m.checkExports(rewritten.Module)
	}
	if err != nil {
		return nil, refuse(err)
	}
	if err := m.compile(ctx, rewritten.Wasm, imports); err != nil {
		return nil, refuse(err)
	}
	m.users = 1
	if len(m.functions) > 0 {
		i, err := m.functions[0].Open(ctx, nil)
		if err != nil {
			m.free()
			return nil, refuse(err)
		}
		i.Close()
	}
	return m, nil
}

func (m *Module) free() {
	ctx := context.Background()
	m.runtime.Close(ctx) // closes what was compiled; it fails for modules with an exit code only
	m.cache.Close(ctx)
}

// checkImports finds what the module imports among what there is.
func checkImports(w *wasm.Module) (map[[2]string]hostFunction, error) {
	offered, out := hostFunctions(), map[[2]string]hostFunction{}
	var problems []error
	for _, imp := range w.Imports {
		name := [2]string{imp.Module, imp.Name}
		f, ok := offered[name]
		if !ok {
			problems = append(problems, fmt.Errorf("it imports %s.%s: there is nothing but %s.%s and %s",
				imp.Module, imp.Name, abi.ImportModule, abi.ImportLog, abi.ImportWASI))
			continue
		}
		params, results := f.signature()
		if t := w.Types[imp.Type]; !slices.Equal(t.Params, params) || !slices.Equal(t.Results, results) {
			problems = append(problems, fmt.Errorf("it imports %s.%s with another type: want %s", imp.Module, imp.Name, signature(params, results)))
		}
		out[name] = f
	}
	return out, errors.Join(problems...)
}

// checkExports holds what the module exports against the contract and the manifest, and
// notes the names of the parts.
func (m *Module) checkExports(w *wasm.Module) error {
	var problems []error
	i32 := []wasm.ValueType{wasm.I32}
	check := func(name string, optional bool, params, results []wasm.ValueType) bool {
		e, ok := w.Export(name)
		switch {
		case !ok && optional:
			return false
		case !ok:
			problems = append(problems, fmt.Errorf("it does not export the function %q", name))
			return false
		case e.Kind != wasm.ExternFunc:
			problems = append(problems, fmt.Errorf("its export %q is no function", name))
			return false
		}
		if t := w.Func(e.Index); !slices.Equal(t.Params, params) || !slices.Equal(t.Results, results) {
			problems = append(problems, fmt.Errorf("its export %q is %s, not %s", name, signature(t.Params, t.Results), signature(params, results)))
		}
		return true
	}
	if e, ok := w.Export(abi.ExportMemory); !ok || e.Kind != wasm.ExternMemory {
		problems = append(problems, fmt.Errorf("it does not export its memory as %q", abi.ExportMemory))
	}
	check(abi.ExportInitialize, true, nil, nil)
	check(abi.ExportAlloc, false, i32, i32)
	check(abi.ExportFree, true, []wasm.ValueType{wasm.I32, wasm.I32}, nil)
	for k, f := range m.functions {
		for _, e := range m.manifest.Functions[k].Exports() {
			if check(e.Name, e.Optional, i32, i32) {
				f.names[e.Part] = e.Name
			}
		}
	}
	return errors.Join(problems...)
}

func (f hostFunction) signature() (params, results []wasm.ValueType) {
	for _, p := range f.params {
		t := wasm.I32
		if p == 'I' {
			t = wasm.I64
		}
		params = append(params, t)
	}
	if f.result {
		results = []wasm.ValueType{wasm.I32}
	}
	return params, results
}

// signature is a type as (i32, i64) -> i32.
func signature(params, results []wasm.ValueType) string {
	names := func(types []wasm.ValueType) string {
		out := make([]string, len(types))
		for i, t := range types {
			out[i] = map[wasm.ValueType]string{
				wasm.I32: "i32", wasm.I64: "i64", wasm.F32: "f32", wasm.F64: "f64", wasm.V128: "v128",
				wasm.FuncRef: "funcref", wasm.ExternRef: "externref",
			}[t]
		}
		return strings.Join(out, ", ")
	}
	return "(" + names(params) + ") -> (" + names(results) + ")"
}

func hash(b []byte) [32]byte { return sha256.Sum256(b) }
