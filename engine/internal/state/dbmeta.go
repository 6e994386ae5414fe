package state

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// FormatVersion is the version of what the database holds. A later one is refused.
const FormatVersion = 1

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
}

// storedTable describes a table of an operator.
type storedTable struct {
	Number      byte   `json:"number"`
	Class       class  `json:"class"`
	Description string `json:"description"`

	// counts are the numbers of entries as of the last copies. Those of Slices are by
	// time (see appendTime), those of other tables under "".
	counts map[string]*groupCounts
}

func (t *storedTable) byte() byte { return t.Number<<2 | byte(t.Class) }

func (t *storedTable) countsOf(time string) *groupCounts {
	c := t.counts[time]
	if c == nil {
		if t.counts == nil {
			t.counts = map[string]*groupCounts{}
		}
		c = &groupCounts{}
		t.counts[time] = c
	}
	return c
}

func (t *storedTable) keys() int64 {
	n := int64(0)
	for _, c := range t.counts {
		n += c.sum(0, keyGroups)
	}
	return n
}

// Entries of operator 0, table 0. What tells their kinds is where other keys have the
// key group.
const (
	metaCheckpoint = 'c'
	metaCounts     = 'n' // operator, table, perhaps time
	metaOperator   = 'o' // operator
	metaFormat     = 'v'
)

func metaKey(kind byte, rest ...byte) []byte { return append(appendHead(nil, 0, 0, kind), rest...) }

// metaItem is an operator's description, or with a table the counts of that, or of one
// of its slices.
type metaItem struct {
	operator *operator
	table    *storedTable
	time     string
}

func (m metaItem) key() []byte {
	number := binary.BigEndian.AppendUint16(nil, m.operator.Number)
	if m.table == nil {
		return metaKey(metaOperator, number...)
	}
	return metaKey(metaCounts, append(append(number, m.table.Number), m.time...)...)
}

// value is nil when there is nothing to say.
func (m metaItem) value() []byte {
	if m.table != nil {
		return m.table.countsOf(m.time).encode()
	}
	description, err := json.Marshal(m.operator)
	if err != nil {
		panic("state: an operator cannot be described: " + err.Error())
	}
	return description
}

func (d *DB) readMeta() error {
	it, err := d.pebble.NewIter(&pebble.IterOptions{UpperBound: appendHead(nil, 0, 1, 0)})
	if err != nil {
		return d.worldError("read", err)
	}
	defer it.Close()
	byNumber := map[uint16]*operator{}
	type counts struct{ at, value []byte }
	var counted []counts
	for ok := it.First(); ok; ok = it.Next() {
		kind, rest := it.Key()[keyHead-1], it.Key()[keyHead:]
		value, err := it.ValueAndErr()
		if err != nil {
			return d.worldError("read", err)
		}
		switch kind {
		case metaCheckpoint:
			if d.last, err = decodeCheckpoint(value); err != nil {
				return d.corrupt(err)
			}
			d.some = true
		case metaOperator:
			if len(rest) != 2 {
				return d.corrupt(errCorrupt)
			}
			o := &operator{Number: binary.BigEndian.Uint16(rest)}
			if err := json.Unmarshal(value, o); err != nil {
				return d.corrupt(err)
			}
			byNumber[o.Number], d.operators[o.ID] = o, o
		case metaCounts:
			counted = append(counted, counts{slices.Clone(rest), slices.Clone(value)})
		}
	}
	if err := it.Error(); err != nil {
		return d.worldError("read", err)
	}
	for _, c := range counted {
		if len(c.at) != 3 && len(c.at) != 3+timeBytes {
			return d.corrupt(errCorrupt)
		}
		o := byNumber[binary.BigEndian.Uint16(c.at)]
		t := o.numbered(c.at[2])
		if t == nil {
			return d.corrupt(errors.New("counts of a table that is not described"))
		}
		if err := t.countsOf(string(c.at[3:])).decode(c.value); err != nil {
			return d.corrupt(err)
		}
	}
	d.committed.Store(d.last.Epoch)
	return nil
}

// readVersion looks at the version before anything else. A new database is given one,
// so that one with tables and without it has lost something.
func (d *DB) readVersion(tables bool) error {
	key := metaKey(metaFormat)
	value, closer, err := d.pebble.Get(key)
	switch {
	case err == nil:
	case !errors.Is(err, pebble.ErrNotFound):
		return d.worldError("read", err)
	case tables:
		return d.corrupt(errors.New("it has tables and no version"))
	case d.opt.ReadOnly:
		return nil
	default:
		return d.worldError("written", d.try(func() error { return d.pebble.Set(key, binary.AppendUvarint(nil, FormatVersion), pebble.Sync) }))
	}
	version, n := binary.Uvarint(value)
	if err := closer.Close(); err != nil {
		return d.worldError("read", err)
	}
	switch {
	case n <= 0 || version == 0:
		return d.corrupt(errCorrupt)
	case version > FormatVersion:
		return d.newer(version)
	}
	d.version = int(version)
	return nil
}

// numbered is the table of that number.
func (o *operator) numbered(number byte) *storedTable {
	if o != nil {
		for _, t := range o.Tables {
			if t.Number == number {
				return t
			}
		}
	}
	return nil
}

// operator finds or makes the operator of an id.
func (d *DB) operator(id, name string) *operator {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.operators[id]
	if o != nil {
		return o
	}
	taken := map[uint16]bool{0: true}
	for _, other := range d.operators {
		taken[other.Number] = true
	}
	o = &operator{ID: id, Name: name, Tables: map[string]*storedTable{}}
	for taken[o.Number] {
		if o.Number == math.MaxUint16 {
			panic("state: a job has too many operators")
		}
		o.Number++
	}
	d.operators[id] = o
	d.dirty[metaItem{operator: o}] = true
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
	d.dirty[metaItem{operator: o}] = true
	return t, nil
}

// counts are the numbers of entries of a table, which a store takes as where it begins.
func (d *DB) counts(t *storedTable) map[string]groupCounts {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make(map[string]groupCounts, len(t.counts))
	for time, c := range t.counts {
		out[time] = c.part(0, keyGroups)
	}
	return out
}

// take takes over the numbers of entries that a part tells.
func (d *DB) take(p *Part) {
	for _, t := range p.tables {
		for _, c := range t.counts {
			t.stored.countsOf(c.time).replace(p.from, p.to, c.groups)
			d.dirty[metaItem{p.operator, t.stored, c.time}] = true
		}
	}
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
