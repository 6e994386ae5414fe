package udfcheck

import (
	"bytes"
	"fmt"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// groups is the number of groups that the rows of an aggregate are dealt to.
const groups = 7

// newStates are the states of groups without rows.
func (k *checker) newStates(in *udf.Instance) (*udf.States, error) {
	first, err := in.Init(k.ctx)
	if err != nil {
		return nil, err
	}
	s := &udf.States{}
	for range groups {
		if k.fn.StateSize == 0 {
			s.Views = append(s.Views, bytes.Clone(first))
		} else {
			s.Fixed = append(s.Fixed, first...)
		}
	}
	return s, nil
}

// update adds the rows of a call to states, nil for new ones, or takes them away.
// Rows are dealt to the groups one after the other.
func (k *checker) update(in *udf.Instance, c *udf.Call, s *udf.States, sign []int8) (*udf.States, error) {
	if s == nil {
		var err error
		if s, err = k.newStates(in); err != nil {
			return nil, err
		}
	}
	group := make([]uint32, c.Rows)
	for i := range group {
		group[i] = uint32(i % groups)
	}
	c.Pool = k.pool
	return s, in.Update(k.ctx, c, group, sign, s)
}

// result is what the states stand for.
func (k *checker) result(in *udf.Instance, s *udf.States) (*outcome, error) {
	c := &udf.Call{Pool: k.pool, Now: 1_700_000_000_000, Seed: k.seed + 2}
	if k.fn.Kind == abi.Aggregate {
		v, err := in.Finish(k.ctx, c, s)
		if err != nil {
			return nil, err
		}
		return &outcome{types: []sqltype.Type{k.fn.Returns}, columns: []*vector.Vector{v}, n: v.Len()}, nil
	}
	all := newCollector(k.pool, fieldTypes(k.fn.Returns))
	err := in.Emit(k.ctx, c, s, all.yield)
	out := all.finish()
	if err != nil {
		out.release()
		return nil, err
	}
	return out, nil
}

// part are rows [from, to) of base, from a multiple of the number of groups.
func (k *checker) part(from, to int) *udf.Call {
	c := &udf.Call{Rows: to - from}
	for _, col := range k.base {
		c.Args = append(c.Args, col.Slice(k.pool, from, to))
	}
	return c
}

// aggregate tries what only functions with states do.
func (k *checker) aggregate() {
	cut := k.rows / 2 / groups * groups
	k.try("update in pieces", func() (string, error) {
		return k.states(func(in *udf.Instance) (*udf.States, error) {
			var s *udf.States
			for _, part := range [][2]int{{0, cut}, {cut, k.rows}} {
				c := k.part(part[0], part[1])
				var err error
				s, err = k.update(in, c, s, nil)
				release(c.Args)
				if err != nil {
					return nil, err
				}
			}
			return s, nil
		}, "two batches give another result than one: ")
	})
	if k.fn.Merge {
		k.try("merge", func() (string, error) { return k.merge(cut) })
	}
	if k.fn.Retract {
		k.try("retract", func() (string, error) { return k.retract() })
	}
	k.try("states are kept", func() (string, error) { return k.kept() })
}

// states compares the result of states made in another way with that of one update.
func (k *checker) states(f func(in *udf.Instance) (*udf.States, error), what string) (string, error) {
	in, err := k.fn.Open(k.ctx, nil)
	if err != nil {
		return "", err
	}
	defer in.Close()
	s, err := f(in)
	if err != nil {
		return "", err
	}
	got, err := k.result(in, s)
	if err != nil {
		return "", err
	}
	defer got.release()
	want, err := k.fresh(&udf.Call{Args: k.base, Rows: k.rows})
	if err != nil {
		return "", err
	}
	defer want.release()
	if !k.fn.Deterministic {
		return "", nil
	}
	return prefix(what, difference(want, got, true)), nil
}

func (k *checker) merge(cut int) (string, error) {
	return k.states(func(in *udf.Instance) (*udf.States, error) {
		var parts [2]*udf.States
		for i, at := range [][2]int{{0, cut}, {cut, k.rows}} {
			c := k.part(at[0], at[1])
			var err error
			parts[i], err = k.update(in, c, nil, nil)
			release(c.Args)
			if err != nil {
				return nil, err
			}
		}
		group := make([]uint32, groups)
		for i := range group {
			group[i] = uint32(i)
		}
		return parts[0], in.Merge(k.ctx, &udf.Call{Pool: k.pool}, parts[1], group, parts[0])
	}, "merged states give another result than one update: ")
}

// retract adds all rows and takes the second half away again.
func (k *checker) retract() (string, error) {
	cut := k.rows / 2 / groups * groups
	in, err := k.fn.Open(k.ctx, nil)
	if err != nil {
		return "", err
	}
	defer in.Close()
	first, second := k.part(0, cut), k.part(cut, k.rows)
	defer release(first.Args)
	defer release(second.Args)
	var s, want *udf.States
	if want, err = k.update(in, first, nil, nil); err != nil {
		return "", err
	}
	if s, err = k.update(in, &udf.Call{Args: k.base, Rows: k.rows}, nil, nil); err != nil {
		return "", err
	}
	sign := make([]int8, second.Rows)
	for i := range sign {
		sign[i] = -1
	}
	if s, err = k.update(in, second, s, sign); err != nil {
		return "", err
	}
	a, err := k.result(in, want)
	if err != nil {
		return "", err
	}
	defer a.release()
	b, err := k.result(in, s)
	if err != nil {
		return "", err
	}
	defer b.release()
	return prefix("rows added and taken away again leave another result than those that stayed: ", difference(a, b, true)), nil
}

// kept looks whether reading the result leaves the states alone, and whether changes
// are emitted once.
func (k *checker) kept() (string, error) {
	in, err := k.fn.Open(k.ctx, nil)
	if err != nil {
		return "", err
	}
	defer in.Close()
	s, err := k.update(in, &udf.Call{Args: k.base, Rows: k.rows}, nil, nil)
	if err != nil {
		return "", err
	}
	first, err := k.result(in, s)
	if err != nil {
		return "", err
	}
	defer first.release()
	second, err := k.result(in, s)
	if err != nil {
		return "", err
	}
	defer second.release()
	if k.fn.EmitRetract {
		if second.n > 0 {
			return fmt.Sprintf("%d changes are emitted again", second.n), nil
		}
		return "", nil
	}
	if !k.fn.Deterministic {
		return "", nil
	}
	return prefix("asking for the result a second time gives another one: ", difference(first, second, false)), nil
}
