package parse

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
)

// FuzzParse: the parser never panics, its errors are errs.Errors that point into
// the text, and what it accepts can be printed and read back.
func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		checkParse(t, sql)
	})
}

func checkParse(t testing.TB, sql string) {
	stmts, err := Parse(sql)
	for _, s := range stmts {
		if !s.Pos().IsValid() || !strings.Contains(sql, s.SQL()) {
			t.Errorf("%q: a %T is nowhere", sql, s)
		}
		if q := queryOf(s); q != nil {
			readsBack(t, q)
		}
	}
	if err == nil {
		return
	}
	var e *errs.Error
	if !errors.As(err, &e) {
		t.Fatalf("%q: %T is no errs.Error: %v", sql, err, err)
	}
	if e.Code != errs.Syntax && e.Code != errs.Unsupported && e.Code != errs.Limit {
		t.Errorf("%q: code %s", sql, e.Code)
	}
	if !e.Pos.IsValid() || e.Pos.Offset < 0 || e.Pos.Offset > len(sql) {
		t.Errorf("%q: the error is nowhere: %v", sql, e)
	}
	if at := errs.At(sql, e.Pos.Offset); at.Line != e.Pos.Line {
		t.Errorf("%q: the error says %v, its offset is at %v", sql, e.Pos, at)
	}
}

// seeds are the inputs of the golden files.
func seeds(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata")
	}
	var out []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for block := range strings.SplitSeq(string(data), "\n\n") {
			input, _, ok := strings.Cut(block, "\n----")
			if !ok {
				continue
			}
			_, sql, _ := strings.Cut(input, "\n")
			if strings.HasPrefix(input, "parse") {
				out = append(out, sql)
				continue
			}
			out = append(out, strings.Split(sql, "\n")...)
		}
	}
	return out
}

// TestMutations cuts and mixes the golden inputs token by token: a cheap
// deterministic fuzz that runs in every test.
func TestMutations(t *testing.T) {
	all := seeds(t)
	for n, sql := range all {
		toks, err := lex(sql)
		if err != nil {
			continue
		}
		other := all[(n+7)%len(all)]
		for i := range toks {
			at := int(toks[i].start)
			end := int(toks[i].end)
			checkParse(t, sql[:at])
			checkParse(t, sql[at:])
			checkParse(t, sql[:at]+sql[end:])
			checkParse(t, sql[:end]+" "+sql[at:])
			if i%5 == 0 {
				checkParse(t, sql[:at]+" "+other)
				checkParse(t, sql[:at]+"("+sql[at:])
			}
			if t.Failed() {
				return
			}
		}
	}
}
