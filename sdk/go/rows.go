package weir

import "github.com/weirdb/weir/abi"

// Rows counts the rows that a function with a table as its result hands over.
type Rows struct {
	call   *Call
	parent []uint32
	kind   []byte
	n      int
	max    int
}

// RowsOf starts the output rows of a call.
func RowsOf(c *Call) Rows {
	n := int(c.raw.MaxRows)
	return Rows{call: c, parent: slice[uint32](c.raw.Parent, n), kind: slice[byte](c.raw.Kind, n), max: n}
}

// Full reports that no row can be added before the host took those there are.
func (r *Rows) Full() bool { return r.n == r.max }

// Add counts the row that was appended to the result columns: it comes from input
// row (or group) parent.
func (r *Rows) Add(parent int) {
	r.parent[r.n] = uint32(parent)
	r.n++
}

// AddChange is Add for a function that emits changes.
func (r *Rows) AddChange(parent int, retract bool) {
	r.kind[r.n] = abi.RowAdd
	if retract {
		r.kind[r.n] = abi.RowRetract
	}
	r.Add(parent)
}

// Done ends the call: no more rows.
func (r *Rows) Done() uint32 {
	r.call.raw.OutRows = uint32(r.n)
	return uint32(abi.OK)
}

// More ends the call in the midst of the rows that come from row (or group) at;
// the host calls again.
func (r *Rows) More(at int) uint32 {
	r.call.raw.OutRows = uint32(r.n)
	r.call.raw.Cursor = [2]uint64{uint64(at), 1}
	return uint32(abi.More)
}

// Resumed is where a call goes on that More ended, or 0 and false.
func (c *Call) Resumed() (at int, ok bool) {
	return int(c.raw.Cursor[0]), c.raw.Cursor[1] != 0
}
