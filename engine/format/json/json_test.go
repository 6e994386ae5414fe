package json_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/format/json"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var fruit = sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "name", Type: sqltype.StringType}}

func decoding(t testing.TB, schema sqltype.Schema, options ...string) connector.Decoding {
	t.Helper()
	table := connectortest.Table(schema, options...)
	d, err := json.Format{}.Decoding(table, connectortest.Options(t, table, json.Format{}.Options()))
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
		{"lines", `{"id":1,"name":"apple"}` + "\n" + `{"id":2,"name":"pear"}` + "\n", nil, "+I[1, apple];+I[2, pear]"},
		{"no last line end", `{"id":1,"name":"apple"}` + "\n" + `{"id":2,"name":"pear"}`, nil, "+I[1, apple];+I[2, pear]"},
		{"CRLF and blank lines", "\r\n{\"id\":1}\r\n\r\n{\"id\":2}\r\n", nil, "+I[1, NULL];+I[2, NULL]"},
		{"byte order mark", "\xef\xbb\xbf{\"id\":1}", nil, "+I[1, NULL]"},
		{"empty", "", nil, ""},
		{"blank", " \n\n", nil, ""},
		{"other order", `{"name":"apple","x":[1,{"y":2}],"id":1}`, nil, "+I[1, apple]"},
		{"over several lines", "{\n  \"id\": 1,\n  \"name\": \"apple\"\n}\n{ \"id\" : 2 }", nil, "+I[1, apple];+I[2, NULL]"},
		{"on one line", `{"id":1} {"id":2}{"id":3}`, nil, "+I[1, NULL];+I[2, NULL];+I[3, NULL]"},
		{"array", `[{"id":1}, {"id":2} ,` + "\n" + `{"id":3}]` + "\n", nil, "+I[1, NULL];+I[2, NULL];+I[3, NULL]"},
		{"empty array", " [ ] ", nil, ""},
		{"nulls", `{"id":null,"name":null}{}`, nil, "+I[NULL, NULL];+I[NULL, NULL]"},
		{"twice", `{"id":1,"id":2,"name":"a","name":null}`, nil, "+I[2, NULL]"},
		{"escapes", `{"id":1,"n\u0061me":"a\"\\\n\u00e4\ud83d\ude00"}`, nil, "+I[1, a\"\\\n\u00e4\U0001F600]"},
		{"UTF-8", `{"id":1,"name":"` + "\u00e4" + `"}`, nil, "+I[1, \u00e4]"},
		{"whole numbers", `{"id":1.0}{"id":2e3}{"id":"4"}`, nil, "+I[1, NULL];+I[2000, NULL];+I[4, NULL]"},
		{"text of anything", `{"name":1.50}{"name":true}{"name":{"a": [1, 2]}}`, nil, `+I[NULL, 1.50];+I[NULL, true];+I[NULL, {"a":[1,2]}]`},
		{"ignore errors", `{"id":"x","name":"a"}` + "\n" + `{"id":2,` + "\n" + `[1]` + "\n" + `{"id":3} trailing` + "\n" + `{"id":4}`, []string{"json.ignore-parse-errors", "true"}, "+I[NULL, a];+I[3, NULL];+I[4, NULL]"},
		{"changelog", `{"op":"+I","id":1}{"id":2,"op":"-D"}{"op":"-U","id":3}{"op":"+U","id":4}{"id":5}`, []string{"json.changelog", "true"}, "+I[1, NULL];-D[2, NULL];-U[3, NULL];+U[4, NULL];+I[5, NULL]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, limit := range []int{1, 2, 8192} {
				rows, err := read(t, connectortest.File("f.json", tt.in), limit, fruit, tt.options...)
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
				return d.Open(context.Background(), connectortest.File("f.json", tt.in), connector.Part{}, connector.Scan{}, pos)
			}, fruit, 1)
			if got := strings.Join(rows, ";"); got != tt.want || err != nil {
				t.Errorf("restarted: got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

var everything = sqltype.Schema{
	{Name: "b", Type: sqltype.BoolType},
	{Name: "i", Type: sqltype.IntType},
	{Name: "x", Type: sqltype.DoubleType},
	{Name: "f", Type: sqltype.FloatType},
	{Name: "n", Type: sqltype.DecimalOf(20, 2)},
	{Name: "s", Type: sqltype.StringType},
	{Name: "y", Type: sqltype.BytesType},
	{Name: "d", Type: sqltype.DateType},
	{Name: "t", Type: sqltype.Type{ID: sqltype.Time, Precision: 3}},
	{Name: "ts", Type: sqltype.TimestampOf(6)},
	{Name: "tz", Type: sqltype.TimestampLTZOf(3)},
}

func TestProjection(t *testing.T) {
	in := `{"id":1,"name":"apple"}{"id":"x","name":"pear"}`
	for _, tt := range []struct {
		cols []int
		want string
		bad  bool
	}{
		{[]int{1}, "+I[apple];+I[pear]", false},
		{[]int{}, "+I[];+I[]", false},
		{[]int{1, 0}, "+I[apple, 1]", true},
	} {
		r, err := decoding(t, fruit).Open(context.Background(), connectortest.File("f.json", in), connector.Part{}, connector.Scan{Columns: tt.cols}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := connectortest.ReadAll(t, r, fruit.Project(tt.cols), 10)
		if got := strings.Join(rows, ";"); got != tt.want || (err != nil) != tt.bad {
			t.Errorf("%v: got %q, %v", tt.cols, got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	schema := sqltype.Schema{{Name: "id", Type: sqltype.BigIntType.Required()}, {Name: "name", Type: sqltype.Type{ID: sqltype.Varchar, Precision: 5}}, {Name: "ok", Type: sqltype.BoolType}}
	for _, tt := range []struct {
		name, in string
		options  []string
		want     string
	}{
		{"wrong type", `{"id":1}` + "\n" + `{"id":"x"}`, nil, `f.json: line 2:7: member "id": "x" is not a value of type BIGINT`},
		{"too large", `{"id":9223372036854775808}`, nil, `f.json: line 1:7: member "id": 9223372036854775808 is not a value of type BIGINT`},
		{"fraction", `{"id":1.5}`, nil, `f.json: line 1:7: member "id": 1.5 is not a value of type BIGINT`},
		{"too long", `{"id":1,"name":"banana"}`, nil, `f.json: line 1:16: member "name": "banana" is not a value of type VARCHAR(5)`},
		{"boolean", `{"id":1,"ok":1}`, nil, `f.json: line 1:14: member "ok": 1 is not a value of type BOOLEAN`},
		{"NULL", `{"id":null}`, nil, `f.json: line 1:7: member "id": NULL in a column that is NOT NULL`},
		{"missing", `{"id":1}{"name":"a"}`, nil, `f.json: line 1:21: the member "id" is missing`},
		{"missing by option", `{"id":1,"name":"a"}`, []string{"json.fail-on-missing-field", "true"}, `f.json: line 1:20: the member "ok" is missing`},
		{"not an object", `{"id":1}` + "\n" + ` 7`, nil, `f.json: line 2:2: a row must be an object, not a number`},
		{"array in array", `[{"id":1},[2]]`, nil, `f.json: line 1:11: a row must be an object, not an array`},
		{"syntax", `{"id":1}` + "\n" + `{"id":2,}`, nil, `f.json: line 2:8: not valid JSON: invalid character ',' at start of value`},
		{"text after", `{"id":1} x`, nil, `f.json: line 1:10: not valid JSON: invalid character 'x' at start of value`},
		{"cut short", `{"id":1}` + "\n" + `{"id":2,"na`, nil, `f.json: line 2:1: the file ends within the object that begins here`},
		{"no CSV", "id,name\n", nil, `f.json: line 1:1: not valid JSON: invalid character 'i' at start of value; the format is JSON objects, one row each, or an array of them`},
		{"open array", `[{"id":1}`, nil, `f.json: line 1:10: the array is not closed`},
		{"comma missing", `[{"id":1} {"id":2}]`, nil, `f.json: line 1:11: a comma is missing before this element of the array`},
		{"comma at end", `[{"id":1},]`, nil, `f.json: line 1:11: not valid JSON: invalid character ']' at start of value`},
		{"text after array", `[{"id":1}] {"id":2}`, nil, `f.json: line 1:12: text follows the array`},
		{"UTF-8", `{"id":1,"name":"` + "\xff" + `"}`, nil, `f.json: line 1:17: not valid JSON: invalid UTF-8 at byte 16 of the file`},
		{"control character", `{"id":1,"name":"` + "\x00" + `"}`, nil, `f.json: line 1:17: not valid JSON: invalid character '\x00' in string (expecting non-control character)`},
		{"op", `{"id":1,"op":"I"}`, []string{"json.changelog", "true"}, `f.json: line 1:14: "op" must be +I, -U, +U or -D, not "I"`},
		{"long", `{"id":1}` + "\n" + `{"id":2,"note":"` + strings.Repeat("x", 100) + `"}`, []string{"max-line-bytes", "64"}, `f.json: line 2:1: the record that begins at byte 9 has more than 64 bytes; is a line end or a closing quote missing? 'max-line-bytes' raises the limit`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, limit := range []int{1, 100} {
				_, err := read(t, connectortest.File("f.json", tt.in), limit, schema, tt.options...)
				if got := fmt.Sprint(err); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			}
		})
	}
}

// An object without end must cost bounded memory.
func TestEndlessObject(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	_, err := read(t, connectortest.Stream("-", slices.Insert(slices.Repeat([]string{chunk}, 100), 0, `{"name":"`)...), 10, fruit)
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
		{fruit, []string{"json.fail-on-missing-field", "true", "json.ignore-parse-errors", "true"}, `line 2:3: 'json.fail-on-missing-field' and 'json.ignore-parse-errors' exclude each other`},
		{sqltype.Schema{{Name: "op", Type: sqltype.StringType}}, []string{"json.changelog", "true"}, `line 2:3: with 'json.changelog' a column cannot be called "op"`},
		{sqltype.Schema{{Name: "m", Type: sqltype.Type{ID: sqltype.IntervalDay}}}, nil, `line 1:14: format json cannot hold column "m" of type INTERVAL DAY TO SECOND`},
	} {
		table := connectortest.Table(tt.schema, tt.options...)
		_, err := json.Format{}.Decoding(table, connectortest.Options(t, table, json.Format{}.Options()))
		if fmt.Sprint(err) != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rows := [][]string{
		{"+I", "true", "1", "1.5", "0.1", "123456789012345678.90", "a\"\\\n\u00e4\x00", "AAEC", "2026-02-28", "12:34:56.789", "2026-01-02 03:04:05.000006", "2026-01-02 03:04:05.678"},
		{"-D", "false", "-2147483648", "NaN", "3.4e38", "-0.01", "", "", "0001-01-01", "00:00", "1969-12-31 23:59:59.999999", "1970-01-01"},
		{"-U", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"},
		{"+U", "false", "0", "-Infinity", "1e-30", "0", "x", "/w==", "9999-12-31", "23:59:59.999", "9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999"},
	}
	for _, options := range [][]string{
		{"json.changelog", "true"},
		{"json.changelog", "true", "json.timestamp-format.standard", "ISO-8601", "json.encode.ignore-null-fields", "true"},
	} {
		table := connectortest.Table(everything, options...)
		e, err := json.Format{}.Encoding(table, connectortest.Options(t, table, json.Format{}.Options()))
		if err != nil {
			t.Fatal(err)
		}
		p := vector.NewCheckedPool()
		b := connectortest.Batch(t, p, everything, rows...)
		var want []string
		for i := range rows {
			want = append(want, connectortest.Row(everything, b, i))
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
		got, err := read(t, connectortest.File("f.json", out.String()), 3, everything, options...)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v\nfile %s\ngot  %q\nwant %q", options, err, out.String(), got, want)
		}
	}
}

func TestWriteSelected(t *testing.T) {
	table := connectortest.Table(fruit)
	e, err := json.Format{}.Encoding(table, connectortest.Options(t, table, json.Format{}.Options()))
	if err != nil {
		t.Fatal(err)
	}
	p := vector.NewCheckedPool()
	all := connectortest.Batch(t, p, fruit, []string{"1", "a"}, []string{"2", "b"}, []string{"3", "NULL"})
	some := all.Select(vector.Of[int32](p, 2, 0))
	none := all.Select(vector.Of[int32](p))
	var out bytes.Buffer
	enc, err := e.Encoder(&out)
	for _, b := range []*vector.Batch{some, none} {
		if err == nil {
			err = enc.Write(b)
		}
		b.Release()
	}
	if err == nil {
		err = enc.Close()
	}
	all.Release()
	if want := `{"id":3,"name":null}` + "\n" + `{"id":1,"name":"a"}` + "\n"; err != nil || out.String() != want {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestInfer(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"id":1,"x":1,"s":"a","ok":true,"d":"2026-01-01","at":"2026-01-01T10:00:00Z","o":{},"n":null}{"x":1.5,"new":1}`, "(id BIGINT, x DOUBLE, s STRING, ok BOOLEAN, d DATE, at TIMESTAMP(6), o STRING, n STRING, new BIGINT)"},
		{`[{"a":"2026-01-01"},{"a":"2026-01-01 10:00"},{"a":null}]`, "(a TIMESTAMP(6))"},
		{`{"a":1}{"a":"x"}`, "(a STRING)"},
	} {
		table := connectortest.Table(nil)
		got, err := json.Format{}.Infer(context.Background(), connectortest.File("f.json", tt.in), connectortest.Options(t, table, json.Format{}.Options()))
		if err != nil || got.String() != tt.want {
			t.Errorf("got %v, %v, want %s", got, err, tt.want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	schema := sqltype.Schema{{Name: "at", Type: sqltype.TimestampOf(3)}, {Name: "delay", Type: sqltype.BigIntType}, {Name: "distance", Type: sqltype.BigIntType}, {Name: "origin", Type: sqltype.StringType}, {Name: "destination", Type: sqltype.StringType}}
	var in strings.Builder
	for i := range 50000 {
		fmt.Fprintf(&in, `{"at":"2001-01-%02d %02d:%02d:00","delay":%d,"distance":%d,"origin":"LAX","destination":"BNA"}`+"\n", i%28+1, i%24, i%60, i%100-20, i%3000)
	}
	d := decoding(b, schema)
	b.SetBytes(int64(in.Len()))
	p := vector.NewPool()
	for b.Loop() {
		r, err := d.Open(context.Background(), connectortest.File("f.json", in.String()), connector.Part{}, connector.Scan{}, nil)
		for err == nil {
			var batch *vector.Batch
			if batch, err = r.Read(context.Background(), p, vector.Target); err == nil {
				batch.Release()
			}
		}
	}
}

func ExampleFormat() {
	fmt.Println(json.Format{}.Name(), "-", json.Format{}.Doc())
	// Output: json - JSON objects, one row each
}

var nested = sqltype.Schema{
	{Name: "a", Type: sqltype.ArrayOf(sqltype.IntType)},
	{Name: "m", Type: sqltype.MapOf(sqltype.StringType, sqltype.DoubleType)},
	{Name: "r", Type: sqltype.RowOf(sqltype.Column{Name: "x", Type: sqltype.BigIntType.Required()},
		sqltype.Column{Name: "l", Type: sqltype.ArrayOf(sqltype.RowOf(sqltype.Column{Name: "s", Type: sqltype.StringType}))})},
	{Name: "b", Type: sqltype.MultisetOf(sqltype.BoolType)},
}

func TestReadNested(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{
			`{"a":[1,null,-3],"m":{"z":1,"k":2.5,"n":null},"r":{"l":[{"s":"\u00e4"},{},null],"x":7,"y":[]},"b":{"true":2}}`,
			"+I[[1, NULL, -3], {k=2.5, n=NULL, z=1.0}, (7, [(\u00e4), (NULL), NULL]), {TRUE=2}]",
		},
		{`{"a":[],"m":{},"r":null}{"r":{"x":1,"x":2}}`, "+I[[], {}, NULL, NULL];+I[NULL, NULL, (2, NULL), NULL]"},
		{`{"m":{"k":1,"k":2},"a":[1],"a":[2,3]}`, "+I[[2, 3], {k=2.0}, NULL, NULL]"},
	} {
		for _, limit := range []int{1, 8192} {
			rows, err := read(t, connectortest.File("f.json", tt.in), limit, nested)
			if got := strings.Join(rows, ";"); got != tt.want || err != nil {
				t.Errorf("%s: got %q, %v, want %q", tt.in, got, err, tt.want)
			}
		}
	}
	for _, tt := range []struct{ in, want string }{
		{`{"a":[1,"x"]}`, `member "a": [1,"x"] is not a value of type ARRAY<INT>`},
		{`{"a":"[1, 2]"}`, `member "a": "[1, 2]" is not a value of type ARRAY<INT>`},
		{`{"m":[1]}`, `member "m": [1] is not a value of type MAP<STRING, DOUBLE>`},
		{`{"r":{"l":[]}}`, `member "r": {"l":[]} is not a value of type`},
		{`{"r":{"x":null}}`, `member "r": {"x":null} is not a value of type`},
		{`{"b":{"maybe":1}}`, `member "b": {"maybe":1} is not a value of type MULTISET<BOOLEAN>`},
	} {
		if _, err := read(t, connectortest.File("f.json", tt.in), 10, nested); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.in, err, tt.want)
		}
		rows, err := read(t, connectortest.File("f.json", tt.in), 10, nested, "json.ignore-parse-errors", "true")
		if got := strings.Join(rows, ";"); got != "+I[NULL, NULL, NULL, NULL]" || err != nil {
			t.Errorf("%s, ignored: %q, %v", tt.in, got, err)
		}
	}
}

// TestWriteNested writes what TestReadNested reads.
func TestWriteNested(t *testing.T) {
	const in = `{"a":[1,null,-3],"m":{"k":2.5,"n":null},"r":{"x":7,"l":[{"s":"\""},{"s":null},null]},"b":{"FALSE":1,"TRUE":2}}` + "\n" +
		`{"a":[],"m":{},"r":null,"b":null}` + "\n"
	p := vector.NewCheckedPool()
	r, err := decoding(t, nested).Open(context.Background(), connectortest.File("f.json", in), connector.Part{}, connector.Scan{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Read(context.Background(), p, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		options []string
		want    string
	}{
		{nil, in},
		{[]string{"json.encode.ignore-null-fields", "true"}, strings.NewReplacer(`{"s":null}`, `{}`, `,"r":null,"b":null`, "").Replace(in)},
	} {
		table := connectortest.Table(nested, tt.options...)
		e, err := json.Format{}.Encoding(table, connectortest.Options(t, table, json.Format{}.Options()))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c, err := e.Encoder(&out)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Write(b), c.Close()); err != nil || out.String() != tt.want {
			t.Errorf("%v: %v\n%s\nwant\n%s", tt.options, err, out.String(), tt.want)
		}
	}
	b.Release()
	if err := errors.Join(r.Close(), p.Leaks()); err != nil {
		t.Error(err)
	}
}
