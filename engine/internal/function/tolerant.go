package function

import (
	"errors"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// tolerantInstance gives NULL for the rows that the function fails on.
type tolerantInstance struct{ *wasmInstance }

// Call implements Instance.
func (t *tolerantInstance) Call(c *Call) (*vector.Vector, error) {
	t.prepare(c)
	out, err := t.instance.Call(t.ctx, &t.call)
	if err == nil {
		return out, nil
	}
	rows := make([]int32, c.N)
	for i := range rows {
		rows[i] = int32(i)
	}
	s := setAside{of: t, call: c}
	defer s.release()
	if err := s.failed(rows, err); err != nil {
		return nil, t.explain(err, c)
	}
	return kernel.Merge(c.Pool, t.binding.Ret.Kind(), c.N, s.parts), nil
}

// setAside finds the rows of a batch that a function fails on, and computes the others.
type setAside struct {
	of    *tolerantInstance
	call  *Call
	parts []kernel.Part
}

// compute calls the function on some rows.
func (s *setAside) compute(rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	c := &s.of.call
	c.Rows, c.Sel = len(rows), rows
	v, err := s.of.instance.Call(s.of.ctx, c)
	if err != nil {
		return s.failed(rows, err)
	}
	s.parts = append(s.parts, kernel.Part{Rows: rows, V: v})
	return nil
}

// failed goes on after a call on these rows that failed, on a new instance: with those
// before and those behind the row that it failed on, or, if that is not known, with
// each half.
func (s *setAside) failed(rows []int32, err error) error {
	var fault *udf.Fault
	if !errors.As(err, &fault) || errs.CodeOf(err) == errs.Canceled || s.of.ctx.Err() != nil {
		return err
	}
	s.of.instance.Close()
	next, opened := s.of.of.Open(s.of.ctx, nil)
	if opened != nil {
		return opened
	}
	s.of.instance = next
	low, high := len(rows)/2, len(rows)/2
	if fault.Row >= 0 && fault.Row < len(rows) {
		low, high = fault.Row, fault.Row+1
	} else if len(rows) == 1 {
		low, high = 0, 1
	}
	s.call.Failed += int64(high - low)
	if err := s.compute(rows[:low]); err != nil {
		return err
	}
	return s.compute(rows[high:])
}

func (s *setAside) release() {
	for _, p := range s.parts {
		p.V.Release()
	}
}
