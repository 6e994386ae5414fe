package catalog

import (
	"context"
	"encoding/hex"
	"io"
	"os"
	"sync"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/udf"
)

// Modules loads the WebAssembly modules of functions. What runs them is started with the
// first. A module stays loaded until Close: plans may have it at any time. It is safe
// for concurrent use.
type Modules struct {
	cfg  udf.Config
	most udf.Limits // zero fields: no bound

	mu     sync.Mutex
	host   *udf.Host
	closed bool
}

// NewModules returns modules that are run as cfg says. No function may ask for more than
// most allows.
func NewModules(cfg udf.Config, most udf.Limits) *Modules { return &Modules{cfg: cfg, most: most} }

// WithModules returns c, which loads its modules there from now on.
func (c *Catalog) WithModules(m *Modules) *Catalog {
	c.modules = m
	return c
}

// Modules are what functions are loaded with.
func (c *Catalog) Modules() *Modules { return c.modules }

// Most is the most that a function may ask for; zero fields are no bound.
func (m *Modules) Most() udf.Limits { return m.most }

// Read reads the file of a module.
func (m *Modules) Read(path string, l udf.Limits) ([]byte, error) {
	most := udf.DefaultLimits().Module
	for _, n := range []int64{m.cfg.Limits.Module, l.Module} {
		if n > 0 {
			most = n
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, errs.New(errs.NotFound, errs.Position{}, "the module cannot be read: %w", err).WithHint("paths are relative to the working directory")
	}
	defer func() { _ = f.Close() }() // it was only read
	wasm, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, errs.New(errs.Input, errs.Position{}, "the module cannot be read: %w", err)
	case int64(len(wasm)) > most:
		return nil, errs.New(errs.Limit, errs.Position{}, "%s has more than %d bytes", path, most).WithHint("'module' = '..' in WITH sets another bound")
	}
	return wasm, nil
}

// Load checks and compiles a module. The name stands in errors.
func (m *Modules) Load(ctx context.Context, name string, wasm []byte, l udf.Limits) (*udf.Module, error) {
	host, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	return host.Load(ctx, name, wasm, l)
}

func (m *Modules) open(ctx context.Context) (*udf.Host, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, errs.New(errs.Canceled, errs.Position{}, "the engine is closed")
	}
	if m.host == nil {
		host, err := udf.Open(context.WithoutCancel(ctx), m.cfg)
		if err != nil {
			return nil, err
		}
		m.host = host
	}
	return m.host, nil
}

// Close frees all modules. No query runs any more.
func (m *Modules) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.host == nil {
		return nil
	}
	host := m.host
	m.host = nil
	return host.Close()
}

// HexSHA256 is a hash as users see it.
func HexSHA256(sum [32]byte) string { return hex.EncodeToString(sum[:]) }
