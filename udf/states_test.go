package udf_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// fresh are states of n groups without rows.
func fresh(t *testing.T, i *udf.Instance, n int) *udf.States {
	t.Helper()
	init, err := i.Init(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s := &udf.States{}
	for range n {
		if i.Function().StateSize == 0 {
			s.Views = append(s.Views, slices.Clone(init))
		} else {
			s.Fixed = append(s.Fixed, init...)
		}
	}
	return s
}

func finish(t *testing.T, i *udf.Instance, p *vector.Pool, s *udf.States) []string {
	t.Helper()
	v, err := i.Finish(context.Background(), &udf.Call{Pool: p}, s)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	return show(i.Function().Returns, v)
}

func TestAggregateWithFixedStates(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	p := checkedPool(t)
	i := open(t, m, "avg2")
	ctx := context.Background()
	s := fresh(t, i, 4)
	x := parse(t, p, i.Function().Inputs(1)[0], "10", "20", "NULL", "30", "7", "NULL")
	defer x.Release()
	call := udf.Call{Args: []*vector.Vector{x}, Rows: 6, Pool: p}
	if err := i.Update(ctx, &call, []uint32{0, 0, 0, 2, 2, 3}, nil, s); err != nil {
		t.Fatal(err)
	}
	if got := finish(t, i, p, s); !slices.Equal(got, []string{"15", "NULL", "18", "NULL"}) {
		t.Errorf("after six rows: %q", got)
	}
	if err := i.Update(ctx, &call, []uint32{0, 0, 0, 2, 2, 3}, []int8{-1, 1, 1, -1, 1, -1}, s); err != nil {
		t.Fatal(err)
	}
	if got := finish(t, i, p, s); !slices.Equal(got, []string{"20", "NULL", "7", "NULL"}) {
		t.Errorf("after retractions: %q", got)
	}
	other := fresh(t, i, 3)
	if err := i.Update(ctx, &udf.Call{Args: call.Args, Rows: 2, Sel: []int32{4, 0}, Pool: p}, []uint32{1, 2}, nil, other); err != nil {
		t.Fatal(err)
	}
	if err := i.Merge(ctx, &udf.Call{}, other, []uint32{1, 3, 3}, s); err != nil {
		t.Fatal(err)
	}
	if got := finish(t, i, p, s); !slices.Equal(got, []string{"20", "NULL", "7", "8"}) {
		t.Errorf("after a merge: %q", got)
	}
	old := &udf.States{}
	for _, x := range []uint32{9, 3, 0, 0} {
		old.Fixed = binary.LittleEndian.AppendUint32(old.Fixed, x)
	}
	now, err := i.Upgrade(ctx, &udf.Call{}, old, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := finish(t, i, p, now); !slices.Equal(got, []string{"3", "NULL"}) {
		t.Errorf("after an upgrade: %q", got)
	}
	if _, err := i.Upgrade(ctx, &udf.Call{}, old, 8, 7); err == nil || !strings.Contains(err.Error(), "of this version are not known") {
		t.Errorf("states of version 7: %v", err)
	}
	if got := finish(t, open(t, m, "avg2"), p, &udf.States{}); len(got) != 0 {
		t.Errorf("no groups: %q", got)
	}
}

func TestAggregateWithViews(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, memory := range []int64{4 << 20, 16 << 20} {
		m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{Memory: memory, Fuel: 1 << 30})
		p := checkedPool(t)
		i := open(t, m, "str_agg")
		rng := rand.New(rand.NewPCG(seed, 2))
		const groups = 37
		want := make([][]string, groups)
		s := fresh(t, i, groups)
		for range 12 {
			n := rng.IntN(3000)
			group := make([]uint32, n)
			texts := make([]string, n)
			for r := range group {
				group[r] = uint32(rng.IntN(groups - 1)) // the last one stays empty
				texts[r] = strings.Repeat("x", rng.IntN(60)) + "y"
				want[group[r]] = append(want[group[r]], texts[r])
			}
			v := vector.OfStrings(p, texts...)
			err := i.Update(context.Background(), &udf.Call{Args: []*vector.Vector{v}, Rows: n, Pool: p}, group, nil, s)
			v.Release()
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := i.Merge(context.Background(), &udf.Call{}, &udf.States{Views: [][]byte{[]byte(",m"), nil}}, []uint32{5, 6}, s); err != nil {
			t.Fatal(err)
		}
		want[5] = append(want[5], "m")
		for g, got := range finish(t, i, p, s) {
			text := strings.Join(want[g], ",")
			if text == "" {
				text = "NULL"
			}
			if got != text {
				t.Fatalf("memory %d, group %d: %d bytes, want %d", memory, g, len(got), len(text))
			}
		}
	}
}

func TestTableAggregate(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	p := checkedPool(t)
	ctx := context.Background()
	retract, full := open(t, m, "top2"), open(t, m, "top2_full")
	rs, fs := fresh(t, retract, 2), fresh(t, full, 2)
	push := func(group []uint32, x ...int32) {
		v := vector.Of(p, x...)
		defer v.Release()
		for _, c := range []struct {
			i *udf.Instance
			s *udf.States
		}{{retract, rs}, {full, fs}} {
			if err := c.i.Update(ctx, &udf.Call{Args: []*vector.Vector{v}, Rows: len(x), Pool: p}, group, nil, c.s); err != nil {
				t.Fatal(err)
			}
		}
	}
	emit := func(i *udf.Instance, s *udf.States) []string {
		got, _ := collect(t, i.Function(), func(y func(*udf.Rows) error) error { return i.Emit(ctx, &udf.Call{Pool: p}, s, y) })
		return got
	}
	push([]uint32{0, 1, 0}, 5, 1, 3)
	if got := emit(retract, rs); !slices.Equal(got, []string{"0: 5 1", "0: 3 2", "1: 1 1"}) {
		t.Errorf("emit with retract: %q", got)
	}
	push([]uint32{0, 1}, 4, 0)
	if got := emit(retract, rs); !slices.Equal(got, []string{"-0: 3 2", "0: 4 2", "1: 0 2"}) {
		t.Errorf("emit with retract: %q", got)
	}
	if got := emit(retract, rs); len(got) != 0 {
		t.Errorf("nothing changed: %q", got)
	}
	before := bytes.Clone(fs.Fixed)
	if got := emit(full, fs); !slices.Equal(got, []string{"0: 5 1", "0: 4 2", "1: 1 1", "1: 0 2"}) {
		t.Errorf("emit full: %q", got)
	}
	if !bytes.Equal(before, fs.Fixed) {
		t.Error("emit full changed the states")
	}
	// More groups than rows fit a call.
	many := fresh(t, retract, 20_000)
	x := make([]int32, 20_000)
	group := make([]uint32, 20_000)
	for r := range x {
		x[r], group[r] = int32(r), uint32(r)
	}
	v := vector.Of(p, x...)
	defer v.Release()
	if err := retract.Update(ctx, &udf.Call{Args: []*vector.Vector{v}, Rows: len(x), Pool: p}, group, nil, many); err != nil {
		t.Fatal(err)
	}
	if got := emit(retract, many); len(got) != 20_000 || got[19_999] != "19999: 19999 1" {
		t.Errorf("%d rows of 20000 groups", len(got))
	}
	if got := emit(retract, many); len(got) != 0 {
		t.Errorf("%d rows although nothing changed: states of earlier pieces were lost", len(got))
	}
}
