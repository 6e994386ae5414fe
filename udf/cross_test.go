package udf_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/udf/internal/wasmtest"
	"github.com/weirdb/weir/vector"
)

// echo is a module whose function f returns its argument of the type: the buffers of the
// result are those of the argument, of all children too. Where there are no NULLs, a page
// of ones at $ones stands for the bitmap.
func echo(typ string, accepts string) []byte {
	manifest := withFunction(fmt.Sprintf(`{"name":"f","kind":"scalar","args":[{"name":"a","type":%q}],"returns":%q,"nulls":"called"%s}`, typ, typ, accepts))
	return wasmtest.Assemble("memory 3\nexport \"memory\" memory 0\ncustom \"udf.manifest\" " + fmt.Sprintf("%q", manifest) + growingAlloc + `
func export "_initialize" ()
  i32.const 65536 i32.const 255 i32.const 131072 memory.fill
end
func $copy (i32 i32) -> ()
locals i32
  local.get 1 local.get 0 i32.load offset=20 i32.store offset=20
  local.get 1 local.get 0 i32.load offset=24 i32.store offset=24
  local.get 1 local.get 0 i32.load offset=28 i32.store offset=28
  local.get 1
  local.get 0 i32.load offset=16 i32.const 65536 local.get 0 i32.load offset=16 select
  i32.store offset=16
  block $done
    loop $next
      local.get 2 local.get 0 i32.load offset=44 i32.ge_u br_if $done
      local.get 0 i32.load offset=40 local.get 2 i32.const 64 i32.mul i32.add
      local.get 1 i32.load offset=40 local.get 2 i32.const 64 i32.mul i32.add
      call $copy
      local.get 2 i32.const 1 i32.add local.set 2
      br $next
    end
  end
end
func export "f" (i32) -> (i32)
  local.get 0 i32.load offset=20 local.get 0 i32.load offset=28 call $copy
  i32.const 0
end
`)
}

// Values of every type come back from a guest that returns its own argument: in several
// sizes, selected, constant and cut into pieces.
func TestEveryTypeCrosses(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	h := openHost(t, udf.Config{})
	for _, text := range resultTypes() {
		t.Run(text, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			typ := mustType(t, text)
			m := load(t, h, text, echo(text, ""), udf.Limits{Memory: 2 << 20, FuelPerRow: 1 << 20})
			p := checkedPool(t)
			i := open(t, m, "f")
			for _, n := range []int{0, 1, 9, 64, 65, 1000, 20_000} {
				in := randomColumn(rng, p, typ, n)
				for _, c := range []udf.Call{
					{Rows: n},
					{Rows: (n + 1) / 2, Sel: everyOther(n)},
					{Rows: 77, Constant: []bool{true}},
					{Rows: 77, Constant: []bool{true}, Sel: make([]int32, 77)},
				} {
					if c.Constant != nil && n != 1 {
						continue
					}
					c.Args, c.Pool = []*vector.Vector{in}, p
					out, err := i.Call(context.Background(), &c)
					if err != nil {
						t.Fatal(err)
					}
					if problem := invalid(typ, out); problem != "" {
						t.Fatal(problem)
					}
					if out.Len() != c.Rows {
						t.Fatalf("%d rows, not %d", out.Len(), c.Rows)
					}
					for r := range c.Rows {
						at := r
						switch {
						case c.Constant != nil:
							at = 0
						case c.Sel != nil:
							at = int(c.Sel[r])
						}
						if vector.Compare(in, at, out, r) != 0 {
							t.Fatalf("n %d, row %d: %s came back as %s", n, r, sqltype.AppendText(nil, typ, in, at), sqltype.AppendText(nil, typ, out, r))
						}
					}
					out.Release()
				}
				in.Release()
			}
			if typ.IsNested() && i.Function().Metrics().Calls < 20 {
				t.Logf("%d calls: nothing was cut", i.Function().Metrics().Calls)
			}
		})
	}
}

// A constant that the function accepts is one row there, of which it must make many.
func TestAcceptedConstants(t *testing.T) {
	p := checkedPool(t)
	m := load(t, openHost(t, udf.Config{}), "echo", echo("BIGINT", `,"accepts":["constant"]`), udf.Limits{})
	one := vector.Of(p, int64(7))
	defer one.Release()
	out, err := open(t, m, "f").Call(context.Background(), &udf.Call{Args: []*vector.Vector{one}, Rows: 3, Constant: []bool{true}, Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if v := vector.Values[int64](out); v[0] != 7 { // what follows the one row is padding
		t.Errorf("the guest saw %v", v)
	}
}
