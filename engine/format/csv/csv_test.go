package csv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/format/csv"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var fruit = sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "name", Type: sqltype.StringType}}

func decoding(t testing.TB, schema sqltype.Schema, options ...string) connector.Decoding {
	t.Helper()
	table := connectortest.Table(schema, options...)
	d, err := csv.Format{}.Decoding(table, connectortest.Options(t, table, csv.Format{}.Options()))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func read(t testing.TB, f connector.File, limit int, schema sqltype.Schema, options ...string) ([]string, error) {
	t.Helper()
	r, err := decoding(t, schema, options...).Open(context.Background(), f, connector.Part{}, connector.Scan{}, nil)
	if err != nil {
		return nil, err
	}
	return connectortest.ReadAll(t, r, schema, limit)
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		options  []string
		want     string // rows, with ; between
	}{
		{"no header", "1,apple\n2,pear\n", nil, "+I[1, apple];+I[2, pear]"},
		{"no last line end", "1,apple\n2,pear", nil, "+I[1, apple];+I[2, pear]"},
		{"header by name", "name,ID\napple,1\n", nil, "+I[1, apple]"},
		{"header with more columns", "x,name,y,id\n?,apple,?,1\n", nil, "+I[1, apple]"},
		{"header only", "id,name\n", nil, ""},
		{"header skipped", "a,b\n1,apple\n", []string{"csv.header", "skip"}, "+I[1, apple]"},
		{"header as data", "1,name\n", nil, "+I[1, name]"},
		{"quoted header", "\"id\",\"name\"\r\n1,apple\r\n", nil, "+I[1, apple]"},
		{"empty", "", nil, ""},
		{"blank lines", "\n\r\n1,apple\n\n\n2,pear\r\n\r\n", nil, "+I[1, apple];+I[2, pear]"},
		{"byte order mark", "\xef\xbb\xbfid,name\n1,apple\n", nil, "+I[1, apple]"},
		{"only a byte order mark", "\xef\xbb\xbf", nil, ""},
		{"CRLF", "1,apple\r\n2,pear\r\n", nil, "+I[1, apple];+I[2, pear]"},
		{"quotes", "1,\"a,b\"\n\"2\",\"say \"\"hi\"\"\"\n", nil, `+I[1, a,b];+I[2, say "hi"]`},
		{"quoted line ends", "1,\"a\nb\r\nc\"\n2,x\n", nil, "+I[1, a\nb\r\nc];+I[2, x]"},
		{"quote at the very end", "1,\"a\"", nil, "+I[1, a]"},
		{"quote inside", "1,a\"b\"\n", nil, `+I[1, a"b"]`},
		{"no quotes", "1,\"a\"\n", []string{"csv.disable-quote-character", "true"}, `+I[1, "a"]`},
		{"other quote", "1,'a,b'\n", []string{"csv.quote-character", "'"}, "+I[1, a,b]"},
		{"escape", "1,a\\,b\n2,\"c\\\"d\"\n", []string{"csv.escape-character", "\\"}, `+I[1, a,b];+I[2, c"d]`},
		{"tab", "1\tapple\n", []string{"csv.field-delimiter", "\\t"}, "+I[1, apple]"},
		{"semicolon", "1;apple\n", []string{"csv.field-delimiter", ";"}, "+I[1, apple]"},
		{"comments", "# id,name\n1,apple\n#2,pear\n", []string{"csv.allow-comments", "true"}, "+I[1, apple]"},
		{"empty fields", ",\n2,\"\"\n", nil, "+I[NULL, ];+I[2, ]"},
		{"null literal", "n/a,n/a\n1,\"n/a\"\n", []string{"csv.null-literal", "n/a"}, "+I[NULL, NULL];+I[1, n/a]"},
		{"empty null literal", ",\n1,\"\"\n", []string{"csv.null-literal", ""}, "+I[NULL, NULL];+I[1, ]"},
		{"blanks", " 1 , apple \n", nil, "+I[1,  apple ]"},
		{"NUL bytes", "1,a\x00b\n", nil, "+I[1, a\x00b]"},
		{"UTF-8", "1,\u00e4pfel\n", nil, "+I[1, \u00e4pfel]"},
		{"ignore errors", "x,apple\n2\n3,pear,z\n4,\"open\"x\n5,plum\n", []string{"csv.ignore-parse-errors", "true", "csv.header", "false"}, "+I[NULL, apple];+I[2, NULL];+I[3, pear];+I[5, plum]"},
		{"ignore invalid UTF-8", "1,\xff\n", []string{"csv.ignore-parse-errors", "true"}, "+I[1, NULL]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, limit := range []int{1, 2, 8192} {
				rows, err := read(t, connectortest.File("f.csv", tt.in), limit, fruit, tt.options...)
				if got := strings.Join(rows, ";"); got != tt.want || err != nil {
					t.Errorf("limit %d: got %q, %v, want %q", limit, got, err, tt.want)
				}
			}
			var chunks []string // byte by byte, with waits
			for i := range len(tt.in) {
				chunks = append(chunks, tt.in[i:i+1])
				if i%3 == 0 {
					chunks = append(chunks, "")
				}
			}
			rows, err := read(t, connectortest.Stream("-", chunks...), 10, fruit, tt.options...)
			if got := strings.Join(rows, ";"); got != tt.want || err != nil {
				t.Errorf("as a stream: got %q, %v, want %q", got, err, tt.want)
			}
			d := decoding(t, fruit, tt.options...)
			rows, err = connectortest.ReadRestarting(t, func(pos []byte) (connector.Reader, error) {
				return d.Open(context.Background(), connectortest.File("f.csv", tt.in), connector.Part{}, connector.Scan{}, pos)
			}, fruit, 1)
			if got := strings.Join(rows, ";"); got != tt.want || err != nil {
				t.Errorf("restarted: got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestTypes(t *testing.T) {
	schema := sqltype.Schema{
		{Name: "b", Type: sqltype.BoolType},
		{Name: "t", Type: sqltype.TinyType},
		{Name: "s", Type: sqltype.SmallType},
		{Name: "i", Type: sqltype.IntType},
		{Name: "f", Type: sqltype.FloatType},
		{Name: "d", Type: sqltype.DoubleType},
		{Name: "n", Type: sqltype.DecimalOf(10, 2)},
		{Name: "c", Type: sqltype.Type{ID: sqltype.Char, Precision: 2}},
		{Name: "y", Type: sqltype.BytesType},
		{Name: "da", Type: sqltype.DateType},
		{Name: "ti", Type: sqltype.Type{ID: sqltype.Time, Precision: 3}},
		{Name: "ts", Type: sqltype.TimestampOf(6)},
		{Name: "tz", Type: sqltype.TimestampLTZOf(3)},
	}
	in := "TRUE,-128,32767,7,1.5,1e3,12.345,\u00e4b,aGk=,2026-02-28,12:30,2026-02-28 01:02:03.000004,2026-02-28T01:00:00+01:00\n" + strings.Repeat(",", 7) + "\"\"" + strings.Repeat(",", 5) + "\n"
	rows, err := read(t, connectortest.File("f.csv", in), 10, schema)
	want := []string{
		"+I[TRUE, -128, 32767, 7, 1.5, 1000.0, 12.35, \u00e4b, x'6869', 2026-02-28, 12:30:00, 2026-02-28 01:02:03.000004, 2026-02-28 00:00:00Z]",
		"+I[NULL, NULL, NULL, NULL, NULL, NULL, NULL, , x'', NULL, NULL, NULL, NULL]",
	}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("got %q, %v", rows, err)
	}
}

func TestProjection(t *testing.T) {
	in := "id,name\n1,apple\nx,pear\n"
	for _, tt := range []struct {
		cols []int
		want string
	}{
		{[]int{1}, "+I[apple];+I[pear]"},
		{[]int{}, "+I[];+I[]"},
		{[]int{1, 0}, ""},
	} {
		r, err := decoding(t, fruit).Open(context.Background(), connectortest.File("f.csv", in), connector.Part{}, connector.Scan{Columns: tt.cols}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := connectortest.ReadAll(t, r, fruit.Project(tt.cols), 10)
		if got := strings.Join(rows, ";"); got != tt.want || (err != nil) != (len(tt.cols) == 2) {
			t.Errorf("%v: got %q, %v", tt.cols, got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	required := sqltype.Schema{{Name: "id", Type: sqltype.BigIntType.Required()}, {Name: "name", Type: sqltype.Type{ID: sqltype.Varchar, Precision: 5}}}
	for _, tt := range []struct {
		name, in string
		options  []string
		want     string
	}{
		{"wrong type", "1,a\n\n2,\"b\n\"\nx3,c\n", nil, `f.csv: line 5: column "id": "x3" is not a value of type BIGINT`},
		{"header not named", "key,label\n1,a\n", nil, `f.csv: line 1: column "id": "key" is not a value of type BIGINT; is the first line a header? name the columns as it does, or set 'csv.header' = 'true'`},
		{"column missing", "id,nmae\n1,a\n", nil, `f.csv: line 1: the header has no column "name"; did you mean "nmae"?`},
		{"few fields", "1,a\n2\n", nil, `f.csv: line 2: the record has 1 fields, not 2; is ',' the delimiter? see 'csv.field-delimiter'`},
		{"many fields", "1,a\n2,b,c\n", nil, `f.csv: line 2: the record has 3 fields, not 2; 'csv.ignore-parse-errors' = 'true' reads what is there`},
		{"open quote", "1,a\n2,\"b\n3,c\n", nil, `f.csv: line 2: a quote that opens here is not closed`},
		{"text after quote", "1,a\n2,\"b\"c\n", nil, `f.csv: line 2: text follows a closing quote`},
		{"NULL", "1,a\n,b\n", nil, `f.csv: line 2: column "id": NULL in a column that is NOT NULL`},
		{"too long", "1,apple\n2,banana\n", nil, `f.csv: line 2: column "name": the value is too long for VARCHAR(5): "banana"`},
		{"UTF-8", "1,a\n2,\u00e4\xc3\n", nil, `f.csv: line 2: column "name": invalid UTF-8 at byte 8 of the file: "` + "\u00e4" + `\xc3"; the file must be in UTF-8`},
		{"UTF-16", "\xff\xfe1\x00", nil, `f.csv: the file is in UTF-16, not UTF-8`},
		{"long line", "1,a\n2," + strings.Repeat("x", 100) + "\n", []string{"max-line-bytes", "64"}, `f.csv: line 2: the record that begins at byte 4 has more than 64 bytes; is a line end or a closing quote missing? 'max-line-bytes' raises the limit`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, limit := range []int{1, 100} {
				_, err := read(t, connectortest.File("f.csv", tt.in), limit, required, tt.options...)
				if got := fmt.Sprint(err); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			}
		})
	}
}

// A file without line ends must cost bounded memory.
func TestEndlessLine(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	_, err := read(t, connectortest.Stream("-", slices.Repeat([]string{chunk}, 100)...), 10, fruit)
	var e *errs.Error
	if !errors.As(err, &e) || e.Code != errs.Limit {
		t.Errorf("got %v", err)
	}
}

func TestDeclarations(t *testing.T) {
	for _, tt := range []struct {
		schema  sqltype.Schema
		options []string
		want    string
	}{
		{fruit, []string{"csv.field-delimiter", "ab"}, `line 2:3: option 'csv.field-delimiter': 'ab' is not one ASCII character`},
		{fruit, []string{"csv.field-delimiter", `"`}, `line 2:3: delimiter, quote and escape character must differ`},
		{sqltype.Schema{{Name: "r", Type: sqltype.Type{ID: sqltype.Row}}}, nil, `line 1:14: format csv cannot hold column "r" of type ROW<>`},
	} {
		table := connectortest.Table(tt.schema, tt.options...)
		_, err := csv.Format{}.Decoding(table, connectortest.Options(t, table, csv.Format{}.Options()))
		if fmt.Sprint(err) != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	schema := sqltype.Schema{
		{Name: "id", Type: sqltype.BigIntType},
		{Name: "na,me", Type: sqltype.StringType},
		{Name: "ok", Type: sqltype.BoolType},
		{Name: "price", Type: sqltype.DecimalOf(8, 2)},
		{Name: "x", Type: sqltype.DoubleType},
		{Name: "at", Type: sqltype.TimestampOf(3)},
		{Name: "raw", Type: sqltype.BytesType},
	}
	rows := [][]string{
		{"1", "plain", "true", "1.50", "1e300", "2026-01-02 03:04:05.678", "AAEC"},
		{"-2", "comma, quote \" and\nline\r\nends", "false", "-0.01", "NaN", "1969-12-31 23:59:59.999", ""},
		{"NULL", "", "NULL", "NULL", "NULL", "NULL", "NULL"},
		{"4", "NULL", "true", "0.00", "-Infinity", "0001-01-01", "/w=="},
		{"5", "n/a", "true", "0.00", "0", "9999-12-31 00:00", "/w=="},
		{"6", " # blanks ", "true", "0.00", "0", "9999-12-31 00:00", "/w=="},
	}
	for _, options := range [][]string{
		{"csv.null-literal", ""},
		{"csv.null-literal", "n/a", "csv.field-delimiter", ";", "csv.quote-character", "'"},
		{"csv.null-literal", "n/a", "csv.header", "false", "csv.escape-character", "\\"},
		{"csv.null-literal", "", "csv.field-delimiter", "."},
	} {
		table := connectortest.Table(schema, options...)
		e, err := csv.Format{}.Encoding(table, connectortest.Options(t, table, csv.Format{}.Options()))
		if err != nil {
			t.Fatal(err)
		}
		p := vector.NewCheckedPool()
		b := connectortest.Batch(t, p, schema, rows...)
		var want []string
		for i := range rows {
			want = append(want, connectortest.Row(schema, b, i))
		}
		var out bytes.Buffer
		enc, err := e.Encoder(&out)
		if err == nil {
			err = enc.Write(b)
		}
		if err == nil {
			err = enc.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
		if err := p.Leaks(); err != nil {
			t.Error(err)
		}
		got, err := read(t, connectortest.File("f.csv", out.String()), 4, schema, options...)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v\nfile %q\ngot  %q\nwant %q", options, err, out.String(), got, want)
		}
		// Joined files have one header.
		var joined bytes.Buffer
		if err := e.Join(&joined, []io.ReadSeeker{bytes.NewReader(out.Bytes()), bytes.NewReader(out.Bytes())}); err != nil {
			t.Fatal(err)
		}
		got, err = read(t, connectortest.File("f.csv", joined.String()), 4, schema, options...)
		if err != nil || !slices.Equal(got, slices.Concat(want, want)) {
			t.Errorf("%q joined: %v\ngot  %q", options, err, got)
		}
	}
}

func TestInfer(t *testing.T) {
	for _, tt := range []struct {
		in      string
		options []string
		want    string
	}{
		{"iata,name,lat,n\n00M,Thigpen,31.95,1\n01G,Perry-Warsaw,42.7,2\n", nil, "(iata STRING, name STRING, lat DOUBLE, n BIGINT)"},
		{"1,2026-01-01,2026-01-01 10:00:00,true,\n2,2026-01-02,2026-01-01 10:00,false,x\n", nil, "(c1 BIGINT, c2 DATE, c3 TIMESTAMP(6), c4 BOOLEAN, c5 STRING)"},
		{"a,b\nx,y\n", []string{"csv.header", "false"}, "(c1 STRING, c2 STRING)"},
		{"zip,n\n01234,1\n", nil, "(zip STRING, n BIGINT)"},
	} {
		table := connectortest.Table(nil, tt.options...)
		got, err := csv.Format{}.Infer(context.Background(), connectortest.File("f.csv", tt.in), connectortest.Options(t, table, csv.Format{}.Options()))
		if err != nil || got.String() != tt.want {
			t.Errorf("got %v, %v, want %s", got, err, tt.want)
		}
	}
}

// Whatever the bytes, reading ends, batch sizes do not matter, and what is written
// of the rows is read as the same rows.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"1,apple\n", "id,name\n1,\"a\nb\"\"\"", "\xef\xbb\xbf\r\n\"1\",x\r\n", "1,a\\\n2,b", "1,\"a\"\r", "#\n"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, in string, ignore bool) {
		options := []string{"csv.ignore-parse-errors", fmt.Sprint(ignore), "csv.null-literal", "NULL"}
		one, err1 := read(t, connectortest.File("f.csv", in), 1, fruit, options...)
		all, err := read(t, connectortest.File("f.csv", in), 8192, fruit, options...)
		if fmt.Sprint(err1) != fmt.Sprint(err) || err == nil && !slices.Equal(one, all) {
			t.Fatalf("row by row: %q, %v; at once: %q, %v", one, err1, all, err)
		}
		split := len(in) / 2
		cut, err2 := read(t, connectortest.Stream("f.csv", in[:split], "", in[split:], ""), 8192, fruit, options...)
		if fmt.Sprint(err2) != fmt.Sprint(err) || err == nil && !slices.Equal(cut, all) {
			t.Fatalf("cut: %q, %v; whole: %q, %v", cut, err2, all, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	schema := sqltype.Schema{{Name: "at", Type: sqltype.TimestampOf(3)}, {Name: "delay", Type: sqltype.BigIntType}, {Name: "distance", Type: sqltype.BigIntType}, {Name: "origin", Type: sqltype.StringType}, {Name: "destination", Type: sqltype.StringType}}
	var in strings.Builder
	for i := range 50000 {
		fmt.Fprintf(&in, "2001-01-%02d %02d:%02d:00,%d,%d,LAX,BNA\n", i%28+1, i%24, i%60, i%100-20, i%3000)
	}
	d := decoding(b, schema)
	b.SetBytes(int64(in.Len()))
	p := vector.NewPool()
	for b.Loop() {
		r, err := d.Open(context.Background(), connectortest.File("f.csv", in.String()), connector.Part{}, connector.Scan{}, nil)
		for err == nil {
			var batch *vector.Batch
			if batch, err = r.Read(context.Background(), p, vector.Target); err == nil {
				batch.Release()
			}
		}
	}
}

func ExampleFormat() {
	fmt.Println(csv.Format{}.Name(), "-", csv.Format{}.Doc())
	// Output: csv - comma-separated values, one row a line
}
