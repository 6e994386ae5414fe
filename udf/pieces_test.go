package udf_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// Batches of any sizes in any order give what the values say, in one call or several, where
// an earlier call was laid out or not.
func TestPieces(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	p := checkedPool(t)
	i := open(t, m, "add")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 9))
	for range 200 {
		rows := rng.IntN(1 << rng.IntN(16))
		a, b := p.New(vector.Int64, rows), p.New(vector.Int64, rows)
		for _, v := range []*vector.Vector{a, b} {
			for r := range rows {
				vector.Values[int64](v)[r] = rng.Int64N(1000)
			}
			if rng.IntN(4) == 0 {
				valid := v.NewValid(true)
				for r := range rows {
					if rng.IntN(3) == 0 {
						valid.Clear(r)
					}
				}
			}
		}
		call := udf.Call{Args: []*vector.Vector{a, b}, Rows: rows, Pool: p}
		if rng.IntN(4) == 0 && rows > 0 {
			call.Sel = make([]int32, rng.IntN(2*rows))
			for k := range call.Sel {
				call.Sel[k] = int32(rng.IntN(rows))
			}
			call.Rows = len(call.Sel)
		}
		got, err := i.Call(context.Background(), &call)
		if err != nil {
			t.Fatal(err)
		}
		if got.Len() != call.Rows {
			t.Fatalf("%d rows, not %d", got.Len(), call.Rows)
		}
		for k := range call.Rows {
			r := k
			if call.Sel != nil {
				r = int(call.Sel[k])
			}
			null := a.IsNull(r) || b.IsNull(r)
			if want := vector.Values[int64](a)[r] + vector.Values[int64](b)[r]; got.IsNull(k) != null || !null && vector.Values[int64](got)[k] != want {
				t.Fatalf("%d rows, row %d: %d, NULL %t, want %d, NULL %t", call.Rows, k, vector.Values[int64](got)[k], got.IsNull(k), want, null)
			}
		}
		a.Release()
		b.Release()
		got.Release()
	}
	if c := i.Function().Metrics().Calls; c <= 200 {
		t.Errorf("%d calls for 200 batches: none was cut", c)
	}
}

// A fault in a later call of a batch names the row of the batch.
func TestFaultInPiece(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	p := checkedPool(t)
	const rows, bad = 20_000, 17_001
	a := p.New(vector.Int64, rows)
	defer a.Release()
	for r := range rows {
		vector.Values[int64](a)[r] = int64(bad - r)
	}
	_, err := open(t, m, "divide").Call(context.Background(), &udf.Call{Args: []*vector.Vector{a, a}, Rows: rows, Pool: p})
	if f := faultOf(t, err); f.Cause != udf.Refused || f.Row != bad {
		t.Errorf("%v", err)
	}
}

// A call has no more rows than one may, however narrow they are.
func TestRowsOfPiece(t *testing.T) {
	for _, text := range resultTypes() {
		typ := mustType(t, text)
		for args := range 9 {
			in := make([]sqltype.Type, args)
			for k := range in {
				in[k] = typ
			}
			for _, rows := range []int{0, 1, 63, 64, 65, 8191, 8192, 65_536, 65_537, 131_072, 1_000_000} {
				n := udf.RowsOfPiece(in, []sqltype.Type{typ}, rows)
				if n > abi.MaxRows || n > rows || n < rows && n%64 != 0 || n == 0 && rows > 0 {
					t.Errorf("%s, %d arguments: a call has %d of %d rows", text, args, n, rows)
				}
			}
		}
	}
}
