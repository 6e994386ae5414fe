package parse

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

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
	if at := errs.At(sql, e.Pos.Offset); at != e.Pos && utf8.ValidString(sql) {
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
		toks, err := lex(sql, upperASCII(sql))
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

// TestTokenSoup splices random runs of tokens of the golden inputs.
func TestTokenSoup(t *testing.T) {
	const seed = 1
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var runs []string
	all := seeds(t)
	for _, sql := range all {
		toks, err := lex(sql, upperASCII(sql))
		if err != nil {
			continue
		}
		for i := range len(toks) - 1 {
			end := min(i+1+r.IntN(6), len(toks)-1)
			runs = append(runs, sql[toks[i].start:toks[end-1].end])
		}
	}
	heads := []string{"SELECT ", "SELECT a FROM t ", "SELECT * FROM ", "SELECT a, f(", "CREATE TABLE t (", "INSERT INTO t ", ""}
	for range soups {
		sql := heads[r.IntN(len(heads))]
		for range 1 + r.IntN(6) {
			sql += runs[r.IntN(len(runs))] + " "
		}
		checkParse(t, sql)
		if sql = all[r.IntN(len(all))]; len(sql) > 1 {
			at := r.IntN(len(sql))
			at -= max(0, at-1-strings.LastIndexAny(sql[:at], " ,("))
			end := at + strings.IndexAny(sql[at:]+" ", " ,)")
			checkParse(t, sql[:at]+" "+runs[r.IntN(len(runs))]+" "+sql[end:])
		}
		if t.Failed() {
			return
		}
	}
}

// soups is the number of random inputs of one run of the test.
const soups = 2000
