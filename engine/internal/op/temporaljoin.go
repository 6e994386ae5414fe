package op

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// TemporalSide says what one input of a temporal join is.
type TemporalSide struct {
	Types     []sqltype.Type // of the first columns; what is behind is not read
	Keys      []int          // columns that must equal those of the other side, in the same order
	Time      int            // event time; of versions of processing time -1
	Watermark int            // the hidden column, or -1
	Updating  bool           // the input may take rows away
	Spread    []int          // columns that rows are spread by, of Keys; nil: one shard has all
}

// TemporalJoinSpec says what a temporal join computes. The columns of a pair of rows are
// those of the left followed by those of the right.
type TemporalJoinSpec struct {
	Left, Right TemporalSide
	NullSafe    []bool // by key: NULL equals NULL
	// Outer says that left rows without a version leave the join too.
	Outer bool
	// Replacing says that versions replace each other by key, and that a -D may have no
	// more than the key: it then deletes the version that came last.
	Replacing bool
	Residual  expr.Expr // over the columns of a pair; nil: the version that holds is the one
	Output    []int     // columns of a pair to be emitted
	// Retention says when the version that holds is forgotten of a key that neither a row
	// nor a version has had for so long.
	Retention Retention
}

// TemporalJoin joins each left row with the version of its key that holds at the time of
// the row: the last one up to it. Every +I and +U of the right is a version from its own
// time on, and a -D says that from its time on there is none; a -U says nothing. The
// condition is that of the version that holds: there is no other when it fails.
//
// A left row waits until the watermarks of both sides have come to its time, and leaves in
// the order of time. A left row behind the watermark before it is late and refused. A
// version that is late holds from the first moment that the watermark had not passed
// before it, unless a later version holds then, which counts as late too. So it depends
// neither on the size of batches nor on which side is read sooner what a row finds.
//
// It keeps the left rows that wait, the versions that are to hold, and of each key the one
// that holds at the watermark.
type TemporalJoin struct {
	spec   TemporalJoinSpec
	late   [2]exec.Lateness
	low    *exec.MinWatermark
	rt     *exec.Runtime
	probes *timeQueue
	follow *timeQueue
	joined temporalPairs
	latest *state.Values // Replacing: by key, the time of the version that came last
	ages   *expiry       // of latest; nil: it is kept for ever

	overdue bool // a left row came that the watermark had reached
	enc     *rowkey.Encoder
	slots   []state.Slot
	rows    []int32
	lost    []int32
}

// The columns of latest.
const (
	colLatestHas  = 0
	colLatestTime = 1
	colLatestAge  = 2
)

// NewTemporalJoin returns a TemporalJoin. It fails for a condition that cannot be
// compiled.
func NewTemporalJoin(spec TemporalJoinSpec) (*TemporalJoin, error) {
	l, r := spec.Left, spec.Right
	pairs, err := newTemporalPairs(spec)
	j := &TemporalJoin{
		spec: spec, low: exec.NewMinWatermark(2), joined: pairs,
		late:   [2]exec.Lateness{exec.NewLateness(l.Watermark), exec.NewLateness(r.Watermark)},
		probes: newTimeQueue(l.Types, l.Keys, l.Spread, l.Updating),
		follow: newTimeQueue(r.Types, r.Keys, r.Spread, r.Updating),
		enc:    rowkey.NewEncoder(keyLayout(r.Types, r.Keys, r.Spread)),
	}
	if spec.Replacing && spec.Retention.Set() {
		j.ages = newExpiry(spec.Retention, keyLayout(r.Types, r.Keys, r.Spread), colLatestAge)
	}
	return j, err
}

// Open finds the tables.
func (j *TemporalJoin) Open(_ context.Context, rt *exec.Runtime) error {
	j.rt = rt
	j.probes.open(rt, "left")
	j.follow.open(rt, "right")
	if j.spec.Replacing {
		kinds := []vector.Kind{vector.Bool, vector.Int64}
		if j.ages != nil {
			kinds = append(kinds, vector.Int64)
			j.ages.open(rt, "latest/expiry")
		}
		j.latest = rt.State.Values("latest", keyLayout(j.spec.Right.Types, j.spec.Right.Keys, j.spec.Right.Spread), kinds)
	}
	return j.joined.open(rt)
}

// Process keeps the rows of b until their time.
func (j *TemporalJoin) Process(port int, b *vector.Batch, _ exec.Output) error {
	b = b.Keep(j.rt.Pool)
	defer b.Release()
	if port == 0 {
		return j.addProbes(b)
	}
	if j.ages.late() {
		if err := j.ages.drop(j.latest); err != nil {
			return err
		}
	}
	return j.addVersions(b)
}

// addProbes keeps the rows of the left that are not late.
func (j *TemporalJoin) addProbes(b *vector.Batch) error {
	col := b.Col(j.spec.Left.Time)
	at := slices.Clone(vector.Values[int64](col)[:b.Len()])
	j.rows, j.lost = j.rows[:0], j.lost[:0]
	if !j.inTime(b, at) {
		j.part(b, at)
	}
	plain := b.Project(upTo(len(j.spec.Left.Types)))
	if len(j.lost) > 0 {
		defer plain.Release()
		if err := refuseLate(j.rt, exec.Late, plain, j.late[0].Column(), j.lost, nil, nil); err != nil || len(j.rows) == 0 {
			return err
		}
		plain, at = plain.Take(j.rt.Pool, j.rows), gather(nil, at, j.rows)
	}
	j.probes.add(plain, at)
	return nil
}

// inTime reports whether no row is late, is due, or has no time.
func (j *TemporalJoin) inTime(b *vector.Batch, at []int64) bool {
	if b.Col(j.spec.Left.Time).Valid() != nil {
		return false
	}
	marks, floor := j.late[0].Rows(b)
	floor = max(floor, int64(j.low.Value()))
	if marks == nil {
		for _, t := range at {
			if t <= floor {
				return false
			}
		}
		return true
	}
	marks = marks[:len(at)]
	for i, t := range at {
		if t <= floor || t < marks[i] {
			return false
		}
	}
	return true
}

// part parts the rows that are late from the others. Those without a time are due.
func (j *TemporalJoin) part(b *vector.Batch, at []int64) {
	col := b.Col(j.spec.Left.Time)
	marks, floor := j.late[0].Rows(b)
	for i, t := range at {
		before := floor
		if marks != nil {
			before = max(before, marks[i])
		}
		switch {
		case col.IsNull(i):
			t, at[i] = int64(exec.NoWatermark), int64(exec.NoWatermark)
		case t < before:
			j.lost = append(j.lost, int32(i))
			continue
		}
		j.overdue = j.overdue || t <= int64(j.low.Value())
		j.rows = append(j.rows, int32(i))
	}
}

// addVersions keeps the versions of the right until the time from which they hold.
func (j *TemporalJoin) addVersions(b *vector.Batch) error {
	side := j.spec.Right
	plain := b.Project(upTo(len(side.Types)))
	defer plain.Release()
	marks, floor := j.late[1].Rows(b)
	before := func(i int) int64 {
		if marks == nil {
			return floor
		}
		return max(floor, marks[i])
	}
	if j.spec.Replacing {
		completed, err := j.complete(plain, before)
		if err != nil {
			return err
		}
		defer completed.Release()
		plain = completed
	}
	col, kinds := plain.Col(side.Time), plain.Kinds()
	times := vector.Values[int64](col)[:b.Len()]
	from := make([]int64, 0, len(times))
	j.rows = j.rows[:0]
	for i, t := range times {
		if kinds != nil && kinds[i] == vector.UpdateBefore || col.IsNull(i) {
			continue
		}
		if known := before(i); t <= known {
			t = known + 1
		}
		j.rows, from = append(j.rows, int32(i)), append(from, t)
	}
	switch len(j.rows) {
	case 0:
	case b.Len():
		j.follow.add(plain.Retain(), from)
	default:
		j.follow.add(plain.Take(j.rt.Pool, j.rows), from)
	}
	return nil
}

// complete gives each -D the time at which it acts: its own, or that of the version that
// it deletes if it has none or one before. before is the watermark before a row. The
// result is the caller's.
func (j *TemporalJoin) complete(b *vector.Batch, before func(i int) int64) (*vector.Batch, error) {
	side, kinds := j.spec.Right, b.Kinds()
	j.slots = resize(j.slots, b.Len())
	if err := j.latest.Resolve(j.enc.Encode(b, side.Keys), true, j.slots); err != nil {
		return nil, err
	}
	if j.ages != nil {
		j.rows = j.latest.Hold(j.slots, j.rows[:0])
	}
	j.latest.Dirty(j.slots)
	has, latest, col := state.Col[bool](j.latest, colLatestHas), state.Col[int64](j.latest, colLatestTime), b.Col(side.Time)
	times := j.rt.Pool.New(vector.Int64, b.Len())
	var valid vector.Bitmap
	out := vector.Values[int64](times)
	for i, t := range vector.Values[int64](col)[:b.Len()] {
		s, null := j.slots[i], col.IsNull(i)
		if kinds != nil && kinds[i] == vector.Delete {
			switch {
			case has[s] && (null || t < latest[s]):
				t, null = latest[s], false
			case null && j.ages != nil: // it may have been forgotten
				t, null = before(i), false
			}
			has[s] = false
		} else if !null {
			has[s], latest[s] = true, t
		}
		if out[i] = t; null {
			if valid == nil {
				valid = times.NewValid(true)
			}
			valid.Clear(i)
		}
	}
	if j.ages == nil {
		gone := j.slots[:0]
		for _, s := range j.slots {
			if !has[s] {
				has[s] = true // once
				gone = append(gone, s)
			}
		}
		j.latest.Drop(gone)
	}
	cols := make([]*vector.Vector, b.Cols())
	for c := range cols {
		if cols[c] = times; c != side.Time {
			cols[c] = b.Col(c).Retain()
		}
	}
	kind := b.KindVector()
	if kind != nil {
		kind.Retain()
	}
	return vector.NewBatch(b.Len(), cols, kind), nil
}

// Advance joins the left rows up to the watermark of both sides, then passes it on.
func (j *TemporalJoin) Advance(port int, w exec.Watermark, out exec.Output) error {
	low, rose := j.low.Advance(port, w)
	if !rose {
		return nil
	}
	if err := j.fire(int64(low), out); err != nil {
		return err
	}
	j.late[0].Advance(low)
	j.late[1].Advance(low)
	return out.Advance(low)
}

// End does nothing: the watermark of an input that ends says that it did.
func (j *TemporalJoin) End(int, exec.Output) error { return nil }

// Flush joins the left rows that were due when they came, and brings the others into the
// tables.
func (j *TemporalJoin) Flush(out exec.Output) error {
	if j.overdue {
		if err := j.fire(int64(j.low.Value()), out); err != nil {
			return err
		}
	}
	if err := j.probes.flush(); err != nil {
		return err
	}
	if err := j.follow.flush(); err != nil {
		return err
	}
	if err := j.ages.settleLive(j.latest, colLatestHas); err != nil {
		return err
	}
	return j.joined.versions.flush()
}

// fire joins the left rows that are due up to a time.
func (j *TemporalJoin) fire(to int64, out exec.Output) error {
	j.overdue = false
	if err := j.joined.versions.begin(); err != nil {
		return err
	}
	for more := true; more; {
		next, from, err := j.follow.take(to)
		if err != nil {
			return err
		}
		until := to
		if more = next != nil; more {
			if at, ok := j.follow.next(); ok && at <= to {
				until = at - 1
			}
			err = j.joined.versions.set(next, from, vector.Values[int64](next.Col(j.spec.Right.Time)))
		}
		for err == nil {
			var b *vector.Batch
			var at []int64
			if b, at, err = j.probes.take(until); b == nil || err != nil {
				break
			}
			err = j.joined.join(b, at, out)
			b.Release()
		}
		if more {
			if err == nil {
				j.rt.Late(int64(j.joined.versions.keep()), 0)
			}
			next.Release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close frees what is in memory.
func (j *TemporalJoin) Close() error {
	j.probes.close()
	j.follow.close()
	j.ages.close()
	j.joined.versions.expiry.close()
	return nil
}
