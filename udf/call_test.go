package udf_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

func TestScalarFunctions(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	for _, c := range []struct {
		export string
		args   [][]string // by column
		want   []string
	}{
		{"add", [][]string{{"1", "NULL", "9223372036854775807"}, {"2", "3", "1"}}, []string{"3", "NULL", "-9223372036854775808"}},
		{"add_double", [][]string{{"1.5", "NaN"}, {"2", "1"}}, []string{"3.5", "NaN"}},
		{"divide", [][]string{{"7", "NULL", "1"}, {"2", "0", "NULL"}}, []string{"3", "NULL", "NULL"}},
		{"or_else", [][]string{{"NULL", "1", "NULL"}, {"5", "6", "NULL"}}, []string{"5", "1", "0"}},
		{"scale", [][]string{{"2", "3"}, {"10", "NULL"}}, []string{"20", "NULL"}},
		{"total", [][]string{{"1", "2"}, {"10", "20"}, {"100", "NULL"}}, []string{"111", "NULL"}},
		{"upper_ascii", [][]string{{"abc", "", "NULL", "straße"}}, []string{"ABC", "", "NULL", "STRAßE"}},
		{"repeat", [][]string{{"ab", "€", "x", "y"}, {"3", "2", "NULL", "-1"}}, []string{"ababab", "€€", "NULL", "NULL"}},
		{"is_even", [][]string{{"1", "2", "NULL", "-4", "5", "6", "7", "8", "9", "10"}}, []string{"FALSE", "TRUE", "NULL", "TRUE", "FALSE", "TRUE", "FALSE", "TRUE", "FALSE", "TRUE"}},
		{"round2", [][]string{{"1.2350", "-1.2350", "NULL"}}, []string{"1.24", "-1.24", "NULL"}},
		{"array_total", [][]string{{"[1, 2, NULL]", "[]", "NULL"}}, []string{"3", "0", "NULL"}},
		{"array_reversed", [][]string{{"[1, 2, NULL]", "[]", "NULL", "[7]"}}, []string{"[NULL, 2, 1]", "[]", "NULL", "[7]"}},
		{"split_array", [][]string{{"a-b", "", "NULL"}, {"-", "-", "-"}}, []string{"[a, b]", "[]", "NULL"}},
		{"swap", [][]string{{"(1, x)", "(NULL, y)", "(2, NULL)", "NULL"}}, []string{"(x, 1)", "(y, NULL)", "(NULL, 2)", "NULL"}},
		{"map_plus", [][]string{{"{b=1, a=2}", "{}", "NULL", "{k=NULL}"}, {"10", "1", "1", "1"}}, []string{"{a=12, b=11}", "{}", "NULL", "{k=NULL}"}},
		{"same_bytes", [][]string{{"\x00\xff", "", "NULL"}}, []string{"\x00\xff", "", "NULL"}},
	} {
		t.Run(c.export, func(t *testing.T) {
			p := checkedPool(t)
			i := open(t, m, c.export)
			f := i.Function()
			types := f.Inputs(len(c.args))
			call := udf.Call{Rows: len(c.want), Pool: p}
			for k, texts := range c.args {
				v := parse(t, p, types[k], texts...)
				defer v.Release()
				call.Args = append(call.Args, v)
			}
			got, err := i.Call(context.Background(), &call)
			if err != nil {
				t.Fatal(err)
			}
			if s := show(f.Returns, got); c.export != "split_array" && !slices.Equal(s, c.want) || c.export == "split_array" && s[0] != c.want[0] {
				t.Errorf("got %q, want %q", s, c.want)
			}
			got.Release()

			// The same rows, the other way around and with others between.
			call.Sel = everyOther(len(c.want))
			call.Rows = len(call.Sel)
			got, err = i.Call(context.Background(), &call)
			if err != nil {
				t.Fatal(err)
			}
			for k, s := range show(f.Returns, got) {
				if c.export != "split_array" && s != c.want[call.Sel[k]] {
					t.Errorf("row %d selected: got %q, want %q", call.Sel[k], s, c.want[call.Sel[k]])
				}
			}
			got.Release()
		})
	}
}

// What goes in comes out, of every type that has a function for it, at several sizes and
// with several starts, constant or not.
func TestValuesCross(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, f := range m.Functions() {
		if !strings.HasPrefix(f.Export, "same_") {
			continue
		}
		t.Run(f.Export, func(t *testing.T) {
			p := checkedPool(t)
			i := open(t, m, f.Export)
			rng := rand.New(rand.NewPCG(seed, 1))
			for _, n := range []int{0, 1, 7, 64, 100, 5000} {
				in := randomColumn(rng, p, f.Args[0].Type, n)
				for _, call := range []udf.Call{
					{Rows: n},
					{Rows: (n + 1) / 2, Sel: everyOther(n)},
					{Rows: min(n, 50) * 3, Constant: []bool{true}},
				} {
					if call.Constant != nil && n == 0 {
						continue
					}
					call.Args, call.Pool = []*vector.Vector{in}, p
					got, err := i.Call(context.Background(), &call)
					if err != nil {
						t.Fatal(err)
					}
					if got.Len() != call.Rows {
						t.Fatalf("%d rows came back, not %d", got.Len(), call.Rows)
					}
					for r := range call.Rows {
						at := r
						if call.Sel != nil {
							at = int(call.Sel[r])
						} else if call.Constant != nil {
							at = 0
						}
						if vector.Compare(in, at, got, r) != 0 {
							t.Fatalf("n %d, row %d: %q came back as %q", n, r, sqltype.AppendText(nil, f.Returns, in, at), sqltype.AppendText(nil, f.Returns, got, r))
						}
					}
					got.Release()
				}
				in.Release()
			}
		})
	}
}

func TestBatchesAreCut(t *testing.T) {
	// A quarter of a megabyte of arena, and rows that need far more.
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{Memory: 2 << 20, FuelPerRow: 1 << 20})
	p := checkedPool(t)
	i := open(t, m, "repeat")
	var texts []string
	var counts []int32
	for r := range 3000 {
		texts = append(texts, strings.Repeat(fmt.Sprint(r%10), 1+r%2000))
		counts = append(counts, 1)
	}
	s, n := vector.OfStrings(p, texts...), vector.Of(p, counts...)
	defer s.Release()
	defer n.Release()
	got, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{s, n}, Rows: len(texts), Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	for r, want := range texts {
		if got.Text(r) != want {
			t.Fatalf("row %d: %d bytes came back, not %d", r, len(got.Text(r)), len(want))
		}
	}
	if c := i.Function().Metrics().Calls; c < 2 {
		t.Errorf("%d calls for 3 MB with 1 MB of arena", c)
	}

	add := open(t, m, "add")
	long := make([]int64, 200_000)
	for r := range long {
		long[r] = int64(r)
	}
	a := vector.Of(p, long...)
	defer a.Release()
	sum, err := add.Call(context.Background(), &udf.Call{Args: []*vector.Vector{a, a}, Rows: len(long), Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	defer sum.Release()
	for r, x := range vector.Values[int64](sum) {
		if x != 2*int64(r) {
			t.Fatalf("row %d: %d", r, x)
		}
	}

	huge := vector.OfStrings(p, "small", strings.Repeat("x", 3<<20))
	defer huge.Release()
	two := vector.Of(p, int32(1), 1)
	defer two.Release()
	_, err = i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{huge, two}, Rows: 2, Pool: p})
	if f := faultOf(t, err); f.Cause != udf.Memory || f.Row != 1 || errs.CodeOf(err) != errs.Limit {
		t.Errorf("a row of 3 MB: %v", err)
	}
}

func TestFailures(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	p := checkedPool(t)
	a, b := vector.Of(p, int64(1), 2, 3), vector.Of(p, int64(1), 1, 0)
	defer a.Release()
	defer b.Release()
	i := open(t, m, "divide")
	_, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{a, b}, Rows: 3, Pool: p})
	f := faultOf(t, err)
	if f.Cause != udf.Refused || f.Row != 2 || f.Reason != "division by zero" || errs.CodeOf(err) != errs.Function {
		t.Errorf("%v, %+v", err, f)
	}
	if want := "function divide of kinds.wasm, row 2: division by zero"; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if !i.Dead() {
		t.Error("the instance lives on after an error")
	}
	if _, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{a, b}, Rows: 3, Pool: p}); err == nil {
		t.Error("a dead instance was called")
	}

	i = open(t, m, "about_call")
	trap := vector.OfStrings(p, "now", "trap")
	defer trap.Release()
	_, err = i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{trap}, Rows: 2, Pool: p})
	f = faultOf(t, err)
	if f.Cause != udf.Trapped || f.Reason != "unreachable" || len(f.Trace) != 1 || !strings.Contains(f.Trace[0], "about_call") {
		t.Errorf("%v, %+v", err, f)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	i = open(t, m, "divide")
	_, err = i.Call(ctx, &udf.Call{Args: []*vector.Vector{a, a}, Rows: 3, Pool: p})
	if f := faultOf(t, err); f.Cause != udf.Canceled || errs.CodeOf(err) != errs.Canceled {
		t.Error(err)
	}
}

func TestCallTellsTimeAndSeed(t *testing.T) {
	var lines []udf.Line
	m := loadFile(t, openHost(t, udf.Config{Log: func(l udf.Line) { lines = append(lines, l) }}), kinds, udf.Limits{})
	p := checkedPool(t)
	i := open(t, m, "about_call")
	what := vector.OfStrings(p, "now", "seed", "rows", "log")
	defer what.Release()
	got, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{what}, Rows: 4, Now: 1234, Seed: 88, Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if v := vector.Values[int64](got); !slices.Equal(v, []int64{1234, 44, 4, 0}) {
		t.Errorf("got %v", v)
	}
	want := udf.Line{Module: "kinds.wasm", Function: "about_call", Level: abi.Info, Text: "asked to log"}
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("log %v", lines)
	}
	f := i.Function().Metrics()
	if f.Calls != 1 || f.Rows != 4 || f.Instances != 1 || f.LogLines != 1 || f.Fuel < 500 || f.BytesIn == 0 || f.BytesOut == 0 || f.Time <= 0 {
		t.Errorf("metrics %+v", f)
	}
}

func TestPoolKeepsInstances(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	add, _ := m.Function("add")
	divide, _ := m.Function("divide")
	pool := udf.NewPool()
	one, err := add.Open(context.Background(), pool)
	if err != nil {
		t.Fatal(err)
	}
	one.Close()
	again, err := divide.Open(context.Background(), pool)
	if err != nil {
		t.Fatal(err)
	}
	if again != one || again.Function() != divide {
		t.Error("the idle instance was not used again")
	}
	p := checkedPool(t)
	zero := vector.Of(p, int64(0))
	defer zero.Release()
	if _, err := again.Call(context.Background(), &udf.Call{Args: []*vector.Vector{zero, zero}, Rows: 1, Pool: p}); err == nil {
		t.Error("0 / 0 is no error")
	}
	again.Close()
	other, err := add.Open(context.Background(), pool)
	if err != nil {
		t.Fatal(err)
	}
	if other == one {
		t.Error("a dead instance came back")
	}
	pool.Close()
	other.Close()
	if n := add.Metrics().Instances; n != 3 { // one tries the module at Load
		t.Errorf("%d instances were made", n)
	}
}

func TestTwoGoroutinesPanic(t *testing.T) {
	var i *udf.Instance
	m := loadFile(t, openHost(t, udf.Config{Log: func(udf.Line) {
		defer func() {
			if recover() == nil {
				t.Error("an instance was used while it was in use")
			}
		}()
		i.Call(context.Background(), &udf.Call{})
	}}), kinds, udf.Limits{})
	p := checkedPool(t)
	i = open(t, m, "about_call")
	what := vector.OfStrings(p, "log")
	defer what.Release()
	got, err := i.Call(context.Background(), &udf.Call{Args: []*vector.Vector{what}, Rows: 1, Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	got.Release()
}

func TestConstantArguments(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	p := checkedPool(t)
	a := vector.Of(p, int64(1), 2, 3)
	defer a.Release()
	for _, c := range []struct{ constant, want string }{{"10", "[10 20 30]"}, {"NULL", "[NULL NULL NULL]"}} {
		for _, export := range []string{"scale", "divide"} { // the second does not accept constants
			f, _ := m.Function(export)
			k := parse(t, p, f.Args[1].Type, c.constant)
			call := udf.Call{Args: []*vector.Vector{a, k}, Rows: 3, Constant: []bool{false, true}, Pool: p}
			v, err := open(t, m, export).Call(context.Background(), &call)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if export == "divide" && c.constant == "10" {
				want = "[0 0 0]"
			}
			if got := fmt.Sprint(show(f.Returns, v)); got != want {
				t.Errorf("%s by %s: %s, want %s", export, c.constant, got, want)
			}
			v.Release()
			k.Release()
		}
	}
}
