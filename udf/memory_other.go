//go:build !unix

package udf

// reserve takes memory that the garbage collector owns: the system gives pages of it, too,
// when they are first touched.
func reserve(n int) ([]byte, error) { return make([]byte, n), nil }

func unreserve([]byte) {}
