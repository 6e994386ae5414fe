package op

import (
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// slotNumbers gives numbers, from 1, to some of a table's slots. Where those are not few
// among all they are in an array; else in a small hash table behind a bit for each slot.
type slotNumbers struct {
	dense   bool
	numbers []int32 // by slot plus one; 0: none

	some  vector.Bitmap // by slot
	slots []state.Slot  // None: free
	at    []int32
	shift uint
}

// reset makes room for the numbers of the given slots, which have none yet.
func (x *slotNumbers) reset(slots []state.Slot) {
	most := state.None
	for _, s := range slots {
		most = max(most, s)
	}
	size := int(most) + 2
	if x.dense = size <= 4*len(slots)+64; x.dense {
		for len(x.numbers) < size {
			x.numbers = append(x.numbers, 0)
		}
		return
	}
	for len(x.some) < vector.BitmapWords(size) {
		x.some = append(x.some, 0)
	}
	for _, s := range slots {
		x.some.Set(int(s))
	}
	x.shift, size = 31, 2
	for size < 2*len(slots) {
		size *= 2
		x.shift--
	}
	x.slots, x.at = resize(x.slots, size), resize(x.at, size)
	for i := range x.slots {
		x.slots[i] = state.None
	}
}

// clear takes their numbers from the slots that reset was given.
func (x *slotNumbers) clear(slots []state.Slot) {
	if !x.dense {
		for _, s := range slots {
			x.some.Clear(int(s))
		}
		return
	}
	for _, s := range slots {
		x.numbers[s+1] = 0
	}
}

func (x *slotNumbers) place(s state.Slot) int {
	for i := int(uint32(s) * 0x9E3779B1 >> x.shift); ; i = (i + 1) & (len(x.slots) - 1) {
		if x.slots[i] == s || x.slots[i] == state.None {
			return i
		}
	}
}

// find is the number of a slot, or 0.
func (x *slotNumbers) find(s state.Slot) int32 {
	if x.dense {
		return x.numbers[s+1]
	}
	i := x.place(s)
	if x.slots[i] == state.None {
		return 0
	}
	return x.at[i]
}

func (x *slotNumbers) set(s state.Slot, number int32) {
	if x.dense {
		x.numbers[s+1] = number
		return
	}
	i := x.place(s)
	x.slots[i], x.at[i] = s, number
}
