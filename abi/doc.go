// Package abi is version 1 of the contract between Weir and a function compiled
// to WebAssembly: the bytes both sides read and write, and the manifest in which
// a module says what it offers. SPEC.md beside it is the same contract in words.
//
// The host lays arguments out in the guest's memory as Arrow buffers, writes one
// [Call] that points at [Column] structs, and calls an export with the address of
// the call. The export returns a [Status]. Nothing else passes between the two.
//
// The package needs nothing but the standard library and builds for wasip1, so
// that host, Go guests and tools share one definition; the C header sdk/c/weir.h
// is compared with it by a test. All words are little-endian, all pointers are
// offsets into the guest's only memory.
//
// Built for wasip1, that is in a guest, the package is the layout alone: manifests
// are for hosts and tools, and the JSON reader they need would make every guest
// half a megabyte larger.
package abi

// Version is the version of the contract that this package holds. A guest names
// the versions it understands in its manifest, the host writes the one it chose
// to Call.Version.
const Version = 1
