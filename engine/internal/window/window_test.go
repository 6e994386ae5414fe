package window_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/internal/window"
)

func spans(a window.Assigner, t int64) []window.Span {
	var out []window.Span
	for s, ok := a.First(t); ok; s, ok = a.Next(s, t) {
		out = append(out, s)
	}
	return out
}

// TestSpans compares with trying every window there is.
func TestSpans(t *testing.T) {
	for _, a := range []window.Assigner{
		{Kind: window.Tumble, Size: 5},
		{Kind: window.Tumble, Size: 10, Offset: -6},
		{Kind: window.Hop, Size: 10, Step: 5},
		{Kind: window.Hop, Size: 10, Step: 4, Offset: 1},
		{Kind: window.Hop, Size: 3, Step: 5},
		{Kind: window.Cumulate, Size: 15, Step: 5, Offset: 1},
	} {
		for at := int64(-40); at < 40; at++ {
			var want []window.Span
			for start := int64(-200) + a.Offset; start <= at; start++ {
				every := a.Size
				if a.Kind == window.Hop {
					every = a.Step
				}
				if (start-a.Offset)%every != 0 {
					continue
				}
				step := a.Size
				if a.Kind == window.Cumulate {
					step = a.Step
				}
				for end := start + step; end <= start+a.Size; end += step {
					if at >= start && at < end {
						want = append(want, window.Span{Start: start, End: end})
					}
				}
			}
			if got := spans(a, at); !slices.Equal(got, want) {
				t.Errorf("%v of %d: %v, want %v", a, at, got, want)
			}
		}
	}
}

func TestZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	z := window.NewZone(berlin)
	winter := time.Date(2024, 1, 15, 0, 0, 0, 0, berlin).UnixMilli()
	if got := z.Local(winter); got != time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC).UnixMilli() || z.Instant(got) != winter {
		t.Errorf("%d, back %d", got, z.Instant(got))
	}
	if z := window.NewZone(time.UTC); !z.UTC() || z.Local(5) != 5 || z.Instant(5) != 5 {
		t.Error("UTC changes times")
	}
}

func TestString(t *testing.T) {
	a := window.Assigner{Kind: window.Hop, Size: 60_000, Step: 1500, Offset: -3600_000}
	if got := a.String(); got != "HOP(1500 ms, 1 min, offset -1 h)" {
		t.Error(got)
	}
}
