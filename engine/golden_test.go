package engine_test

import (
	"archive/zip"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A savepoint of each version that there was is in testdata, made with
//
//	go test ./engine -run GoldenSavepoints -args -make-golden
//
// by that version, and never again: this one must begin with them all.
var makeGolden = flag.Bool("make-golden", false, "make the savepoint of this version, if there is none")

const goldenVersion = 1

const goldenStatement = `INSERT INTO sums SELECT s.auction, s.total + p.n
	FROM (SELECT auction, SUM(price) AS total FROM bids GROUP BY auction) AS s
	JOIN (SELECT auction, COUNT(DISTINCT price) AS n FROM bids GROUP BY auction) AS p ON s.auction = p.auction`

func goldenFile(version int) string {
	return filepath.Join("testdata", fmt.Sprintf("savepoint%d.zip", version))
}

func TestGoldenSavepoints(t *testing.T) {
	if _, err := os.Stat(goldenFile(goldenVersion)); errors.Is(err, os.ErrNotExist) && *makeGolden {
		makeGoldenSavepoint(t)
	}
	for version := 1; version <= goldenVersion; version++ {
		k := keep(t)
		save := filepath.Join(k.dir, "save")
		unzip(t, goldenFile(version), save)
		k.run("SET 'pipeline.name' = 'golden'; SET 'execution.savepoint.path' = '" + save + "'; SET 'parallelism.default' = '3'")
		q := k.start(goldenStatement)
		k.feed(q, insert(1, 5), insert(3, 30))
		got := map[string]int{}
		for line := range strings.Lines(k.out.String()) {
			kind, row, _ := strings.Cut(strings.TrimSpace(line), "[")
			if got[row] += map[byte]int{'+': 1, '-': -1}[kind[0]]; got[row] == 0 {
				delete(got, row)
			}
		}
		if want := map[string]int{"1, 21]": -1, "1, 27]": 1, "3, 31]": 1}; !maps.Equal(got, want) {
			t.Errorf("version %d: %v, want %v", version, got, want)
		}
		if err := q.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func makeGoldenSavepoint(t *testing.T) {
	k := keep(t)
	k.run("SET 'pipeline.name' = 'golden'")
	q := k.start(goldenStatement)
	k.feed(q, insert(1, 10), insert(2, 20), insert(1, 10))
	save := filepath.Join(k.dir, "save")
	k.run("STOP JOB golden WITH SAVEPOINT TO '" + save + "'")
	err := os.MkdirAll("testdata", 0o777)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(goldenFile(goldenVersion))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	if err := errors.Join(w.AddFS(os.DirFS(save)), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func unzip(t *testing.T, file, dir string) {
	t.Helper()
	r, err := zip.OpenReader(file)
	if err == nil {
		err = errors.Join(os.CopyFS(dir, r), r.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
