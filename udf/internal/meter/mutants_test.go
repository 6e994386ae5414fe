package meter

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/weirdb/weir/udf/internal/wasmtest"
)

// seeds are small modules that between them have everything the format has.
func seeds() [][]byte {
	texts := []string{
		wasmtest.Everything,
		`
import "weir" "log" $log (i32 i32 i32)
import "wasi_snapshot_preview1" "clock_time_get" (i32 i64 i32) -> (i32)
memory 1 16
table 3 3 funcref
table 1 externref
global $count mut i64 -3
global f64 2.5
global funcref $second
func $first export "first" (i32) -> (i32 i64)
  locals i64 f32 3 i32
  block $out i64
    loop $again i64
      local.get 0 i32.const 1 i32.sub local.tee 0
      br_if $again
      global.get $count
      local.get 0 i32.eqz br_if $out
      drop
      i64.const 5
    end
  end
  local.tee 1
  local.get 0
  if (i64) -> (i32 i64)
    i32.wrap_i64 i64.const 3
  else
    drop i32.const 1 i64.const 1
  end
  local.get 1
  raw 0x1a 0x42 0x07
  unreachable
end
func $second export "second" (i32 i64) -> (i64)
  local.get 0
  local.get 1
  loop (i64) -> (i64)
    local.get 0 i32.const 1 i32.sub local.tee 0
    i32.const 0 i32.gt_s
    br_if 0
  end
  i32.const 1
  call_indirect (i32 i64) -> (i64)
end
func $third ()
  block block block
    i32.const 2
    br_table 0 1 2 0
  end end end
  i32.const 0 i32.const 1 i32.const 2 call $log
  i32.const 16 i32.const 7 i32.const 64 memory.fill
  i32.const 0 i32.const 16 i32.const 8 memory.copy
  i32.const 4 i32.const 0 i32.const 2 memory.init 1
  data.drop 1
  i32.const 0 i32.const 0 i32.const 1 table.init 1 0
  elem.drop 1
  i32.const 1 ref.func $second table.set 0
  ref.null externref i32.const 1 table.grow 1 drop
  i32.const 0 table.get 0 ref.is_null drop
  i32.const 3 memory.grow drop
  return
end
start $third
elem 0 $first $second
elem passive $second
elem declare $third
data 8 "abc"
data passive "defghi"
custom "udf.manifest" "{}"
`,
		`
memory 1
func $simd export "simd" (i32 v128) -> (v128)
  locals v128
  local.get 0
  v128.load offset=16
  local.get 1
  i32x4.add
  local.tee 2
  local.set 2
  local.get 0
  local.get 2
  v128.load8_lane offset=1 3
  local.get 2
  i8x16.shuffle 0 17 2 19 4 21 6 23 8 25 10 27 12 29 14 31
  local.get 1
  v128.const 1 2
  v128.bitselect
end
`,
	}
	var mods [][]byte
	for _, text := range texts {
		mods = append(mods, wasmtest.Assemble(text))
	}
	for i := range 4 {
		g := generator{Rand: rand.New(rand.NewSource(int64(i)))}
		mods = append(mods, wasmtest.Assemble(g.program()))
	}
	return mods
}

// judge compiles modules with wazero.
type judge struct {
	ctx context.Context
	r   wazero.Runtime
}

func newJudge(t testing.TB) *judge {
	ctx := context.Background()
	j := &judge{ctx, wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())}
	t.Cleanup(func() { j.r.Close(ctx) })
	return j
}

func (j *judge) valid(mod []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	c, err := j.r.CompileModule(j.ctx, mod)
	if err != nil {
		return err
	}
	return c.Close(j.ctx)
}

// stricter are reasons for which the pass refuses what the specification lets through, or
// what must not be shown to wazero.
var stricter = []string{
	"the limit is", "past the end", "longer than the module", "only functions can be imported", "is reserved",
	"number too large", // wazero does not look at the bits beyond the last of a number
	// Of a vector operation it reads one byte.
	"relaxed SIMD", "longer than it needs",
	// It does not look at the type of locals of which there are none.
	"unknown value type",
	// Nor at that of a null that a global begins with.
	"unknown reference type",
}

// check compares what the pass says of a module with what wazero says of it before and
// after the pass.
func (j *judge) check(mod []byte) (accepted bool, err error) {
	r, mine := Rewrite(mod, Limits{})
	if mine != nil {
		for _, s := range stricter {
			if strings.Contains(mine.Error(), s) {
				return false, nil
			}
		}
	}
	before := j.valid(mod)
	if before != nil && (strings.Contains(before.Error(), "section custom") || strings.Contains(before.Error(), "custom section")) {
		before = nil // broken names: the pass drops them
		if mine != nil {
			return false, nil
		}
	}
	if (mine == nil) != (before == nil) {
		return false, fmt.Errorf("the pass says %v, wazero %v", mine, before)
	}
	if mine != nil {
		return false, nil
	}
	if after := j.valid(r.Wasm); after != nil {
		return true, fmt.Errorf("valid before, not after: %v", after)
	}
	return true, nil
}

func mutate(rng *rand.Rand, mod []byte) []byte {
	w := append([]byte(nil), mod...)
	for range 1 + rng.Intn(3) {
		i := 8 + rng.Intn(len(w)-8)
		switch rng.Intn(7) {
		case 0:
			w[i] = byte(rng.Intn(256))
		case 1:
			w[i]++
		case 2:
			w[i]--
		case 3:
			w[i] ^= 1 << rng.Intn(8)
		case 4: // an operation twice, or a number
			k := min(i+1+rng.Intn(4), len(w))
			w = append(w[:k:k], w[i:]...)
		case 5:
			w = append(w[:i:i], w[min(i+1+rng.Intn(3), len(w)):]...)
		case 6:
			k := 8 + rng.Intn(len(w)-8)
			w[i], w[k] = w[k], w[i]
		}
		if len(w) < 10 {
			break
		}
	}
	return w
}

// rounds returns how often a random test runs: n times, more in a soak.
func rounds(n int) int {
	switch {
	case os.Getenv("WEIR_SOAK") != "":
		return 40 * n
	case testing.Short():
		return n / 10
	}
	return n
}

func TestMutants(t *testing.T) {
	j := newJudge(t)
	seed := rand.Int63()
	rng := rand.New(rand.NewSource(seed))
	mods := seeds()
	for i, m := range mods {
		if ok, err := j.check(m); !ok || err != nil {
			t.Fatalf("seed module %d: %v %v", i, ok, err)
		}
	}
	n, accepted := rounds(1500), 0
	start := time.Now()
	for i := range n {
		mod := mutate(rng, mods[rng.Intn(len(mods))])
		ok, err := j.check(mod)
		if err != nil {
			t.Errorf("seed %d, mutant %d: %v\n%q", seed, i, err, mod)
		}
		if ok {
			accepted++
		}
	}
	t.Logf("seed %d: %d mutants, %d valid before and after; %v", seed, n, accepted, time.Since(start))
}

func FuzzRewrite(f *testing.F) {
	for _, m := range seeds() {
		f.Add(m)
	}
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, mod []byte) {
		if len(mod) > 1<<16 {
			t.Skip()
		}
		if _, err := j.check(mod); err != nil {
			t.Fatal(err)
		}
	})
}
