//go:build unix

package filesystem

import (
	"os"
	"syscall"
)

// inode is the number of a file in its file system, which it keeps when it is renamed,
// or 0 when there is none.
func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
