package sqltype_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestArrow(t *testing.T) {
	schema := sqltype.Schema{
		{Name: "null", Type: sqltype.NullType},
		{Name: "b", Type: sqltype.BoolType.Required()},
		{Name: "t", Type: sqltype.TinyType},
		{Name: "s", Type: sqltype.SmallType},
		{Name: "i", Type: sqltype.IntType},
		{Name: "l", Type: sqltype.BigIntType},
		{Name: "f", Type: sqltype.FloatType},
		{Name: "d", Type: sqltype.DoubleType},
		{Name: "n", Type: sqltype.DecimalOf(10, 2)},
		{Name: "v", Type: sqltype.StringType},
		{Name: "y", Type: sqltype.BytesType},
		{Name: "da", Type: sqltype.DateType},
		{Name: "t3", Type: sqltype.Type{ID: sqltype.Time, Precision: 3}},
		{Name: "t6", Type: sqltype.Type{ID: sqltype.Time, Precision: 6}},
		{Name: "t9", Type: sqltype.Type{ID: sqltype.Time, Precision: 9}},
		{Name: "ts3", Type: sqltype.TimestampOf(3)},
		{Name: "ts6", Type: sqltype.TimestampOf(6)},
		{Name: "ts9", Type: sqltype.TimestampOf(9)},
		{Name: "tz3", Type: sqltype.TimestampLTZOf(3)},
		{Name: "id", Type: sqltype.Type{ID: sqltype.IntervalDay}},
		{Name: "im", Type: sqltype.Type{ID: sqltype.IntervalMonth}},
	}
	back, err := sqltype.SchemaFromArrow(schema.Arrow())
	if err != nil || back.String() != schema.String() {
		t.Errorf("%v\ngot  %v\nwant %v", err, back, schema)
	}
	for _, c := range schema {
		if k := vector.ArrowKind(c.Type.Arrow()); k != c.Type.Kind() {
			t.Errorf("%v: kind %v", c.Type, k)
		}
	}
}

func TestFromArrow(t *testing.T) {
	for _, tt := range []struct {
		dt   arrow.DataType
		want string // "": none
	}{
		{arrow.BinaryTypes.LargeString, "STRING"},
		{arrow.BinaryTypes.StringView, "STRING"},
		{arrow.BinaryTypes.LargeBinary, "BYTES"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 16}, "BINARY(16)"},
		{arrow.PrimitiveTypes.Uint8, "SMALLINT"},
		{arrow.PrimitiveTypes.Uint16, "INT"},
		{arrow.PrimitiveTypes.Uint32, "BIGINT"},
		{arrow.PrimitiveTypes.Uint64, "DECIMAL(20, 0)"},
		{arrow.FixedWidthTypes.Float16, "FLOAT"},
		{arrow.FixedWidthTypes.Date64, "DATE"},
		{arrow.FixedWidthTypes.Time32s, "TIME(0)"},
		{&arrow.TimestampType{Unit: arrow.Second}, "TIMESTAMP(0)"},
		{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Asia/Tokyo"}, "TIMESTAMP_LTZ(0)"},
		{arrow.FixedWidthTypes.Duration_ns, "INTERVAL DAY TO SECOND"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, "STRING"},
		{&arrow.Decimal32Type{Precision: 9, Scale: 2}, "DECIMAL(9, 2)"},
		{&arrow.Decimal256Type{Precision: 50, Scale: 2}, ""},
		{&arrow.Decimal128Type{Precision: 5, Scale: -2}, ""},
		{arrow.ListOf(arrow.PrimitiveTypes.Int8), "ARRAY<TINYINT>"},
		{arrow.FixedSizeListOfNonNullable(2, arrow.PrimitiveTypes.Uint8), "ARRAY<SMALLINT NOT NULL>"},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), "MAP<STRING NOT NULL, BIGINT>"},
		{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}), "ROW<a INT NOT NULL>"},
		{arrow.ListOf(&arrow.Decimal256Type{Precision: 50, Scale: 2}), ""},
		{arrow.FixedWidthTypes.MonthDayNanoInterval, ""},
	} {
		got, err := sqltype.FromArrow(tt.dt)
		if (err != nil) != (tt.want == "") || err == nil && got.String() != tt.want {
			t.Errorf("%v: got %v, %v, want %s", tt.dt, got, err, tt.want)
		}
		if err == nil && got.Kind() != vector.ArrowKind(tt.dt) {
			t.Errorf("%v: a column of %v becomes one of %v", tt.dt, vector.ArrowKind(tt.dt), got)
		}
	}
}
