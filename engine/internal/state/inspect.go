package state

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// scanUpTo is the size of a database whose entries are measured one by one; the bytes
// of a larger one are estimated.
const scanUpTo = 1 << 30

// TableInfo describes a table of an operator.
type TableInfo struct {
	Name string
	// Description has what must stay the same for its entries to be understood.
	Description string
	Keys        int64
	Bytes       int64 // on disk, before compression; only Inspect tells
}

// OperatorInfo describes an operator that a database has state of.
type OperatorInfo struct {
	ID, Name string
	Tables   []TableInfo // in the order of their names
}

// Inspection is what a database has.
type Inspection struct {
	Version    int // of the format
	Checkpoint Checkpoint
	Some       bool // there is a checkpoint
	Operators  []OperatorInfo
	DiskBytes  int64 // of all files
}

// Inspect looks at the database of a directory that nobody has open, and changes
// nothing in it. fs is as in DBOptions.
func Inspect(dir string, fs FS) (Inspection, error) {
	d, err := OpenDB(dir, DBOptions{FS: fs, ReadOnly: true})
	if err != nil {
		return Inspection{}, err
	}
	in, err := d.inspect()
	return in, errors.Join(err, d.Close())
}

func (d *DB) inspect() (in Inspection, err error) {
	in.Checkpoint, in.Some = d.Last()
	in.Version = d.version
	in.Operators = d.Operators()
	in.DiskBytes = d.Stats().DiskBytes
	for i := range in.Operators {
		o := d.operators[in.Operators[i].ID]
		for j := range in.Operators[i].Tables {
			t := &in.Operators[i].Tables[j]
			if t.Bytes, err = d.tableBytes(o.Number, o.Tables[t.Name].byte(), in.DiskBytes <= scanUpTo); err != nil {
				return in, err
			}
		}
	}
	return in, nil
}

// tableBytes is the size of a table's entries.
func (d *DB) tableBytes(operator uint16, table byte, exact bool) (int64, error) {
	s := groupSpan(operator, table, 0, keyGroups)
	if !exact {
		n, err := d.pebble.EstimateDiskUsage(s.start, s.end)
		return int64(n), d.worldError("read", err)
	}
	it, err := d.pebble.NewIter(&pebble.IterOptions{LowerBound: s.start, UpperBound: s.end})
	if err != nil {
		return 0, d.worldError("read", err)
	}
	n := int64(0)
	for ok := it.First(); ok; ok = it.Next() {
		v := it.LazyValue()
		n += int64(len(it.Key()) + v.Len())
	}
	return n, d.worldError("read", it.Close())
}

// Operators lists the operators that the database has state of, in the order of their
// names. The bytes of their tables are not told.
func (d *DB) Operators() []OperatorInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []OperatorInfo
	for id, o := range d.operators {
		if id != o.ID || len(o.Tables) == 0 {
			continue // dropped, or without state
		}
		info := OperatorInfo{ID: o.ID, Name: o.Name}
		for name, t := range o.Tables {
			info.Tables = append(info.Tables, TableInfo{Name: name, Description: t.Description, Keys: t.keys()})
		}
		slices.SortFunc(info.Tables, func(a, b TableInfo) int { return cmp.Compare(a.Name, b.Name) })
		out = append(out, info)
	}
	slices.SortFunc(out, func(a, b OperatorInfo) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Tables lists the tables that were made, in the order of their names.
func (s *Store) Tables() []TableInfo {
	var out []TableInfo
	for i, name := range s.names {
		t := s.tables[i]
		out = append(out, TableInfo{Name: name, Description: t.describe(), Keys: t.entries()})
	}
	slices.SortFunc(out, func(a, b TableInfo) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// DBStats are figures of an open database.
type DBStats struct {
	DiskBytes    int64 // of all files, those that are about to be removed included
	Sublevels    int   // through which a read may have to look, besides the levels
	Debt         int64 // bytes that compactions have still to rewrite, about
	Tables       int64 // files
	PendingBytes int64 // of copies whose commit has failed
	CacheBytes   int64 // blocks in memory
	// Trouble is the last error that Pebble had in the background, and that it gets
	// over by trying again, if it can; nil: none.
	Trouble error
}

// Stats are figures of the database now.
func (d *DB) Stats() DBStats {
	if d.failed.Load() != nil {
		return DBStats{Trouble: *d.failed.Load()}
	}
	m := d.pebble.Metrics()
	s := DBStats{
		DiskBytes: int64(m.DiskSpaceUsage()), Sublevels: int(m.Levels[0].Sublevels),
		Debt: int64(m.Compact.EstimatedDebt), Tables: m.Total().TablesCount, CacheBytes: m.BlockCache.Size,
	}
	if err := d.trouble.Load(); err != nil {
		s.Trouble = *err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.pending {
		s.PendingBytes += p.bytes
	}
	return s
}
