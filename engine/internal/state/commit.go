package state

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weirdb/weir/engine/errs"
)

const (
	ingestFrom  = 8 << 20  // bytes of a commit that go in as tables instead of one batch
	stagedTable = 32 << 20 // bytes after which a staged table ends, where it may
)

// Commit makes a checkpoint what the database holds, with what the stores copied for
// it, in one atomic, durable write. After an error the database still holds the last
// checkpoint; the parts are kept, and written with the next.
//
// A small commit is one batch; a large one is ingested as tables, one behind the
// other, so that it is written once and not twice.
func (d *DB) Commit(c Checkpoint, parts []*Part) error {
	if err := d.failed.Load(); err != nil {
		return *err
	}
	parts = slices.DeleteFunc(slices.Clone(parts), func(p *Part) bool { return p == nil })
	meta, metaParts := d.meta(c, parts)
	size := int64(0)
	for _, p := range parts {
		size += p.bytes
	}
	d.mu.Lock()
	older := d.pending
	d.mu.Unlock()

	var err error
	if len(older) > 0 || size < ingestFrom {
		err = d.commitBatch(meta, append(slices.Clip(older), parts...))
	} else {
		err = d.commitTables(meta, parts)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.pending = append(d.pending, parts...)
		return d.worldError("written", err)
	}
	d.pending = nil
	d.last, d.some = c, true
	for _, m := range metaParts {
		delete(d.dirty, m)
	}
	d.committed.Store(c.Epoch)
	return nil
}

// meta are the entries of operator 0 that change, by key, and what they stand for.
func (d *DB) meta(c Checkpoint, parts []*Part) (*tablePart, []metaTable) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range parts {
		for _, t := range p.tables {
			if t.counts == nil {
				continue
			}
			for _, s := range p.operator.Tables {
				if s.byte() == t.table {
					copy(s.counts[p.from:p.to], t.counts[p.from:p.to])
					d.dirty[metaTable{p.operator, s}] = true
				}
			}
		}
	}
	m := &tablePart{}
	put := func(key, value []byte) { m.end(append(append(m.begin(), key...), value...), len(key), false) }
	put(metaKey(metaFormat), binary.AppendUvarint(nil, FormatVersion))
	put(metaKey(metaCheckpoint), c.encode())
	var written []metaTable
	for k := range d.dirty {
		written = append(written, k)
		number := binary.BigEndian.AppendUint16(nil, k.operator.Number)
		if k.table != nil {
			put(metaKey(metaCounts, append(number, k.table.Number)...), k.table.counts.encode())
			continue
		}
		description, err := json.Marshal(k.operator)
		if err != nil {
			panic("state: an operator cannot be described: " + err.Error())
		}
		put(metaKey(metaOperator, number...), description)
	}
	// Keys of operator 0 differ in their third byte, which sortWord leaves out.
	slices.SortFunc(m.entries, func(a, b partEntry) int { return bytes.Compare(m.key(a), m.key(b)) })
	return m, written
}

func (d *DB) commitBatch(meta *tablePart, parts []*Part) error {
	b := d.pebble.NewBatch()
	defer b.Close()
	for _, e := range meta.entries {
		if err := b.Set(meta.key(e), meta.value(e), nil); err != nil {
			return err
		}
	}
	for _, p := range parts {
		for _, t := range p.tables {
			if err := t.writeTo(batchWriter{b}); err != nil {
				return err
			}
		}
	}
	return b.Commit(pebble.Sync)
}

// entryWriter is what a table's part is written to.
type entryWriter interface {
	Set(key, value []byte) error
	Delete(key []byte) error
	DeleteRange(start, end []byte) error
}

type batchWriter struct{ *pebble.Batch }

func (b batchWriter) Set(key, value []byte) error { return b.Batch.Set(key, value, nil) }
func (b batchWriter) Delete(key []byte) error     { return b.Batch.Delete(key, nil) }
func (b batchWriter) DeleteRange(start, end []byte) error {
	return b.Batch.DeleteRange(start, end, nil)
}

// writeTo writes the spans, then the entries, in the order of keys.
func (t *tablePart) writeTo(w entryWriter) error {
	t.sort()
	for _, s := range t.spans {
		if err := w.DeleteRange(s.start, s.end); err != nil {
			return err
		}
	}
	for _, e := range t.entries {
		var err error
		if e.value == deletedEntry {
			err = w.Delete(t.key(e))
		} else {
			err = w.Set(t.key(e), t.value(e))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// run is the part of one table in one shard: a run of keys that overlaps no
// other's.
type run struct {
	operator uint16
	from     int
	part     *tablePart
}

// commitTables writes tables beside the database, synced, and has them taken in by
// one change of its manifest. Together they are one sorted run, meta first; a table
// ends where one of them does.
func (d *DB) commitTables(meta *tablePart, parts []*Part) (err error) {
	runs := []run{{part: meta}}
	for _, p := range parts {
		for _, t := range p.tables {
			if len(t.entries)+len(t.spans) > 0 {
				runs = append(runs, run{p.operator.Number, p.from, t})
			}
		}
	}
	slices.SortFunc(runs[1:], func(a, b run) int {
		return cmp.Or(cmp.Compare(a.operator, b.operator), cmp.Compare(a.part.table, b.part.table), cmp.Compare(a.from, b.from))
	})
	var paths []string
	defer func() {
		if err != nil {
			for _, p := range paths {
				_ = d.fs.Remove(p)
			}
		}
	}()
	var w *sstable.Writer
	size := int64(0)
	for i, s := range runs {
		if w == nil {
			d.staged++
			path := d.fs.PathJoin(d.staging(), fmt.Sprintf("%06d.sst", d.staged))
			f, err := d.fs.Create(path, vfs.WriteCategoryUnspecified)
			if err != nil {
				return err
			}
			paths = append(paths, path)
			w = sstable.NewWriter(objstorageprovider.NewFileWritable(f), d.writer)
			size = 0
		}
		if i == 0 {
			for _, e := range s.part.entries {
				if err := w.Set(s.part.key(e), s.part.value(e)); err != nil {
					return errors.Join(err, w.Close())
				}
			}
		} else if err := s.part.writeTo(w); err != nil {
			return errors.Join(err, w.Close())
		}
		for _, c := range s.part.chunks {
			size += int64(len(c))
		}
		if size > stagedTable || i == len(runs)-1 {
			if err := w.Close(); err != nil {
				return err
			}
			w = nil
		}
	}
	return d.pebble.Ingest(context.Background(), paths)
}

// Behind reports whether the database has fallen behind with its compactions, so
// that the next checkpoint should wait.
func (d *DB) Behind() bool {
	m := d.pebble.Metrics()
	return m.Levels[0].Sublevels > 20 || m.Compact.EstimatedDebt > 4<<30
}

// Savepoint copies the last checkpoint to a new folder. Files are linked where that
// is possible, and never changed after.
func (d *DB) Savepoint(dir string) error {
	if err := d.failed.Load(); err != nil {
		return *err
	}
	if err := d.pebble.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return errs.New(errs.State, errs.Position{}, "the savepoint %s cannot be written: %w", dir, err)
	}
	return nil
}
