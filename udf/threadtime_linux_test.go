package udf_test

import (
	"syscall"
	"time"
	"unsafe"
)

// threadTime is the time of the processor that the thread used: unlike a clock it does
// not go on while other processes run.
func threadTime() time.Duration {
	const clockThread = 3
	var ts syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThread, uintptr(unsafe.Pointer(&ts)), 0); e != 0 {
		panic(e)
	}
	return time.Duration(ts.Nano())
}
