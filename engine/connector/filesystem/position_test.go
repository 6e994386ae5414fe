package filesystem_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var measures = sqltype.Schema{
	{Name: "id", Type: sqltype.BigIntType},
	{Name: "name", Type: sqltype.StringType},
	{Name: "x", Type: sqltype.DoubleType},
	{Name: "ok", Type: sqltype.BoolType},
}

// randomRows are values of measures as text.
func randomRows(r *rand.Rand, n int) [][]string {
	rows := make([][]string, n)
	for i := range rows {
		text := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(30))
		switch r.IntN(6) {
		case 0:
			text = "NULL"
		case 1:
			text += "é,\"q\"\n" + text
		}
		rows[i] = []string{fmt.Sprint(i), text, fmt.Sprint(float64(r.IntN(1000)) / 8), fmt.Sprint(r.IntN(2) == 0)}
	}
	return rows
}

// checkPositions checks every split of a table.
func checkPositions(t *testing.T, seed uint64, schema sqltype.Schema, options ...string) int {
	t.Helper()
	table := connectortest.Table(schema, options...)
	s, err := files().Source(table, connectortest.Options(t, table, files().Options()))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Replayable() {
		t.Error("files can be read again")
	}
	splits, err := s.Splits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, split := range splits {
		n += connectortest.CheckPositions(t, seed, schema, func(scan connector.Scan, position []byte) (connector.Reader, error) {
			return s.Open(context.Background(), split, scan, position)
		})
	}
	return n
}

// TestPositions writes files of every format and form and reads them in several lives.
func TestPositions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format  string
		options []string
	}{
		{"csv", nil},
		{"csv", []string{"csv.header", "false"}},
		{"csv", []string{"csv.field-delimiter", ";", "csv.quote-character", "'", "csv.null-literal", "-"}},
		{"json", nil},
		{"json", []string{"json.encode.ignore-null-fields", "true"}},
		{"parquet", []string{"parquet.compression", "ZSTD"}},
		{"parquet", []string{"parquet.compression", "SNAPPY"}},
		{"parquet", []string{"parquet.compression", "GZIP"}},
		{"parquet", []string{"parquet.compression", "LZ4_RAW"}},
		{"parquet", []string{"parquet.compression", "UNCOMPRESSED"}},
	} {
		t.Run(strings.Join(append([]string{test.format}, test.options...), " "), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				r := rand.New(rand.NewPCG(seed, 1))
				options := append([]string{"path", filepath.Join(t.TempDir(), "f."+test.format)}, test.options...)
				table := connectortest.Table(measures, options...)
				sink, err := files().Sink(table, connectortest.Options(t, table, files().Options()))
				if err != nil {
					t.Fatal(err)
				}
				n := r.IntN(300)
				writeTable(t, sink, randomRows(r, n))
				if got := checkPositions(t, seed, measures, options...); got != n {
					t.Errorf("seed %d: %d rows, not %d", seed, got, n)
				}
			}
		})
	}
}

func writeTable(t *testing.T, sink connector.Sink, rows [][]string) {
	t.Helper()
	one := &run{sink: sink, p: vector.NewCheckedPool()}
	var err error
	if one.commit, err = sink.Committer(context.Background()); err != nil {
		t.Fatal(err)
	}
	w, err := sink.Writer(context.Background(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	one.writers = []connector.Writer{w}
	for at := 0; at < len(rows); at += 50 {
		b := connectortest.Batch(t, one.p, measures, rows[at:min(at+50, len(rows))]...)
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	if err := one.commit.Commit(one.prepare(t, connector.Final)); err != nil {
		t.Fatal(err)
	}
	one.close(t)
}

// TestPositionsOfText reads files as people write them.
func TestPositionsOfText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("3,a long line that goes on and on and on and on and on and on and on\n", 20_000)
	for name, test := range map[string]struct {
		text    string
		rows    int
		options []string
	}{
		"mark.csv":     {"\xef\xbb\xbfid,name\r\n1,a\r\n\r\n2,\"b\r\nc\"\r\n", 2, nil},
		"comments.csv": {"# x\nname,id\n# y\na,1\n#\nb,2\n# z", 2, []string{"csv.allow-comments", "true"}},
		"skip.csv":     {"what,ever\n1,a\n2,b", 2, []string{"csv.header", "skip"}},
		"broken.csv":   {"1,a\n\"x\"y,b\n2,b\n3\n", 3, []string{"csv.ignore-parse-errors", "true"}},
		"empty.csv":    {"", 0, nil},
		"header.csv":   {"id,name\n", 0, nil},
		"long.csv":     {long, 20_000, nil},
		"lines.json":   {"{\"id\":1,\"name\":\"é\"}\n\n{\"id\":2}\n", 2, nil},
		"joined.json":  {"{\"id\":1}{\"id\":2} {\"id\":\n3}", 3, nil},
		"array.json":   {"\xef\xbb\xbf [ {\"id\":1} , {\"id\":2},\n{\"id\":3} ] \n", 3, nil},
		"none.json":    {"[]", 0, nil},
		"bad.json":     {"{\"id\":1}\n{\"id\":}\n{\"id\":2}\nnull\n{\"id\":3}", 3, []string{"json.ignore-parse-errors", "true"}},
		"changes.json": {"{\"op\":\"+I\",\"id\":1}\n{\"op\":\"-U\",\"id\":1}\n{\"op\":\"+U\",\"id\":2}\n", 3, []string{"json.changelog", "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, filepath.Join(t.TempDir(), name), test.text)
			if got := checkPositions(t, 1, fruit, append([]string{"path", path}, test.options...)...); got != test.rows {
				t.Errorf("%d rows, not %d", got, test.rows)
			}
		})
	}
}
