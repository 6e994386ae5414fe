//go:build linux

package udf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirdb/weir/bench/threadtime"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/udf/internal/wasmtest"
	"github.com/weirdb/weir/vector"
)

const (
	hostileVariable = "WEIR_HOSTILE" // row/name of the module that a child process runs
	hostileTime     = 60 * time.Second
	hostileMemory   = 320 << 20 // resident, of a child; a race detector takes several times as much
	longestGap      = 2 * time.Millisecond
	usualLoad       = 90 * time.Nanosecond // of a machine that is not busy
)

// replaceAlloc is a module whose udf_alloc is that code.
func replaceAlloc(code string) []byte {
	return wasmtest.Assemble("memory 1\nexport \"memory\" memory 0\ncustom \"udf.manifest\" " + strconv.Quote(withFunction(scalarManifest)) +
		"\nfunc $a export \"udf_alloc\" (i32) -> (i32)\n" + code + "\nend\nfunc $f export \"f\" (i32) -> (i32)\ni32.const 0\nend\n")
}

// outcome is what a child process saw.
type outcome struct {
	Load     string // error of Load
	Called   bool
	Error    string
	Fault    bool
	Cause    udf.Cause
	Reason   string
	Row      int
	Gap      time.Duration
	LoadTime time.Duration // of one load that misses the caches
	Others   int64         // calls of another instance meanwhile
	Broken   string        // what went wrong beside
}

// guestRun is one run of a hostile module.
type guestRun struct {
	i    *udf.Instance
	pool *vector.Pool
	rows int
}

// call calls the function as its kind is, with random columns, twice when all goes well.
func (r *guestRun) call() error {
	f := r.i.Function()
	rng := rand.New(rand.NewPCG(1, 2))
	c := &udf.Call{Rows: r.rows, Pool: r.pool}
	for _, t := range f.Inputs(len(f.Args)) {
		v := randomColumn(rng, r.pool, t, r.rows)
		defer v.Release()
		c.Args = append(c.Args, v)
	}
	for range 2 {
		if f.Kind.HasRows() {
			if err := r.i.CallTable(context.Background(), c, func(rows *udf.Rows) error { rows.Release(); return nil }); err != nil {
				return err
			}
			continue
		}
		v, err := r.i.Call(context.Background(), c)
		if err != nil {
			return err
		}
		if problem := invalid(f.Returns, v); problem != "" {
			return errors.New("the result is not valid: " + problem)
		}
		v.Release()
	}
	return nil
}

// TestHostileModules runs every module in a process of its own, with a limit on time and a
// look at memory, while another query computes in the same process.
func TestHostileModules(t *testing.T) {
	if os.Getenv(hostileVariable) != "" {
		t.Skip("this is a child")
	}
	count := 0
	all := hostiles()
	for row := 1; row <= 56; row++ {
		if len(all[row]) == 0 && row != 52 { // two goroutines: TestTwoGoroutinesPanic
			t.Errorf("row %d has no module", row)
		}
		for _, h := range all[row] {
			count++
			t.Run(fmt.Sprintf("%d %s", row, h.name), func(t *testing.T) {
				t.Parallel()
				for attempt := 1; ; attempt++ {
					o := runChild(t, fmt.Sprintf("%d/%s", row, h.name))
					h.judge(t, o)
					// Interrupts count as the guest's time, and a machine may be busy with them.
					limit := max(longestGap, longestGap*o.LoadTime/usualLoad)
					if o.Gap < limit || raceEnabled {
						break
					}
					if attempt == 3 {
						t.Errorf("the guest had control for %v, when a load takes %v", o.Gap, o.LoadTime)
						break
					}
				}
			})
		}
	}
	if count < 55 {
		t.Errorf("%d modules", count)
	}
}

func (h *hostile) judge(t *testing.T, o outcome) {
	t.Helper()
	if o.Broken != "" {
		t.Error(o.Broken)
	}
	if o.Others == 0 {
		t.Error("the other query stood still")
	}
	switch {
	case h.load != "":
		if !strings.Contains(o.Load, h.load) {
			t.Errorf("Load: %q, want something with %q", o.Load, h.load)
		}
	case o.Load != "":
		t.Errorf("Load: %s", o.Load)
	case !o.Called:
		t.Error("it was not called")
	case h.reason == "":
		if o.Error != "" {
			t.Errorf("the call: %s", o.Error)
		}
	case !o.Fault || o.Cause != h.cause || !strings.Contains(fmt.Sprintf("row %d %s", o.Row, o.Reason), h.reason):
		t.Errorf("the call: %q, cause %v, row %d, want %v with %q", o.Error, o.Cause, o.Row, h.cause, h.reason)
	}
}

// runChild runs one module in a child process.
func runChild(t *testing.T, name string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hostileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHostileChild$", "-test.v")
	cmd.Env = append(os.Environ(), hostileVariable+"="+name)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("the process hung:\n%s", tail(out))
	}
	if err != nil {
		t.Fatalf("the process died: %v\n%s", err, tail(out))
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && !raceEnabled {
		if size := usage.Maxrss << 10; size > hostileMemory {
			t.Errorf("the process took %d MiB", size>>20)
		}
	}
	_, text, _ := bytes.Cut(out, []byte("OUTCOME "))
	text, _, _ = bytes.Cut(text, []byte("\n"))
	var o outcome
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("the process said %s", tail(out))
	}
	return o
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }

// TestHostileChild is the child.
func TestHostileChild(t *testing.T) {
	name := os.Getenv(hostileVariable)
	if name == "" {
		t.Skip("this is the parent")
	}
	row, rest, _ := strings.Cut(name, "/")
	number, err := strconv.Atoi(row)
	if err != nil {
		t.Fatal(err)
	}
	list := hostiles()[number]
	k := slices.IndexFunc(list, func(h hostile) bool { return h.name == rest })
	text, err := json.Marshal(runHostile(t, &list[k]))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("OUTCOME %s\n", text)
}

func runHostile(t *testing.T, h *hostile) (o outcome) {
	host := openHost(t, udf.Config{Log: func(udf.Line) {}})
	var others atomic.Int64
	stop, done := make(chan struct{}), make(chan error, 1)
	good := open(t, loadFile(t, host, kinds, udf.Limits{}), "add")
	go func() { done <- otherQuery(good, stop, &others) }()
	defer func() {
		close(stop)
		if err := <-done; err != nil {
			o.Broken = "the other query: " + err.Error()
		}
		o.Others = others.Load()
	}()
	for others.Load() == 0 { // it has begun
		runtime.Gosched()
	}
	others.Store(0)
	m, err := host.Load(context.Background(), "hostile", h.module(), h.limits)
	if err != nil {
		for others.Load() == 0 {
			runtime.Gosched()
		}
		return outcome{Load: err.Error()}
	}
	defer m.Close()
	f := m.Functions()[0]
	pool := vector.NewCheckedPool()
	i, err := f.Open(context.Background(), nil)
	if err != nil {
		return outcome{Broken: "Open: " + err.Error()}
	}
	defer i.Close()
	runtime.LockOSThread()
	udf.SetClock(i, threadtime.Now)
	run := h.run
	if run == nil {
		run = (*guestRun).call
	}
	rows := h.rows
	if rows == 0 {
		rows = 100
	}
	err = run(&guestRun{i: i, pool: pool, rows: rows})
	for others.Load() == 0 {
		runtime.Gosched()
	}
	o = outcome{Called: true, Row: -1, Gap: f.Metrics().Gap, LoadTime: loadTime()}
	if leak := pool.Leaks(); leak != nil {
		o.Broken = leak.Error()
	}
	if err != nil {
		o.Error = err.Error()
		if !i.Dead() {
			o.Broken = "the instance lives on"
		}
		var fault *udf.Fault
		if errors.As(err, &fault) {
			o.Fault, o.Cause, o.Reason, o.Row = true, fault.Cause, fault.Reason, fault.Row
		}
	}
	return o
}

// loadTime is how long this machine takes, now, for a load that misses the caches: what
// the pointer chase is made of.
func loadTime() time.Duration {
	const n = 1 << 20
	next := make([]int64, n)
	for k := range next {
		next[k] = (int64(k)*1664525 + 1013904223) & (n - 1)
	}
	from, at := threadtime.Now(), int64(0)
	for range 100_000 {
		at = next[at]
	}
	return (threadtime.Now() - from + time.Duration(at&1)) / 100_000
}

// otherQuery calls an instance until it is stopped, and collects garbage, which has to
// stop every goroutine.
func otherQuery(i *udf.Instance, stop <-chan struct{}, calls *atomic.Int64) error {
	p := vector.NewPool()
	v := int64s(p, 1000)
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		sum, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{v, v}, Rows: 1000, Pool: p})
		if err != nil {
			return err
		}
		if got := vector.Values[int64](sum)[999]; got != 2*999*7 {
			return fmt.Errorf("the sum is %d", got)
		}
		sum.Release()
		runtime.GC()
		calls.Add(1)
	}
}
