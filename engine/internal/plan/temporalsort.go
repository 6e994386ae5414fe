package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// TemporalSort is ORDER BY a time attribute, with or without further keys, of a table
// that does not end, on a single shard: rows come when no row before them is to come,
// which the watermark says of event time, and the clock of processing time.
type TemporalSort struct {
	unary
	Order []SortKey // the first is Time, ascending
	Time  sqltype.TimeAttr
	// Watermark is the hidden column of the input, which is no result, or -1.
	Watermark int
	Late      LateTarget
}

// Op is "TemporalSort".
func (*TemporalSort) Op() string { return "TemporalSort" }

// newTemporalSort sorts by time if the order begins with it.
func newTemporalSort(in Node, order []SortKey, at errs.Position) (*TemporalSort, bool) {
	attr := timeAttribute(in, order[0].Column)
	if attr == sqltype.NoTime || order[0].Desc {
		return nil, false
	}
	n := &TemporalSort{Order: order, Time: attr, Watermark: -1}
	n.Input, n.schema, n.at = in, in.Schema(), at
	return n, true
}

// ByArrival reports whether rows are in order as they come.
func (n *TemporalSort) ByArrival() bool { return n.Time == sqltype.Proctime && len(n.Order) == 1 }

func (n *TemporalSort) eventTime(int) (watermarks, lateness bool) {
	event := n.Time == sqltype.Rowtime
	return event, event
}

func (n *TemporalSort) setLateness(_, column int) { n.Watermark = column }

func (n *TemporalSort) late(int) *LateTarget { return &n.Late }

func (n *TemporalSort) derive(t *Traits) {
	t.Mode, t.Keys = sqltype.AppendMode, slices.Clone(n.Input.Traits().Keys)
	for i := range t.Keys {
		t.Keys[i].Ordered = true
	}
	t.Keys = smallest(t.Keys)
}

// check refuses rows that are taken back.
func (n *TemporalSort) check() error {
	if n.Input.Traits().Mode.InsertOnly() {
		return nil
	}
	return errs.New(errs.Changelog, n.at, "ORDER BY of a time attribute sorts rows that are only added, but %s", why(n.Input)).
		WithHint("add LIMIT to keep the first rows, or sort where the result is read")
}

// prune keeps the columns that are needed, those of the order and the hidden one.
func (n *TemporalSort) prune(need []int) (Node, []int) {
	have := slices.Clone(need)
	for _, k := range n.Order {
		have = append(have, k.Column)
	}
	have = union(have, n.Late.reads())
	out, reads := *n, have
	if n.Watermark >= 0 {
		out.Watermark = len(have)
		reads = append(slices.Clone(have), n.Watermark)
	}
	out.Late = n.Late.moved(have)
	out.Input, out.schema = exactly(n.Input, reads), n.schema.Project(have)
	out.Order = slices.Clone(n.Order)
	for i, k := range out.Order {
		out.Order[i].Column = slices.Index(have, k.Column)
	}
	return &out, have
}

func (n *TemporalSort) stateBound() string {
	switch {
	case n.ByArrival():
		return ""
	case n.Time == sqltype.Proctime:
		return "bounded by the rows of one moment"
	}
	return "bounded by the rows that the watermark has not passed"
}
