package op

import (
	"math"
	"slices"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// overCalls are the calls of one partition and order, ready to be computed.
type overCalls struct {
	spec      *OverSpec
	functions []overFunction
	bounds    []overBounds // the different frames
	frameOf   []int        // by call: its frame
	carry     []int        // by call: what it carries, of carries; -1: nothing
	carries   []overCarry
	distincts []overDistinctTable // of the carries with DISTINCT
	none      overCarry

	slides    bool  // what calls look back at, they slide along together
	looksBack bool  // rows that were emitted are kept for rows to come
	byRows    bool  // all frames are so many rows, and no more
	ages      bool  // what is kept is not looked at any more when it is old
	peers     bool  // the last row that was emitted is looked at, because it may have peers
	waits     bool  // rows wait for what is behind them
	behind    int64 // rows that a row waits for; math.MaxInt64: all
	ahead     int64 // time that a row waits for
}

// overDistinctTable is the values that a call with DISTINCT has found in each partition.
type overDistinctTable struct {
	call   int
	layout rowkey.Layout
	enc    *rowkey.Encoder
}

// init prepares the calls. carried says that the rows come in order, so that a call can
// go on from what it found before. at says where in a walk the columns of the input are.
func (c *overCalls) init(spec *OverSpec, at []int, carried bool) error {
	c.spec, c.byRows, c.ages = spec, true, true
	c.slides = carried && slideTogether(spec.Calls)
	for i := range spec.Calls {
		call := &spec.Calls[i]
		f, err := newOverFunction(call, at)
		if err != nil {
			return err
		}
		c.functions = append(c.functions, f)
		frame := slices.IndexFunc(c.bounds, func(b overBounds) bool { return b.frame == call.Frame })
		if frame < 0 {
			frame = len(c.bounds)
			c.bounds = append(c.bounds, overBounds{frame: call.Frame})
		}
		c.frameOf = append(c.frameOf, frame)
		carry := -1
		if carried && (call.carried() || c.slides && call.slides()) {
			carry = len(c.carries)
			c.carries = append(c.carries, overCarry{on: true, slides: !call.carried()})
			if a := call.Aggregate; a != nil && a.Distinct && distinctSum(f) {
				l := keyLayout(spec.Types, spec.Partition, spec.Spread).With(a.Args[0].Type().Kind())
				c.distincts = append(c.distincts, overDistinctTable{call: i, layout: l, enc: rowkey.NewEncoder(l)})
			}
		}
		c.carry = append(c.carry, carry)
		c.needs(call)
	}
	// A row may wait whose peer does not.
	c.peers = c.waits && slices.ContainsFunc(spec.Calls, func(c OverCall) bool { return c.Function == OverRank || c.Function == OverDenseRank })
	c.looksBack = c.looksBack || c.peers
	return nil
}

// slideFrom is a frame with the place at which those that slide begin.
func (c *overCalls) slideFrom() Frame {
	for i := range c.spec.Calls {
		if call := &c.spec.Calls[i]; !call.carried() {
			return call.Frame
		}
	}
	panic("op: no frame slides")
}

// slideTogether reports whether all calls that look back slide, with frames that begin
// at one place, and none waits: then only the rows that leave the frames are looked at.
func slideTogether(calls []OverCall) bool {
	some := false
	var start Frame
	for i := range calls {
		c := &calls[i]
		switch {
		case c.Function == OverLead || c.Frame.End.Kind > CurrentRow || c.Function.whole():
			return false
		case c.carried():
			if c.Frame.End.Kind == Preceding {
				return false
			}
		case !c.slides() || some && (c.Frame.Rows != start.Rows || c.Frame.Start != start.Start):
			return false
		default:
			some, start = true, c.Frame
		}
	}
	return some
}

// needs notes which rows a call looks at, before a row and behind it.
func (c *overCalls) needs(call *OverCall) {
	start, end := call.Frame.Start, call.Frame.End
	shifts, numbers := call.Function == OverLag || call.Function == OverLead, call.Function.numbers()
	switch {
	case call.carried():
		c.looksBack = c.looksBack || !numbers && end.Kind == Preceding
		c.ages = false
	case call.before() > 0:
		c.looksBack = true
		c.ages = c.ages && call.before() == math.MaxInt64
	}
	c.byRows = c.byRows && !shifts && !numbers && call.Frame.Rows && start.Kind != UnboundedPreceding
	switch {
	case call.Function == OverLead || !shifts && !numbers && call.Frame.Rows && end.Kind == Following:
		if n := call.behind(); n > 0 {
			c.waits, c.behind = true, max(c.behind, n)
		}
	case shifts || numbers && !call.Function.whole():
	case call.Function.whole() || end.Kind == UnboundedFollowing:
		c.waits, c.behind = true, math.MaxInt64
	case end.Kind == Following && end.Rows > 0:
		c.waits, c.ahead = true, max(c.ahead, end.Rows)
	}
}

// frames works out the frames of a walk, whose peers are known.
func (c *overCalls) frames(w *overWalk) {
	for i := range c.bounds {
		c.bounds[i].find(w)
	}
}

// compute appends to cols the values of all calls.
func (c *overCalls) compute(w *overWalk, cols []*vector.Vector) ([]*vector.Vector, error) {
	for i, f := range c.functions {
		carry := &c.none
		if c.carry[i] >= 0 {
			carry = &c.carries[c.carry[i]]
		}
		v, err := f.compute(w, &c.bounds[c.frameOf[i]], carry)
		if err != nil {
			return cols, err
		}
		cols = append(cols, v)
	}
	return cols, nil
}

// distinctSum reports whether DISTINCT makes a difference to a function.
func distinctSum(f overFunction) bool {
	s, ok := f.(*overSum)
	return ok && s.distinct != nil
}
