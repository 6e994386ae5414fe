package abi

import "strconv"

// Kind is what a function is to SQL, and which exports it has.
type Kind uint8

// The kinds.
const (
	Scalar         Kind = iota + 1 // one value per row
	Table                          // any number of rows per row
	Temporal                       // at most one row per row, given the versions around a time
	Aggregate                      // one value per group
	TableAggregate                 // any number of rows per group
)

func (k Kind) String() string {
	switch k {
	case Scalar:
		return "scalar"
	case Table:
		return "table"
	case Temporal:
		return "temporal"
	case Aggregate:
		return "aggregate"
	case TableAggregate:
		return "table_aggregate"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// KindFromString is the kind that a manifest names so.
func KindFromString(s string) (Kind, bool) {
	for k := Scalar; k <= TableAggregate; k++ {
		if k.String() == s {
			return k, true
		}
	}
	return 0, false
}

// HasState reports whether functions of the kind keep a state per group.
func (k Kind) HasState() bool { return k == Aggregate || k == TableAggregate }

// HasRows reports whether functions of the kind return rows: OutRows, Parent and More.
func (k Kind) HasRows() bool { return k == Table || k == Temporal || k == TableAggregate }

// Part is one of the calls that make a function.
type Part uint8

// The parts. Scalar, table and temporal functions are Body alone.
const (
	PartBody    Part = iota
	PartInit         // states before the first update; without it zero bytes, or empty views
	PartUpdate       // rows into states
	PartMerge        // states into states
	PartFinish       // states to one column
	PartEmit         // states to rows
	PartUpgrade      // states of an older version to states
)

// Suffix is what follows the function's export name in the name of the part's export.
func (p Part) Suffix() string {
	suffixes := [...]string{PartBody: "", PartInit: ".init", PartUpdate: ".update", PartMerge: ".merge", PartFinish: ".finish", PartEmit: ".emit", PartUpgrade: ".upgrade"}
	return suffixes[p]
}

// The exports and imports that are not a function's own.
const (
	ExportMemory     = "memory"
	ExportInitialize = "_initialize" // () -> (), optional, run once
	ExportAlloc      = "udf_alloc"   // (n i32) -> i32: n bytes at a multiple of Align, 0 = refused
	ExportFree       = "udf_free"    // (ptr i32, n i32) -> (), optional

	ImportModule = "weir"
	ImportLog    = "log" // (level i32, ptr i32, len i32) -> ()
	ImportWASI   = "wasi_snapshot_preview1"

	// ReservedPrefix starts the names that the host adds to a module: a module
	// exports none of them.
	ReservedPrefix = "weir."
)

// Level is the first argument of the log import.
type Level uint32

// The levels.
const (
	Debug Level = iota
	Info
	Warn
	Error
)
