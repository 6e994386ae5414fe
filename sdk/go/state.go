package weir

import (
	"unsafe"

	"github.com/weirdb/weir/abi"
)

// Groups is the number of groups whose states the call carries.
func (c *Call) Groups() int { return int(c.raw.Groups) }

// Group is the group of each row: a position among the states.
func (c *Call) Group() []uint32 { return slice[uint32](c.raw.Group, c.Rows()) }

// Sign is -1 for each row that is taken away, or nil when all are added.
func (c *Call) Sign() []int8 { return slice[int8](c.raw.Sign, c.Rows()) }

// States are the states of fixed size, one a group, in place.
func States[T any](c *Call) []T {
	c.wantState(c.raw.StateSize, unsafe.Sizeof(*new(T)))
	return slice[T](c.raw.State, c.Groups())
}

// OtherStates are the states to merge, one for each of Rows.
func OtherStates[T any](c *Call) []T {
	c.wantState(c.raw.OtherSize, unsafe.Sizeof(*new(T)))
	return slice[T](c.raw.Other, c.Rows())
}

func (c *Call) wantState(size uint32, want uintptr) {
	if uintptr(size) != want {
		panic("weir: the host's states have another size than the module's")
	}
}

// StateCodec is implemented by the pointer to the state of an aggregate whose
// size is not fixed. AppendState must write all that the state is; LoadState
// replaces what the state was. A state of no bytes is the zero value.
type StateCodec[T any] interface {
	*T
	AppendState(dst []byte) []byte
	LoadState(src []byte) error
}

// EncodedStates are states of variable size while a call works on them: decoded on
// Load, encoded by Store. They are kept from call to call for their memory alone.
type EncodedStates[T any, P StateCodec[T]] struct {
	states []T
	bytes  []byte
	ends   []int
}

// Load decodes the states of all groups.
func (e *EncodedStates[T, P]) Load(c *Call) ([]T, error) {
	return e.load(slice[abi.View](c.raw.State, c.Groups()))
}

// LoadOther decodes the states to merge.
func (e *EncodedStates[T, P]) LoadOther(c *Call) ([]T, error) {
	return e.load(slice[abi.View](c.raw.Other, c.Rows()))
}

func (e *EncodedStates[T, P]) load(views []abi.View) ([]T, error) {
	for len(e.states) < len(views) {
		e.states = append(e.states, *new(T))
	}
	states := e.states[:len(views)]
	for i, v := range views {
		if v.Len == 0 {
			states[i] = *new(T)
		} else if err := P(&states[i]).LoadState(slice[byte](v.Ptr, int(v.Len))); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// Resume is Load on the first call, and the same states in those after More.
func (e *EncodedStates[T, P]) Resume(c *Call) ([]T, error) {
	if _, resumed := c.Resumed(); resumed {
		return e.states[:c.Groups()], nil
	}
	return e.Load(c)
}

// Store encodes the states of all groups, after Load or New.
func (e *EncodedStates[T, P]) Store(c *Call) {
	views := slice[abi.View](c.raw.State, c.Groups())
	e.bytes, e.ends = e.bytes[:0], e.ends[:0]
	for i := range views {
		e.bytes = P(&e.states[i]).AppendState(e.bytes)
		e.ends = append(e.ends, len(e.bytes))
	}
	from := 0
	for i := range views { // only now: appending may have moved the bytes
		views[i].Ptr = address(e.bytes) + abi.Ptr(from)
		views[i].Len = uint32(e.ends[i] - from)
		from = e.ends[i]
	}
}

// New are zero states for all groups.
func (e *EncodedStates[T, P]) New(c *Call) []T {
	for len(e.states) < c.Groups() {
		e.states = append(e.states, *new(T))
	}
	states := e.states[:c.Groups()]
	clear(states)
	return states
}

// OtherVersion is the version of the states to upgrade.
func (c *Call) OtherVersion() int { return int(c.raw.OtherVersion) }

// OtherBytes are the bytes of state i to upgrade.
func (c *Call) OtherBytes(i int) []byte {
	if size := int(c.raw.OtherSize); size > 0 {
		return slice[byte](c.raw.Other+abi.Ptr(i*size), size)
	}
	v := slice[abi.View](c.raw.Other, c.Groups())[i]
	return slice[byte](v.Ptr, int(v.Len))
}
