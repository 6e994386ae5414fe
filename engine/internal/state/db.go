package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/weirdb/weir/engine/errs"
)

// DB is the state of one job in a directory: that of its last checkpoint. Commit is
// the only thing that writes; it is one atomic, durable write. Stores read what they
// do not have in memory.
//
// Of an operator and shard there is one store at a time. Another may follow once all
// that the first copied is committed. Methods may be called from any goroutine, Commit
// from one at a time.
type DB struct {
	dir    string
	fs     FS
	opt    DBOptions
	lock   *pebble.Lock
	pebble *pebble.DB
	writer sstable.WriterOptions // of tables to be ingested

	compactions *compactions

	opened atomic.Bool
	failed atomic.Pointer[error]
	dead   chan struct{} // closed once failed is set

	mu        sync.Mutex
	operators map[string]*operator
	last      Checkpoint
	some      bool
	version   int               // of the format, as it was found
	dirty     map[metaItem]bool // not committed
	pending   []*Part           // of commits that failed, or that did not come about
	staged    int

	litter    map[string]span // tables of which something was deleted, see tidy
	spare     chunkPool
	committed atomic.Uint64         // the epoch of last
	trouble   atomic.Pointer[error] // the last that Pebble had in the background
	tidying   atomic.Bool
	tidied    sync.WaitGroup
	quit      context.CancelFunc // what goes on in the background
	ctx       context.Context
}

// OpenDB opens the database of a directory, which it makes if there is none.
func OpenDB(dir string, opt DBOptions) (*DB, error) {
	d := &DB{dir: dir, fs: opt.FS, opt: opt.withDefaults(), operators: map[string]*operator{}, dirty: map[metaItem]bool{}, litter: map[string]span{}, dead: make(chan struct{}), compactions: newCompactions()}
	if d.fs == nil {
		d.fs = DiskFS()
	}
	d.ctx, d.quit = context.WithCancel(context.Background())
	if err := d.open(); err != nil {
		d.quit()
		if d.lock != nil && d.failed.Load() == nil { // else Pebble is still at work
			err = errors.Join(err, d.lock.Close())
		}
		return nil, err
	}
	return d, nil
}

func (d *DB) open() error {
	if d.opt.ReadOnly {
		if found, err := pebble.Peek(d.dir, d.fs); errors.Is(err, fs.ErrNotExist) || err == nil && !found.Exists {
			return errs.New(errs.NotFound, errs.Position{}, "there is no state in %s", d.dir)
		}
	} else if err := d.fs.MkdirAll(d.dir, 0o777); err != nil {
		return d.openError(err)
	}
	var err error
	d.lock, err = pebble.LockDirectory(d.dir, d.fs)
	if d.opt.ReadOnly && (errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)) {
		// Who may not write there can still look.
		d.lock, err = pebble.LockDirectory(d.dir, lockless{d.fs})
	}
	if err != nil {
		return d.openError(err)
	}
	if !d.opt.ReadOnly {
		if err := d.clean(); err != nil {
			return d.openError(err)
		}
	}
	tables, err := d.checkWhole()
	if err != nil {
		return err
	}
	if err := d.checkRoom(); err != nil {
		return err
	}
	o := d.options()
	defer o.Cache.Unref()
	if err := d.try(func() (err error) { d.pebble, err = pebble.Open(d.dir, o); return err }); err != nil {
		return d.openError(err)
	}
	d.opened.Store(true)
	d.writer = o.MakeWriterOptions(0, d.pebble.TableFormat())
	if err = d.readVersion(tables); err == nil {
		err = d.readMeta()
	}
	if err != nil {
		return errors.Join(err, d.pebble.Close())
	}
	if !d.opt.ReadOnly {
		d.compactions.begin()
	}
	return nil
}

// checkRoom is an error when there is no room for what opening writes: what the log has
// becomes tables, and Pebble would try that for ever.
func (d *DB) checkRoom() error {
	disk, err := d.fs.GetDiskUsage(d.dir)
	if err != nil || d.opt.ReadOnly {
		return nil // not every system tells
	}
	names, err := d.fs.List(d.dir)
	if err != nil {
		return d.openError(err)
	}
	need := int64(1 << 20)
	for _, n := range names {
		if !strings.HasSuffix(n, ".log") {
			continue
		}
		info, err := d.fs.Stat(d.fs.PathJoin(d.dir, n))
		if err != nil {
			return d.openError(err)
		}
		need += info.Size()
	}
	if int64(disk.AvailBytes) < need {
		return d.diskFull(fmt.Errorf("%d KiB are needed to open it, and %d KiB are free: %w", need>>10, disk.AvailBytes>>10, syscall.ENOSPC))
	}
	return nil
}

// checkWhole reports whether there are tables, and finds out whether there are files of
// a database but not the one that says where it begins: Pebble would begin a new one
// over them.
func (d *DB) checkWhole() (tables bool, err error) {
	found, err := pebble.Peek(d.dir, d.fs)
	if err != nil {
		return false, d.openError(err)
	}
	names, err := d.fs.List(d.dir)
	if err != nil {
		return false, d.openError(err)
	}
	log := false
	for _, n := range names {
		tables = tables || strings.HasSuffix(n, ".sst")
		log = log || strings.HasSuffix(n, ".log")
	}
	if !found.Exists && (tables || log) {
		return false, d.corrupt(errors.New("it is a part of a copy, or of a folder that was not removed as a whole"))
	}
	if !found.Exists || d.opt.ReadOnly {
		return tables, nil
	}
	if _, err := d.fs.Stat(found.ManifestFilename); !errors.Is(err, fs.ErrNotExist) {
		return tables, nil
	}
	// The power failed while the database was made, or opened: the marker came about, and
	// the file that it names did not. The marker before is there until both are safe.
	markers := slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "marker.manifest.") })
	if len(markers) < 2 && (tables || log) {
		return tables, nil // Pebble says what is missing
	}
	newest := slices.Max(markers)
	if err := d.fs.Remove(d.fs.PathJoin(d.dir, newest)); err != nil {
		return false, d.openError(err)
	}
	return d.checkWhole()
}

// Close ends the database. What is not committed is lost.
func (d *DB) Close() error {
	d.quit()
	if d.failed.Load() != nil {
		// Pebble may hold locks for ever, and may still write: no other may have the
		// directory while this process lives.
		return nil
	}
	err := d.try(func() error {
		d.tidied.Wait()
		return d.pebble.Close()
	})
	if d.failed.Load() == nil {
		err = errors.Join(err, d.lock.Close())
	}
	return d.worldError("closed", err)
}

// Last is the checkpoint that the database holds.
func (d *DB) Last() (c Checkpoint, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last, d.some
}

// Dir is the directory of the database.
func (d *DB) Dir() string { return filepath.Clean(d.dir) }

// staging is the folder of tables that are being written.
func (d *DB) staging() string { return d.fs.PathJoin(d.dir, "staging") }

// clean removes what a crash left behind.
func (d *DB) clean() error {
	if err := d.fs.MkdirAll(d.staging(), 0o777); err != nil {
		return err
	}
	for _, dir := range []string{d.dir, d.staging()} {
		names, err := d.fs.List(dir)
		if err != nil {
			return err
		}
		for _, n := range names {
			if dir == d.dir && !strings.HasSuffix(n, ".dbtmp") && !strings.HasSuffix(n, ".sst.tmp") {
				continue
			}
			if err := d.fs.Remove(d.fs.PathJoin(dir, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// try calls Pebble. If Pebble gives up meanwhile the call may never return; try does,
// with the reason.
func (d *DB) try(call func() error) error {
	if err := d.failed.Load(); err != nil {
		return *err
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			// What Pebble cannot write to its log it panics with.
			if p := recover(); p != nil {
				err, ok := p.(error)
				if !ok {
					panic(p)
				}
				d.fail(err)
				done <- *d.failed.Load()
			}
		}()
		done <- call()
	}()
	select {
	case err := <-done:
		return err
	case <-d.dead:
		return *d.failed.Load()
	}
}

// fail notes that Pebble gave up.
func (d *DB) fail(err error) {
	err = d.worldError("written", err)
	if d.failed.CompareAndSwap(nil, &err) {
		close(d.dead)
		if d.opt.Failed != nil {
			d.opt.Failed(err)
		}
	}
}

// Savepoint copies the last checkpoint to a new folder. Files are linked where that is
// possible, and never changed after.
func (d *DB) Savepoint(dir string) error {
	err := d.try(func() error { return d.pebble.Checkpoint(dir, pebble.WithFlushedWAL()) })
	if err != nil {
		return errs.New(errs.State, errs.Position{}, "the savepoint %s cannot be written: %w", dir, err)
	}
	return nil
}
