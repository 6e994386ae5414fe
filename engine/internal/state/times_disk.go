package state

import (
	"bytes"
	"encoding/binary"

	"github.com/weirdb/weir/vector"
)

func (t *Times) class() class { return timed }

// attach loads the pairs: what is due next has to be known.
func (t *Times) attach(d *disk) error {
	t.disk = d
	if d.complete {
		return nil
	}
	d.complete, d.counts = true, groupCounts{}
	it, err := d.iterator()
	if err != nil {
		return err
	}
	defer it.Close()
	var recs []record
	for ok := it.First(); ok; ok = it.Next() {
		key := bytes.Clone(it.Key()[keyHead:])
		if len(key) < timeBytes {
			return corrupt(t.name, errCorrupt)
		}
		recs = append(recs, record{key[timeBytes:], binary.AppendVarint(nil, timeOf(key))})
		if len(recs) == vector.Target {
			if err := t.load(recs); err != nil {
				return corrupt(t.name, err)
			}
			recs = recs[:0]
		}
	}
	if err := it.Error(); err != nil {
		return d.db.worldError("read", err)
	}
	if err := t.load(recs); err != nil {
		return corrupt(t.name, err)
	}
	for _, f := range t.fresh {
		t.here.Set(int(f.pair))
	}
	t.fresh, d.moved = t.fresh[:0], false
	return nil
}

func (t *Times) appendKey(buf []byte, at int64, p int32) []byte {
	buf = appendTime(t.disk.head(buf, groupOf(t.hash[p])), at)
	return append(buf, t.keys.get(t.refs[p])...)
}

// has reports whether p is, now, the pair of its key and that time.
func (t *Times) has(at int64, p int32) bool {
	pk := pairKey(at, t.hash[p])
	for q := t.pairs.findHash(pk, 0); q != 0; q = t.pairs.findHash(pk, q) {
		if q == p {
			return true
		}
	}
	return false
}

func (t *Times) copyTo(p *Part) error {
	part := t.disk.changes.part
	for _, f := range t.fresh {
		if t.here.Get(int(f.pair)) || !t.has(f.at, f.pair) {
			continue
		}
		t.here.Set(int(f.pair))
		buf := part.begin()
		at := len(buf)
		buf = t.appendKey(buf, f.at, f.pair)
		part.end(buf, len(buf)-at, 0)
	}
	t.fresh = t.fresh[:0]
	p.tables = append(p.tables, t.disk.handOver())
	return nil
}

func (t *Times) settled() {}
