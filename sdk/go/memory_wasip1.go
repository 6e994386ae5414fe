package weir

import (
	"unsafe"

	"github.com/weirdb/weir/abi"
)

// at is the memory at an address. Addresses are offsets into a module's one memory.
func at(p abi.Ptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), p) }

func addressOf(p unsafe.Pointer) abi.Ptr { return abi.Ptr(uintptr(p)) }

// alloc gives the host a block of n bytes. Go never moves what it allocated, and
// the list of arenas keeps it.
//
//go:wasmexport udf_alloc
func alloc(n uint32) uint32 {
	if n > 1<<31-abi.Align {
		return 0
	}
	block := make([]byte, n+abi.Align-1)
	guest.arenas = append(guest.arenas, block)
	return (uint32(address(block)) + abi.Align - 1) &^ (abi.Align - 1)
}

// free lets go of the block at p.
//
//go:wasmexport udf_free
func free(p, _ uint32) {
	for i, block := range guest.arenas {
		if from := uint32(address(block)); from <= p && p-from < abi.Align {
			last := len(guest.arenas) - 1
			guest.arenas[i], guest.arenas[last] = guest.arenas[last], nil
			guest.arenas = guest.arenas[:last]
			return
		}
	}
}

//go:wasmimport weir log
//go:noescape
func hostLog(level uint32, text unsafe.Pointer, n uint32)
