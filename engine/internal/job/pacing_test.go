package job

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
)

// When checkpoints begin: by the interval, by what the last one cost, after one that is
// slow, and early when memory is short.
func TestPacing(t *testing.T) {
	db, err := state.OpenDB("state", state.DBOptions{FS: state.NewMemFS()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, c := range map[string]struct {
		every, cost time.Duration
		paced       bool
		pressed     int64 // when a store asks
		lasts       int64 // in seconds
		want        []int64
		overruns    int64
	}{
		"interval":             {every: 10 * time.Second, want: []int64{10, 20, 30, 40, 50}},
		"cheap":                {every: 10 * time.Second, paced: true, cost: time.Second, want: []int64{10, 20, 30, 40, 50}},
		"expensive":            {every: 10 * time.Second, paced: true, cost: 4 * time.Second, want: []int64{10, 26, 42, 58}},
		"interval of a user":   {every: 10 * time.Second, cost: 4 * time.Second, want: []int64{10, 20, 30, 40, 50}},
		"slow":                 {every: 10 * time.Second, lasts: 15, want: []int64{10, 25, 40, 55}, overruns: 3},
		"memory is short":      {every: 20 * time.Second, pressed: 5, want: []int64{5, 25, 45}},
		"nothing but the last": {want: nil},
	} {
		p := &checkpoints{every: c.every, paced: c.paced, db: db, gathered: map[uint64]*gathered{}}
		p.begin(0)
		var got []int64
		busyUntil := int64(0)
		for s := int64(1); s < 60; s++ {
			if p.busy && s >= busyUntil {
				p.busy, p.finished, p.cost = false, s*1000, c.cost
			}
			if s == c.pressed {
				p.passed(exec.Mark{}, nil, true)
			}
			m := exec.Mark{Epoch: uint64(s), Now: s * 1000}
			p.at(&m)
			if m.Checkpoint {
				got = append(got, s)
				if busyUntil = s + c.lasts; c.lasts == 0 {
					p.busy, p.finished, p.cost = false, s*1000, c.cost
				}
			}
		}
		if !slices.Equal(got, c.want) || p.metrics.Overruns != c.overruns {
			t.Errorf("%s: checkpoints at %v, want %v; %d overruns, want %d", name, got, c.want, p.metrics.Overruns, c.overruns)
		}
		last := exec.Mark{Epoch: 60, Last: true}
		if p.at(&last); !last.Checkpoint {
			t.Errorf("%s: the last mark asks for no checkpoint", name)
		}
	}
}

func TestRecords(t *testing.T) {
	r := &record{Version: recordVersion, Job: "j", Sources: []sourceRecord{{ID: "s", Splits: []splitRecord{{"a", []byte{0, 255}, 7, false}, {"b", nil, exec.EndWatermark, true}}}}, Watermarks: map[string][]exec.Watermark{"o": {5, exec.NoWatermark}}}
	back, err := decodeRecord(r.encode())
	if err != nil {
		t.Fatal(err)
	}
	at := back.restored(true)
	if s := at.Splits["s"]["a"]; string(s.Position) != "\x00\xff" || s.Watermark != 7 || !at.Splits["s"]["b"].Finished || at.Watermarks["o"][1] != exec.NoWatermark {
		t.Errorf("%+v", at)
	}
	if at := back.restored(false); at.Splits["s"]["a"].Watermark != exec.NoWatermark || at.Watermarks != nil || string(at.Splits["s"]["a"].Position) != "\x00\xff" {
		t.Errorf("without watermarks: %+v", at)
	}
	r.Version++
	if _, err := decodeRecord(r.encode()); err == nil {
		t.Error("a later version was read")
	}
	if _, err := decodeRecord([]byte("{")); err == nil || errors.Unwrap(err) == nil {
		t.Errorf("damaged: %v", err)
	}
}
