package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
)

func open(t *testing.T, dir string) (*Log, []Record) {
	t.Helper()
	l, records, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l, records
}

func TestLogKeepsRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	want := []Record{{SQL: "CREATE DATABASE `d`"}, {Catalog: "c", Database: "d", SQL: "CREATE VIEW v AS\nSELECT 'é\n<&>'"}, {SQL: "DROP VIEW v"}}
	l, got := open(t, dir)
	if len(got) > 0 {
		t.Fatalf("a new log has %v", got)
	}
	if err := l.Append(want[:2]...); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(want[2]); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, got = open(t, dir)
	defer l.Close()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Wherever the file ends, the whole records before are there, and the log goes on.
func TestLogWithATornTail(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	want := []Record{{SQL: "one"}, {SQL: "two"}}
	if err := l.Append(want...); err != nil {
		t.Fatal(err)
	}
	l.Close()
	path := filepath.Join(dir, logName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(text) {
		if err := os.WriteFile(path, text[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		whole := max(strings.Count(string(text[:n]), "\n")-1, 0)
		l, got := open(t, dir)
		if !slices.Equal(got, want[:whole]) {
			t.Errorf("%d bytes: got %v", n, got)
		}
		if err := l.Append(Record{SQL: "three"}); err != nil {
			t.Fatal(err)
		}
		l.Close()
		l, got = open(t, dir)
		if len(got) != whole+1 || got[whole].SQL != "three" {
			t.Errorf("%d bytes: after a further record got %v", n, got)
		}
		l.Close()
	}
}

func TestLogRefuses(t *testing.T) {
	whole := string(encodeRecord(Record{SQL: "one"}))
	for _, c := range []struct{ text, want string }{
		{"weir catalog 2\n" + whole, "has version 2, this program knows versions up to 1; use the newer program that wrote it"},
		{"something else\n", "is no catalog; give a directory of its own for the state"},
		{"something else", "is no catalog; give a directory of its own for the state"},
		{"weir catalog 1\n" + strings.Replace(whole, "one", "two", 1) + whole, "catalog.log:2: the line is damaged, and is not the last one; restore the file from a copy"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, logName), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := OpenLog(dir)
		if err == nil || !strings.Contains(err.Error(), c.want) || errs.CodeOf(err) != errs.State {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestLogIsLocked(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	if _, _, err := OpenLog(dir); err == nil || !strings.Contains(err.Error(), "is in use by another engine") {
		t.Errorf("opened twice: %v", err)
	}
	l.Close()
	l, _ = open(t, dir)
	l.Close()
}
