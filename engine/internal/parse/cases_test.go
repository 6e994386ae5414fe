package parse

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// casesDir holds cases taken from other engines' suites, beside the project.
const casesDir = "../../../../shared/cases"

// TestCases parses every SQL statement of the shared cases.
func TestCases(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(casesDir, "*", "*.json"))
	if len(files) == 0 {
		t.Skipf("no cases in %s", casesDir)
	}
	var parsed, skipped, failed int
	for _, file := range files {
		for _, sql := range caseStatements(t, file) {
			if strings.Contains(strings.ToUpper(sql), "MATCH_RECOGNIZE") {
				skipped++
				continue
			}
			if _, err := Parse(sql); err != nil {
				failed++
				t.Errorf("%s: %v\n%s", filepath.Base(file), err, sql)
				continue
			}
			parsed++
		}
	}
	t.Logf("%d statements parsed, %d with MATCH_RECOGNIZE skipped, %d failed", parsed, skipped, failed)
	if parsed < 300 {
		t.Errorf("only %d statements found", parsed)
	}
}

func caseStatements(t testing.TB, file string) []string {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Cases []struct {
			Setup json.RawMessage `json:"setup_sql"`
			SQL   json.RawMessage `json:"sql"`
		}
	}
	if json.Unmarshal(data, &f) != nil {
		return nil // a file of rows
	}
	var out []string
	for _, c := range f.Cases {
		for _, raw := range []json.RawMessage{c.Setup, c.SQL} {
			var one string
			var many []string
			if json.Unmarshal(raw, &one) == nil && one != "" {
				out = append(out, one)
			} else if json.Unmarshal(raw, &many) == nil {
				out = append(out, many...)
			}
		}
	}
	return out
}
