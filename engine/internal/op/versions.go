package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// versions has the version of each key that holds now: one row. A key whose row was
// deleted has none.
//
// Versions that follow in time are set before they are kept: set finds out which of them
// ever hold, find which of those, or of the kept ones, holds for a row, and keep brings
// the last of each key into the table.
type versions struct {
	keys  []int
	enc   *rowkey.Encoder
	key   rowkey.Layout
	row   storedRow
	at    map[int]int // of a column of the input its place in row
	kinds []vector.Kind
	table *state.Values
	// expiry forgets versions that nothing used for long; nil: they are kept for ever.
	expiry *expiry
	fresh  []int32

	// The versions that follow.
	b      *vector.Batch
	times  []int64
	slots  []state.Slot
	last   slotNumbers // by key the last version that follows
	from   []int64     // by version from 1 the time from which it holds; version 0 is what the table has, or nothing
	before []int32     // by version the one of its key before it
	held   []int32     // rows of versions that hold at some time, in order
	lost   int         // versions that never do
	first  bool        // some are of keys of which the table has none
	stored []state.Slot
	gone   []state.Slot

	// Of the rows that find was asked for:
	version []int32 // that holds
	more    []int32 // rows, lent
}

// The first columns of the table.
const (
	colVersionLive = 0 // else the entry was made for a version that follows
	colVersionTime = 1
	colVersionAge  = 2 // when versions are forgotten: the deadline
)

// newVersions keeps of rows what reads says, besides their keys and time.
func newVersions(types []sqltype.Type, keys, spread, reads []int, keep Retention) *versions {
	v := &versions{keys: keys, at: map[int]int{}}
	v.key = keyLayout(types, keys, spread)
	v.enc = rowkey.NewEncoder(v.key)
	for _, c := range reads {
		if _, have := v.at[c]; !have {
			v.at[c] = len(v.row.from)
			v.row.add(c, types[c])
		}
	}
	v.kinds = []vector.Kind{vector.Bool, vector.Int64}
	if keep.Set() {
		v.kinds = append(v.kinds, vector.Int64)
		v.expiry = newExpiry(keep, v.key, colVersionAge)
	}
	v.row.layOut(len(v.kinds))
	v.kinds = append(v.kinds, v.row.kinds()...)
	return v
}

func (v *versions) open(rt *exec.Runtime) {
	v.table = rt.State.Values("versions", v.key, v.kinds)
	if v.expiry != nil {
		v.expiry.open(rt, "versions/expiry")
	}
}

// use finds the entries of keys, and notes that they are used.
func (v *versions) use(keys *rowkey.Keys, create bool, slots []state.Slot) error {
	err := v.table.Resolve(keys, create, slots)
	if v.expiry != nil && err == nil {
		v.fresh = v.table.Hold(slots, v.fresh[:0])
	}
	return err
}

// begin forgets, before the first row after a restart.
func (v *versions) begin() error {
	if v.expiry.late() {
		return v.expiry.drop(v.table)
	}
	return nil
}

// flush forgets what nothing used for long.
func (v *versions) flush() error { return v.expiry.settleLive(v.table, colVersionLive) }

// set takes the versions that follow, dense rows in the order of the times from which
// they hold. times are those by which one is later than another. All are borrowed until
// keep.
func (v *versions) set(b *vector.Batch, from, times []int64) error {
	n := b.Len()
	v.b, v.times = b, times
	v.slots, v.from, v.before = resize(v.slots, n), resize(v.from, n+1), resize(v.before, n+1)
	v.held, v.lost, v.first = v.held[:0], 0, false
	if err := v.use(v.enc.Encode(b, v.keys), true, v.slots); err != nil {
		return err
	}
	v.from[0], v.before[0] = math.MinInt64, 0
	copy(v.from[1:], from)
	v.last.reset(v.slots)
	live, kept, kinds := state.Col[bool](v.table, colVersionLive), state.Col[int64](v.table, colVersionTime), b.Kinds()
	for i, s := range v.slots {
		before := v.last.find(s)
		switch {
		case before == 0 && !live[s]:
			v.first = true
		case before == 0 && times[i] < kept[s],
			before > 0 && (kinds == nil || kinds[before-1].Adds()) && times[i] < times[before-1]:
			v.lost++
			continue
		}
		v.before[i+1] = before
		v.last.set(s, int32(i+1))
		v.held = append(v.held, int32(i))
	}
	return nil
}

// find says for each row of a time, whose key is in slots, which version holds: one of
// those that were set, in follows, or the one that the table has, in kept. Where neither
// does, follows is -1 and kept is None. It reports whether any may follow.
func (v *versions) find(slots []state.Slot, times []int64, kept []state.Slot, follows []int32) bool {
	kept, follows = kept[:len(slots)], follows[:len(slots)]
	copy(kept, slots)
	if v.b == nil {
		v.strike(kept)
		return false
	}
	if v.last.dense {
		v.findDense(slots, times)
		for i, version := range v.version[:len(slots)] {
			kept[i] |= -version >> 31 // all bits, if it follows
			follows[i] = version - 1
		}
	} else {
		words := v.last.some
		for i, s := range slots {
			follows[i] = -1
			if w := int(uint32(s) >> 6); w >= len(words) || words[w]>>(uint32(s)&63)&1 == 0 {
				continue // None is beyond all others
			}
			version := v.last.find(s)
			for v.from[version] > times[i] {
				version = v.before[version]
			}
			if version > 0 {
				kept[i], follows[i] = state.None, version-1
			}
		}
	}
	if kinds := v.b.Kinds(); kinds != nil {
		for i, f := range follows {
			if f >= 0 && !kinds[f].Adds() {
				follows[i] = -1
			}
		}
	}
	if v.first || v.expiry != nil {
		v.strike(kept)
	}
	return true
}

// findDense finds the version of each row. Its first loop goes back one version of each key
// at most, and has no branch that depends on what it finds.
func (v *versions) findDense(slots []state.Slot, times []int64) {
	v.version, v.more = resize(v.version, len(slots)), resize(v.more, len(slots))
	numbers, from, before, n := v.last.numbers, v.from, v.before[:len(v.from)], 0
	version, more, times := v.version[:len(slots)], v.more[:len(slots)], times[:len(slots)]
	for i, s := range slots {
		last := int32(0)
		if at := int(s) + 1; at < len(numbers) {
			last = numbers[at]
		}
		t, then := times[i], before[last]
		if from[last] <= t {
			then = last
		}
		version[i] = then
		more[n] = int32(i)
		late := 0
		if from[then] > t {
			late = 1
		}
		n += late
	}
	for _, i := range more[:n] {
		at := version[i]
		for from[at] > times[i] {
			at = before[at]
		}
		version[i] = at
	}
}

// strike makes None the slots of keys of which the table has no version: those that the
// first one follows of, and, when versions are forgotten, that were deleted in the epoch.
func (v *versions) strike(slots []state.Slot) {
	if v.b == nil && v.expiry == nil {
		return
	}
	live := state.Col[bool](v.table, colVersionLive)
	for i, s := range slots {
		if s != state.None && !live[s] {
			slots[i] = state.None
		}
	}
}

// keep brings the versions that were set into the table. It returns how many of them
// never hold, because a later one was there before them.
func (v *versions) keep() int {
	live, kept, kinds := state.Col[bool](v.table, colVersionLive), state.Col[int64](v.table, colVersionTime), v.b.Kinds()
	v.stored, v.gone = v.stored[:0], v.gone[:0]
	rows := v.held[:0]
	for _, i := range v.held {
		s := v.slots[i]
		if v.last.find(s) != i+1 {
			continue
		}
		if kinds != nil && !kinds[i].Adds() {
			live[s] = false
			v.gone = append(v.gone, s)
			continue
		}
		live[s], kept[s] = true, v.times[i]
		v.stored, rows = append(v.stored, s), append(rows, i)
	}
	v.last.clear(v.slots)
	v.row.store(v.table, v.stored, v.b, rows)
	v.table.Dirty(v.stored)
	if v.expiry == nil {
		v.table.Drop(v.gone)
	} else {
		v.table.Dirty(v.gone) // flush drops them
	}
	v.b = nil
	return v.lost
}

// column has column c of the versions that rows were found to have: NULL for those that
// have none, of which whole says that there are none.
func (v *versions) column(p *vector.Pool, c int, kept []state.Slot, follows []int32, whole bool) *vector.Vector {
	at := v.at[c]
	col := v.row.at + v.row.wordCount() + at
	kind := v.row.types[at].Kind()
	var out *vector.Vector
	switch kind {
	case vector.Bool:
		out = keptColumn[bool](p, v, col, c, kept, follows)
	case vector.Int8:
		out = keptColumn[int8](p, v, col, c, kept, follows)
	case vector.Int16:
		out = keptColumn[int16](p, v, col, c, kept, follows)
	case vector.Int32:
		out = keptColumn[int32](p, v, col, c, kept, follows)
	case vector.Int64:
		out = keptColumn[int64](p, v, col, c, kept, follows)
	case vector.Float32:
		out = keptColumn[float32](p, v, col, c, kept, follows)
	case vector.Float64:
		out = keptColumn[float64](p, v, col, c, kept, follows)
	case vector.Decimal:
		out = keptColumn[vector.Dec](p, v, col, c, kept, follows)
	case vector.String, vector.Bytes:
		out = v.texts(p, col, c, kind, kept, follows)
	default:
		return v.nested(p, at, col, c, kind, kept, follows)
	}
	if !whole || v.row.bit[at] >= 0 {
		v.nulls(out, at, c, kept, follows)
	}
	return out
}

// keptColumn has the values; those of rows without a version are arbitrary.
func keptColumn[T vector.Fixed](p *vector.Pool, v *versions, col, c int, kept []state.Slot, follows []int32) *vector.Vector {
	vec := p.New(vector.KindOf[T](), len(kept))
	out, vals := vector.Values[T](vec)[:len(kept)], state.Col[T](v.table, col)
	if len(vals) > 0 {
		for i, s := range kept {
			out[i] = vals[max(s, 0)]
		}
	}
	if follows == nil {
		return vec
	}
	next := vector.Values[T](v.b.Col(c))
	for _, i := range v.listed(follows) {
		out[i] = next[follows[i]]
	}
	return vec
}

// listed lists the rows whose version follows. The loop has no branch that depends on them.
func (v *versions) listed(follows []int32) []int32 {
	v.more = resize(v.more, len(follows))
	n := 0
	for i, f := range follows {
		v.more[n] = int32(i)
		n += int(uint32(^f) >> 31)
	}
	return v.more[:n]
}

// text is the value of a row, and nil without a version.
func (v *versions) text(col, c, i int, kept []state.Slot, follows []int32) []byte {
	switch {
	case follows != nil && follows[i] >= 0:
		return v.b.Col(c).Bytes(int(follows[i]))
	case kept[i] >= 0:
		return v.table.Bytes(col, kept[i])
	}
	return nil
}

func (v *versions) texts(p *vector.Pool, col, c int, kind vector.Kind, kept []state.Slot, follows []int32) *vector.Vector {
	size := 0
	for i := range kept {
		size += len(v.text(col, c, i, kept, follows))
	}
	vec := p.NewVariable(kind, len(kept), size)
	data, offsets, at := vec.Data(), vec.Offsets(), 0
	for i := range kept {
		at += copy(data[at:], v.text(col, c, i, kept, follows))
		offsets[i+1] = int32(at)
	}
	return vec
}

func (v *versions) nested(p *vector.Pool, at, col, c int, kind vector.Kind, kept []state.Slot, follows []int32) *vector.Vector {
	out := vector.NewColumnBuilder(p, kind)
	for i, s := range kept {
		if follows != nil && follows[i] >= 0 {
			out.AppendFrom(v.b.Col(c), int(follows[i]))
		} else if s < 0 || v.isNull(at, s) {
			out.AppendNull()
		} else if err := rowkey.DecodeValue(v.table.Bytes(col, s), out); err != nil {
			panic("op: a stored value of " + kind.String() + " cannot be read: " + err.Error())
		}
	}
	return out.Finish()
}

// isNull reports whether a column of a kept version is NULL.
func (v *versions) isNull(at int, s state.Slot) bool {
	bit := v.row.bit[at]
	return bit >= 0 && state.Col[int64](v.table, v.row.at+bit>>6)[s]>>(uint(bit)&63)&1 != 0
}

// nulls makes NULL what is NULL in the version, and rows without one.
func (v *versions) nulls(out *vector.Vector, at, c int, kept []state.Slot, follows []int32) {
	var valid vector.Bitmap
	null := func(i int) {
		if valid == nil {
			valid = out.NewValid(true)
		}
		valid.Clear(i)
	}
	var words []int64
	mask := int64(0)
	if bit := v.row.bit[at]; bit >= 0 {
		words, mask = state.Col[int64](v.table, v.row.at+bit>>6), 1<<(uint(bit)&63)
	}
	for i, s := range kept {
		switch {
		case follows != nil && follows[i] >= 0:
			if v.b.Col(c).IsNull(int(follows[i])) {
				null(i)
			}
		case s < 0 || words != nil && words[s]&mask != 0:
			null(i)
		}
	}
}
