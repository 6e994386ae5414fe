package state

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// A snapshot is a magic line, then for each table its name, its description and a
// record for each entry, then the XXH3 of all that. Strings have their length
// before them.
const (
	snapshotMagic = "weir state 1\n"

	markTable  = 'T'
	markRecord = 'R'
	markEnd    = 'E'
)

var errCorrupt = errors.New("the data is corrupt")

// record is one stored entry.
type record struct{ key, value []byte }

type snapshotWriter struct {
	w      *bufio.Writer
	hash   *xxh3.Hasher
	buf    []byte
	prefix []byte // of keys, for slices
}

func (w *snapshotWriter) write(b []byte) {
	w.hash.Write(b)
	w.w.Write(b) // its error is found by Flush
}

func (w *snapshotWriter) table(name, description string) {
	b := append(w.buf[:0], markTable)
	b = binary.AppendUvarint(b, uint64(len(name)))
	b = append(b, name...)
	b = binary.AppendUvarint(b, uint64(len(description)))
	w.buf = append(b, description...)
	w.write(w.buf)
}

func (w *snapshotWriter) record(group uint8, key, value []byte) {
	b := append(w.buf[:0], markRecord, group)
	b = binary.AppendUvarint(b, uint64(len(w.prefix)+len(key)))
	b = append(append(b, w.prefix...), key...)
	b = binary.AppendUvarint(b, uint64(len(value)))
	w.buf = append(b, value...)
	w.write(w.buf)
}

// Snapshot writes the whole state. It is called at a mark, after EndEpoch.
func (s *Store) Snapshot(w io.Writer) error {
	sw := &snapshotWriter{w: bufio.NewWriterSize(w, 1<<16), hash: xxh3.New()}
	sw.write([]byte(snapshotMagic))
	for _, n := range s.names {
		t := s.tables[n]
		sw.table(n, t.describe())
		if err := t.save(sw); err != nil {
			return err
		}
		t.clean()
	}
	sw.write([]byte{markEnd})
	sum := binary.LittleEndian.AppendUint64(nil, sw.hash.Sum64())
	sw.w.Write(sum)
	return sw.w.Flush()
}

// Restore adds what a snapshot has of the key groups [from, to). The tables may be
// made before or after. It may be called for several snapshots whose groups do not
// overlap: those of the shards of another parallelism. After an error the store is
// unusable.
func (s *Store) Restore(r io.Reader, from, to int) error {
	sr := &snapshotReader{r: bufio.NewReaderSize(r, 1<<16), hash: xxh3.New()}
	if magic := sr.bytes(len(snapshotMagic)); string(magic) != snapshotMagic {
		return sr.failed()
	}
	var into *waiting
	for {
		switch sr.byte() {
		case markTable:
			name := string(sr.text())
			description := string(sr.text())
			if into = s.waiting[name]; into == nil {
				into = &waiting{description: description}
				s.waiting[name] = into
			}
			if sr.err == nil && into.description != description {
				return corrupt(name, fmt.Errorf("one snapshot has %s, another %s", into.description, description))
			}
		case markRecord:
			group := int(sr.byte())
			key := bytes.Clone(sr.text())
			value := sr.text()
			if into == nil || sr.err != nil {
				return sr.failed()
			}
			if group >= from && group < to {
				into.add(key, value)
			}
		case markEnd:
			sum := sr.hash.Sum64()
			if b := sr.bytes(8); sr.err != nil || binary.LittleEndian.Uint64(b) != sum {
				return sr.failed()
			}
			return s.deliver()
		default:
			return sr.failed()
		}
	}
}

// deliver gives restored state to the tables that are made already.
func (s *Store) deliver() error {
	for _, n := range s.names {
		if w := s.waiting[n]; w != nil {
			delete(s.waiting, n)
			if err := w.into(n, s.tables[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Unclaimed names the restored tables that no operator has made. They are not part
// of later snapshots.
func (s *Store) Unclaimed() []string {
	var names []string
	for n := range s.waiting {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// waiting is the restored content of a table.
type waiting struct {
	description string
	data        []byte
}

func (w *waiting) add(key, value []byte) {
	w.data = binary.AppendUvarint(w.data, uint64(len(key)))
	w.data = append(w.data, key...)
	w.data = binary.AppendUvarint(w.data, uint64(len(value)))
	w.data = append(w.data, value...)
}

func (w *waiting) into(name string, t table) error {
	if w.description != t.describe() {
		return corrupt(name, fmt.Errorf("it was %s, the query now needs %s", w.description, t.describe()))
	}
	var recs []record
	next := func(b []byte) (head, rest []byte) {
		n, k := binary.Uvarint(b)
		return b[k : k+int(n)], b[k+int(n):]
	}
	for data := w.data; len(data) > 0; {
		var r record
		r.key, data = next(data)
		r.value, data = next(data)
		if recs = append(recs, r); len(recs) == vector.Target || len(data) == 0 {
			if err := t.restore(recs); err != nil {
				return corrupt(name, err)
			}
			recs = recs[:0]
		}
	}
	t.clean()
	return nil
}

type snapshotReader struct {
	r    *bufio.Reader
	hash *xxh3.Hasher
	buf  []byte
	err  error
}

func (r *snapshotReader) failed() error {
	if r.err == nil || r.err == io.EOF || r.err == io.ErrUnexpectedEOF {
		return corrupt("*", errCorrupt)
	}
	return fmt.Errorf("reading a snapshot: %w", r.err)
}

// bytes reads n bytes, lent until the next read.
func (r *snapshotReader) bytes(n int) []byte {
	r.buf = r.buf[:0]
	for len(r.buf) < n && r.err == nil { // in steps: n may be nonsense
		at := len(r.buf)
		step := min(n-at, 1<<20)
		r.buf = slices.Grow(r.buf, step)[:at+step]
		_, r.err = io.ReadFull(r.r, r.buf[at:])
	}
	if r.err != nil {
		return nil
	}
	r.hash.Write(r.buf)
	return r.buf
}

func (r *snapshotReader) byte() byte {
	if b := r.bytes(1); r.err == nil {
		return b[0]
	}
	return 0
}

func (r *snapshotReader) text() []byte {
	n := uint64(0)
	for shift := uint(0); ; shift += 7 {
		b := r.byte()
		if shift > 35 && r.err == nil {
			r.err = errCorrupt
		}
		if r.err != nil {
			return nil
		}
		n |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return r.bytes(int(n))
		}
	}
}

func describeLayout(l rowkey.Layout) string {
	var b strings.Builder
	b.WriteString("key(")
	for i, k := range l.Kinds {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k.String())
		if l.Desc != nil && l.Desc[i] {
			b.WriteString(" desc")
		}
		if l.NullsLast != nil && l.NullsLast[i] {
			b.WriteString(" nulls last")
		}
	}
	b.WriteString(")")
	if l.Group != nil {
		fmt.Fprintf(&b, " grouped by %d", l.Group)
	}
	return b.String()
}

func describeColumns(kinds []vector.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return "columns(" + strings.Join(names, ", ") + ")"
}

// encodeKeys turns the keys of records back into hashed keys.
func encodeKeys(l rowkey.Layout, recs []record) (k *rowkey.Keys, release func(), err error) {
	d := newKeyDecoder(vector.NewPool(), l)
	for _, r := range recs {
		if err := d.add(r.key); err != nil {
			d.discard()
			return nil, nil, err
		}
	}
	b := vector.NewBatch(len(recs), d.finish(), nil)
	cols := make([]int, len(l.Kinds))
	for i := range cols {
		cols[i] = i
	}
	return rowkey.NewEncoder(l).Encode(b, cols), b.Release, nil
}

// save writes all entries.
func (t *keyTable) save(w *snapshotWriter) error {
	if t.evict != nil {
		if err := t.evict.writeAll(t); err != nil {
			return err
		}
		return t.evict.tier.Scan(t.name, func(k TierKey, value []byte) error {
			w.record(k.Group, k.Key, value)
			return nil
		})
	}
	var key, value []byte
	t.index.each(func(s Slot) {
		key, value = t.appendKey(key[:0], s), t.payload.save(value[:0], s)
		w.record(groupOf(t.hashOf(s)), key, value)
	})
	return nil
}

// restore adds entries, none of which is there.
func (t *keyTable) restore(recs []record) error {
	k, release, err := encodeKeys(t.layout, recs)
	if err != nil {
		return err
	}
	defer release()
	slots, before := make([]Slot, len(recs)), t.count
	if err := t.resolve(k, true, slots); err != nil {
		return err
	}
	if t.count != before+int64(len(recs)) {
		return errors.New("an entry was restored twice")
	}
	for i, r := range recs {
		if err := t.payload.load(r.value, slots[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *keyTable) entries() int64 { return t.count }

func (t *keyTable) fail(err error) { t.err = err }

func (v *Values) describe() string {
	return "values " + describeLayout(v.layout) + " " + describeColumns(v.kinds)
}

// describe leaves out the order: it is made anew when rows are loaded.
func (r *Rows) describe() string {
	d := "rows " + describeLayout(r.layout) + " " + describeColumns(r.opt.Cols)
	if r.opt.Indexed {
		d += " indexed"
	}
	if r.opt.Replacing {
		d += fmt.Sprint(" replacing ", r.opt.Identity)
	}
	if r.opt.Noted {
		d += " noted"
	}
	return d
}
