package state

import (
	"encoding/binary"
	"encoding/json"
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
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weirdb/weir/engine/errs"
)

// FormatVersion is the version of what the database holds. A later one is refused.
const FormatVersion = 1

// FS is the file system that a database is in.
type FS = vfs.FS

// NewMemFS returns a file system in memory.
func NewMemFS() FS { return vfs.NewMem() }

// DBOptions say how a database is opened. The zero value is ready to use.
type DBOptions struct {
	FS       FS    // nil: the disk
	ReadOnly bool  // nothing can be committed; there must be a database
	Cache    int64 // bytes of blocks kept in memory; 0: 64 MiB
	// Failed is called once if the database can no longer be written, as when its
	// disk fails within a compaction. It must be opened anew.
	Failed func(error)
}

// DB is the state of one job in a directory: that of its last checkpoint. Commit is
// the only thing that writes; it is one atomic, durable write. Stores read what they
// do not have in memory.
//
// Methods may be called from any goroutine, Commit from one at a time.
type DB struct {
	dir    string
	fs     FS
	opt    DBOptions
	pebble *pebble.DB
	writer sstable.WriterOptions // of tables to be ingested
	failed atomic.Pointer[error]

	mu        sync.Mutex
	operators map[string]*operator
	last      Checkpoint
	some      bool
	dirty     map[metaTable]bool // descriptors or counts not committed
	pending   []*Part            // of commits that failed
	staged    int

	committed atomic.Uint64 // the epoch of last
}

// Checkpoint is what a database says of itself.
type Checkpoint struct {
	Epoch uint64
	Now   int64 // of the mark, in milliseconds since 1970
	// Meta is the job's: positions, watermarks, handles of sinks.
	Meta []byte
}

// operator is an operator that has or had state.
type operator struct {
	Number uint16                  `json:"-"`
	ID     string                  `json:"id"`
	Name   string                  `json:"name"`
	Tables map[string]*storedTable `json:"tables"`
	order  []string                // names of tables by number
}

// storedTable describes a table of an operator.
type storedTable struct {
	Number      byte   `json:"number"`
	Class       class  `json:"class"`
	Description string `json:"description"`

	counts groupCounts
}

func (t *storedTable) byte() byte { return t.Number<<2 | byte(t.Class) }

type metaTable struct {
	operator *operator
	table    *storedTable // nil: the operator's description
}

// OpenDB opens the database of a directory, which it makes if there is none.
func OpenDB(dir string, opt DBOptions) (*DB, error) {
	d := &DB{dir: dir, fs: opt.FS, opt: opt, operators: map[string]*operator{}, dirty: map[metaTable]bool{}}
	if d.fs == nil {
		d.fs = vfs.Default
	}
	if !opt.ReadOnly {
		if err := d.clean(); err != nil {
			return nil, d.openError(err)
		}
	}
	if opt.ReadOnly {
		if found, err := pebble.Peek(dir, d.fs); errors.Is(err, fs.ErrNotExist) || err == nil && !found.Exists {
			return nil, errs.New(errs.NotFound, errs.Position{}, "there is no state in %s", dir)
		}
	}
	o := d.options()
	defer o.Cache.Unref()
	var err error
	if d.pebble, err = pebble.Open(dir, o); err != nil {
		return nil, d.openError(err)
	}
	d.writer = o.MakeWriterOptions(0, d.pebble.TableFormat())
	if err := d.readMeta(); err != nil {
		return nil, errors.Join(err, d.pebble.Close())
	}
	return d, nil
}

// Close ends the database. What is not committed is lost.
func (d *DB) Close() error {
	if d.failed.Load() != nil {
		return nil // locks may be held for ever
	}
	if err := d.pebble.Close(); err != nil {
		return d.worldError("closed", err)
	}
	return nil
}

// Last is the checkpoint that the database holds.
func (d *DB) Last() (c Checkpoint, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last, d.some
}

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

// Keys of operator 0.
const (
	metaFormat     = 'v'
	metaCheckpoint = 'c'
	metaOperator   = 'o'
	metaCounts     = 'n'
)

func metaKey(kind byte, rest ...byte) []byte { return append(appendHead(nil, 0, kind, 0), rest...) }

func (d *DB) readMeta() error {
	it, err := d.pebble.NewIter(&pebble.IterOptions{UpperBound: []byte{0, 1}})
	if err != nil {
		return d.worldError("read", err)
	}
	defer it.Close()
	version := uint64(0)
	byNumber := map[uint16]*operator{}
	counts := map[[3]byte][]byte{}
	for ok := it.First(); ok; ok = it.Next() {
		key, value := it.Key()[2:], it.Value()
		rest := key[2:]
		switch key[0] {
		case metaFormat:
			version, _ = binary.Uvarint(value)
		case metaCheckpoint:
			if d.last, err = decodeCheckpoint(value); err != nil {
				return d.corrupt(err)
			}
			d.some = true
		case metaOperator:
			o := &operator{Number: binary.BigEndian.Uint16(rest)}
			if err := json.Unmarshal(value, o); err != nil {
				return d.corrupt(err)
			}
			byNumber[o.Number], d.operators[o.ID] = o, o
		case metaCounts:
			counts[[3]byte(rest)] = slices.Clone(value)
		}
	}
	if err := it.Error(); err != nil {
		return d.worldError("read", err)
	}
	if version > FormatVersion {
		return errs.New(errs.State, errs.Position{}, "the state in %s has version %d, this program knows versions up to %d", d.dir, version, FormatVersion).
			WithHint("use the program that wrote it, or a later one; nothing was changed")
	}
	for at, value := range counts {
		o := byNumber[binary.BigEndian.Uint16(at[:])]
		if o == nil {
			return d.corrupt(errors.New("counts of an operator that is not described"))
		}
		for _, t := range o.Tables {
			if t.Number == at[2] {
				if err := t.counts.decode(value); err != nil {
					return d.corrupt(err)
				}
			}
		}
	}
	d.committed.Store(d.last.Epoch)
	return nil
}

// operator finds or makes the operator of an id.
func (d *DB) operator(id, name string) *operator {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.operators[id]
	if o == nil {
		o = &operator{ID: id, Name: name, Tables: map[string]*storedTable{}}
		for _, other := range d.operators {
			o.Number = max(o.Number, other.Number)
		}
		o.Number++
		d.operators[id] = o
		d.dirty[metaTable{operator: o}] = true
	}
	return o
}

// table finds or makes a table of an operator. One that was another is an error.
func (d *DB) table(o *operator, name string, c class, description string) (*storedTable, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := o.Tables[name]; t != nil {
		if t.Class != c || t.Description != description {
			return nil, corrupt(name, fmt.Errorf("it was %s, the query now needs %s", t.Description, description))
		}
		return t, nil
	}
	t := &storedTable{Class: c, Description: description}
	for _, other := range o.Tables {
		t.Number = max(t.Number, other.Number+1)
	}
	if t.Number >= maxTables {
		panic(fmt.Sprintf("state: operator %q has more than %d tables", o.ID, maxTables))
	}
	o.Tables[name] = t
	d.dirty[metaTable{operator: o}] = true
	return t, nil
}

// counts are the numbers of entries in groups [from, to), which a store takes as
// where it begins.
func (d *DB) counts(t *storedTable) groupCounts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return t.counts
}

func decodeCheckpoint(b []byte) (c Checkpoint, err error) {
	if len(b) < 16 {
		return c, errCorrupt
	}
	c.Epoch, c.Now = binary.BigEndian.Uint64(b), int64(binary.BigEndian.Uint64(b[8:]))
	c.Meta = slices.Clone(b[16:])
	return c, nil
}

func (c Checkpoint) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, c.Epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(c.Now))
	return append(b, c.Meta...)
}

// encode writes each group that has entries, and how many.
func (g *groupCounts) encode() []byte {
	var b []byte
	for i, n := range g {
		if n != 0 {
			b = binary.AppendUvarint(append(b, byte(i)), uint64(n))
		}
	}
	return b
}

func (g *groupCounts) decode(b []byte) error {
	for len(b) > 0 {
		n, w := binary.Uvarint(b[1:])
		if w <= 0 {
			return errCorrupt
		}
		g[b[0]], b = int64(n), b[1+w:]
	}
	return nil
}

func (d *DB) corrupt(err error) error {
	return errs.New(errs.State, errs.Position{}, "the state in %s is corrupt: %w", d.dir, err).
		WithHint("start from a savepoint, or remove the folder to begin without state; sinks may then get rows again")
}

// openError says why a database cannot be opened, and what can be done.
func (d *DB) openError(err error) error {
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EWOULDBLOCK), strings.Contains(err.Error(), "lock held by current process"):
		return errs.New(errs.State, errs.Position{}, "the state in %s is in use by another query or process", d.dir).
			WithHint("stop that one first, or give this one another 'pipeline.name' or state directory")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return errs.New(errs.State, errs.Position{}, "the state directory %s cannot be written: %w", d.dir, err).
			WithHint("checkpoints are written there; make it writable, or give another directory")
	case pebble.IsCorruptionError(err), errors.Is(err, fs.ErrNotExist):
		// A file that the database names is missing or damaged: a copy that was not
		// finished looks like that.
		return d.corrupt(err)
	}
	return d.worldError("opened", err)
}

func (d *DB) worldError(what string, err error) error {
	if err == nil {
		return nil
	}
	if pebble.IsCorruptionError(err) {
		return d.corrupt(err)
	}
	e := errs.New(errs.State, errs.Position{}, "the state in %s cannot be %s: %w", d.dir, what, err)
	if errors.Is(err, syscall.ENOSPC) {
		return e.WithHint("the disk is full: the last checkpoint is kept; free some space and start again")
	}
	return e
}

// fail notes that Pebble gave up.
func (d *DB) fail(err error) {
	err = d.worldError("written", err)
	if d.failed.CompareAndSwap(nil, &err) && d.opt.Failed != nil {
		d.opt.Failed(err)
	}
}

// Dir is the directory of the database.
func (d *DB) Dir() string { return filepath.Clean(d.dir) }
