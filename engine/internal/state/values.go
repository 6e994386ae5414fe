package state

import (
	"fmt"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Slot is the place in memory of a table's entry, from 0. It is a place, not a
// name: the entry may be elsewhere after the call. See the package comment.
type Slot = int32

// None is the slot of a key that has no entry.
const None Slot = -1

// Values keeps one entry of fixed columns for each key. No column is ever NULL: a
// table that needs NULLs has a Bool column for them. A new entry is all zero. A column
// of a nested kind holds what the operator gives to SetBytes.
type Values struct {
	keyTable
	kinds  []vector.Kind
	cols   []column
	places int // of the columns that are lists, if any

	// Of a slice: its time, its places in lists, and what it has in the sum of all.
	time    int64
	listed  [sliceLists]int32 // plus one; 0: not in the list
	counted figures
}

func newValues(name string, key rowkey.Layout, kinds []vector.Kind, opt Options) *Values {
	v := &Values{keyTable: newKeyTable(name, key, opt), kinds: kinds}
	for _, k := range kinds {
		if k.Nested() {
			k = vector.Bytes
		}
		v.cols = append(v.cols, newColumn(k, opt))
	}
	v.payload = (*valuesPayload)(v)
	return v
}

// Resolve finds the entry of each key: slots[i] is that of keys row i, or None.
// With create, keys without an entry get one, which counts as dirty.
//
// The entries are pinned: slots stay valid until the call into the operator ends.
// Resolve may move columns: slices from Col are valid until the next Resolve of
// this table. The only errors are those of reading state that is not in memory.
func (v *Values) Resolve(keys *rowkey.Keys, create bool, slots []Slot) error {
	return v.resolve(keys, create, slots)
}

// Col is column i of a table, by slot, to be read and written at slots that are
// pinned or held. Changes count only if Dirty says so before the pin ends. T must
// be the type of the column's kind. The slice is valid until the next Resolve.
func Col[T vector.Fixed](v *Values, i int) []T {
	col := v.cols[i]
	if l, ok := col.(*list); ok {
		col = l.column
	}
	c, ok := col.(*fixed[T])
	if !ok {
		panic(fmt.Sprintf("state: table %q: column %d holds %v, asked for %v", v.name, i, v.kinds[i], vector.KindOf[T]()))
	}
	return c.data
}

// Bytes is the value of variable column i at s, in place: it is valid until the
// next SetBytes, Resolve or end of call.
func (v *Values) Bytes(i int, s Slot) []byte {
	return v.texts(i, s).get(s)
}

// SetBytes copies b into variable column i at s. As with Col, Dirty must follow.
func (v *Values) SetBytes(i int, s Slot, b []byte) {
	v.texts(i, s).set(s, b)
}

// texts is variable column i, of which the value at s is going to be used.
func (v *Values) texts(i int, s Slot) *texts {
	c, ok := v.cols[i].(*texts)
	if !ok {
		l := v.cols[i].(*list)
		c, s = l.column.(*texts), s/l.places
	}
	if v.evict != nil {
		v.check([]Slot{s})
	}
	return c
}

// Dirty says that these entries were or will be changed while they are pinned or
// held. Slots that are None are skipped here and in the methods below.
func (v *Values) Dirty(slots []Slot) { v.markDirty(slots) }

// Drop removes entries. Their columns stay readable until the call ends (of held
// entries: until the epoch ends), but their keys are without an entry at once. A
// held entry is to be dropped in Flush only: if its key came back in the same
// epoch, it would be held twice.
func (v *Values) Drop(slots []Slot) { v.drop(slots) }

// Hold pins entries until the epoch ends, beyond the call, in their present slots.
// It appends to fresh each position i whose entry slots[i] was not held before in
// this epoch, each entry once, and returns fresh: what an operator has to keep a
// "before" image of.
func (v *Values) Hold(slots []Slot, fresh []int32) []int32 { return v.hold(slots, fresh) }

// Held are the entries held in this epoch, in the order of their first Hold, those
// dropped meanwhile included. It is valid until the next Hold.
func (v *Values) Held() []Slot { return v.held }

// Ordinal is the index in Held of a held entry, and -1 for any other.
func (v *Values) Ordinal(s Slot) int32 { return max(v.ordinal[s]-v.base, 0) - 1 }

// Keys gathers the key columns of these entries, which are pinned, held or dropped
// in this call, into vectors of p that the caller releases.
func (v *Values) Keys(p *vector.Pool, slots []Slot) ([]*vector.Vector, error) {
	return v.keyColumns(p, slots)
}

// Encode are the keys of these entries, which are as Keys needs them, for another table of the
// same layout. They are valid until enc is used again.
func (v *Values) Encode(slots []Slot, enc *rowkey.Encoder) *rowkey.Keys {
	return v.encode(slots, enc)
}

// Expect says that so many keys are going to be resolved. A table without entries makes room
// for them, which then need not grow while they come; that which has some is loaded in the
// order of memory, if it is small: to wait for it key by key takes several times as long.
func (v *Values) Expect(n int) {
	if v.count == 0 {
		v.room(n)
		v.index.reserve(n)
		return
	}
	v.touched += v.index.touch(n)
}

// Len is the number of entries, in memory or not.
func (v *Values) Len() int { return int(v.count) }

// valuesPayload is the payload of Values, apart so as not to show in its methods.
type valuesPayload Values

func (v *valuesPayload) grow(n int) {
	for _, c := range v.cols {
		c.grow(n)
	}
}

func (v *valuesPayload) release(slots []Slot) {
	for _, c := range v.cols {
		c.zero(slots)
	}
}

func (v *valuesPayload) prepare(s Slot) { v.release([]Slot{s}) }

func (v *valuesPayload) poison(slots []Slot) {
	for _, c := range v.cols {
		c.poison(slots)
	}
}

func (v *valuesPayload) move() {
	for _, c := range v.cols {
		c.move()
	}
}

func (v *valuesPayload) intact(free []Slot) bool {
	for _, c := range v.cols {
		if !c.intact(free) {
			return false
		}
	}
	return true
}

func (v *valuesPayload) save(buf []byte, s Slot) []byte {
	for _, c := range v.cols {
		buf = c.save(buf, s)
	}
	return buf
}

func (v *valuesPayload) load(data []byte, s Slot) error {
	var err error
	for _, c := range v.cols {
		if data, err = c.load(data, s); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		return errCorrupt
	}
	return nil
}

func (v *valuesPayload) bytes() int64 {
	n := int64(0)
	for _, c := range v.cols {
		n += c.bytes()
	}
	return n
}
