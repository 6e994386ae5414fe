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
	copy(t.here, t.dirty)
	clear(t.dirty)
	d.moved = false
	return nil
}

func (t *Times) appendKey(buf []byte, at int64, p int32) []byte {
	buf = appendTime(t.disk.head(buf, groupOf(t.hash[p])), at)
	return append(buf, t.keys.get(t.refs[p])...)
}

func (t *Times) copyTo(p *Part) error {
	part := t.disk.changes.part
	schema := &rawSchema{head: t.disk.head(nil, 0), timed: true}
	pairs := make([]int32, 0, block)
	for w, word := range t.dirty {
		if word == 0 {
			continue
		}
		if len(pairs)+64 > block {
			t.gather(part, schema, pairs)
			pairs = pairs[:0]
		}
		pairs = appendBits(pairs, w, word)
		t.here[w] |= word
		t.dirty[w] = 0
	}
	t.gather(part, schema, pairs)
	p.tables = append(p.tables, t.disk.handOver())
	return nil
}

func (t *Times) gather(part *tablePart, schema *rawSchema, pairs []int32) {
	if len(pairs) == 0 {
		return
	}
	part.beginBlock()
	gatherValues(part, t.due, pairs)
	gatherKeys(part, t.hash, &t.keys, t.refs, pairs)
	part.endBlock(rawBlock{schema: schema, n: len(pairs)})
}

func (t *Times) settled() {}
