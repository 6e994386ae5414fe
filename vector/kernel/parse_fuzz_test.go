package kernel

import (
	"testing"
	"time"
)

// What a parser accepts it writes and reads back as the same value; nothing makes it
// panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.5", "-12e3", "2020-01-02 03:04:05.678", "12:34:56.7", "true", "9223372036854775808", ".5e-40", "2020-01-02T03:04:05+02:00", "99999999999999999999999999999999999999.9"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		if d, ok := ParseDecimal(s, 38, 7); ok {
			if back, ok := ParseDecimal(AppendDecimal(nil, d, 7), 38, 7); !ok || back != d {
				t.Errorf("decimal %q: %v comes back as %v", s, d, back)
			}
		}
		if v, ok := ParseTimestamp(s, 6); ok {
			if back, ok := ParseTimestamp(AppendTimestamp(nil, v, 6, 6), 6); !ok || back != v {
				t.Errorf("timestamp %q: %d comes back as %d (%s)", s, v, back, AppendTimestamp(nil, v, 6, 6))
			}
		}
		if v, ok := ParseDate(s); ok {
			if back, ok := ParseDate(AppendDate(nil, v)); !ok || back != v {
				t.Errorf("date %q: %d comes back as %d", s, v, back)
			}
		}
		if v, ok := ParseTime(s, 9); ok {
			if back, ok := ParseTime(AppendTime(nil, v, 9, 9), 9); !ok || back != v {
				t.Errorf("time %q: %d comes back as %d", s, v, back)
			}
		}
		if v, ok := ParseFloat(s); ok {
			if back, ok := ParseFloat(AppendFloat(nil, v, 64)); !ok || back != v && v == v {
				t.Errorf("number %q: %v comes back as %v", s, v, back)
			}
		}
		ParseInt(s)
		ParseBool(s)
		ParseInstant(s, 3, NewZone(time.UTC))
	})
}
