package csdk_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	csdk "github.com/weirdb/weir/sdk/c"
	"github.com/weirdb/weir/sdk/c/csdktest"
)

// TestReadme compiles what README.md shows: modules as they are, functions in a module, and
// lines of a body in a function.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range csdk.Command(".", "demo.wasm", "demo.c") {
		if !slices.Contains(strings.Fields(string(text)), flag) {
			t.Errorf("the command of README.md has no %s", flag)
		}
	}
	for _, block := range strings.Split(string(text), "```c\n")[1:] {
		code, _, _ := strings.Cut(block, "```")
		switch {
		case strings.HasPrefix(code, "#include"):
		case strings.Contains(code, "\nWEIR_") || strings.HasPrefix(code, "WEIR_"):
			code = "#include \"weir.h\"\n" + code + "WEIR_MODULE(\"readme\", \"1\")\n"
		default:
			code = "#include \"weir.h\"\nWEIR_SCALAR(f, \"a STRING -> STRING\") {\n" + code + "return WEIR_OK;\n}\nWEIR_MODULE(\"readme\", \"1\")\n"
		}
		source := filepath.Join(t.TempDir(), "readme.c")
		if err := os.WriteFile(source, []byte(code), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Log(code)
		csdktest.Build(t, ".", source)
	}
}
