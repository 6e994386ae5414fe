package state

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system that a database is in.
type FS = vfs.FS

// NewMemFS returns a file system in memory.
func NewMemFS() FS { return vfs.NewMem() }

// DiskFS is the file system of the machine.
func DiskFS() FS { return vfs.Default }

// DBOptions say how a database is opened. The zero value is ready to use.
type DBOptions struct {
	FS       FS    // nil: the disk
	ReadOnly bool  // nothing can be committed; there must be a database
	Cache    int64 // bytes of blocks kept in memory; 0: 64 MiB
	// Failed is called once if the database can no longer be written, as when its
	// disk fails within a compaction. The directory stays locked until the process
	// ends; the next one continues with the last checkpoint. Failed must not call the
	// database.
	Failed func(error)

	ingestFrom  int64 // bytes of a commit that go in as tables instead of one batch
	stagedTable int64 // bytes after which such a table ends, where it may
}

func (o DBOptions) withDefaults() DBOptions {
	if o.Cache == 0 {
		o.Cache = 64 << 20
	}
	if o.ingestFrom == 0 {
		o.ingestFrom = 8 << 20
	}
	if o.stagedTable == 0 {
		o.stagedTable = 32 << 20
	}
	return o
}

// options are Pebble's, for a writer that commits some hundred megabytes at once
// every few seconds and readers that mostly ask for what is not there.
func (d *DB) options() *pebble.Options {
	o := &pebble.Options{
		FS:                          logFS{d.fs, d},
		Lock:                        d.lock,
		ReadOnly:                    d.opt.ReadOnly,
		Cache:                       pebble.NewCache(d.opt.Cache),
		Comparer:                    newComparer(),
		FormatMajorVersion:          pebble.FormatNewest,
		Logger:                      dbLogger{d},
		MemTableSize:                16 << 20,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       16,
		L0StopWritesThreshold:       1000,
		LBaseMaxBytes:               64 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		Cleaner:                     cleaner{},
		EventListener: &pebble.EventListener{
			BackgroundError: d.setTrouble,
			// The reader, or the compaction, gets an error; that is enough.
			DataCorruption: func(info pebble.DataCorruptionInfo) { d.setTrouble(info.Details) },
		},
	}
	o.Experimental.ReadSamplingMultiplier = -1
	o.Experimental.CompactionScheduler = d.compactions
	for i := range o.TargetFileSizes {
		o.TargetFileSizes[i] = min(int64(16<<20)<<max(i-1, 0), 64<<20)
	}
	for i := range o.Levels {
		o.Levels[i].BlockSize = 16 << 10
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	return o
}

// setTrouble notes what Pebble tries again, such as a compaction on a full disk. While
// it is opened that would be for ever. It is called with Pebble's locks held.
func (d *DB) setTrouble(err error) {
	d.trouble.Store(&err)
	if !d.opened.Load() && errors.Is(err, syscall.ENOSPC) {
		d.fail(err)
	}
}

// dbLogger hears from Pebble.
type dbLogger struct{ db *DB }

func (dbLogger) Infof(string, ...any) {}

func (dbLogger) Errorf(string, ...any) {}

// Fatalf is called when Pebble can no longer keep its promises. It must not return,
// and the process, which may have better to do, must not end: the goroutine stays.
func (l dbLogger) Fatalf(format string, args ...any) {
	if len(args) == 1 {
		if err, ok := args[0].(error); ok {
			l.db.fail(err)
			select {}
		}
	}
	l.db.fail(fmt.Errorf(format, args...))
	select {}
}

// cleaner removes files. By way of what it embeds Pebble believes that somebody wants to
// see them, and does not keep old logs for use as new ones: those would take many times
// what a small state does.
type cleaner struct {
	pebble.DeleteCleaner
	keepsLogs
}

type keepsLogs struct{ pebble.ArchiveCleaner }
