package sqltype_test

import (
	"math"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestAppendGo(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	midday := time.Date(2024, 2, 29, 12, 30, 0, 5e6, east)
	for _, tt := range []struct {
		typ   sqltype.Type
		given any
		want  string // as text; "" : it does not fit
	}{
		{sqltype.DecimalOf(5, 2), 123, "123.00"},
		{sqltype.DecimalOf(5, 2), uint8(7), "7.00"},
		{sqltype.DecimalOf(5, 2), 1234, ""},
		{sqltype.DecimalOf(5, 2), 1.5, ""},
		{sqltype.FloatType, math.MaxFloat64, ""},
		{sqltype.FloatType, math.Inf(1), "Infinity"},
		{sqltype.TimestampOf(3), midday, "2024-02-29 12:30:00.005"},
		{sqltype.TimestampLTZOf(3), midday, "2024-02-29 10:30:00.005Z"},
		{sqltype.TimestampOf(9), time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC), ""},
		{sqltype.DateType, time.Date(2024, 3, 1, 1, 0, 0, 0, east), "2024-03-01"},
		{sqltype.DateType, time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC), "1969-12-31"},
		{sqltype.Type{ID: sqltype.Time, Precision: 3}, midday, "12:30:00.005"},
		{sqltype.Type{ID: sqltype.Time, Precision: 3}, 90 * time.Minute, "01:30:00"},
		{sqltype.Type{ID: sqltype.Binary, Precision: 2}, []byte("abc"), ""},
		{sqltype.StringType, nil, "NULL"},
		{sqltype.StringType.Required(), nil, ""},
		{sqltype.StringType, 1, ""},
	} {
		p := vector.NewCheckedPool()
		b := vector.NewColumnBuilder(p, tt.typ.Kind())
		ok, got := sqltype.AppendGo(b, tt.typ, tt.given), ""
		if (b.Len() == 1) != ok {
			t.Errorf("%v as %v: %v, with %d values added", tt.given, tt.typ, ok, b.Len())
		}
		v := b.Finish()
		if ok {
			got = "NULL"
			if !v.IsNull(0) {
				got = string(sqltype.AppendText(nil, tt.typ, v, 0))
			}
		}
		if got != tt.want {
			t.Errorf("%v as %v is %q, want %q", tt.given, tt.typ, got, tt.want)
		}
		v.Release()
		if err := p.Leaks(); err != nil {
			t.Error(err)
		}
	}
}
