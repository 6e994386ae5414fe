package udf

import (
	"context"
	"time"
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

// Level says how important a guest thinks a line is.
type Level uint8

// The levels of weir.log. What is written to standard output is Info, to standard error Warn.
const (
	Debug Level = iota
	Info
	Warn
	Error
)

func (l Level) String() string { return [...]string{"debug", "info", "warn", "error"}[min(l, Error)] }

// Line is a line that a guest wrote: valid UTF-8 without control characters, at most 1 KiB.
type Line struct {
	Module, Function string
	Level            Level
	Text             string
}

// Host loads modules. It may be used by several goroutines.
type Host struct{}

// Open returns a Host. Close ends it.
func Open(ctx context.Context, c Config) (*Host, error) { panic("soon") }

// Close waits for compilations that go on and frees every module. No instance may be
// open any more.
func (h *Host) Close() error { panic("soon") }

// Load checks a module and compiles it, or takes it from the cache. The name stands in
// errors: a file's or the catalog's. l are the limits that CREATE FUNCTION sets. When
// ctx ends first, Load returns, and the compilation, which cannot be interrupted, goes
// on for the cache. A module that was loaded already with the same name and limits is
// shared.
func (h *Host) Load(ctx context.Context, name string, wasm []byte, l Limits) (*Module, error) {
	panic("soon")
}
