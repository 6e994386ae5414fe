// Package wasm decodes and validates WebAssembly modules: the second version of the core
// specification (sign extension, saturating conversions, bulk memory, reference types,
// multiple values, SIMD) and nothing else.
package wasm

import (
	"fmt"
	"strings"
)

// Error tells what is wrong with a module, and where.
type Error struct {
	Offset  int    // byte in the module
	Section string // "type", "import" .. "code", "" outside of all
	Func    int    // index of the function whose body it is, imports counted; -1: none
	Name    string // the function's name when the module has one
	Reason  string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("wasm: ")
	if e.Section != "" {
		fmt.Fprintf(&b, "%s section, ", e.Section)
	}
	if e.Func >= 0 {
		fmt.Fprintf(&b, "function %d", e.Func)
		if e.Name != "" {
			fmt.Fprintf(&b, " (%s)", e.Name)
		}
		b.WriteString(", ")
	}
	fmt.Fprintf(&b, "offset %#x: %s", e.Offset, e.Reason)
	return b.String()
}
