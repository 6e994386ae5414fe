package connectortest

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// CheckPositions is what every replayable source holds to: a reader that is opened at
// Position gives exactly the rest of the rows, however many were read before it, in
// batches of any size, and for any columns. open opens a reader of the same split each
// time; the split must end. The number of rows is returned.
func CheckPositions(tb testing.TB, seed uint64, schema sqltype.Schema, open func(scan connector.Scan, position []byte) (connector.Reader, error)) int {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	start := func(scan connector.Scan, position []byte) connector.Reader {
		tb.Helper()
		reader, err := open(scan, position)
		if err != nil {
			tb.Fatalf("seed %d: opening at position %x: %v", seed, position, err)
		}
		return reader
	}
	total := 0
	for _, cols := range scans(r, len(schema)) {
		scan, some := connector.Scan{Columns: cols}, schema.Project(connector.Scan{Columns: cols}.Of(len(schema)))
		want, err := ReadAll(tb, start(scan, nil), some, 8192)
		if err != nil {
			tb.Fatalf("seed %d: %v", seed, err)
		}
		total = len(want)
		sizes := []int{1, 2, 3, 7, 100, 8192}
		if total > 2000 {
			sizes = []int{97, 1000, 8192}
		}
		for range 12 {
			// A life reads some rows, in batches of its own size, and dies.
			var got []string
			var position []byte
			lives := 1 + r.IntN(4)
			for life := range lives {
				limit := sizes[r.IntN(len(sizes))]
				rows := r.IntN(total/lives + 2)
				if life == lives-1 {
					rows = total + 1
				}
				more, at := readSome(tb, start(scan, position), some, limit, rows)
				got, position = append(got, more...), at
			}
			if !slices.Equal(got, want) {
				tb.Fatalf("seed %d: columns %v: %d rows, not %d, or others:\n%.2000q\nnot\n%.2000q", seed, cols, len(got), len(want), got, want)
			}
			if more, _ := readSome(tb, start(scan, position), some, 10, 1); len(more) > 0 {
				tb.Fatalf("seed %d: rows after the last: %q", seed, more)
			}
		}
	}
	return total
}

// scans are all columns, none, and some.
func scans(r *rand.Rand, n int) [][]int {
	some := r.Perm(n)[:1+r.IntN(n)]
	return [][]int{nil, {}, some}
}

// readSome reads until there are about so many rows, or no more, and closes the reader.
// Position is asked for at random places: asking changes nothing.
func readSome(tb testing.TB, reader connector.Reader, schema sqltype.Schema, limit, rows int) (got []string, position []byte) {
	tb.Helper()
	p := vector.NewCheckedPool()
	defer func() {
		if err := errors.Join(reader.Close(), p.Leaks()); err != nil {
			tb.Error(err)
		}
	}()
	for idle := 0; len(got) < rows && idle < 1000; {
		b, err := reader.Read(context.Background(), p, limit)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatalf("after %d rows: %v", len(got), err)
		}
		if b == nil {
			idle++
			continue
		}
		for i := range b.Len() {
			got = append(got, Row(schema, b, i))
		}
		b.Release()
		if len(got)%2 == 0 {
			reader.Position()
		}
	}
	return got, slices.Clone(reader.Position())
}
