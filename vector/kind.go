package vector

import (
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Kind is the physical form of a column. SQL types map onto kinds in package
// sqltype; several types share one (a DATE is an Int32 of days).
//
// A kind is its own description: one letter, that of the Arrow C data interface, for
// a plain kind; what ListOf, MapOf and StructOf make of the kinds of the children
// for a nested one. Kinds are equal when they are ==, and may be stored as text.
type Kind string

// The plain kinds. Fixed-width ones hold one Go value per row; String and Bytes
// hold 32-bit offsets into one byte area, as Arrow's utf8 and binary do.
const (
	Invalid Kind = ""
	Bool    Kind = "b" // bool, one byte a row (Arrow packs bits: converted at the border)
	Int8    Kind = "c"
	Int16   Kind = "s"
	Int32   Kind = "i"
	Int64   Kind = "l"
	Float32 Kind = "f"
	Float64 Kind = "g"
	Decimal Kind = "d" // 128-bit two's complement; the scale belongs to the SQL type
	String  Kind = "u" // UTF-8
	Bytes   Kind = "z"
)

func (k Kind) String() string {
	switch k {
	case Invalid:
		return "invalid"
	case Bool:
		return "bool"
	case Int8:
		return "int8"
	case Int16:
		return "int16"
	case Int32:
		return "int32"
	case Int64:
		return "int64"
	case Float32:
		return "float32"
	case Float64:
		return "float64"
	case Decimal:
		return "decimal"
	case String:
		return "string"
	case Bytes:
		return "bytes"
	}
	return k.nestedString()
}

// Width is the size of one value in bytes, or 0 for kinds whose values are not of
// one width: String, Bytes and the nested kinds.
func (k Kind) Width() int {
	switch k {
	case Bool, Int8:
		return 1
	case Int16:
		return 2
	case Int32, Float32:
		return 4
	case Int64, Float64:
		return 8
	case Decimal:
		return 16
	}
	return 0
}

// Variable reports whether values are byte strings (String, Bytes).
func (k Kind) Variable() bool { return k == String || k == Bytes }

// Dec is a 128-bit decimal without its scale.
type Dec = decimal128.Num

// Fixed lists the Go types that a fixed-width column can hold.
type Fixed interface {
	bool | int8 | int16 | int32 | int64 | float32 | float64 | Dec
}

// KindOf is the kind whose columns hold T.
func KindOf[T Fixed]() Kind {
	var z T
	switch any(z).(type) {
	case bool:
		return Bool
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	case float64:
		return Float64
	}
	return Decimal
}

// DecFromInt64 is the decimal whose unscaled value is x.
func DecFromInt64(x int64) Dec { return decimal128.FromI64(x) }
