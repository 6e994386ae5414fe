package meter

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

var (
	errFuel  = errors.New("no fuel")
	errStack = errors.New("no stack")
)

// host runs modules and hands out fuel.
type host struct {
	ctx     context.Context
	r       wazero.Runtime
	quantum int32 // handed out at a time
	left    int64 // not handed out yet
	refuels int
	onFuel  func() // called at every refuelling
}

func newHost(t testing.TB, config wazero.RuntimeConfig) *host {
	ctx := context.Background()
	h := &host{ctx: ctx, r: wazero.NewRuntimeWithConfig(ctx, config.WithMemoryCapacityFromMax(true)), quantum: MaxFuel, left: math.MaxInt64}
	t.Cleanup(func() { h.r.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, h.r)
	_, err := h.r.NewHostModuleBuilder(RefuelModule).
		NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(h.refuel), nil, nil).Export(RefuelName).
		NewFunctionBuilder().WithGoFunction(api.GoFunc(func(context.Context, []uint64) {}), []api.ValueType{api.ValueTypeI32, api.ValueTypeI32, api.ValueTypeI32}, nil).Export("log").
		Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *host) refuel(_ context.Context, m api.Module, _ []uint64) {
	g := m.ExportedGlobal(MeterGlobal).(api.MutableGlobal)
	word := g.Get()
	if Stack(word) < 0 {
		panic(errStack)
	}
	h.refuels++
	if h.onFuel != nil {
		h.onFuel()
	}
	h.left += Fuel(word)
	if h.left < 0 {
		panic(errFuel)
	}
	h.left -= int64(h.quantum)
	g.Set(Refuel(word, h.quantum))
}

// spent returns what an instance has used up of the fuel the host had.
func (h *host) spent(m api.Module, had int64) int64 {
	return had - h.left - Fuel(m.ExportedGlobal(MeterGlobal).Get())
}

func (h *host) start(t testing.TB, mod []byte) api.Module {
	t.Helper()
	m, err := h.instantiate(mod)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (h *host) instantiate(mod []byte) (api.Module, error) {
	c, err := h.r.CompileModule(h.ctx, mod)
	if err != nil {
		return nil, err
	}
	return h.r.InstantiateModule(h.ctx, c, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
}

func metered(t testing.TB, mod []byte) []byte {
	t.Helper()
	r, err := Rewrite(mod, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Wasm
}
