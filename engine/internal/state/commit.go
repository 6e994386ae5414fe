package state

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// spareDisk is how much of the disk a commit leaves to Pebble's log and compactions,
// besides half as much as it writes itself: a log that cannot be written is the end of
// the database, a commit that was not begun is not.
const spareDisk = 32 << 20

// Commit makes a checkpoint what the database holds, with what the stores copied for
// it, in one atomic, durable write. After an error it has not counted: the parts are
// kept, and written with the next. But when the error is one that DBOptions.Failed is
// told, the database has to be opened again to see which of the two it holds.
//
// A small commit is one batch; a large one is ingested as tables, one behind the
// other, so that it is written once and not twice.
func (d *DB) Commit(c Checkpoint, parts []*Part) error {
	d.mu.Lock()
	for _, p := range parts {
		if p != nil {
			d.take(p)
			d.pending = append(d.pending, p)
		}
	}
	pending, written := d.pending, make([]metaItem, 0, len(d.dirty))
	for item := range d.dirty {
		written = append(written, item)
	}
	all := runs(d.meta(c, written), pending)
	d.mu.Unlock()

	if err := d.write(all); err != nil {
		return d.worldError("written", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending = slices.Clone(d.pending[len(pending):])
	d.last, d.some, d.version = c, true, FormatVersion
	for _, m := range written {
		delete(d.dirty, m)
		if m.time != "" && len(m.value()) == 0 {
			delete(m.table.counts, m.time)
		}
	}
	d.committed.Store(c.Epoch)
	d.tidy(all)
	for _, p := range pending {
		d.spare.give(p)
	}
	return nil
}

// meta is the part of operator 0.
func (d *DB) meta(c Checkpoint, items []metaItem) *tablePart {
	m := &tablePart{}
	m.set(metaKey(metaFormat), binary.AppendUvarint(nil, FormatVersion))
	m.set(metaKey(metaCheckpoint), c.encode())
	for _, item := range items {
		if value := item.value(); len(value) > 0 {
			m.set(item.key(), value)
		} else {
			m.delete(item.key())
		}
	}
	return m
}

// run is the part of one table in one shard: a run of keys that overlaps no
// other's.
type run struct {
	operator uint16
	table    byte
	from     int
	part     *tablePart
}

func (r run) compare(s run) int {
	return cmp.Or(cmp.Compare(r.operator, s.operator), cmp.Compare(r.table, s.table), cmp.Compare(r.from, s.from))
}

// runs are parts in the order of keys, those of one table and shard as one.
func runs(meta *tablePart, parts []*Part) []run {
	all := []run{{part: meta}}
	for _, p := range parts {
		for _, t := range p.tables {
			switch {
			case t.number+len(t.spans) == 0:
			case t.stored == nil:
				all[0].part = t.then(all[0].part)
			default:
				all = append(all, run{p.operator.Number, t.stored.byte(), p.from, t})
			}
		}
	}
	slices.SortStableFunc(all, run.compare)
	n := 0
	for _, r := range all[1:] {
		if all[n].compare(r) == 0 {
			all[n].part = all[n].part.then(r.part)
			continue
		}
		n++
		all[n] = r
	}
	return all[:n+1]
}

func (d *DB) write(all []run) error {
	size := int64(0)
	for _, r := range all {
		r.part.sort()
		size += r.part.bytes()
	}
	need := size + size/2 + spareDisk
	if disk, err := d.fs.GetDiskUsage(d.dir); err == nil && int64(disk.AvailBytes) < need {
		return fmt.Errorf("to write %d MiB it needs %d MiB that are free, and there are %d MiB: %w", size>>20, need>>20, disk.AvailBytes>>20, syscall.ENOSPC)
	}
	if size < d.opt.ingestFrom {
		return d.writeBatch(all)
	}
	return d.writeTables(all)
}

func (d *DB) writeBatch(all []run) error {
	return d.try(func() error {
		b := d.pebble.NewBatch()
		defer b.Close()
		for _, r := range all {
			if err := r.part.writeTo(batchWriter{b}); err != nil {
				return err
			}
		}
		return b.Commit(pebble.Sync)
	})
}

type batchWriter struct{ *pebble.Batch }

func (b batchWriter) Set(key, value []byte) error { return b.Batch.Set(key, value, nil) }
func (b batchWriter) Delete(key []byte) error     { return b.Batch.Delete(key, nil) }
func (b batchWriter) DeleteRange(start, end []byte) error {
	return b.Batch.DeleteRange(start, end, nil)
}

// writeTables writes tables beside the database, synced, and has them taken in by
// one change of its manifest. Together they are one sorted run; a table ends where one
// of the parts does.
func (d *DB) writeTables(all []run) (err error) {
	var paths []string
	defer func() {
		if err != nil && d.failed.Load() == nil { // else Pebble may have taken them
			for _, p := range paths {
				_ = d.fs.Remove(p)
			}
		}
	}()
	for len(all) > 0 {
		n, size := 0, int64(0)
		for ; n < len(all) && size < d.opt.stagedTable; n++ {
			size += all[n].part.bytes()
		}
		d.staged++
		path := d.fs.PathJoin(d.staging(), fmt.Sprintf("%06d.sst", d.staged))
		paths = append(paths, path)
		if err := d.writeTable(path, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return d.try(func() error { return d.pebble.Ingest(context.Background(), paths) })
}

func (d *DB) writeTable(path string, some []run) error {
	f, err := d.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), d.writer)
	for _, r := range some {
		if err := r.part.writeTo(w); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// Behind reports whether the database has fallen behind with its compactions, so
// that the next checkpoint should wait.
func (d *DB) Behind() bool {
	m := d.pebble.Metrics()
	return m.Levels[0].Sublevels > 20 || m.Compact.EstimatedDebt > 4<<30
}
