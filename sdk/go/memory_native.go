//go:build !wasip1

package weir

import (
	"os"
	"unsafe"

	"github.com/weirdb/weir/abi"
)

// Outside of a module there is no host: tests call a function with columns that
// they made, not through generated code.
const noHost = "weir: only a host's call has addresses"

func at(abi.Ptr) unsafe.Pointer { panic(noHost) }

func addressOf(unsafe.Pointer) abi.Ptr { panic(noHost) }

func hostLog(_ uint32, text unsafe.Pointer, n uint32) {
	os.Stderr.WriteString(unsafe.String((*byte)(text), n) + "\n")
}
