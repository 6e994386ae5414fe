package filesystem_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/connector/filesystem"
	"github.com/weirdb/weir/engine/format/csv"
	"github.com/weirdb/weir/engine/sqltype"
)

func TestMetadata(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2020, 2, 29, 10, 20, 30, 0, time.UTC)
	for name, text := range map[string]string{"a.csv": "k,v\n1,x\n2,y\n", "b.csv": "k,v\n3,z\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	c := filesystem.New(csv.Format{})
	decl := connectortest.Table(sqltype.Schema{
		{Name: "name", Type: sqltype.StringType},
		{Name: "k", Type: sqltype.IntType},
		{Name: "size", Type: sqltype.BigIntType},
		{Name: "v", Type: sqltype.StringType},
		{Name: "changed", Type: sqltype.TimestampLTZOf(3)},
	}, "path", dir, "format", "csv")
	decl.Metadata = []connector.MetadataColumn{{Column: 0, Key: "file.name"}, {Column: 2, Key: "file.size"}, {Column: 4, Key: "file.modification-time"}}
	opt := connectortest.Options(t, decl, c.Options())
	if err := connector.CheckMetadata(c, decl, opt); err != nil {
		t.Fatal(err)
	}
	src, err := c.Source(decl, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cols []int
		want string
	}{
		{nil, "+I[a.csv, 1, 12, x, 2020-02-29 10:20:30Z]|+I[a.csv, 2, 12, y, 2020-02-29 10:20:30Z]|+I[b.csv, 3, 8, z, 2020-02-29 10:20:30Z]"},
		{[]int{3, 0}, "+I[x, a.csv]|+I[y, a.csv]|+I[z, b.csv]"},
		{[]int{0}, "+I[a.csv]|+I[a.csv]|+I[b.csv]"},
	} {
		var got []string
		splits, err := src.Splits(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range splits {
			r, err := src.Open(t.Context(), s, connector.Scan{Columns: tt.cols}, nil)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := connectortest.ReadAll(t, r, decl.Schema.Project(connector.Scan{Columns: tt.cols}.Of(5)), 10)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rows...)
		}
		if text := strings.Join(got, "|"); text != tt.want {
			t.Errorf("got %s, want %s", text, tt.want)
		}
	}
	decl.Metadata[0].Key = "file.nam"
	if err := connector.CheckMetadata(c, decl, opt); err == nil || !strings.Contains(err.Error(), "'file.path' STRING NOT NULL, 'file.name'") {
		t.Errorf("got %v", err)
	}
	decl.Metadata[0].Key, decl.Metadata[1].Key = "file.name", "file.name"
	if err := connector.CheckMetadata(c, decl, opt); err == nil || !strings.Contains(err.Error(), "is BIGINT") {
		t.Errorf("got %v", err)
	}
}
