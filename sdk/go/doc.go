// Package weir is what a function for Weir written in Go imports. The function is
// an ordinary one with a directive above it that says what SQL calls it:
//
//	//weir:scalar add(a BIGINT, b BIGINT) BIGINT deterministic
//	func add(a, b, sum []int64) {
//		for i := range sum {
//			sum[i] = a[i] + b[i]
//		}
//	}
//
// `weir udf build` writes the code between the two, compiles the package to a
// WebAssembly module (GOOS=wasip1) and appends the manifest. README.md beside
// this file is the guide: which Go types stand for which SQL types, the forms a
// function may have, the other kinds of functions.
//
// # What belongs to whom
//
// Strings, slices and columns that a function is given lie in memory that the
// host lays out anew for every batch. They are read only, and good until the
// function returns; what shall live longer is copied (strings.Clone). Results
// are copied out before the next call.
//
// # What makes a function deterministic
//
// An instance serves many batches, so whatever a function keeps in variables
// must not change results. Iteration over Go maps and the functions of math/rand
// differ from call to call: use [Call.Rand], whose seed is the same when a batch
// is computed again.
//
// # For generated code
//
// [Begin], [Values], the Of functions, builders' Attach and Close, [Rows] and
// the State functions serve the code that `weir udf build` writes.
package weir
