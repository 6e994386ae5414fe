package udf

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/udf/internal/meter"
)

// Config says how a Host works. The zero Config does.
type Config struct {
	// CacheDir is a directory for compiled modules, made with mode 0700 when it does
	// not exist. Its files are machine code that the process runs. Empty: modules are
	// compiled anew in every process.
	CacheDir string
	// Limits are those of functions that do not set their own.
	Limits Limits
	// MaxMemory and MaxTimeout bound what a manifest may ask for; CREATE FUNCTION may go
	// beyond. 0: 256 MiB and a minute.
	MaxMemory  int64
	MaxTimeout time.Duration
	// Log gets the lines that guests write, on the goroutine of the call. nil: they are dropped.
	Log func(Line)
}

// Validate joins what is wrong with c.
func (c Config) Validate() error {
	var problems []error
	if c.MaxMemory < 0 || c.MaxMemory > maxMemory {
		problems = append(problems, fmt.Errorf("MaxMemory is %d: it must be from 0 to %d", c.MaxMemory, int64(maxMemory)))
	}
	if c.MaxTimeout < 0 {
		problems = append(problems, fmt.Errorf("MaxTimeout is %v: it must not be negative", c.MaxTimeout))
	}
	return errors.Join(append(problems, c.Limits.Validate())...)
}

// Line is a line that a guest wrote: valid UTF-8 without control characters, at most
// abi.MaxLogLine bytes.
type Line struct {
	Module, Function string
	Level            abi.Level // what is written to standard output is Info, to standard error Warn
	Text             string
}

// Host loads modules. It may be used by several goroutines.
type Host struct {
	config  Config
	work    sync.WaitGroup // compilations
	rewrite func([]byte, meter.Limits) (*meter.Result, error)

	mu      sync.Mutex
	closed  bool
	modules map[moduleKey]*loading
}

// moduleKey tells modules apart.
type moduleKey struct {
	name   string
	sha    [32]byte
	limits Limits
}

// loading is a module that is loaded or being loaded.
type loading struct {
	done   chan struct{}
	module *Module
	err    error
	wanted int // callers of Load that wait
}

// Open returns a Host. Close ends it.
func Open(_ context.Context, c Config) (*Host, error) {
	if err := c.Validate(); err != nil {
		return nil, errs.New(errs.Option, errs.Position{}, "the configuration of WebAssembly functions: %w", err)
	}
	c.MaxMemory = either(c.MaxMemory, 256<<20)
	c.MaxTimeout = either(c.MaxTimeout, time.Minute)
	if c.CacheDir != "" {
		if err := prepareCache(c.CacheDir); err != nil {
			return nil, errs.New(errs.Option, errs.Position{}, "the cache of compiled modules: %w", err)
		}
	}
	return &Host{config: c, rewrite: meter.Rewrite, modules: map[moduleKey]*loading{}}, nil
}

// Close waits for compilations that go on and frees every module. No instance may be
// open any more.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.work.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, l := range h.modules {
		if l.module != nil {
			l.module.free()
		}
		delete(h.modules, key)
	}
	return nil
}

// Load checks a module and compiles it, or takes it from the cache. The name stands in
// errors: a file's or the catalog's. l are the limits that CREATE FUNCTION sets. When
// ctx ends first, Load returns, and the compilation, which cannot be interrupted, goes
// on for the cache. A module that was loaded already with the same name and limits is
// shared. The caller must not change the bytes any more.
func (h *Host) Load(ctx context.Context, name string, wasm []byte, l Limits) (*Module, error) {
	if err := l.Validate(); err != nil {
		return nil, errs.New(errs.Option, errs.Position{}, "the limits of %s: %w", name, err)
	}
	key := moduleKey{name: name, sha: hash(wasm), limits: l}
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, errs.New(errs.Invalid, errs.Position{}, "the host of WebAssembly functions is closed")
	}
	entry := h.modules[key]
	if entry != nil && entry.module != nil {
		defer h.mu.Unlock()
		entry.module.users++
		return entry.module, nil
	}
	if entry == nil {
		entry = &loading{done: make(chan struct{})}
		h.modules[key] = entry
		h.work.Add(1)
		go h.load(key, entry, wasm)
	}
	entry.wanted++
	h.mu.Unlock()

	select {
	case <-entry.done:
		return entry.module, entry.err // its users count this call
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-entry.done:
		return entry.module, entry.err
	default:
	}
	entry.wanted--
	return nil, errs.New(errs.Canceled, errs.Position{}, "loading the module %s: %w", name, ctx.Err())
}

// load runs on a goroutine of its own, which Close waits for.
func (h *Host) load(key moduleKey, entry *loading, wasm []byte) {
	defer h.work.Done()
	m, err := loadModule(h, key, wasm)
	h.mu.Lock()
	defer h.mu.Unlock()
	entry.module, entry.err = m, err
	if err != nil || entry.wanted == 0 {
		delete(h.modules, key)
		if m != nil {
			m.free()
			entry.module = nil
		}
	} else {
		m.users = entry.wanted
	}
	close(entry.done)
}

// retain counts a user of the module, release one less; the last frees it.
func (h *Host) retain(m *Module) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.users++
}

func (h *Host) release(m *Module) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.users--
	if m.users > 0 || h.modules[m.key] == nil || h.modules[m.key].module != m {
		return
	}
	delete(h.modules, m.key)
	m.free()
}
