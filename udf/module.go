package udf

import (
	"github.com/weirdb/weir/abi"
)

// Module is a checked and compiled module. It may be used by several goroutines.
type Module struct{}

// Name is what Load was told.
func (m *Module) Name() string { panic("soon") }

// Manifest is what the module says about itself. Read only.
func (m *Module) Manifest() *abi.Manifest { panic("soon") }

// SHA256 is the hash of the module as it was given to Load.
func (m *Module) SHA256() [32]byte { panic("soon") }

// Limits are the limits in force: no field is zero.
func (m *Module) Limits() Limits { panic("soon") }

// Functions lists the functions in the order of the manifest.
func (m *Module) Functions() []*Function { panic("soon") }

// Function returns the function with the given export name.
func (m *Module) Function(export string) (*Function, bool) { panic("soon") }

// Close gives up the caller's use of the module; each Load needs one Close. The module
// is freed when nobody uses it and no instance is open.
func (m *Module) Close() error { panic("soon") }
