package op

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// SetSpec says which of INTERSECT and EXCEPT a SetOperation is.
type SetSpec struct {
	Types     []sqltype.Type // of both inputs and of the output
	Except    bool           // EXCEPT, else INTERSECT
	All       bool           // equal rows count apart
	Spread    []int          // columns that rows are spread by; nil: one shard has all
	Retention Retention
}

// SetOperation is INTERSECT and EXCEPT, with and without ALL, of two changelogs. It
// keeps for every distinct row how often it is there on each side, and publishes at
// the end of an epoch how often more or less it is in the result. Rows are equal when
// all columns are, NULL being equal to NULL.
//
// Counts may be negative inside an epoch. One that is negative at its end counts as
// 0 and is reported as inconsistent.
type SetOperation struct {
	spec   SetSpec
	rt     *exec.Runtime
	layout rowkey.Layout
	enc    *rowkey.Encoder
	all    []int
	rows   *state.Values // by row: its count on the left, and on the right

	low    *exec.MinWatermark
	slots  []state.Slot
	first  []state.Slot
	fresh  []int32
	images images
	old    []int32
	now    []int32
	expiry *expiry // nil: rows are kept for ever
}

// NewSetOperation returns a SetOperation. Port 0 is its left input, port 1 its right.
func NewSetOperation(spec SetSpec) *SetOperation {
	s := &SetOperation{spec: spec, low: exec.NewMinWatermark(2)}
	for c := range spec.Types {
		s.all = append(s.all, c)
	}
	s.layout = keyLayout(spec.Types, s.all, spec.Spread)
	s.enc = rowkey.NewEncoder(s.layout)
	s.images = newImages(countKinds)
	if spec.Retention.Set() {
		s.expiry = newExpiry(spec.Retention, s.layout, len(countKinds))
	}
	return s
}

// countKinds are the columns of an entry of SetOperation.rows.
var countKinds = []vector.Kind{vector.Int64, vector.Int64}

// Open finds the table.
func (s *SetOperation) Open(_ context.Context, rt *exec.Runtime) error {
	s.rt = rt
	cols := slices.Clone(countKinds)
	if s.expiry != nil {
		cols = append(cols, vector.Int64)
		s.expiry.open(rt, "expiry")
	}
	s.rows = rt.State.Values("rows", s.layout, cols)
	return nil
}

// Process counts the rows of b.
func (s *SetOperation) Process(port int, b *vector.Batch, _ exec.Output) error {
	if s.expiry.late() {
		if err := s.expire(); err != nil {
			return err
		}
	}
	s.slots = resize(s.slots, b.Len())
	if err := s.rows.Resolve(s.enc.Encode(b, s.all), true, s.slots); err != nil {
		return err
	}
	if s.fresh = s.rows.Hold(s.slots, s.fresh[:0]); len(s.fresh) > 0 {
		s.first = gather(s.first, s.slots, s.fresh)
		s.rows.Dirty(s.first)
		s.images.save(s.rows, s.first)
	}
	count, kinds := state.Col[int64](s.rows, port), b.Kinds()
	if kinds == nil {
		countRows(count, s.slots, nil)
		return nil
	}
	if s.expiry != nil {
		unknown(count, s.slots, func(i int) vector.RowKind { return kinds[b.Row(i)] }, nil)
		return nil
	}
	for i, slot := range s.slots {
		count[slot] += kinds[b.Row(i)].Sign()
	}
	return nil
}

// Advance passes the least watermark of both sides on when it rises.
func (s *SetOperation) Advance(port int, w exec.Watermark, out exec.Output) error {
	if low, rose := s.low.Advance(port, w); rose {
		return out.Advance(low)
	}
	return nil
}

// End does nothing.
func (s *SetOperation) End(int, exec.Output) error { return nil }

// Flush publishes the net change of the rows that the epoch touched, and forgets those
// that were not touched for long.
func (s *SetOperation) Flush(out exec.Output) error {
	if err := s.publish(out); err != nil || s.expiry == nil {
		return err
	}
	return s.expire()
}

func (s *SetOperation) expire() error {
	return s.expiry.expire(s.rows, func(_ *vector.Batch, slots []state.Slot) error {
		s.rows.Drop(slots)
		s.rt.Expired(int64(len(slots)))
		return nil
	})
}

func (s *SetOperation) publish(out exec.Output) error {
	held := s.rows.Held()
	n := len(held)
	if n == 0 {
		return nil
	}
	defer s.images.reset()
	s.images.save(s.rows, held)
	left, right := savedValues[int64](&s.images, 0), savedValues[int64](&s.images, 1)
	s.old, s.now, s.first = s.old[:0], s.now[:0], s.first[:0]
	negative := int64(0)
	for i, slot := range held {
		change := s.multiplicity(left[n+i], right[n+i]) - s.multiplicity(left[i], right[i])
		for range -change {
			s.old = append(s.old, int32(i))
		}
		for range change {
			s.now = append(s.now, int32(i))
		}
		for _, c := range [...]int64{left[n+i], right[n+i]} {
			if c < 0 {
				negative++
			}
		}
		if left[n+i] == 0 && right[n+i] == 0 {
			s.first = append(s.first, slot)
		}
	}
	s.rt.Inconsistent(negative)
	if len(s.old)+len(s.now) > 0 || s.expiry != nil {
		cols, err := s.rows.Keys(s.rt.Pool, held)
		if err != nil {
			return err
		}
		b := vector.NewBatch(n, cols, nil)
		defer b.Release()
		if s.expiry != nil {
			if err := s.expiry.touch(s.rows, held, cols); err != nil {
				return err
			}
		}
		if err := emitRows(out, s.rt.Pool, b, s.old, vector.Delete); err != nil {
			return err
		}
		if err := emitRows(out, s.rt.Pool, b, s.now, vector.Insert); err != nil {
			return err
		}
	}
	if len(s.first) > 0 {
		s.rows.Drop(s.first)
	}
	return nil
}

// multiplicity is how often a row is in the result.
func (s *SetOperation) multiplicity(left, right int64) int64 {
	left, right = max(left, 0), max(right, 0)
	if !s.spec.All {
		left, right = min(left, 1), min(right, 1)
	}
	if s.spec.Except {
		return max(left-right, 0)
	}
	return min(left, right)
}

// Close does nothing but for what was not looked at: state belongs to the task.
func (s *SetOperation) Close() error {
	s.expiry.close()
	return nil
}

// emitRows emits the given rows of b, which has no kinds of its own, as changes of
// one kind.
func emitRows(out exec.Output, p *vector.Pool, b *vector.Batch, rows []int32, kind vector.RowKind) error {
	for at := 0; at < len(rows); at += vector.Target {
		part := b.Take(p, rows[at:min(at+vector.Target, len(rows))])
		if kind != vector.Insert {
			v, k := p.NewKinds(part.Len())
			for i := range k {
				k[i] = kind
			}
			plain := part
			part = plain.WithKinds(v)
			plain.Release()
		}
		err := out.Emit(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
