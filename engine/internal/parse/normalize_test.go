package parse

import "testing"

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT  a\n  FROM t -- all\n;":                "SELECT a FROM t",
		"select 'x  -- y', /* no */ `a b` FROM t":      "select 'x  -- y' , `a b` FROM t",
		"SELECT * FROM t /*+ OPTIONS('a'='b') */ AS u": "SELECT * FROM t /*+ OPTIONS('a'='b') */ AS u",
		"SELECT 'unclosed":                             "SELECT 'unclosed",
	} {
		if got := Normalize(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
