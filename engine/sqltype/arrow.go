package sqltype

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weirdb/weir/vector"
)

// Arrow is the Arrow type whose arrays Vector.Arrow makes of the type's columns. A
// TIMESTAMP_LTZ is a timestamp of zone UTC. It panics for types that have no
// columns yet.
func (t Type) Arrow() arrow.DataType {
	switch t.ID {
	case Null:
		return arrow.Null
	case Boolean:
		return arrow.FixedWidthTypes.Boolean
	case TinyInt:
		return arrow.PrimitiveTypes.Int8
	case SmallInt:
		return arrow.PrimitiveTypes.Int16
	case Integer:
		return arrow.PrimitiveTypes.Int32
	case BigInt:
		return arrow.PrimitiveTypes.Int64
	case Float:
		return arrow.PrimitiveTypes.Float32
	case Double:
		return arrow.PrimitiveTypes.Float64
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case Char, Varchar:
		return arrow.BinaryTypes.String
	case Binary, Varbinary:
		return arrow.BinaryTypes.Binary
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Time:
		if t.UnitDigits() == 3 {
			return arrow.FixedWidthTypes.Time32ms
		}
		return &arrow.Time64Type{Unit: t.arrowUnit()}
	case Timestamp:
		return &arrow.TimestampType{Unit: t.arrowUnit()}
	case TimestampLTZ:
		return &arrow.TimestampType{Unit: t.arrowUnit(), TimeZone: "UTC"}
	case IntervalDay:
		return arrow.FixedWidthTypes.Duration_ms
	case IntervalMonth:
		return arrow.FixedWidthTypes.MonthInterval
	case Array, Map, Multiset, Row:
		return t.nestedArrow()
	}
	panic(fmt.Sprintf("sqltype: %v has no Arrow form", t))
}

func (t Type) arrowUnit() arrow.TimeUnit {
	switch t.UnitDigits() {
	case 3:
		return arrow.Millisecond
	case 6:
		return arrow.Microsecond
	}
	return arrow.Nanosecond
}

// FromArrow is the type of the column that vector.FromArrow makes of an array of
// the given type, nullable. Timestamps with a zone are TIMESTAMP_LTZ.
func FromArrow(dt arrow.DataType) (Type, error) {
	switch dt := dt.(type) {
	case *arrow.NullType:
		return NullType, nil
	case *arrow.BooleanType:
		return BoolType, nil
	case *arrow.Int8Type:
		return TinyType, nil
	case *arrow.Int16Type, *arrow.Uint8Type:
		return SmallType, nil
	case *arrow.Int32Type, *arrow.Uint16Type:
		return IntType, nil
	case *arrow.Int64Type, *arrow.Uint32Type:
		return BigIntType, nil
	case *arrow.Uint64Type:
		return DecimalOf(20, 0), nil
	case *arrow.Float16Type, *arrow.Float32Type:
		return FloatType, nil
	case *arrow.Float64Type:
		return DoubleType, nil
	case arrow.DecimalType:
		p, s := int(dt.GetPrecision()), int(dt.GetScale())
		if vector.ArrowKind(dt) == vector.Decimal && p >= 1 && p <= MaxPrecision && s >= 0 && s <= p {
			return DecimalOf(p, s), nil
		}
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return StringType, nil
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return BytesType, nil
	case *arrow.FixedSizeBinaryType:
		return Type{ID: Binary, Precision: dt.ByteWidth}, nil
	case *arrow.Date32Type, *arrow.Date64Type:
		return DateType, nil
	case *arrow.Time32Type:
		return Type{ID: Time, Precision: unitPrecision(dt.Unit)}, nil
	case *arrow.Time64Type:
		return Type{ID: Time, Precision: unitPrecision(dt.Unit)}, nil
	case *arrow.TimestampType:
		if dt.TimeZone != "" {
			return TimestampLTZOf(unitPrecision(dt.Unit)), nil
		}
		return TimestampOf(unitPrecision(dt.Unit)), nil
	case *arrow.DurationType:
		return Type{ID: IntervalDay}, nil
	case *arrow.MonthIntervalType:
		return Type{ID: IntervalMonth}, nil
	case *arrow.StructType, arrow.ListLikeType: // a map is like a list
		return nestedFromArrow(dt)
	case *arrow.DictionaryType:
		return FromArrow(dt.ValueType)
	case arrow.ExtensionType:
		return FromArrow(dt.StorageType())
	}
	return Type{}, fmt.Errorf("Arrow type %v has no SQL type here", dt)
}

func unitPrecision(u arrow.TimeUnit) int {
	switch u {
	case arrow.Second:
		return 0
	case arrow.Millisecond:
		return 3
	case arrow.Microsecond:
		return 6
	}
	return 9
}

// Arrow is the Arrow schema of the columns.
func (s Schema) Arrow() *arrow.Schema {
	fields := make([]arrow.Field, len(s))
	for i, c := range s {
		fields[i] = arrow.Field{Name: c.Name, Type: c.Type.Arrow(), Nullable: !c.Type.NotNull}
	}
	return arrow.NewSchema(fields, nil)
}

// SchemaFromArrow is the schema of the batches that vector.BatchFromArrow makes of
// record batches of the given schema.
func SchemaFromArrow(s *arrow.Schema) (Schema, error) {
	out := make(Schema, s.NumFields())
	for i, f := range s.Fields() {
		t, err := FromArrow(f.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		t.NotNull = !f.Nullable
		out[i] = Column{Name: f.Name, Type: t}
	}
	return out, nil
}
