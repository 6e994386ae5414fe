package abi

// Column is one argument or result, or a child of a nested one. The host fills
// it; of an output the guest completes the buffers, and may point Validity,
// Offsets and Data at memory of its own and raise RowCap when what the host
// prepared is too small. Such memory must stay as it is until the next call.
//
// Every buffer that the host lays out starts at a multiple of Align, and its
// size rounded up to Align can be read (inputs) or written (outputs). Inputs
// have no offset: bit 0 of Validity and Offsets[0] = 0 belong to row 0.
type Column struct {
	Type      Type   // unchanged in outputs
	Flags     uint32 // ColumnConstant, or 0
	Length    uint32 // input: rows; ignored in outputs
	NullCount uint32 // input: exact; ignored in outputs
	Validity  Ptr    // bitmap, least significant bit first; input: 0 = no nulls; output: all ones, the guest clears
	Offsets   Ptr    // int32[Length+1], the first is 0
	Data      Ptr
	DataLen   uint32 // bytes used at Data; of STRING and BINARY the last offset
	DataCap   uint32 // output: bytes at Data
	RowCap    uint32 // output: rows for which Validity, Offsets and fixed Data have room
	Children  Ptr    // Column[NChildren], fixed by the host
	NChildren uint32
	_         [4]uint32
}

// Offsets in Column.
const (
	ColumnTypeAt      = 0
	ColumnFlagsAt     = 4
	ColumnLengthAt    = 8
	ColumnNullCountAt = 12
	ColumnValidityAt  = 16
	ColumnOffsetsAt   = 20
	ColumnDataAt      = 24
	ColumnDataLenAt   = 28
	ColumnDataCapAt   = 32
	ColumnRowCapAt    = 36
	ColumnChildrenAt  = 40
	ColumnNChildrenAt = 44
)

// Flags of a Column.
const (
	// ColumnConstant marks an input whose buffers hold one row that stands for
	// all Length rows. Only functions that accept AcceptConstant meet it.
	ColumnConstant = 1 << 0
	// ColumnDictionary is reserved; it is never set in version 1.
	ColumnDictionary = 1 << 1
)
