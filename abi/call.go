package abi

import "unsafe"

// Ptr is an address in the guest's memory; 0 is no address.
type Ptr uint32

// Call is the block whose address an export gets. The host fills it, except for
// Cursor and the states, which both write, and OutRows, Err, ErrLen and ErrRow,
// which the guest writes. Fields that a kind does not use are 0. It is
// CallBytes long and lies at a multiple of Align.
type Call struct {
	Version uint32 // of the contract
	Size    uint32 // CallBytes; a later version may append fields
	Rows    uint32 // rows of the inputs; merge and upgrade: number of states in Other
	Flags   uint32 // 0
	NIn     uint32
	In      Ptr // Column[NIn]
	NOut    uint32
	Out     Ptr       // Column[NOut]
	Cursor  [2]uint64 // 0, 0 on the first call of a batch; the guest's own words between calls that return More
	Now     int64     // milliseconds since 1970 UTC, the same for the whole batch
	Seed    uint64    // differs per batch, the same on replay

	Groups       uint32 // number of states
	Group        Ptr    // uint32[Rows]: the state of each row, < Groups
	Sign         Ptr    // int8[Rows]: +1 add, -1 retract; 0 = all +1
	State        Ptr    // Groups states: StateSize bytes each, or View[Groups]
	StateSize    uint32 // bytes of a fixed state; 0 = views
	Other        Ptr    // merge: source states; upgrade: old states
	OtherSize    uint32 // as StateSize, of Other
	OtherVersion uint32 // upgrade: version of the old states

	MaxRows uint32 // table kinds: most output rows of this call, at least MinRowsOut
	OutRows uint32 // table kinds: output rows written
	Parent  Ptr    // uint32[MaxRows] for the guest to fill: input row or group of each output row, ascending
	Kind    Ptr    // uint8[MaxRows] for the guest to fill: RowAdd or RowRetract (emit "retract" only)
	Err     Ptr    // UTF-8 message, with Fail
	ErrLen  uint32
	ErrRow  uint32 // row at fault; the host sets NoRow
	_       uint32
}

// Sizes of the structs, and what their addresses are multiples of.
const (
	CallBytes   = 128
	ColumnBytes = 64
	ViewBytes   = 16
	Align       = 64
)

// Offsets in Call.
const (
	CallVersionAt      = 0
	CallSizeAt         = 4
	CallRowsAt         = 8
	CallFlagsAt        = 12
	CallNInAt          = 16
	CallInAt           = 20
	CallNOutAt         = 24
	CallOutAt          = 28
	CallCursorAt       = 32
	CallNowAt          = 48
	CallSeedAt         = 56
	CallGroupsAt       = 64
	CallGroupAt        = 68
	CallSignAt         = 72
	CallStateAt        = 76
	CallStateSizeAt    = 80
	CallOtherAt        = 84
	CallOtherSizeAt    = 88
	CallOtherVersionAt = 92
	CallMaxRowsAt      = 96
	CallOutRowsAt      = 100
	CallParentAt       = 104
	CallKindAt         = 108
	CallErrAt          = 112
	CallErrLenAt       = 116
	CallErrRowAt       = 120
)

// Status is what an export returns. Every other value is a fault.
type Status uint32

// The statuses. The host discards an instance that returned Fail; More asks it to
// take the rows and to call again with the cursor the guest left (table, emit).
const (
	OK   Status = 0
	Fail Status = 1
	More Status = 2
)

// NoRow is Call.ErrRow when the row at fault is not known.
const NoRow = 0xffffffff

// MinRowsOut is the least Call.MaxRows of a table kind.
const MinRowsOut = 64

// MaxErrorBytes is how much of a message the host reads.
const MaxErrorBytes = 4096

// The values at Call.Kind.
const (
	RowAdd     = 0
	RowRetract = 1
)

// View is a state of variable size. The guest may write up to Cap bytes at Ptr,
// or point to memory of its own; it sets Ptr and Len. The host copies the bytes
// out when the export returns. Scratch is the guest's own during a call.
type View struct {
	Ptr     Ptr
	Len     uint32
	Cap     uint32
	Scratch uint32
}

// Offsets in View.
const (
	ViewPtrAt     = 0
	ViewLenAt     = 4
	ViewCapAt     = 8
	ViewScratchAt = 12
)

// An index other than 0 does not compile: the structs are as long as the contract says.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(Call{})-CallBytes]
	_ = [1]struct{}{}[unsafe.Sizeof(Column{})-ColumnBytes]
	_ = [1]struct{}{}[unsafe.Sizeof(View{})-ViewBytes]
	_ = [1]struct{}{}[unsafe.Offsetof(Call{}.Cursor)-CallCursorAt]
	_ = [1]struct{}{}[unsafe.Offsetof(Call{}.Groups)-CallGroupsAt]
	_ = [1]struct{}{}[unsafe.Offsetof(Call{}.MaxRows)-CallMaxRowsAt]
	_ = [1]struct{}{}[unsafe.Offsetof(Call{}.ErrRow)-CallErrRowAt]
	_ = [1]struct{}{}[unsafe.Offsetof(Column{}.Validity)-ColumnValidityAt]
	_ = [1]struct{}{}[unsafe.Offsetof(Column{}.NChildren)-ColumnNChildrenAt]
)
