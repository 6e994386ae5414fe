package meter

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/weirdb/weir/udf/internal/wasmtest"
)

func TestSmoke(t *testing.T) {
	mod := wasmtest.Assemble(`
memory 1
global $g mut i32 5
func $leaf (i32) -> (i32)
  local.get 0
  i32.const 3
  i32.add
end
func $fib export "fib" (i32) -> (i32)
  local.get 0
  i32.const 2
  i32.lt_s
  if
    local.get 0
    return
  end
  local.get 0 i32.const 1 i32.sub call $fib
  local.get 0 i32.const 2 i32.sub call $fib
  i32.add
end
func $sum export "sum" (i32) -> (i32)
  locals i32
  loop $l
    local.get 0 call $leaf local.get 1 i32.add local.set 1
    local.get 0 i32.const 1 i32.sub local.tee 0
    br_if $l
  end
  local.get 1
end
`)
	t.Log("\n" + wasmtest.Print(mod))
	r, err := Rewrite(mod, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + wasmtest.Print(r.Wasm))
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	if _, err := rt.CompileModule(ctx, r.Wasm); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{os.Getenv("GUEST")} {
		w, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		at := time.Now()
		r, err := Rewrite(w, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%v %+v\n", time.Since(at), r.Stats)
		at = time.Now()
		if _, err := rt.CompileModule(ctx, r.Wasm); err != nil {
			t.Fatal(err)
		}
		fmt.Println(time.Since(at))
		at = time.Now()
		if _, err := rt.CompileModule(ctx, w); err != nil {
			t.Fatal(err)
		}
		fmt.Println(time.Since(at))
	}
}
