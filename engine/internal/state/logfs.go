package state

import (
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS is the file system that Pebble sees. Pebble ends the process when it cannot
// write its log or begin a new one. Here the database gives up before Pebble hears of
// it, and the goroutine stays where it is.
type logFS struct {
	FS
	db *DB
}

func (f logFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, category)
	return f.log(name, file, err)
}

func (f logFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(oldname, newname, category)
	return f.log(newname, file, err)
}

// OpenDir is for syncing the directory, which a new log needs, too.
func (f logFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil || name != f.db.dir {
		return file, err
	}
	return logFile{file, f.db}, nil
}

// Unwrap is for Pebble, which looks for the file system of the machine.
func (f logFS) Unwrap() vfs.FS { return f.FS }

func (f logFS) log(name string, file vfs.File, err error) (vfs.File, error) {
	if !strings.HasSuffix(name, ".log") {
		return file, err
	}
	if err = f.db.orGiveUp(err); err != nil {
		return nil, err
	}
	return logFile{file, f.db}, nil
}

// orGiveUp does not return with an error once the database is open.
func (d *DB) orGiveUp(err error) error {
	if err != nil && d.opened.Load() {
		d.fail(err)
		select {}
	}
	return err
}

// logFile is a log, or the directory that it is in.
type logFile struct {
	vfs.File
	db *DB
}

func (f logFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, f.db.orGiveUp(err)
}

func (f logFile) Sync() error { return f.db.orGiveUp(f.File.Sync()) }

func (f logFile) SyncData() error { return f.db.orGiveUp(f.File.SyncData()) }

func (f logFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.db.orGiveUp(err)
}

func (f logFile) Close() error { return f.db.orGiveUp(f.File.Close()) }

// lockless is a file system where nothing can be written, not even a lock.
type lockless struct{ FS }

func (lockless) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
