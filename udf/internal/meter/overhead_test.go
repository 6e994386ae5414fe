package meter

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

func guestC(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/guest.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// guestGo builds the guest in Go.
func guestGo(t testing.TB) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "guest.wasm")
	c := exec.Command("go", "build", "-buildmode=c-shared", "-o", file, ".")
	c.Dir = "testdata/goguest"
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("go build: %v\n%s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// BenchmarkOverhead runs every function of a guest as it is and metered, in turns, and
// reports the geometric mean of what metering adds.
func BenchmarkOverhead(b *testing.B) {
	for _, g := range []struct {
		name  string
		build func(testing.TB) []byte
	}{{"C", guestC}, {"Go", guestGo}} {
		b.Run(g.name, func(b *testing.B) {
			mod := g.build(b)
			h := newHost(b, wazero.NewRuntimeConfigCompiler())
			r, err := Rewrite(mod, Limits{})
			if err != nil {
				b.Fatal(err)
			}
			plain, counted := h.start(b, mod), h.start(b, r.Wasm)
			sum, n := 0.0, 0
			var table strings.Builder
			for _, e := range r.Module.Exports {
				f := plain.ExportedFunction(e.Name)
				if f == nil || len(f.Definition().ParamTypes()) != 1 || len(f.Definition().ResultTypes()) != 1 || f.Definition().ResultTypes()[0] != api.ValueTypeI64 {
					continue
				}
				ratio, each := h.overhead(b, f, counted.ExportedFunction(e.Name))
				fmt.Fprintf(&table, "\n%-12s %+6.1f %%  %v", e.Name, 100*(ratio-1), each)
				sum += math.Log(ratio)
				n++
			}
			for b.Loop() {
			}
			b.Log(table.String())
			b.ReportMetric(100*(math.Exp(sum/float64(n))-1), "%overhead")
		})
	}
}

// overhead returns how many times as long the metered function takes, and the time of a
// round of the plain one.
func (h *host) overhead(b *testing.B, plain, counted api.Function) (float64, time.Duration) {
	b.Helper()
	run := func(f api.Function, n uint64) (uint64, time.Duration) {
		at := time.Now()
		res, err := f.Call(h.ctx, n)
		if err != nil {
			b.Fatal(err)
		}
		return res[0], time.Since(at)
	}
	n := uint64(1)
	for {
		want, d := run(plain, n)
		if got, _ := run(counted, n); got != want {
			b.Fatalf("metered result %d, not %d", got, want)
		}
		if d > 500*time.Microsecond {
			break
		}
		n *= 2
	}
	var p, c []time.Duration
	for range 60 {
		_, d := run(plain, n)
		p = append(p, d)
		_, d = run(counted, n)
		c = append(c, d)
	}
	slices.Sort(p)
	slices.Sort(c)
	return float64(c[5]) / float64(p[5]), p[5] / time.Duration(n) // the rest was disturbed
}
