package udf

import (
	"context"
	"fmt"
	"slices"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/vector"
)

// States are the states of an aggregate for some groups. The bytes belong to the caller,
// who may store them; only the function knows what they mean. A call that fails leaves
// them as they were.
type States struct {
	Fixed []byte   // StateSize bytes for each group, or
	Views [][]byte // bytes for each group
}

func (s *States) len(size int) int {
	if size == 0 {
		return len(s.Views)
	}
	return len(s.Fixed) / size
}

// Init returns the state of a group without rows. The function computes it once for the
// module; the caller copies it.
func (i *Instance) Init(ctx context.Context) ([]byte, error) {
	i.enter()
	defer i.leave()
	i.must(abi.Aggregate, abi.TableAggregate)
	return i.init(ctx)
}

func (i *Instance) init(ctx context.Context) ([]byte, error) {
	f := i.fn
	f.template.Lock()
	defer f.template.Unlock()
	if f.template.made {
		return f.template.state, nil
	}
	state := &States{Fixed: make([]byte, f.StateSize)}
	if f.StateSize == 0 {
		state = &States{Views: [][]byte{nil}}
	}
	if f.names[abi.PartInit] != "" {
		i.open(ctx, &Call{})
		defer i.close()
		x := &i.x
		x.begin(abi.PartInit, i.layout(abi.PartInit, 0))
		if err := i.onStates(state, span{to: 1}); err != nil {
			return nil, err
		}
	}
	f.template.state = state.Fixed
	if f.StateSize == 0 {
		f.template.state = state.Views[0]
	}
	f.template.made = true
	return f.template.state, nil
}

// Update adds row r of the call to the state of group[r], or takes it away when sign[r] is
// -1. A nil sign adds all. Groups without rows stay as they are.
func (i *Instance) Update(ctx context.Context, c *Call, group []uint32, sign []int8, s *States) error {
	i.enter()
	defer i.leave()
	i.must(abi.Aggregate, abi.TableAggregate)
	i.open(ctx, c)
	x := &i.x
	x.begin(abi.PartUpdate, i.layout(abi.PartUpdate, len(c.Args)))
	sent := *c
	var rows []int32
	if i.fn.Strict {
		if rows = i.withoutNulls(&sent); rows != nil {
			group, sign = i.pick(rows, group, sign)
		}
	}
	if !slices.Contains(sign, -1) {
		sign = nil
	} else if !i.fn.Retract {
		panic("udf: rows are taken away from " + i.fn.Export + ", which cannot do that")
	}
	i.gather(&sent)
	defer x.drop()
	return i.inPieces(s, sent.Rows, rows, func(from int, next *States) (int, error) {
		x.states = i.stateSet(next)
		return i.updatePiece(&sent, from, group, sign)
	})
}

// inPieces changes states by as many calls as the rows, or other states, need; s changes
// when all have succeeded. lay measures what the next call takes, from there on, and reports
// how many that are. rows are those of the caller, nil for all.
func (i *Instance) inPieces(s *States, count int, rows []int32, lay func(from int, next *States) (int, error)) error {
	next := s
	for from := 0; from < count; {
		n, err := lay(from, next)
		if err == nil && n < count && next == s {
			next = s.clone()
			i.x.states.s = next
		}
		if err == nil {
			_, err = i.call()
		}
		if err == nil {
			err = i.takeStates(next)
		}
		if err != nil {
			return shifted(err, from, rows)
		}
		from += n
		i.seed = pieceSeed(i.seed)
	}
	*s = *next
	return nil
}

// pick writes the groups and signs of the rows to scratch memory.
func (i *Instance) pick(rows []int32, group []uint32, sign []int8) ([]uint32, []int8) {
	s := &i.scratch
	s.group = s.group[:0]
	for _, r := range rows {
		s.group = append(s.group, group[r])
	}
	if sign != nil {
		s.sign = s.sign[:0]
		for _, r := range rows {
			s.sign = append(s.sign, sign[r])
		}
		sign = s.sign
	}
	return s.group, sign
}

// updatePiece is piece for update: it also brings the states of the rows' groups.
func (i *Instance) updatePiece(c *Call, from int, group []uint32, sign []int8) (int, error) {
	x := &i.x
	return i.cut(min(c.Rows-from, abi.MaxRows), "row with its state", func(n int, small bool) int {
		x.rowsOf(c, from, from+n)
		x.group = x.states.use(group[from:from+n], &i.scratch)
		if sign != nil {
			x.sign = sign[from : from+n]
		}
		return x.measure(small)
	})
}

// Merge adds every state r of other to the state of group[r]. Other is not changed. Only
// Now, Seed and Pool of the call are used.
func (i *Instance) Merge(ctx context.Context, c *Call, other *States, group []uint32, s *States) error {
	i.enter()
	defer i.leave()
	i.must(abi.Aggregate, abi.TableAggregate)
	if !i.fn.Merge {
		panic("udf: states of " + i.fn.Export + " cannot be merged")
	}
	count := other.len(i.fn.StateSize)
	i.open(ctx, &Call{Rows: count, Now: c.Now, Seed: c.Seed})
	x := &i.x
	x.begin(abi.PartMerge, i.layout(abi.PartMerge, 0))
	return i.inPieces(s, count, nil, func(from int, next *States) (int, error) {
		return i.cut(min(count-from, abi.MaxRows), "state", func(n int, small bool) int {
			x.states, x.other = i.stateSet(next), &stateSet{s: other, size: i.fn.StateSize, rows: span{from: from, to: from + n}}
			x.count = n
			x.group = x.states.use(group[from:from+n], &i.scratch)
			return x.measure(small)
		})
	})
}

// Finish returns the value of each group, owned by the caller. The states are not changed.
// Only Now, Seed and Pool of the call are used.
func (i *Instance) Finish(ctx context.Context, c *Call, s *States) (*vector.Vector, error) {
	i.enter()
	defer i.leave()
	i.must(abi.Aggregate)
	groups := s.len(i.fn.StateSize)
	i.open(ctx, &Call{Rows: groups, Now: c.Now, Seed: c.Seed})
	x := &i.x
	x.begin(abi.PartFinish, i.layout(abi.PartFinish, 0))
	out := pieces{pool: c.Pool, rows: groups, inPlace: x.layout.inPlace}
	for from := 0; ; {
		n, err := i.groupPiece(s, from, groups)
		if err == nil {
			_, err = i.call()
		}
		if err == nil {
			err = i.take(&out, from, n)
		}
		if err != nil {
			out.drop()
			return nil, shifted(err, from, nil)
		}
		if from += n; from >= groups {
			return out.finish(), nil
		}
		i.seed = pieceSeed(i.seed)
	}
}

// groupPiece is piece for finish and emit, whose rows are the groups.
func (i *Instance) groupPiece(s *States, from, groups int) (int, error) {
	x := &i.x
	return i.cut(min(groups-from, abi.MaxRows), "state", func(n int, small bool) int {
		x.states = &stateSet{s: s, size: i.fn.StateSize, rows: span{from: from, to: from + n}}
		if x.parents {
			return x.measureRows(n, small)
		}
		x.outRows = n
		return x.measure(small)
	})
}

// Upgrade turns states of an older version and size (0: variable) of the function into
// its own. Only Now and Seed of the call are used.
func (i *Instance) Upgrade(ctx context.Context, c *Call, old *States, size, version int) (*States, error) {
	i.enter()
	defer i.leave()
	i.must(abi.Aggregate, abi.TableAggregate)
	if i.fn.names[abi.PartUpgrade] == "" {
		return nil, i.fail(i.fn.Export, Broken, fmt.Sprintf("it cannot read its states of version %d", version))
	}
	template, err := i.init(ctx)
	if err != nil {
		return nil, err
	}
	groups := old.len(size)
	i.open(ctx, &Call{Rows: groups, Now: c.Now, Seed: c.Seed})
	next := newStates(i.fn.StateSize, groups, template)
	x := &i.x
	x.begin(abi.PartUpgrade, i.layout(abi.PartUpgrade, 0))
	x.version = version
	for from := 0; from < groups; {
		n, err := i.cut(min(groups-from, abi.MaxRows), "state", func(n int, small bool) int {
			rows := span{from: from, to: from + n}
			x.states = &stateSet{s: next, size: i.fn.StateSize, rows: rows}
			x.other = &stateSet{s: old, size: size, rows: rows}
			x.count = n
			return x.measure(small)
		})
		if err == nil {
			_, err = i.call()
		}
		if err == nil {
			err = i.takeStates(next)
		}
		if err != nil {
			return nil, shifted(err, from, nil)
		}
		from += n
	}
	return next, nil
}

// newStates are states of groups that all have the template's.
func newStates(size, groups int, template []byte) *States {
	s := &States{}
	for range groups {
		if size == 0 {
			s.Views = append(s.Views, slices.Clone(template))
		} else {
			s.Fixed = append(s.Fixed, template...)
		}
	}
	return s
}

// Emit yields the result rows of a table aggregate's groups, as CallTable does: all of
// them, or what changed since the last Emit when EmitRetract. The states change only then.
func (i *Instance) Emit(ctx context.Context, c *Call, s *States, yield func(*Rows) error) error {
	i.enter()
	defer i.leave()
	i.must(abi.TableAggregate)
	groups := s.len(i.fn.StateSize)
	i.open(ctx, &Call{Rows: groups, Now: c.Now, Seed: c.Seed})
	x := &i.x
	x.begin(abi.PartEmit, i.layout(abi.PartEmit, 0))
	x.parents = true
	x.kinds = i.fn.EmitRetract
	next := s
	if i.fn.EmitRetract {
		next = s.clone()
	}
	e := emission{yield: yield, left: i.module.limits.RowsOut}
	for from := 0; from < groups; {
		n, err := i.groupPiece(next, from, groups)
		if err == nil {
			e.from = from
			err = i.emit(&e, c.Pool, n)
		}
		if err == nil && i.fn.EmitRetract {
			err = i.takeStates(next)
		}
		if err != nil {
			return shifted(err, from, nil)
		}
		from += n
		i.seed = pieceSeed(i.seed)
	}
	*s = *next
	return nil
}
