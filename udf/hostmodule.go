package udf

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/udf/internal/meter"
)

// hostFunction is what a guest may import.
type hostFunction struct {
	params string // i for i32, I for i64
	result bool   // an i32
	call   func(i *Instance, p []uint64) uint64
}

// hostFunctions are all that there is to import, by module and name.
func hostFunctions() map[[2]string]hostFunction {
	out := map[[2]string]hostFunction{
		{abi.ImportModule, abi.ImportLog}: {params: "iii", call: (*Instance).hostLog},
	}
	functions := wasiFunctions()
	for name, params := range wasiSignatures() {
		f := functions[name]
		if f == nil {
			f = func(*Instance, []uint64) errno { return wasiNoSystem }
		}
		out[[2]string{abi.ImportWASI, name}] = hostFunction{params: params, result: name != "proc_exit", call: f}
	}
	return out
}

// hostLog is weir.log.
func (i *Instance) hostLog(p []uint64) uint64 {
	text, ok := i.guest(p[1], uint64(uint32(p[2])))
	if !ok {
		panic(stop{cause: Broken})
	}
	i.log.line(i, abi.Level(p[0]), text)
	return 0
}

func (f hostFunction) types() (params, results []api.ValueType) {
	for _, p := range f.params {
		t := api.ValueTypeI32
		if p == 'I' {
			t = api.ValueTypeI64
		}
		params = append(params, t)
	}
	if f.result {
		results = []api.ValueType{api.ValueTypeI32}
	}
	return params, results
}

// addHostModules makes what a guest imports known to the runtime: the refuel function and
// the given ones.
func addHostModules(ctx context.Context, r wazero.Runtime, imports map[[2]string]hostFunction) error {
	builders := map[string]wazero.HostModuleBuilder{}
	builder := func(name string) wazero.HostModuleBuilder {
		if builders[name] == nil {
			builders[name] = r.NewHostModuleBuilder(name)
		}
		return builders[name]
	}
	refuel := func(ctx context.Context, m api.Module, _ []uint64) { instanceOf(ctx).refuel(m) }
	builder(meter.RefuelModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(refuel), nil, nil).Export(meter.RefuelName)
	for name, f := range imports {
		params, results := f.types()
		call := func(ctx context.Context, p []uint64) {
			i := instanceOf(ctx)
			i.charge(hostCost)
			if r := f.call(i, p); f.result {
				p[0] = r
			}
		}
		builder(name[0]).NewFunctionBuilder().WithGoFunction(api.GoFunc(call), params, results).Export(name[1])
	}
	for name, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("define the imports from %s: %w", name, err)
		}
	}
	return nil
}

// guestContext carries an instance to the functions that its guest calls.
type guestContext struct {
	context.Context
	i *Instance
}

type instanceKey struct{}

// Value answers the host functions at once and the runtime, which asks at each call for
// what is never there.
func (c *guestContext) Value(key any) any {
	if key == (instanceKey{}) {
		return c.i
	}
	return c.Context.Value(key)
}

func instanceOf(ctx context.Context) *Instance { return ctx.Value(instanceKey{}).(*Instance) }
