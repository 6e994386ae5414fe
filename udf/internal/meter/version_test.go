package meter

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/weirdb/weir/udf/internal/wasmtest"
)

// TestVersion fails when the pass makes something else of modules under the same version:
// hosts would go on with what they kept.
func TestVersion(t *testing.T) {
	const version, want = 1, "2ac373ce37914f32"
	text, err := os.ReadFile("testdata/small.txt")
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	h.Write(metered(t, wasmtest.Assemble(string(text))))
	h.Write(metered(t, guestC(t)))
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want || Version != version {
		t.Errorf("the pass makes %s under version %d, not %s under version %d: raise meter.Version and write both here", got, Version, want, version)
	}
}
