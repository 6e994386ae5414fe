package op

import (
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// overDistinct counts how often each value is in a frame.
type overDistinct struct {
	enc     *rowkey.Encoder
	values  grouper
	count   []int32 // by value
	touched []int32
}

func newOverDistinct(kind vector.Kind) *overDistinct {
	return &overDistinct{enc: rowkey.NewEncoder(rowkey.Layout{Kinds: []vector.Kind{kind}})}
}

// begin numbers the values of a walk.
func (d *overDistinct) begin(v *vector.Vector) {
	b := vector.NewBatch(v.Len(), []*vector.Vector{v.Retain()}, nil)
	d.values.group(d.enc.Encode(b, []int{0}))
	b.Release()
	d.count = resize(d.count, d.values.count)
	clear(d.count)
	d.touched = d.touched[:0]
}

func (d *overDistinct) clear() {
	for _, id := range d.touched {
		d.count[id] = 0
	}
	d.touched = d.touched[:0]
}

// add reports whether the value of a row was not there.
func (d *overDistinct) add(row int) bool {
	id := d.values.ids[row]
	if d.count[id]++; d.count[id] > 1 {
		return false
	}
	d.touched = append(d.touched, id)
	return true
}

// remove reports whether the value of a row is not there any more.
func (d *overDistinct) remove(row int) bool {
	id := d.values.ids[row]
	d.count[id]--
	return d.count[id] == 0
}
