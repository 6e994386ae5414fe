package state

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

const (
	defaultCache = 64 << 20
	blockSize    = 16 << 10
)

// options are Pebble's, for a writer that commits some hundred megabytes at once
// every few seconds and readers that mostly ask for what is not there.
func (d *DB) options() *pebble.Options {
	cache := d.opt.Cache
	if cache == 0 {
		cache = defaultCache
	}
	o := &pebble.Options{
		FS:                          d.fs,
		ReadOnly:                    d.opt.ReadOnly,
		Cache:                       pebble.NewCache(cache),
		Comparer:                    newComparer(),
		FormatMajorVersion:          pebble.FormatNewest,
		Logger:                      dbLogger{d},
		MemTableSize:                16 << 20,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       16,
		L0StopWritesThreshold:       1000,
		LBaseMaxBytes:               64 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
	}
	o.Experimental.ReadSamplingMultiplier = -1
	for i := range o.TargetFileSizes {
		o.TargetFileSizes[i] = min(int64(16<<20)<<max(i-1, 0), 64<<20)
	}
	for i := range o.Levels {
		o.Levels[i].BlockSize = blockSize
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	return o
}

// dbLogger hears from Pebble.
type dbLogger struct{ db *DB }

func (dbLogger) Infof(string, ...any) {}

func (dbLogger) Errorf(string, ...any) {}

// Fatalf is called when Pebble can no longer keep its promises. It must not return,
// and the process, which may have better to do, must not end: the goroutine stays.
func (l dbLogger) Fatalf(format string, args ...any) {
	l.db.fail(fmt.Errorf(format, args...))
	select {}
}
