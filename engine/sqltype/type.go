// Package sqltype holds what SQL types columns have: Type, Column, Schema, the
// changes a table may carry (ChangelogMode), and their Arrow forms.
package sqltype

import (
	"fmt"
	"strings"

	"github.com/weirdb/weir/vector"
)

// ID names a family of types.
type ID uint8

// The types of the dialect. TimestampLTZ is an instant; Timestamp has no zone.
const (
	Unknown ID = iota
	Null       // the type of the literal NULL; coerces to every type
	Boolean
	TinyInt
	SmallInt
	Integer
	BigInt
	Float
	Double
	Decimal
	Char
	Varchar // STRING is VARCHAR(MaxLength)
	Binary
	Varbinary // BYTES is VARBINARY(MaxLength)
	Date      // days since 1970-01-01
	Time      // milliseconds (p <= 3), microseconds or nanoseconds since midnight, in an int64
	Timestamp
	TimestampLTZ
	IntervalDay   // DAY TO SECOND: milliseconds
	IntervalMonth // YEAR TO MONTH: months
	Array
	Map
	Multiset
	Row
)

// MaxLength is the length of STRING and BYTES.
const MaxLength = 1<<31 - 1

// MaxPrecision is the largest precision of a DECIMAL.
const MaxPrecision = 38

// TimeAttr says whether a column is a time attribute: only those can drive
// windows and temporal joins. It is kept by forwarding and lost by calculation.
type TimeAttr uint8

// The time attributes.
const (
	NoTime   TimeAttr = iota
	Rowtime           // event time with a watermark
	Proctime          // processing time
)

func (a TimeAttr) String() string { return [...]string{"none", "ROWTIME", "PROCTIME"}[a] }

// Type is a SQL type. It is a value: compare with Equal.
type Type struct {
	ID        ID
	NotNull   bool
	Precision int      // DECIMAL digits; fractional digits of TIME and TIMESTAMP; length of CHAR, VARCHAR, BINARY, VARBINARY
	Scale     int      // DECIMAL only
	Attr      TimeAttr // TIMESTAMP and TIMESTAMP_LTZ only
	Elem      *Type    // ARRAY and MULTISET element, MAP value
	Key       *Type    // MAP key
	Fields    []Column // ROW
}

// The types without parameters, nullable.
var (
	NullType   = Type{ID: Null}
	BoolType   = Type{ID: Boolean}
	TinyType   = Type{ID: TinyInt}
	SmallType  = Type{ID: SmallInt}
	IntType    = Type{ID: Integer}
	BigIntType = Type{ID: BigInt}
	FloatType  = Type{ID: Float}
	DoubleType = Type{ID: Double}
	StringType = Type{ID: Varchar, Precision: MaxLength}
	BytesType  = Type{ID: Varbinary, Precision: MaxLength}
	DateType   = Type{ID: Date}
)

// DecimalOf is DECIMAL(p, s).
func DecimalOf(precision, scale int) Type {
	return Type{ID: Decimal, Precision: precision, Scale: scale}
}

// TimestampOf is TIMESTAMP(p).
func TimestampOf(p int) Type { return Type{ID: Timestamp, Precision: p} }

// TimestampLTZOf is TIMESTAMP_LTZ(p).
func TimestampLTZOf(p int) Type { return Type{ID: TimestampLTZ, Precision: p} }

// Required returns t as NOT NULL.
func (t Type) Required() Type { t.NotNull = true; return t }

// Optional returns t as nullable.
func (t Type) Optional() Type { t.NotNull = false; return t }

// Plain returns t without its time attribute.
func (t Type) Plain() Type { t.Attr = NoTime; return t }

// Kind is the physical form of the type's columns. NULL columns are Bool.
func (t Type) Kind() vector.Kind {
	switch t.ID {
	case Boolean, Null:
		return vector.Bool
	case TinyInt:
		return vector.Int8
	case SmallInt:
		return vector.Int16
	case Integer, Date, IntervalMonth:
		return vector.Int32
	case BigInt, Time, Timestamp, TimestampLTZ, IntervalDay:
		return vector.Int64
	case Float:
		return vector.Float32
	case Double:
		return vector.Float64
	case Decimal:
		return vector.Decimal
	case Char, Varchar:
		return vector.String
	case Binary, Varbinary:
		return vector.Bytes
	case Array, Map, Multiset, Row:
		return t.nestedKind()
	}
	return vector.Invalid
}

// UnitDigits is the number of fractional second digits in the int64 of a TIME,
// TIMESTAMP or TIMESTAMP_LTZ: 3 (milliseconds) up to precision 3, 6 up to 6, else 9.
func (t Type) UnitDigits() int {
	switch {
	case t.Precision <= 3:
		return 3
	case t.Precision <= 6:
		return 6
	}
	return 9
}

// IsNumeric reports whether t is an integer, approximate or decimal type.
func (t Type) IsNumeric() bool { return t.ID >= TinyInt && t.ID <= Decimal }

// IsInteger reports whether t is TINYINT to BIGINT.
func (t Type) IsInteger() bool { return t.ID >= TinyInt && t.ID <= BigInt }

// IsApprox reports whether t is FLOAT or DOUBLE.
func (t Type) IsApprox() bool { return t.ID == Float || t.ID == Double }

// IsString reports whether t is CHAR or VARCHAR.
func (t Type) IsString() bool { return t.ID == Char || t.ID == Varchar }

// IsBinary reports whether t is BINARY or VARBINARY.
func (t Type) IsBinary() bool { return t.ID == Binary || t.ID == Varbinary }

// IsTimestamp reports whether t is TIMESTAMP or TIMESTAMP_LTZ.
func (t Type) IsTimestamp() bool { return t.ID == Timestamp || t.ID == TimestampLTZ }

// Equal reports whether t and u are the same type, nullability and time
// attribute apart.
func (t Type) Equal(u Type) bool {
	if t.ID != u.ID || t.Precision != u.Precision || t.Scale != u.Scale || len(t.Fields) != len(u.Fields) {
		return false
	}
	if (t.Elem == nil) != (u.Elem == nil) || t.Elem != nil && !t.Elem.Equal(*u.Elem) {
		return false
	}
	if (t.Key == nil) != (u.Key == nil) || t.Key != nil && !t.Key.Equal(*u.Key) {
		return false
	}
	for i := range t.Fields {
		if t.Fields[i].Name != u.Fields[i].Name || !t.Fields[i].Type.Equal(u.Fields[i].Type) {
			return false
		}
	}
	return true
}

var names = [...]string{
	"UNKNOWN", "NULL", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "CHAR", "VARCHAR",
	"BINARY", "VARBINARY", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH", "ARRAY", "MAP", "MULTISET", "ROW",
}

func (id ID) String() string {
	if int(id) < len(names) {
		return names[id]
	}
	return fmt.Sprintf("TYPE(%d)", uint8(id))
}

// String is the type as DDL writes it, with NOT NULL where it holds and without
// the time attribute.
func (t Type) String() string {
	s := t.base()
	if t.NotNull {
		s += " NOT NULL"
	}
	return s
}

func (t Type) base() string {
	switch t.ID {
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d, %d)", t.Precision, t.Scale)
	case Varchar:
		if t.Precision == MaxLength {
			return "STRING"
		}
	case Varbinary:
		if t.Precision == MaxLength {
			return "BYTES"
		}
	case Array, Multiset:
		return t.ID.String() + "<" + t.Elem.String() + ">"
	case Map:
		return "MAP<" + t.Key.String() + ", " + t.Elem.String() + ">"
	case Row:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = f.Name + " " + f.Type.String()
		}
		return "ROW<" + strings.Join(parts, ", ") + ">"
	case Char, Binary, Time, Timestamp, TimestampLTZ:
	default:
		return t.ID.String()
	}
	return fmt.Sprintf("%s(%d)", t.ID, t.Precision)
}
