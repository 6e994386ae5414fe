package abi

import "strconv"

// ID names the form of a column's buffers.
type ID uint8

// The forms. Data is one value per row except where noted.
const (
	Boolean       ID = 1  // Data is a bitmap
	TinyInt       ID = 2  // int8
	SmallInt      ID = 3  // int16
	Integer       ID = 4  // int32
	BigInt        ID = 5  // int64
	Float         ID = 6  // float32
	Double        ID = 7  // float64
	Decimal       ID = 8  // 16 bytes, two's complement; precision and scale
	Date          ID = 9  // int32: days since 1970-01-01
	Time          ID = 10 // since midnight: int32 in seconds or milliseconds, int64 in the finer units; unit
	Timestamp     ID = 11 // int64 since 1970; unit, and 1 for TIMESTAMP_LTZ (which counts from 1970 UTC)
	String        ID = 12 // Offsets into Data; CHAR, VARCHAR
	Binary        ID = 13 // Offsets into Data; BINARY, VARBINARY
	IntervalMonth ID = 14 // int32: YEAR TO MONTH
	IntervalDay   ID = 15 // int64: DAY TO SECOND in milliseconds
	Array         ID = 16 // Offsets into child 0
	Map           ID = 17 // Offsets into child 0 (keys, never null) and child 1; MULTISET counts in child 1
	Row           ID = 18 // no buffer but Validity; every child has the parent's rows
)

// Unit is the unit of a TIME or TIMESTAMP.
type Unit uint8

// The units.
const (
	Second Unit = iota
	Millisecond
	Microsecond
	Nanosecond
)

// MaxLevels is the deepest nesting of a type: BIGINT has one level, ARRAY<BIGINT> two.
const MaxLevels = 8

// MaxPrecision is the largest precision of a DECIMAL.
const MaxPrecision = 38

// Type is the word in Column.Type: id | p<<8 | s<<16, other bits 0.
type Type uint32

// TypeOf is the type of an id that takes no parameters.
func TypeOf(id ID) Type { return Type(id) }

// DecimalType is DECIMAL(precision, scale).
func DecimalType(precision, scale int) Type {
	return Type(Decimal) | Type(precision)<<8 | Type(scale)<<16
}

// TimeType is TIME in a unit.
func TimeType(u Unit) Type { return Type(Time) | Type(u)<<8 }

// TimestampType is TIMESTAMP, or TIMESTAMP_LTZ, in a unit.
func TimestampType(u Unit, ltz bool) Type {
	t := Type(Timestamp) | Type(u)<<8
	if ltz {
		t |= 1 << 16
	}
	return t
}

// ID is the form of the buffers.
func (t Type) ID() ID { return ID(t) }

// Precision is p of a DECIMAL.
func (t Type) Precision() int { return int(t >> 8 & 0xff) }

// Scale is s of a DECIMAL.
func (t Type) Scale() int { return int(t >> 16 & 0xff) }

// Unit is the unit of a TIME or TIMESTAMP.
func (t Type) Unit() Unit { return Unit(t >> 8) }

// LTZ reports whether a TIMESTAMP is one with local time zone.
func (t Type) LTZ() bool { return t>>16&0xff == 1 }

// Validate reports a word that is no type: an unknown id, parameters out of
// range or where none belong, bits outside the three fields.
func (t Type) Validate() error {
	p, s := int(t>>8&0xff), int(t>>16&0xff)
	bad := t>>24 != 0
	switch id := t.ID(); {
	case id < Boolean || id > Row:
		bad = true
	case id == Decimal:
		bad = bad || p < 1 || p > MaxPrecision || s > p
	case id == Time:
		bad = bad || p > int(Nanosecond) || s != 0
	case id == Timestamp:
		bad = bad || p > int(Nanosecond) || s > 1
	default:
		bad = bad || p != 0 || s != 0
	}
	if bad {
		return &TypeError{Type: t, Msg: "is no type of version 1"}
	}
	return nil
}

// Width is the number of bytes of a value in Data, or 0 when values have no
// fixed number of bytes there: BOOLEAN (bits), STRING, BINARY and nested types.
func (t Type) Width() int {
	switch t.ID() {
	case TinyInt:
		return 1
	case SmallInt:
		return 2
	case Integer, Float, Date, IntervalMonth:
		return 4
	case BigInt, Double, Timestamp, IntervalDay:
		return 8
	case Time:
		if t.Unit() <= Millisecond {
			return 4
		}
		return 8
	case Decimal:
		return 16
	}
	return 0
}

// HasOffsets reports whether columns of t have an Offsets buffer.
func (t Type) HasOffsets() bool {
	switch t.ID() {
	case String, Binary, Array, Map:
		return true
	}
	return false
}

// HasData reports whether columns of t have a Data buffer.
func (t Type) HasData() bool { return t.ID() < Array }

func (t Type) String() string {
	if t.Validate() != nil {
		return "TYPE(" + hex(t) + ")"
	}
	switch t.ID() {
	case Decimal:
		return "DECIMAL(" + strconv.Itoa(t.Precision()) + ", " + strconv.Itoa(t.Scale()) + ")"
	case Time:
		return "TIME(" + strconv.Itoa(3*int(t.Unit())) + ")"
	case Timestamp:
		name := "TIMESTAMP"
		if t.LTZ() {
			name = "TIMESTAMP_LTZ"
		}
		return name + "(" + strconv.Itoa(3*int(t.Unit())) + ")"
	}
	return t.ID().String()
}

func (id ID) String() string {
	names := [...]string{
		Boolean: "BOOLEAN", TinyInt: "TINYINT", SmallInt: "SMALLINT", Integer: "INT", BigInt: "BIGINT",
		Float: "FLOAT", Double: "DOUBLE", Decimal: "DECIMAL", Date: "DATE", Time: "TIME", Timestamp: "TIMESTAMP",
		String: "STRING", Binary: "BYTES", IntervalMonth: "INTERVAL YEAR TO MONTH", IntervalDay: "INTERVAL DAY TO SECOND",
		Array: "ARRAY", Map: "MAP", Row: "ROW",
	}
	if id >= Boolean && id <= Row {
		return names[id]
	}
	return "ID(" + strconv.Itoa(int(id)) + ")"
}

// Shape is a type with the types of its children: what a column of it and the
// columns below look like.
type Shape struct {
	Type     Type
	Children []Shape
}

// Validate reports the first word that is no type, a wrong number of children,
// and more than MaxLevels levels.
func (s Shape) Validate() error { return s.validate(1) }

func (s Shape) validate(level int) error {
	if level > MaxLevels {
		return &TypeError{Type: s.Type, Msg: "is nested deeper than " + strconv.Itoa(MaxLevels) + " levels"}
	}
	if err := s.Type.Validate(); err != nil {
		return err
	}
	want := 0
	switch s.Type.ID() {
	case Array:
		want = 1
	case Map:
		want = 2
	case Row:
		want = max(1, len(s.Children))
	}
	if len(s.Children) != want {
		return &TypeError{Type: s.Type, Msg: "has " + strconv.Itoa(len(s.Children)) + " children, not " + strconv.Itoa(want)}
	}
	for _, c := range s.Children {
		if err := c.validate(level + 1); err != nil {
			return err
		}
	}
	return nil
}

// Columns is the number of Column structs that a column of this shape takes, its
// own included.
func (s Shape) Columns() int {
	n := 1
	for _, c := range s.Children {
		n += c.Columns()
	}
	return n
}

// TypeError is a type word or shape against the rules.
type TypeError struct {
	Type Type
	Msg  string
}

func (e *TypeError) Error() string {
	return "abi: type " + hex(e.Type) + " " + e.Msg
}

func hex(t Type) string { return "0x" + strconv.FormatUint(uint64(t), 16) }
