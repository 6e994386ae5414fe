package udf_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// Batches that nobody times end all the same, and are counted.
func TestUntimed(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), "../engine/testdata/lab.wasm", udf.Limits{Fuel: 1 << 50, Timeout: 50 * time.Millisecond})
	p := checkedPool(t)
	i := open(t, m, "spin")
	spin := func(n int64) error {
		x := vector.Of(p, n)
		defer x.Release()
		v, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{x}, Rows: 1, Pool: p})
		if err == nil {
			v.Release()
		}
		return err
	}
	reads := 0
	udf.SetClock(i, func() time.Duration { reads++; return time.Duration(reads) * time.Microsecond })
	const calls = 80
	if err := spin(1); err != nil { // it asks for memory, too
		t.Fatal(err)
	}
	before := i.Function().Metrics()
	for range calls {
		if err := spin(1); err != nil {
			t.Fatal(err)
		}
	}
	got := i.Function().Metrics()
	rows, made, took := got.Rows-before.Rows, got.Calls-before.Calls, got.Time-before.Time
	if rows != calls || made != calls || took != calls*time.Microsecond {
		t.Errorf("%d rows, %d calls, %v", rows, made, took)
	}
	if reads > calls/2 {
		t.Errorf("the clock was read %d times", reads)
	}
	from := time.Now()
	udf.SetClock(i, func() time.Duration { return time.Since(from) })
	if f := faultOf(t, spin(1<<50)); f.Cause != udf.Timeout {
		t.Errorf("%v", f)
	}
}
