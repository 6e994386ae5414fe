//go:build unix

package udf

import (
	"fmt"
	"syscall"
)

func reserve(n int) ([]byte, error) {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of memory: %w", n, err)
	}
	return b, nil
}

func unreserve(b []byte) {
	if err := syscall.Munmap(b); err != nil {
		panic("udf: memory that was reserved cannot be given back: " + err.Error())
	}
}
