package parquet_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/format/parquet"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var fruit = sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "name", Type: sqltype.StringType}}

func decoding(t testing.TB, schema sqltype.Schema) connector.Decoding {
	t.Helper()
	table := connectortest.Table(schema)
	d, err := parquet.Format{}.Decoding(table, connectortest.Options(t, table, parquet.Format{}.Options()))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read reads a file split by split.
func read(t testing.TB, content string, limit int, schema sqltype.Schema, scan connector.Scan) (rows []string, err error) {
	t.Helper()
	d := decoding(t, schema)
	parts, err := d.Splits(connectortest.File("f.parquet", content))
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		r, err := d.Open(context.Background(), connectortest.File("f.parquet", content), part, scan, nil)
		if err != nil {
			return nil, err
		}
		more, err := connectortest.ReadAll(t, r, schema.Project(scan.Of(len(schema))), limit)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func encode(t testing.TB, schema sqltype.Schema, options []string, batches ...*vector.Batch) string {
	t.Helper()
	table := connectortest.Table(schema, options...)
	e, err := parquet.Format{}.Encoding(table, connectortest.Options(t, table, parquet.Format{}.Options()))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	enc, err := e.Encoder(&out)
	for _, b := range batches {
		if err == nil {
			err = enc.Write(b)
		}
	}
	if err == nil {
		err = enc.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// record writes an Arrow record batch, a row group for each so many rows.
func record(t testing.TB, rec arrow.RecordBatch, group int64, props ...pq.WriterProperty) string {
	t.Helper()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(rec.Schema(), &out, pq.NewWriterProperties(append(props, pq.WithMaxRowGroupLength(group))...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err == nil {
		err = w.WriteBuffered(rec)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var everything = sqltype.Schema{
	{Name: "b", Type: sqltype.BoolType},
	{Name: "i8", Type: sqltype.TinyType},
	{Name: "i16", Type: sqltype.SmallType},
	{Name: "i32", Type: sqltype.IntType},
	{Name: "i64", Type: sqltype.BigIntType},
	{Name: "f", Type: sqltype.FloatType},
	{Name: "d", Type: sqltype.DoubleType},
	{Name: "n9", Type: sqltype.DecimalOf(9, 2)},
	{Name: "n18", Type: sqltype.DecimalOf(18, 2)},
	{Name: "n38", Type: sqltype.DecimalOf(38, 2)},
	{Name: "s", Type: sqltype.StringType},
	{Name: "y", Type: sqltype.BytesType},
	{Name: "da", Type: sqltype.DateType},
	{Name: "t3", Type: sqltype.Type{ID: sqltype.Time, Precision: 3}},
	{Name: "t9", Type: sqltype.Type{ID: sqltype.Time, Precision: 9}},
	{Name: "ts3", Type: sqltype.TimestampOf(3)},
	{Name: "ts6", Type: sqltype.TimestampOf(6)},
	{Name: "ts9", Type: sqltype.TimestampOf(9)},
	{Name: "tz", Type: sqltype.TimestampLTZOf(6)},
	{Name: "r", Type: sqltype.BigIntType.Required()},
}

func TestRoundTrip(t *testing.T) {
	null := append(slices.Repeat([]string{"NULL"}, len(everything)-1), "0")
	rows := [][]string{
		{"true", "-128", "-32768", "-2147483648", "-9223372036854775808", "-1.5", "1e300", "-1234567.89", "-1234567890123456.78", "-123456789012345678901234567890123456.78", "text \u00e4", "AAEC", "2026-02-28", "12:34:56.789", "12:34:56.123456789", "1969-12-31 23:59:59.999", "1969-12-31 23:59:59.999999", "2026-01-01 00:00:00.000000001", "2026-01-01T00:00:00+01:00", "7"},
		null,
		{"false", "127", "32767", "2147483647", "9223372036854775807", "0", "NaN", "0", "0.01", "0.01", "", "", "0001-01-01", "00:00", "23:59:59", "9999-12-31", "9999-12-31", "2262-01-01", "1970-01-01", "8"},
		null,
		null,
	}
	for _, compression := range []string{"ZSTD", "SNAPPY", "GZIP", "LZ4_RAW", "UNCOMPRESSED"} {
		p := vector.NewCheckedPool()
		b := connectortest.Batch(t, p, everything, rows...)
		var want []string
		for i := range rows {
			want = append(want, connectortest.Row(everything, b, i))
		}
		content := encode(t, everything, []string{"parquet.compression", compression}, b)
		b.Release()
		if err := p.Leaks(); err != nil {
			t.Error(err)
		}
		for _, limit := range []int{1, 2, 8192} {
			got, err := read(t, content, limit, everything, connector.Scan{})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v\ngot  %q\nwant %q", compression, err, got, want)
			}
		}
		table := connectortest.Table(nil)
		inferred, err := parquet.Format{}.Infer(context.Background(), connectortest.File("f", content), connectortest.Options(t, table, parquet.Format{}.Options()))
		if err != nil || inferred.String() != everything.String() {
			t.Errorf("inferred %v, %v", inferred, err)
		}
	}
}

// Random NULLs over pages, dictionaries that overflow, row groups and restarts.
func TestPages(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	schema := sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "x", Type: sqltype.DoubleType}, {Name: "name", Type: sqltype.StringType}, {Name: "few", Type: sqltype.StringType}}
	const rows = 5000
	bld := array.NewRecordBuilder(memory.DefaultAllocator, schema.Arrow())
	var want []string
	for i := range rows {
		row := []string{fmt.Sprint(i), "0.5", strings.Repeat(string('a'+rune(i%26)), rnd.IntN(20)) + fmt.Sprint(i), string('a' + rune(rnd.IntN(4)))}
		for c := range row {
			// Stretches without NULLs, with some, of nothing else.
			if r := rnd.IntN(10); i/500%3 == 1 && r < 3 || i/500%3 == 2 && c > 0 {
				row[c] = "NULL"
				bld.Field(c).AppendNull()
				continue
			}
			switch c {
			case 0:
				bld.Field(c).(*array.Int64Builder).Append(int64(i))
			case 1:
				bld.Field(c).(*array.Float64Builder).Append(0.5)
			default:
				bld.Field(c).(*array.StringBuilder).Append(row[c])
			}
		}
		want = append(want, "+I["+strings.Join(row, ", ")+"]")
	}
	rec := bld.NewRecordBatch()
	for _, props := range [][]pq.WriterProperty{
		{pq.WithDataPageSize(1000), pq.WithDictionaryPageSizeLimit(2000), pq.WithCompression(compress.Codecs.Zstd)},
		{pq.WithDataPageSize(3000), pq.WithDataPageVersion(pq.DataPageV2)},
		{pq.WithDictionaryDefault(false), pq.WithEncoding(pq.Encodings.DeltaByteArray), pq.WithEncodingFor("id", pq.Encodings.DeltaBinaryPacked), pq.WithEncodingFor("x", pq.Encodings.ByteStreamSplit)},
	} {
		content := record(t, rec, 1200, props...)
		d := decoding(t, schema)
		parts, err := d.Splits(connectortest.File("f", content))
		if err != nil || len(parts) != 5 || parts[4] != (connector.Part{From: 4, To: 5, Size: 200}) {
			t.Fatalf("splits: %v, %v", parts, err)
		}
		for _, limit := range []int{77, 1000, 8192} {
			got, err := read(t, content, limit, schema, connector.Scan{})
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("limit %d: %d rows, %v", limit, len(got), err)
			}
		}
		got, err := connectortest.ReadRestarting(t, func(pos []byte) (connector.Reader, error) {
			return d.Open(context.Background(), connectortest.File("f", content), connector.Part{}, connector.Scan{}, pos)
		}, schema, 333)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("restarted: %d rows, %v", len(got), err)
		}
		got, err = read(t, content, 100, schema, connector.Scan{Columns: []int{}})
		if err != nil || len(got) != rows {
			t.Errorf("no columns: %d rows, %v", len(got), err)
		}
	}
}

func TestArrowTypes(t *testing.T) {
	mem := memory.DefaultAllocator
	fields := []arrow.Field{
		{Name: "large", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "dict", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "u8", Type: arrow.PrimitiveTypes.Uint8, Nullable: true},
		{Name: "u16", Type: arrow.PrimitiveTypes.Uint16, Nullable: true},
		{Name: "u32", Type: arrow.PrimitiveTypes.Uint32, Nullable: true},
		{Name: "u64", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
		{Name: "ts_s", Type: arrow.FixedWidthTypes.Timestamp_s, Nullable: true},
		{Name: "fixed", Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}, Nullable: true},
		{Name: "half", Type: arrow.FixedWidthTypes.Float16, Nullable: true},
		{Name: "date64", Type: arrow.FixedWidthTypes.Date64, Nullable: true},
		{Name: "dec", Type: &arrow.Decimal128Type{Precision: 30, Scale: 1}, Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	if err := b.UnmarshalJSON([]byte(`{"large":"a","dict":"b","u8":255,"u16":65535,"u32":4294967295,"u64":18446744073709551615,"ts_s":"2026-01-01T10:00:00Z","fixed":"AAEC","half":1.5,"date64":"2026-01-02","list":[1]}`)); err != nil {
		t.Fatal(err)
	}
	rec := b.NewRecordBatch()
	dec := array.NewDecimal128Builder(mem, fields[10].Type.(*arrow.Decimal128Type))
	dec.Append(decimal128.FromI64(-15))
	cols := rec.Columns()
	cols[10] = dec.NewArray()
	rec = array.NewRecordBatch(rec.Schema(), cols, 1)
	content := record(t, rec, 100)
	table := connectortest.Table(nil)
	schema, err := parquet.Format{}.Infer(context.Background(), connectortest.File("f", content), connectortest.Options(t, table, parquet.Format{}.Options()))
	if err != nil {
		t.Fatal(err)
	}
	if want := "(large STRING, dict STRING, u8 SMALLINT, u16 INT, u32 BIGINT, u64 DECIMAL(20, 0), ts_s TIMESTAMP_LTZ(3), fixed BINARY(3), half FLOAT, date64 DATE, dec DECIMAL(30, 1))"; schema.String() != want {
		t.Errorf("schema:\ngot  %v\nwant %s", schema, want)
	}
	got, err := read(t, content, 10, schema, connector.Scan{})
	if want := "[+I[a, b, 255, 65535, 4294967295, 18446744073709551615, 2026-01-01 10:00:00Z, x'000102', 1.5, 2026-01-02, -1.5]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("rows:\ngot  %v, %v\nwant %s", got, err, want)
	}
	_, err = read(t, content, 10, sqltype.Schema{{Name: "list", Type: sqltype.BigIntType}}, connector.Scan{})
	if want := `f.parquet: column "list" cannot be read: it is nested`; fmt.Sprint(err) != want {
		t.Errorf("got %v", err)
	}
}

func sample(t testing.TB) string {
	p := vector.NewPool()
	b := connectortest.Batch(t, p, fruit, []string{"1", "apple"}, []string{"NULL", "pear"}, []string{"3", "NULL"})
	return encode(t, fruit, nil, b)
}

func TestSchemas(t *testing.T) {
	content := sample(t)
	for _, tt := range []struct {
		schema sqltype.Schema
		want   string
	}{
		{sqltype.Schema{{Name: "NAME", Type: sqltype.StringType}}, "[+I[apple] +I[pear] +I[NULL]]"},
		{sqltype.Schema{{Name: "id", Type: sqltype.DecimalOf(10, 1)}}, "[+I[1.0] +I[NULL] +I[3.0]]"},
		{sqltype.Schema{{Name: "nmae", Type: sqltype.StringType}}, `f.parquet: the file has no column "nmae"; did you mean "name"?`},
		{sqltype.Schema{{Name: "price", Type: sqltype.StringType}}, `f.parquet: the file has no column "price"; it has id, name`},
		{sqltype.Schema{{Name: "id", Type: sqltype.IntType}}, `f.parquet: column "id" is BIGINT in the file, not INT; declare it as BIGINT and CAST it in the query`},
		{sqltype.Schema{{Name: "id", Type: sqltype.BigIntType.Required()}}, `f.parquet: column "id", row 2: NULL in a column that is NOT NULL`},
		{sqltype.Schema{{Name: "name", Type: sqltype.Type{ID: sqltype.Varchar, Precision: 4}}}, `f.parquet: column "name", rows from 1 on: row 0: a value of length 5 is too long for VARCHAR(4)`},
	} {
		rows, err := read(t, content, 10, tt.schema, connector.Scan{})
		got := fmt.Sprint(rows)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// Damaged files give errors, or other rows, but never end the process.
func TestDamage(t *testing.T) {
	content := sample(t)
	for _, tt := range []struct{ name, content, want string }{
		{"empty", "", "f.parquet: the file is empty, which no Parquet file is"},
		{"text", "id,name\n1,apple\n", "f.parquet: the metadata cannot be read: "},
		{"no end", content[:len(content)-1], "f.parquet: the metadata cannot be read: "},
		{"no middle", content[:20] + content[100:], "f.parquet: "},
	} {
		_, err := read(t, tt.content, 10, fruit, connector.Scan{})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	for i := range content {
		bad := content[:i] + string(content[i]^0xff) + content[i+1:]
		if rows, err := read(t, bad, 10, fruit, connector.Scan{}); err != nil && rows != nil {
			t.Errorf("byte %d: rows and an error", i)
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, fruit.Arrow())
	for i, s := range []string{"ok", "\u00e4", "\xff"} {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(s)
	}
	content := record(t, b.NewRecordBatch(), 100)
	_, err := read(t, content, 10, fruit, connector.Scan{})
	if want := `f.parquet: column "name", row 3: the text is not valid UTF-8`; fmt.Sprint(err) != want {
		t.Errorf("got %v", err)
	}
}

func TestStream(t *testing.T) {
	_, err := decoding(t, fruit).Open(context.Background(), connectortest.Stream("standard input", "PAR1"), connector.Part{}, connector.Scan{}, nil)
	if want := "standard input: a Parquet file cannot be read from a stream; store it in a file first"; fmt.Sprint(err) != want {
		t.Errorf("got %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample(f)))
	f.Fuzz(func(t *testing.T, content []byte) {
		_, _ = read(t, string(content), 3, fruit, connector.Scan{})
	})
}

func BenchmarkRead(b *testing.B) {
	schema := sqltype.Schema{{Name: "delay", Type: sqltype.BigIntType}, {Name: "origin", Type: sqltype.StringType}}
	bld := array.NewRecordBuilder(memory.DefaultAllocator, schema.Arrow())
	const rows = 1 << 18
	for i := range rows {
		bld.Field(0).(*array.Int64Builder).Append(int64(i * 7919 % 200))
		bld.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("A%02d", i*104729%300))
	}
	content := record(b, bld.NewRecordBatch(), rows, pq.WithCompression(compress.Codecs.Zstd))
	d := decoding(b, schema)
	p := vector.NewPool()
	for b.Loop() {
		r, err := d.Open(context.Background(), connectortest.File("f", content), connector.Part{}, connector.Scan{}, nil)
		for err == nil {
			var batch *vector.Batch
			if batch, err = r.Read(context.Background(), p, vector.Target); err == nil {
				batch.Release()
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

func ExampleFormat() {
	fmt.Println(parquet.Format{}.Name(), "-", parquet.Format{}.Doc())
	// Output: parquet - Apache Parquet: columns, compressed
}
