package weir_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/weirdb/weir/"

// layers lists, for every package, which packages of this module it may import.
// It is the table of docs/ARCHITECTURE.md; a new package adds a line to both. A
// pattern that ends in /* stands for the packages of that folder.
var layers = map[string][]string{
	"abi":                           {},
	"sdk/c":                         {},
	"sdk/c/csdktest":                {"sdk/c"},
	"sdk/go":                        {"abi"},
	"sdk/go/internal/guesttest":     {},
	"plugins":                       {},
	"plugins/*":                     {"sdk/go"},
	"vector":                        {},
	"vector/kernel":                 {"vector"},
	"vector/rowkey":                 {"vector"},
	"engine/errs":                   {},
	"engine/sqltype":                {"vector"},
	"engine/connector":              {"vector", "engine/sqltype", "engine/errs"},
	"engine/connector/*":            {"engine/connector", "engine/format/*", "vector", "engine/sqltype", "engine/errs"},
	"engine/connector/mysql":        {"engine/connector", "engine/connector/internal/sqldb", "vector", "engine/sqltype", "engine/errs"},
	"engine/connector/postgres":     {"engine/connector", "engine/connector/internal/sqldb", "vector", "engine/sqltype", "engine/errs"},
	"engine/connector/internal/*":   {"engine/connector", "vector", "engine/sqltype", "engine/errs"},
	"engine/function":               {"vector", "engine/sqltype"},
	"engine/format/*":               {"engine/connector", "vector", "engine/sqltype", "engine/errs"},
	"engine/internal/function":      {"engine/function", "udf", "engine/sqltype", "engine/errs", "vector", "vector/kernel"},
	"engine/internal/parse":         {"engine/errs"},
	"engine/internal/expr":          {"engine/internal/function", "engine/sqltype", "vector", "vector/kernel", "vector/rowkey", "engine/errs"},
	"engine/internal/catalog":       {"engine/function", "udf", "engine/internal/parse", "engine/internal/expr", "engine/internal/function", "engine/sqltype", "engine/connector", "engine/errs"},
	"engine/internal/plan":          {"abi", "udf", "engine/internal/parse", "engine/internal/catalog", "engine/internal/expr", "engine/internal/window", "engine/internal/function", "engine/connector", "engine/sqltype", "engine/errs", "vector", "vector/kernel"},
	"engine/internal/window":        {},
	"engine/internal/state":         {"vector", "vector/rowkey", "engine/errs"},
	"engine/internal/exec":          {"engine/internal/function", "engine/internal/state", "engine/connector", "vector", "vector/rowkey", "engine/sqltype", "engine/errs"},
	"engine/internal/op":            {"engine/internal/exec", "engine/internal/state", "engine/internal/expr", "engine/internal/window", "engine/internal/function", "engine/connector", "engine/sqltype", "vector", "vector/kernel", "vector/rowkey", "engine/errs"},
	"engine/internal/job":           {"engine/internal/window", "engine/internal/plan", "engine/internal/expr", "engine/internal/op", "engine/internal/exec", "engine/internal/state", "engine/connector", "engine/internal/catalog", "engine/internal/function", "engine/sqltype", "vector", "engine/errs"},
	"engine/internal/ref":           {"engine/internal/window", "engine/internal/plan", "engine/internal/expr", "engine/internal/function", "engine/sqltype", "vector", "engine/errs"},
	"udf":                           {"abi", "udf/internal/meter", "udf/internal/wasm", "vector", "engine/sqltype", "engine/errs"},
	"udf/internal/wasm":             {},
	"udf/internal/meter":            {"udf/internal/wasm"},
	"udf/internal/wasmtest":         {"udf/internal/wasm"},
	"engine":                        {"*"},
	"cmd/*":                         {"*"},
	"conformance":                   {"*"},
	"conformance/*":                 {"*"},
	"bench":                         {"*"},
	"bench/*":                       {"*"},
	"engine/enginetest":             {"*"},
	"engine/internal/exec/exectest": {"engine/internal/exec", "engine/internal/state", "engine/connector", "vector", "vector/rowkey", "engine/sqltype", "engine/errs"},
}

// only lists the packages that alone may import a third-party module.
var only = map[string][]string{
	"github.com/dolthub/vitess":      {"engine/internal/parse"},
	"github.com/tetratelabs/wazero":  {"udf"},
	"github.com/cockroachdb/pebble":  {"engine/internal/state"},
	"github.com/apache/arrow-go/v18": {"vector", "vector/kernel", "vector/rowkey", "engine/sqltype", "engine/connector", "engine/connector/*", "engine/format/*", "engine", "cmd/*", "conformance", "conformance/*", "bench/*"},
	"github.com/spf13/cobra":         {"cmd/*"},
	"github.com/gofrs/flock":         {"engine/internal/catalog"},
	"github.com/go-sql-driver/mysql": {"engine/connector/mysql"},
	"github.com/jackc/pgx/v5":        {"engine/connector/postgres"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestLayers(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == strings.TrimSuffix(module, "/") {
			continue
		}
		key := match(name, layers)
		if key == "" {
			t.Errorf("package %s has no line in the table of layers", name)
			continue
		}
		for _, imp := range p.Imports {
			if ours, ok := strings.CutPrefix(imp, module); ok && !allowed(ours, layers[key]) {
				t.Errorf("%s must not import %s: imports go down the table of docs/ARCHITECTURE.md", name, ours)
			}
			for third, users := range only {
				if (imp == third || strings.HasPrefix(imp, third+"/")) && !allowed(name, users) {
					t.Errorf("%s must not import %s", name, imp)
				}
			}
		}
	}
}

// match returns the key of the table that covers the package: its name, or the
// pattern of its folder.
func match(name string, table map[string][]string) string {
	if _, ok := table[name]; ok {
		return name
	}
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if _, ok := table[name[:i]+"/*"]; ok {
			return name[:i] + "/*"
		}
	}
	return ""
}

func allowed(name string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		folder, pattern := strings.CutSuffix(p, "*")
		return p == "*" || p == name || pattern && strings.HasPrefix(name, folder)
	})
}
