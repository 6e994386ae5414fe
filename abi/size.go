//go:build !wasip1

package abi

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize reads a positive number of bytes: digits, and then nothing, B, KiB,
// MiB or GiB.
func ParseSize(text string) (int64, error) {
	number, shift := text, 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if n, ok := strings.CutSuffix(text, unit); ok {
			number, shift = n, 10*(i+1)
		}
	}
	if shift == 0 {
		number = strings.TrimSuffix(number, "B")
	}
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 63)
	if err != nil || n == 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("abi: %q is no size; write it as 65536, 64KiB or 16MiB", text)
	}
	return int64(n << shift), nil
}

// FormatSize writes n with the largest unit that divides it.
func FormatSize(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if shift := 10 * (3 - i); n != 0 && n&(1<<shift-1) == 0 {
			return strconv.FormatInt(n>>shift, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
