package kernel

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestCivil(t *testing.T) {
	for d := int32(-800_000); d < 800_000; d += 13 {
		y, m, day := Civil(d)
		want := time.Unix(int64(d)*86400, 0).UTC()
		if wy, wm, wd := want.Date(); y != wy || m != int(wm) || day != wd {
			t.Fatalf("day %d is %d-%d-%d, want %v", d, y, m, day, want)
		}
		if Days(y, m, day) != d {
			t.Fatalf("day %d comes back as %d", d, Days(y, m, day))
		}
	}
	for _, c := range []struct {
		from   string
		months int
		want   string
	}{
		{"2020-01-31", 1, "2020-02-29"},
		{"2019-01-31", 1, "2019-02-28"},
		{"2020-02-29", 12, "2021-02-28"},
		{"2020-01-15", -1, "2019-12-15"},
		{"2020-03-31", -1, "2020-02-29"},
		{"2020-12-01", 1, "2021-01-01"},
		{"2020-05-05", -17, "2018-12-05"},
		{"2020-01-01", 0, "2020-01-01"},
	} {
		d, _ := ParseDate([]byte(c.from))
		if got := string(AppendDate(nil, AddMonths(d, c.months))); got != c.want {
			t.Errorf("%s and %d months is %s, want %s", c.from, c.months, got, c.want)
		}
	}
}

func TestTimestampText(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		ms := r.Int64N(1<<43) - 1<<42
		text := string(AppendTimestamp(nil, ms, 3, 3))
		if want := time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000"); text != want {
			t.Fatalf("%d is %s, want %s", ms, text, want)
		}
		if back, ok := ParseTimestamp([]byte(text), 3); !ok || back != ms {
			t.Fatalf("%s comes back as %d", text, back)
		}
	}
	for in, want := range map[string]string{
		"2020-01-02": "2020-01-02 00:00:00.000000", "2020-1-2 3:04": "2020-01-02 03:04:00.000000", "2020-01-02T03:04:05.123456789": "2020-01-02 03:04:05.123456",
		" 2020-01-02 03:04:05.5 ": "2020-01-02 03:04:05.500000", "2020-02-30": "", "2020-13-01": "", "2020-01-02 24:00:00": "", "2020-01-02 03:60:00": "",
		"": "", "2020": "", "2020-01-02x": "", "2020-01-02 03:04:05.x": "", "0000-01-01": "0000-01-01 00:00:00.000000", "9999999999-01-01": "",
	} {
		v, ok := ParseTimestamp([]byte(in), 6)
		got := ""
		if ok {
			got = string(AppendTimestamp(nil, v, 6, 6))
		}
		if got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestZone(t *testing.T) {
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone data:", err)
	}
	z := NewZone(loc)
	r := rand.New(rand.NewPCG(6, 6))
	for range 5000 {
		sec := r.Int64N(4_000_000_000) - 1_000_000_000
		_, off := time.Unix(sec, 0).In(loc).Zone()
		if got := z.Local(sec*1000, 1000); got != (sec+int64(off))*1000 {
			t.Fatalf("instant %d reads %d", sec, got)
		}
		// A reading comes back to its instant, unless it occurs twice: then to the earlier one.
		back := z.Instant(sec+int64(off), 1)
		if back != sec && back != sec-3600 {
			t.Fatalf("the reading of %d comes back as %d", sec, back)
		}
	}
	for in, want := range map[string]string{
		"2021-03-28 02:30:00":       "2021-03-28 01:30:00", // skipped: 03:30 summer time
		"2021-10-31 02:30:00":       "2021-10-31 00:30:00", // twice: the first
		"2021-07-01 12:00:00":       "2021-07-01 10:00:00",
		"2021-07-01 12:00:00Z":      "2021-07-01 12:00:00",
		"2021-07-01T12:00:00-05:00": "2021-07-01 17:00:00",
	} {
		v, ok := ParseInstant([]byte(in), 3, z)
		if got := string(AppendTimestamp(nil, v, 3, 0)); !ok || got != want {
			t.Errorf("%s is the instant %s, want %s", in, got, want)
		}
	}
}
