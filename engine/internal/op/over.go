package op

import (
	"math"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// OverFunction says what a call with OVER computes.
type OverFunction uint8

// The functions.
const (
	OverAggregate   OverFunction = iota // an aggregate of the frame
	OverNthValue                        // value N of the frame that is not NULL
	OverLag                             // the value N rows before
	OverLead                            // the value N rows behind
	OverRowNumber                       // 1, 2, 3, .. along the partition
	OverRank                            // with gaps behind rows that are equal in the order
	OverDenseRank                       // without
	OverPercentRank                     // (RANK - 1) / (rows - 1)
	OverCumeDist                        // the part of the rows that are not behind the row
	OverNtile                           // number of the row's share of N about equal ones
)

// numbers reports whether the function depends on the place of a row alone.
func (f OverFunction) numbers() bool { return f >= OverRowNumber }

// whole reports whether the function depends on all rows of the partition.
func (f OverFunction) whole() bool { return f >= OverPercentRank }

// FrameBoundKind is the kind of an end of a frame.
type FrameBoundKind uint8

// The bounds, in their order along the rows.
const (
	UnboundedPreceding FrameBoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// FrameBound is an end of a frame.
type FrameBound struct {
	Kind FrameBoundKind
	// The distance of Preceding and Following, which is not negative: rows, or units of
	// an integer or a time, or a number.
	Rows  int64
	Float float64
	Dec   vector.Dec
}

// rows is the distance in rows: positive behind the current one.
func (b FrameBound) rows() int64 {
	switch b.Kind {
	case Preceding:
		return -b.Rows
	case Following:
		return b.Rows
	}
	return 0
}

// Frame is the rows that a call looks at, from the point of view of each row. Without
// Rows it is a range of values of the order, and rows that are equal in it, which are
// peers, have one frame.
type Frame struct {
	Rows       bool
	Start, End FrameBound
}

// OverCall is a call with OVER. The arguments are columns of the input; only the
// separator of LISTAGG is a literal.
type OverCall struct {
	Function  OverFunction
	Aggregate *expr.Aggregate // OverAggregate, with T as below
	// Args are the value of OverNthValue, OverLag and OverLead, and the one to take where
	// there is no such row, which may be missing.
	Args  []int
	N     int64 // OverNthValue, OverLag, OverLead, OverNtile
	T     sqltype.Type
	Frame Frame
}

// OverSpec says what is computed over windows with one partition and order. The output
// has the columns of Types, then one for each call.
type OverSpec struct {
	Types     []sqltype.Type // of the first columns of the input; what is behind is not read
	Partition []int
	Order     []SortKey
	Calls     []OverCall
	Spread    []int // columns that rows are spread by, of Partition; nil: one shard has all
	// Retention says when partitions are forgotten that nothing was added to.
	Retention Retention
}

// column is the position of an argument.
func column(e expr.Expr) int { return e.(*expr.Column).Index }

// values are the columns that the call reads.
func (c *OverCall) values() []int {
	out := append([]int(nil), c.Args...)
	if c.Aggregate != nil {
		for _, a := range c.Aggregate.Args {
			if col, ok := a.(*expr.Column); ok {
				out = append(out, col.Index)
			}
		}
		if c.Aggregate.Filter != nil {
			out = append(out, column(c.Aggregate.Filter))
		}
	}
	return out
}

// reads lists the columns that calls and order read, each once, and says where each
// column of the input is among them.
func (s *OverSpec) reads() (cols, at []int) {
	at = make([]int, len(s.Types))
	for i := range at {
		at[i] = -1
	}
	add := func(c int) {
		if at[c] < 0 {
			at[c] = len(cols)
			cols = append(cols, c)
		}
	}
	for _, k := range s.Order {
		add(k.Column)
	}
	for i := range s.Calls {
		for _, c := range s.Calls[i].values() {
			add(c)
		}
	}
	return cols, at
}

// before is how many rows before the current one the call looks at, at most; or
// math.MaxInt64 when the number of rows does not bound it.
func (c *OverCall) before() int64 {
	switch {
	case c.Function == OverLag:
		return c.N
	case c.Function == OverLead || c.Function.numbers():
		return 0
	case c.Frame.Rows && c.Frame.Start.Kind != UnboundedPreceding:
		return max(-c.Frame.Start.rows(), 0)
	}
	return math.MaxInt64
}

// behind is before for the rows behind the current one. Peers are behind it too, so a
// range is bounded by no number of rows.
func (c *OverCall) behind() int64 {
	switch {
	case c.Function == OverLead:
		return c.N
	case c.Function == OverLag || c.Function == OverRowNumber:
		return 0
	case c.Function.numbers():
		return math.MaxInt64
	case c.Frame.Rows && c.Frame.End.Kind != UnboundedFollowing:
		return max(c.Frame.End.rows(), 0)
	}
	return math.MaxInt64
}

// carried reports whether the call goes on from what it found of the rows before, which
// then need not be kept for it.
func (c *OverCall) carried() bool {
	switch c.Function {
	case OverLag, OverLead:
		return false
	case OverRowNumber, OverRank, OverDenseRank:
		return true
	}
	return c.Frame.Start.Kind == UnboundedPreceding
}

// slides reports whether the call can go on from the frame of the row before: what enters
// it is added, and what leaves it taken away.
func (c *OverCall) slides() bool {
	a := c.Aggregate
	if a == nil || a.Distinct || c.Frame.Start.Kind != Preceding || c.Frame.End.Kind != CurrentRow {
		return false
	}
	switch a.Func.Kind {
	case function.Count, function.Sum, function.Avg, function.VarPop, function.VarSamp, function.StddevPop, function.StddevSamp:
		return true
	case function.Custom:
		return a.Func.Go.Retracts
	}
	return false
}
