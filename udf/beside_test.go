package udf_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/bench/threadtime"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// beside measures two ways to do the same in turns, by the time of the thread, so that
// other load on the machine disturbs both alike, and reports medians.
func beside(b *testing.B, rows int, native, guest func()) float64 {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	timed := func(f func(), n int) time.Duration {
		from := threadtime.Now()
		for range n {
			f()
		}
		return threadtime.Now() - from
	}
	const slice = 300 * time.Microsecond
	counts := [2]int{1, 1}
	both := [2]func(){native, guest}
	for k, f := range both {
		timed(f, 100) // a new instance makes itself at home
		for timed(f, counts[k]) < slice {
			counts[k] *= 2
		}
	}
	var costs [2][]float64
	var ratios []float64
	for range 201 {
		var cost [2]float64
		for k, f := range both {
			cost[k] = float64(timed(f, counts[k])) / float64(counts[k]*rows)
			costs[k] = append(costs[k], cost[k])
		}
		ratios = append(ratios, cost[1]/cost[0])
	}
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(costs[0]), "base-ns/row")
	b.ReportMetric(median(costs[1]), "guest-ns/row")
	ratio := median(ratios)
	b.ReportMetric(ratio, "times")
	return ratio
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkBeside compares guests with the engine's own kernels: results are copied out
// and the guests are metered.
func BenchmarkBeside(b *testing.B) {
	h := openHost(b, udf.Config{})
	c, g := loadFile(b, h, benchModule, udf.Limits{}), loadFile(b, h, goGuest, udf.Limits{})
	p := vector.NewPool()
	for _, rows := range []int{1, 1024, 4096, 8192} {
		x, x2, y, y2, s := int64s(p, rows), int64s(p, rows), float64s(p, rows), float64s(p, rows), words43(p, rows)
		var m kernel.Misfits
		kernels := map[string]func(){
			"int64":  func() { kernel.Arith(p, kernel.Add, x, x2, rows, &m).Release() },
			"double": func() { kernel.Arith(p, kernel.Add, y, y2, rows, &m).Release() },
			"upper":  func() { upperNative(p, s).Release() },
		}
		for _, k := range []struct {
			kernel, guest string
			args          []*vector.Vector
		}{
			{"int64", "add", []*vector.Vector{x, x2}},
			{"int64", "add_checked", []*vector.Vector{x, x2}},
			{"int64", "go:add", []*vector.Vector{x, x2}},
			{"int64", "go:add_rows", []*vector.Vector{x, x2}},
			{"double", "add_double", []*vector.Vector{y, y2}},
			{"upper", "upper_ascii", []*vector.Vector{s}},
			{"upper", "go:upper_ascii", []*vector.Vector{s}},
		} {
			b.Run(fmt.Sprintf("%s/%s/%d", k.kernel, k.guest, rows), func(b *testing.B) {
				m, name := c, k.guest
				if after, ok := strings.CutPrefix(name, "go:"); ok {
					m, name = g, after
				}
				i, call := open(b, m, name), &udf.Call{Args: k.args, Rows: rows, Pool: p}
				beside(b, rows, kernels[k.kernel], func() {
					v, err := i.Call(context.Background(), call)
					if err != nil {
						b.Fatal(err)
					}
					v.Release()
				})
			})
		}
	}
}
