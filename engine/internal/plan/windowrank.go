package plan

import "github.com/weirdb/weir/engine/sqltype"

// window is the window of the rows that are numbered, if each partition is of one window:
// then numbers are final when the window is over.
func (n *Rank) window() (windowColumns, bool) {
	w, ok := windowOf(n.Input)
	return w, ok && w.Attr != sqltype.NoTime && w.whole() && subset([]int{w.start, w.end}, n.Partition)
}

func (n *Rank) windowed() bool {
	_, ok := n.window()
	return ok
}

// Windowed reports whether each partition is of one window.
func (n *Rank) Windowed() bool { return n.windowed() }

// Windows are those of the partitions, and the columns with their bounds.
func (n *Rank) Windows() (w Windows, start, end int) {
	c, ok := n.window()
	if !ok {
		panic("plan: the partitions of a Rank have lost their windows")
	}
	return c.Windows, c.start, c.end
}

func (n *Rank) windowBound() string {
	if n.Function == RowNumber && n.To < unbounded && n.Input.Traits().Mode.InsertOnly() {
		return "bounded by about " + rowCount(2*n.To) + " of each partition of open windows"
	}
	return "bounded by the rows of open windows"
}
