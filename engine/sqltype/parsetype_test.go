package sqltype_test

import (
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/sqltype"
)

func TestParseType(t *testing.T) {
	for text, want := range map[string]string{
		"bigint":                      "BIGINT",
		" INTEGER  NOT  NULL ":        "INT NOT NULL",
		"DECIMAL":                     "DECIMAL(10, 0)",
		"numeric(12,3)":               "DECIMAL(12, 3)",
		"varchar":                     "VARCHAR(1)",
		"CHARACTER VARYING (7)":       "VARCHAR(7)",
		"TIME":                        "TIME(0)",
		"TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP(6)",
		"TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL": "TIMESTAMP_LTZ(3) NOT NULL",
		"INTERVAL DAY(3) TO SECOND(6)":               "INTERVAL DAY TO SECOND",
		"INTERVAL YEAR":                              "INTERVAL YEAR TO MONTH",
		"DOUBLE PRECISION":                           "DOUBLE",
		"INT ARRAY":                                  "ARRAY<INT>",
		"ARRAY<MAP<STRING, BYTES>>":                  "ARRAY<MAP<STRING NOT NULL, BYTES>>",
		"MULTISET<INT NOT NULL>":                     "MULTISET<INT NOT NULL>",
		"ROW<a INT, `b c` ROW(x DATE)>":              "ROW<a INT, b c ROW<x DATE>>",
		"ROW<>":                                      "ROW<>",
	} {
		got, err := sqltype.ParseType(text)
		if err != nil || got.String() != want {
			t.Errorf("ParseType(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "TEXT", "INT INT", "DECIMAL(39)", "DECIMAL(3,4)", "DECIMAL(1,2,3)", "CHAR(0)", "CHAR(x)", "TIME(10)", "INTERVAL", "INTERVAL FORTNIGHT",
		"ARRAY", "ARRAY<INT", "ARRAY<>", "MAP<INT>", "ROW<INT>", "ROW<a INT, a INT>", "ROW<a INT b INT>", "ROW<`a INT>", "VARCHAR(99999999999)",
		strings.Repeat("ARRAY<", 1000) + "INT" + strings.Repeat(">", 1000), "INT" + strings.Repeat(" ARRAY", 1000),
	} {
		if got, err := sqltype.ParseType(text); err == nil {
			t.Errorf("ParseType(%q) = %v, want an error", text, got)
		}
	}
}

func FuzzParseType(f *testing.F) {
	f.Add("ROW<a ARRAY<INT NOT NULL>, `b` MAP<STRING, DECIMAL(3,1)>>")
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := sqltype.ParseType(text)
		if err == nil && typ.Kind() == "" {
			t.Errorf("%q is %v, which has no columns", text, typ)
		}
	})
}
