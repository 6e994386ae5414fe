package op

import (
	"context"
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/vector"
)

// LatestJoin joins each left row, when it comes, with the version of its key that is the
// last of those that have come: the last in event time, or the last to come when versions
// are of processing time. What was emitted never changes. It keeps the last version of
// each key.
//
// When the left takes a row away, what was emitted for it is taken back as it was: that is
// kept too, and changes of the left leave as +I and -D.
type LatestJoin struct {
	joined temporalPairs
	rt     *exec.Runtime
	// time is the column of versions with their time, or -1, and replacing says that a -D
	// needs no more than the key.
	time      int
	replacing bool

	rows  []int32
	times []int64
}

// NewLatestJoin returns a LatestJoin. The time of the left is not read. It fails for a condition that cannot be compiled.
func NewLatestJoin(spec TemporalJoinSpec) (*LatestJoin, error) {
	spec.Left.Time = -1
	pairs, err := newTemporalPairs(spec)
	if l := spec.Left; l.Updating {
		pairs.frozen = newFrozenRows(ProbeSpec{
			Types: l.Types, Table: spec.Right.Types, Outer: spec.Outer, Output: spec.Output, Updating: true, Spread: l.Spread, Watermark: l.Watermark + 1,
		})
	}
	return &LatestJoin{joined: pairs, time: spec.Right.Time, replacing: spec.Replacing}, err
}

// Open finds the table.
func (j *LatestJoin) Open(_ context.Context, rt *exec.Runtime) error {
	j.rt = rt
	return j.joined.open(rt)
}

// Process joins rows of the left, and keeps versions of the right.
func (j *LatestJoin) Process(port int, b *vector.Batch, out exec.Output) error {
	if _, some := b.Sel(); some {
		b = b.Dense(j.rt.Pool)
		defer b.Release()
	}
	if err := j.joined.versions.begin(); err != nil {
		return err
	}
	switch f := j.joined.frozen; {
	case port == 1:
		return j.latest(b)
	case f != nil:
		return f.process(b, out, func(part *vector.Batch) error { return j.joined.join(part, nil, out) })
	}
	return j.joined.join(b, nil, out)
}

// latest keeps the versions of b that are the last of their keys.
func (j *LatestJoin) latest(b *vector.Batch) error {
	kinds := b.Kinds()
	var times *vector.Vector
	if j.time >= 0 {
		times = b.Col(j.time)
	}
	j.rows, j.times = j.rows[:0], j.times[:0]
	for i := range b.Len() {
		at, deleted := int64(0), kinds != nil && kinds[i] == vector.Delete
		switch {
		case kinds != nil && kinds[i] == vector.UpdateBefore:
			continue
		case deleted && j.replacing:
			at = math.MaxInt64 // it deletes whatever there is
		case times != nil && times.IsNull(i):
			continue
		case times != nil:
			at = vector.Values[int64](times)[i]
		}
		j.rows, j.times = append(j.rows, int32(i)), append(j.times, at)
	}
	if len(j.rows) == 0 {
		return nil
	}
	if len(j.rows) < b.Len() {
		b = b.Take(j.rt.Pool, j.rows)
		defer b.Release()
	}
	if err := j.joined.versions.set(b, nil, j.times); err != nil {
		return err
	}
	j.joined.versions.keep()
	return nil
}

// Advance passes on the watermark of the left, whose rows do not wait.
func (j *LatestJoin) Advance(port int, w exec.Watermark, out exec.Output) error {
	if port == 1 {
		return nil
	}
	return out.Advance(w)
}

// End does nothing.
func (j *LatestJoin) End(int, exec.Output) error { return nil }

// Flush takes back what is owed, and forgets versions that nothing used for long. All else
// was emitted as it came.
func (j *LatestJoin) Flush(out exec.Output) error {
	if f := j.joined.frozen; f != nil {
		if err := f.flush(out); err != nil {
			return err
		}
	}
	return j.joined.versions.flush()
}

// Close frees what is owed: state belongs to the task.
func (j *LatestJoin) Close() error {
	if f := j.joined.frozen; f != nil {
		f.close()
	}
	j.joined.versions.expiry.close()
	return nil
}
