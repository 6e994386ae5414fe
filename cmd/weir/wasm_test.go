package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cells are the rows of a table that was printed, without its head.
func cells(stdout string) [][]string {
	var rows [][]string
	for line := range strings.Lines(strings.TrimSpace(stdout)) {
		var row []string
		for cell := range strings.SplitSeq(line, "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	return rows[min(2, len(rows)):]
}

// TestDistances runs the first statement of the README. The rows expected were computed
// without the engine, and the distances without the module.
func TestDistances(t *testing.T) {
	expected, err := os.ReadFile("testdata/distances.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("..", ".."))
	cache := filepath.Join(t.TempDir(), "modules")
	for _, how := range []string{"compiled", "from the cache"} {
		code, stdout, stderr := weir(t, "", "run", "--module-cache", cache, "conformance/testdata/flights/distances.sql")
		if code != exitOK || stderr != "12 rows\n" {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
		var got []string
		for _, row := range cells(stdout) {
			got = append(got, strings.Join(row, "|"))
		}
		if want := strings.Split(strings.TrimSpace(string(expected)), "\n"); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", how, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) == 0 {
		t.Errorf("the cache has %v, %v", entries, err)
	}
}

// TestQuery14 runs the shape of Nexmark's query 14: what the module counts, an
// expression counts too.
func TestQuery14(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	code, stdout, stderr := weir(t, "", "run", "--module-cache", "none", "cmd/weir/testdata/q14.sql")
	if code != exitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	row := cells(stdout)[0]
	if row[0] == "0" || row[1] == "0" || row[1] != row[2] || row[3] != "0" {
		t.Errorf("bids, in_wasm, by_expression, different, times are %v", row)
	}
}

func TestModulesLogToStandardError(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	code, _, stderr := weir(t, "", "sql", "--module-cache", "none", "-e", `
		CREATE FUNCTION about AS 'about_call' LANGUAGE WASM USING FILE 'sdk/c/testdata/kinds.wasm';
		SELECT about(what) FROM (VALUES ('log')) AS t(what)`)
	if want := "asked to log"; code != exitOK || strings.Count(stderr, want) != 1 {
		t.Errorf("exit code %d, %s, want %q", code, stderr, want)
	}
}
