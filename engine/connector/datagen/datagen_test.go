package datagen_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/connector/datagen"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// clock moves only when someone waits.
type clock struct{ now time.Time }

func (c *clock) connector() datagen.Connector {
	return datagen.Connector{
		Now:  func() time.Time { return c.now },
		Wait: func(_ context.Context, d time.Duration) { c.now = c.now.Add(d) },
	}
}

func source(t testing.TB, c datagen.Connector, schema sqltype.Schema, options ...string) (connector.Source, error) {
	t.Helper()
	table := connectortest.Table(schema, options...)
	opt, err := connector.ParseOptions(table, c.Options())
	if err != nil {
		return nil, err
	}
	return c.Source(table, opt)
}

func read(t testing.TB, s connector.Source, schema sqltype.Schema, scan connector.Scan, limit int) (rows []string) {
	t.Helper()
	splits, err := s.Splits(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range splits {
		r, err := s.Open(context.Background(), split, scan, nil)
		if err != nil {
			t.Fatal(err)
		}
		more, err := connectortest.ReadAll(t, r, schema.Project(scan.Of(len(schema))), limit)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, more...)
	}
	return rows
}

func TestSequences(t *testing.T) {
	schema := sqltype.Schema{
		{Name: "i", Type: sqltype.IntType},
		{Name: "s", Type: sqltype.StringType},
		{Name: "n", Type: sqltype.DecimalOf(5, 2)},
		{Name: "d", Type: sqltype.DateType},
		{Name: "at", Type: sqltype.TimestampOf(6)},
	}
	s, err := source(t, datagen.Connector{}, schema,
		"fields.i.kind", "sequence", "fields.i.start", "-1", "fields.i.end", "1",
		"fields.s.kind", "sequence", "fields.s.start", "10", "fields.s.step", "5",
		"fields.n.kind", "sequence", "fields.n.start", "1.5", "fields.n.step", "0.25",
		"fields.d.kind", "sequence", "fields.d.start", "2026-02-28",
		"fields.at.kind", "sequence", "fields.at.start", "2026-02-28 23:59:59.999", "fields.at.step", "1500 ms")
	if err != nil {
		t.Fatal(err)
	}
	if !s.Bounded() {
		t.Error("a sequence with an end has no end")
	}
	got := read(t, s, schema, connector.Scan{}, 2)
	want := []string{
		"+I[-1, 10, 1.50, 2026-02-28, 2026-02-28 23:59:59.999]",
		"+I[0, 15, 1.75, 2026-03-01, 2026-03-01 00:00:01.499]",
		"+I[1, 20, 2.00, 2026-03-02, 2026-03-01 00:00:02.999]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

var everything = sqltype.Schema{
	{Name: "b", Type: sqltype.BoolType},
	{Name: "t", Type: sqltype.TinyType},
	{Name: "s", Type: sqltype.SmallType},
	{Name: "i", Type: sqltype.IntType},
	{Name: "l", Type: sqltype.BigIntType},
	{Name: "f", Type: sqltype.FloatType},
	{Name: "x", Type: sqltype.DoubleType},
	{Name: "n", Type: sqltype.DecimalOf(20, 2)},
	{Name: "v", Type: sqltype.StringType},
	{Name: "c", Type: sqltype.Type{ID: sqltype.Char, Precision: 3}},
	{Name: "y", Type: sqltype.BytesType},
	{Name: "d", Type: sqltype.DateType},
	{Name: "ti", Type: sqltype.Type{ID: sqltype.Time, Precision: 3}},
	{Name: "ts", Type: sqltype.TimestampOf(3)},
}

// The same rows come whatever the batch, and after a restart anywhere.
func TestDeterminism(t *testing.T) {
	c := (&clock{now: noon}).connector()
	options := []string{"number-of-rows", "100", "seed", "5", "fields.l.null-rate", "0.5", "fields.ts.max-past", "1 h"}
	s, err := source(t, c, everything, options...)
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, s, everything, connector.Scan{}, 8192)
	if len(want) != 100 {
		t.Fatalf("%d rows", len(want))
	}
	for _, limit := range []int{1, 7} {
		if got := read(t, s, everything, connector.Scan{}, limit); !slices.Equal(got, want) {
			t.Errorf("limit %d: other rows", limit)
		}
	}
	splits, _ := s.Splits(context.Background())
	for _, split := range splits {
		connectortest.CheckPositions(t, 5, everything, func(scan connector.Scan, position []byte) (connector.Reader, error) {
			return s.Open(context.Background(), split, scan, position)
		})
	}
	other, err := source(t, c, everything, append(slices.Clone(options), "seed", "6")...)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(read(t, other, everything, connector.Scan{}, 100), want) {
		t.Error("another seed gives the same rows")
	}
	// Columns are independent of each other.
	narrow := read(t, s, everything, connector.Scan{Columns: []int{4}}, 100)
	nulls := 0
	for i, row := range narrow {
		if value := strings.Split(want[i], ", ")[4]; row != "+I["+value+"]" {
			t.Fatalf("row %d: %s, not %s", i, row, value)
		}
		if row == "+I[NULL]" {
			nulls++
		}
	}
	if nulls < 30 || nulls > 70 {
		t.Errorf("%d of 100 are NULL", nulls)
	}
}

func TestRanges(t *testing.T) {
	schema := sqltype.Schema{{Name: "i", Type: sqltype.IntType}, {Name: "x", Type: sqltype.DoubleType}, {Name: "l", Type: sqltype.BigIntType}, {Name: "v", Type: sqltype.StringType}}
	s, err := source(t, datagen.Connector{}, schema, "number-of-rows", "600000", "fields.i.min", "-3", "fields.i.max", "3", "fields.x.min", "-1", "fields.x.max", "2", "fields.v.length", "5")
	if err != nil {
		t.Fatal(err)
	}
	splits, err := s.Splits(context.Background())
	if err != nil || len(splits) != 2 {
		t.Fatalf("splits: %v, %v", splits, err)
	}
	counts := map[int32]int{}
	sum, negative, rows := 0.0, 0, 0
	p := vector.NewCheckedPool()
	for _, split := range splits {
		r, err := s.Open(context.Background(), split, connector.Scan{}, nil)
		for err == nil {
			var b *vector.Batch
			if b, err = r.Read(context.Background(), p, 8192); err != nil {
				break
			}
			for _, v := range vector.Values[int32](b.Col(0)) {
				counts[v]++
			}
			for _, v := range vector.Values[float64](b.Col(1)) {
				if v < -1 || v >= 2 {
					t.Fatal(v)
				}
				sum += v
			}
			for _, v := range vector.Values[int64](b.Col(2)) {
				if v < 0 {
					negative++
				}
			}
			if text := b.Col(3).Text(0); len(text) != 5 || strings.Trim(text, "0123456789abcdef") != "" {
				t.Fatal(text)
			}
			rows += b.Len()
			b.Release()
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
	if rows != 600000 || len(counts) != 7 {
		t.Errorf("%d rows, values %v", rows, counts)
	}
	for v, n := range counts {
		if n < 80000 || n > 92000 {
			t.Errorf("the value %d came %d times", v, n)
		}
	}
	if mean := sum / float64(rows); math.Abs(mean-0.5) > 0.01 {
		t.Errorf("mean %v", mean)
	}
	if negative < 290000 || negative > 310000 {
		t.Errorf("%d negative", negative)
	}
}

func TestRate(t *testing.T) {
	schema := sqltype.Schema{{Name: "i", Type: sqltype.IntType}}
	c := &clock{now: noon}
	s, err := source(t, c.connector(), schema, "rows-per-second", "10", "fields.i.kind", "sequence", "fields.i.start", "0")
	if err != nil {
		t.Fatal(err)
	}
	splits, _ := s.Splits(context.Background())
	r, err := s.Open(context.Background(), splits[0], connector.Scan{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := vector.NewPool()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for i, want := range []int{1, 0, 1, 1, 35} {
		switch i {
		case 1: // nothing is due, and the context has ended
			if b, err := r.Read(ended, p, 100); b != nil || err != nil {
				t.Fatal(b, err)
			}
			continue
		case 4:
			c.now = c.now.Add(3500 * time.Millisecond)
		}
		b, err := r.Read(context.Background(), p, 100)
		if err != nil || b.Len() != want {
			t.Fatalf("read %d: %v, %v", i, b.Len(), err)
		}
	}
	if got := c.now.Sub(noon); got != 3700*time.Millisecond {
		t.Errorf("it took %v", got)
	}
}

// Timestamps go on with the rows at the rate given, whenever they are made.
func TestTimes(t *testing.T) {
	schema := sqltype.Schema{{Name: "at", Type: sqltype.TimestampOf(3)}}
	s, err := source(t, (&clock{now: noon}).connector(), schema, "number-of-rows", "4", "rows-per-second", "8")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(read(t, s, schema, connector.Scan{}, 3), " ")
	if want := "+I[2026-01-02 12:00:00] +I[2026-01-02 12:00:00.125] +I[2026-01-02 12:00:00.25] +I[2026-01-02 12:00:00.375]"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestErrors(t *testing.T) {
	schema := sqltype.Schema{{Name: "id", Type: sqltype.TinyType.Required()}, {Name: "ok", Type: sqltype.BoolType}}
	for _, tt := range []struct {
		options []string
		want    string
	}{
		{[]string{"fields.idd.min", "1"}, `line 2:3: option 'fields.idd.min': table "t" has no column "idd"; did you mean "id"?`},
		{[]string{"fields.id.mim", "1"}, `line 2:3: unknown option 'fields.id.mim' for table "t"; did you mean "fields.id.min"?`},
		{[]string{"fields.id.min", "x"}, `line 2:3: option 'fields.id.min': 'x' is not a value for type TINYINT`},
		{[]string{"fields.id.min", "128"}, `line 2:3: option 'fields.id.min': '128' is not a value for type TINYINT`},
		{[]string{"fields.id.min", "2", "fields.id.max", "1"}, `line 2:3: option 'fields.id.max': the largest value is less than the smallest`},
		{[]string{"fields.id.kind", "sequence"}, `line 2:3: option 'fields.id.kind': a sequence needs 'fields.id.start'`},
		{[]string{"fields.id.kind", "sequence", "fields.id.start", "2", "fields.id.end", "1"}, `line 2:3: option 'fields.id.end': the end is before the start`},
		{[]string{"fields.ok.kind", "sequence", "fields.ok.start", "2"}, `line 2:3: option 'fields.ok.kind': a column of type BOOLEAN cannot be a sequence`},
		{[]string{"fields.id.null-rate", "0.5"}, `line 2:3: column "id" is NOT NULL: it has no rate of NULLs`},
		{[]string{"rows-per-second", "0"}, `line 2:3: 'rows-per-second' must be positive`},
		{[]string{"number-of-rows", "-1"}, `line 2:3: 'number-of-rows' is negative`},
	} {
		if _, err := source(t, datagen.Connector{}, schema, tt.options...); fmt.Sprint(err) != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

func BenchmarkIntegers(b *testing.B) {
	schema := sqltype.Schema{{Name: "i", Type: sqltype.BigIntType}}
	for name, options := range map[string][]string{
		"random":   {"number-of-rows", "1000000000000", "fields.i.min", "0", "fields.i.max", "999"},
		"sequence": {"fields.i.kind", "sequence", "fields.i.start", "0", "fields.i.end", "1000000000000"},
	} {
		b.Run(name, func(b *testing.B) {
			s, err := source(b, datagen.Connector{}, schema, options...)
			if err != nil {
				b.Fatal(err)
			}
			splits, _ := s.Splits(context.Background())
			r, _ := s.Open(context.Background(), splits[0], connector.Scan{}, nil)
			p := vector.NewPool()
			for b.Loop() {
				batch, err := r.Read(context.Background(), p, vector.Target)
				if err != nil {
					b.Fatal(err)
				}
				batch.Release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vector.Target, "ns/row")
		})
	}
}

func ExampleConnector() {
	schema := sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}}
	table := &connector.Table{Name: "t", Schema: schema, Options: map[string]string{"connector": "datagen", "number-of-rows": "1000000"}}
	c, options, err := connector.NewRegistry(datagen.Connector{}).Bind(table)
	if err != nil {
		fmt.Println(err)
		return
	}
	source, err := c.Source(table, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	splits, _ := source.Splits(context.Background())
	fmt.Println(source.Bounded(), source.Replayable(), len(splits))
	// Output: true true 3
}
