package output_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weirdb/weir/cmd/weir/internal/output"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var schema = sqltype.Schema{{Name: "state", Type: sqltype.StringType}, {Name: "flights", Type: sqltype.BigIntType}}

type change struct {
	kind  vector.RowKind
	state string // "" : NULL
	n     int64
}

func batch(p *vector.Pool, changes ...change) *vector.Batch {
	b := vector.NewBuilder(p, schema.Kinds())
	for _, c := range changes {
		if c.state == "" {
			b.Col(0).AppendNull()
		} else {
			b.Col(0).AppendString(c.state)
		}
		vector.Append(b.Col(1), c.n)
		b.EndRow(c.kind)
	}
	return b.Finish()
}

const (
	ins = vector.Insert
	ub  = vector.UpdateBefore
	ua  = vector.UpdateAfter
	del = vector.Delete
)

// show prints batches and compares, with the margin of want taken away.
func show(t *testing.T, f output.Format, mode sqltype.ChangelogMode, want string, batches ...[]change) {
	t.Helper()
	p := vector.NewCheckedPool()
	var out bytes.Buffer
	pr := output.New(f, &out, schema, mode)
	for _, changes := range batches {
		b := batch(p, changes...)
		if err := pr.Print(b); err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	if err := pr.Close(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestTableAlignsColumns(t *testing.T) {
	show(t, output.Table, sqltype.AppendMode, `
 state | flights
-------+---------
 TX    |     245
 日本  |       1
 NULL  |      -3
 a\nb  |       0
`[1:], []change{{ins, "TX", 245}, {ins, "日本", 1}}, []change{{ins, "", -3}, {ins, "a\nb", 0}})
}

func TestTableWithoutRows(t *testing.T) {
	show(t, output.Table, sqltype.RetractMode, `
 state | flights
-------+---------
`[1:])
}

func TestTableShowsFinalRows(t *testing.T) {
	show(t, output.Table, sqltype.RetractMode, `
 state | flights
-------+---------
 TX    |       2
 NY    |       7
 NY    |       7
`[1:],
		[]change{{ins, "TX", 1}, {ins, "CA", 1}, {ins, "NY", 7}, {ub, "TX", 1}, {ua, "TX", 2}},
		[]change{{del, "CA", 1}, {ins, "NY", 7}, {del, "ZZ", 1}, {ins, "ZZ", 1}})
}

func TestTableForgetsManyUpdates(t *testing.T) {
	var changes []change
	for i := range int64(5000) {
		changes = append(changes, change{ins, "x", i}, change{del, "x", i})
	}
	show(t, output.Table, sqltype.RetractMode, `
 state | flights
-------+---------
 y     |       1
`[1:], changes, []change{{ins, "y", 1}})
}

func TestTableOfManyRowsStreams(t *testing.T) {
	var changes []change
	var want strings.Builder
	want.WriteString(" state | flights\n-------+---------\n")
	for i := range int64(25_000) {
		changes = append(changes, change{ins, "x", i})
		fmt.Fprintf(&want, " x     | %7d\n", i)
	}
	show(t, output.Table, sqltype.AppendMode, want.String(), changes[:9000], changes[9000:18_000], changes[18_000:])
}

func TestChangelogShowsEveryChange(t *testing.T) {
	show(t, output.Changelog, sqltype.RetractMode, `
 op | state        |    flights
----+--------------+------------
 +I | TX           |          1
 -U | TX           |          1
 +U | TX           |          2
 -D | TX           |          2
 +I | longer than before |          1
`[1:], []change{{ins, "TX", 1}, {ub, "TX", 1}, {ua, "TX", 2}}, []change{{del, "TX", 2}}, []change{{ins, "longer than before", 1}})
}

func TestJSONIsAnObjectAChange(t *testing.T) {
	show(t, output.JSON, sqltype.RetractMode, `
{"op":"+I","state":"TX","flights":1}
{"op":"-D","state":null,"flights":-1}
{"op":"+I","state":"\"a\"\n日本","flights":1}
`[1:], []change{{ins, "TX", 1}, {del, "", -1}}, []change{{ins, "\"a\"\n日本", 1}})
}

func TestCSV(t *testing.T) {
	rows := []change{{ins, "TX", 1}, {ins, "", -1}, {ins, "a,\"b\"", 1}}
	show(t, output.CSV, sqltype.AppendMode, `
state,flights
TX,1
,-1
"a,""b""",1
`[1:], rows)
	show(t, output.CSV, sqltype.RetractMode, `
op,state,flights
+I,TX,1
+I,,-1
+I,"a,""b""",1
-D,TX,1
`[1:], rows, []change{{del, "TX", 1}})
	show(t, output.CSV, sqltype.AppendMode, "state,flights\n")
}

// TestJSONValues: what JSON cannot say is a string.
func TestJSONValues(t *testing.T) {
	p := vector.NewPool()
	bytesOf := vector.NewColumnBuilder(p, vector.Bytes)
	bytesOf.AppendBytes([]byte{0, 255})
	schema := sqltype.Schema{
		{Name: "a b", Type: sqltype.BoolType},
		{Name: "f", Type: sqltype.DoubleType},
		{Name: "nan", Type: sqltype.FloatType},
		{Name: "inf", Type: sqltype.DoubleType},
		{Name: "d", Type: sqltype.DecimalOf(5, 2)},
		{Name: "x", Type: sqltype.BytesType},
		{Name: "ts", Type: sqltype.TimestampOf(3)},
		{Name: "day", Type: sqltype.DateType},
	}
	b := vector.NewBatch(1, []*vector.Vector{
		vector.Of(p, true), vector.Of(p, 1e10), vector.Of(p, float32(math.NaN())), vector.Of(p, math.Inf(-1)),
		vector.Of(p, decimal128.FromI64(-150)), bytesOf.Finish(), vector.Of[int64](p, 978332100_000), vector.Of[int32](p, 0),
	}, nil)
	var out bytes.Buffer
	if err := output.New(output.JSON, &out, schema, sqltype.AppendMode).Print(b); err != nil {
		t.Fatal(err)
	}
	want := `{"op":"+I","a b":true,"f":1.0E10,"nan":"NaN","inf":"-Infinity","d":"-1.50","x":"AP8=","ts":"2001-01-01 06:55:00","day":"1970-01-01"}`
	if got := strings.TrimSpace(out.String()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("not JSON")
	}
}

func TestArrowStreamHasTheRowKind(t *testing.T) {
	p := vector.NewCheckedPool()
	var out bytes.Buffer
	pr := output.New(output.Arrow, &out, schema, sqltype.RetractMode)
	b := batch(p, change{ins, "TX", 1}, change{del, "", 2}, change{ins, "NY", 3})
	some := b.Select(vector.Of[int32](p, 1, 2))
	b.Release()
	if err := pr.Print(some); err != nil {
		t.Fatal(err)
	}
	some.Release()
	if err := pr.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() {
		t.Fatal("no record batch", r.Err())
	}
	rec := r.RecordBatch()
	got, err := rec.MarshalJSON()
	want := `[{"flights":2,"op":"-D","state":null},{"flights":3,"op":"+I","state":"NY"}]`
	if err != nil || strings.ReplaceAll(string(got), "\n", "") != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if name := rec.ColumnName(0); name != "op" {
		t.Errorf("the first column is %s", name)
	}
}

func TestParseFormat(t *testing.T) {
	if _, err := output.ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), "table, changelog, json, csv, arrow") {
		t.Errorf("got %v", err)
	}
	for _, f := range output.Formats() {
		if _, err := output.ParseFormat(f); err != nil {
			t.Error(err)
		}
	}
}

// TestNested: the text forms quote what needs it, JSON has arrays and objects, Arrow
// its own nested types.
func TestNested(t *testing.T) {
	schema := sqltype.Schema{
		{Name: "a", Type: sqltype.ArrayOf(sqltype.StringType)},
		{Name: "m", Type: sqltype.MapOf(sqltype.IntType, sqltype.ArrayOf(sqltype.DoubleType))},
		{Name: "r", Type: sqltype.RowOf(sqltype.Column{Name: "x y", Type: sqltype.BoolType}, sqltype.Column{Name: "z", Type: sqltype.DateType})},
	}
	p := vector.NewCheckedPool()
	build := vector.NewBuilder(p, schema.Kinds())
	for i, text := range []string{`[p, "q", NULL]`, "{2=[1.5], 1=NULL}", "(TRUE, 1970-01-02)", "[]", "{}"} {
		if c := i % 3; !sqltype.AppendParsed(build.Col(c), schema[c].Type, []byte(text)) {
			t.Fatal(text)
		}
	}
	build.Col(2).AppendNull()
	build.EndRows(2)
	b := build.Finish()
	for _, tt := range []struct {
		f    output.Format
		want string
	}{
		{output.JSON, `{"op":"+I","a":["p","\"q\"",null],"m":{"1":null,"2":[1.5]},"r":{"x y":true,"z":"1970-01-02"}}` + "\n" + `{"op":"+I","a":[],"m":{},"r":null}` + "\n"},
		{output.CSV, "a,m,r\n" + `"[p, ""q"", NULL]","{1=NULL, 2=[1.5]}","(TRUE, 1970-01-02)"` + "\n[],{},\n"},
	} {
		var out bytes.Buffer
		w := output.New(tt.f, &out, schema, sqltype.AppendMode)
		if err := w.Print(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil || out.String() != tt.want {
			t.Errorf("%v: %v, got\n%s\nwant\n%s", tt.f, err, out.String(), tt.want)
		}
	}
	var out bytes.Buffer
	w := output.New(output.Arrow, &out, schema, sqltype.AppendMode)
	if err := w.Print(b); err != nil {
		t.Fatal(err)
	}
	b.Release()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() {
		t.Fatal("no batch")
	}
	got, err := r.RecordBatch().MarshalJSON()
	want := `"a":["p","\"q\"",null],"m":[{"key":1,"value":null},{"key":2,"value":[1.5]}],"op":"+I","r":{"x y":true,"z":"1970-01-02"}`
	if err != nil || !strings.Contains(string(got), want) {
		t.Errorf("Arrow: %v, got %s, want %s", err, got, want)
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
