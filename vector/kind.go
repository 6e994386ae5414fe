package vector

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Kind is the physical form of a column. SQL types map onto kinds in package
// sqltype; several types share one (a DATE is an Int32 of days).
type Kind uint8

// The kinds. Fixed-width ones hold one Go value per row; String and Bytes hold
// 32-bit offsets into one byte area, as Arrow's utf8 and binary do.
const (
	Invalid Kind = iota
	Bool         // bool, one byte a row (Arrow packs bits: converted at the border)
	Int8
	Int16
	Int32
	Int64
	Float32
	Float64
	Decimal // 128-bit two's complement; the scale belongs to the SQL type
	String  // UTF-8
	Bytes
)

var kindNames = [...]string{"invalid", "bool", "int8", "int16", "int32", "int64", "float32", "float64", "decimal", "string", "bytes"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Width is the size of one value in bytes, or 0 for kinds of variable width.
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

// Variable reports whether values have their own lengths (String, Bytes).
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
