package udf_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

const goGuest = "../sdk/go/testdata/demo.wasm"

// A guest with a runtime of its own: it initializes, asks for the time and for random
// numbers, and collects its garbage.
func TestGoGuest(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), goGuest, udf.Limits{})
	p := checkedPool(t)
	ctx := context.Background()
	i := open(t, m, "clock")
	v, err := i.Call(ctx, &udf.Call{Rows: 2, Now: 1234, Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	if got := vector.Values[int64](v); !slices.Equal(got, []int64{1234, 1234}) {
		t.Errorf("clock: %v", got)
	}
	v.Release()

	draw := func(i *udf.Instance, seed uint64) []int64 {
		n := vector.Of(p, int64(1_000_000), 1_000_000, 1_000_000)
		defer n.Release()
		v, err := i.Call(ctx, &udf.Call{Args: []*vector.Vector{n}, Rows: 3, Seed: seed, Pool: p})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Release()
		return slices.Clone(vector.Values[int64](v))
	}
	used := open(t, m, "draw")
	first := draw(used, 1)
	if draw(used, 2); !slices.Equal(first, draw(open(t, m, "draw"), 1)) || slices.Equal(first, draw(used, 2)) {
		t.Error("random numbers do not follow the seed")
	}
}

// Values of every type, in one row and nested, come back through both SDKs.
func TestEveryTypeCrossesInEachSDK(t *testing.T) {
	h := openHost(t, udf.Config{})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for name, file := range map[string]string{"C": kinds, "Go": goGuest} {
		t.Run(name, func(t *testing.T) {
			p := checkedPool(t)
			rng := rand.New(rand.NewPCG(seed, 5))
			echo := open(t, loadFile(t, h, file, udf.Limits{}), "echo")
			typ := echo.Function().Returns
			for _, n := range []int{0, 1, 100, 3000} {
				in := randomColumn(rng, p, typ, n)
				out, err := echo.Call(context.Background(), &udf.Call{Args: []*vector.Vector{in}, Rows: n, Pool: p})
				if err != nil {
					t.Fatal(err)
				}
				for r := range n {
					if vector.Compare(in, r, out, r) != 0 {
						t.Fatalf("row %d: %q came back as %q", r, show(typ, in)[r], show(typ, out)[r])
					}
				}
				out.Release()
				in.Release()
			}
		})
	}
}
