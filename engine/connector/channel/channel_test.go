package channel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var fruit = sqltype.Schema{{Name: "id", Type: sqltype.BigIntType.Required()}, {Name: "name", Type: sqltype.StringType}}

func open(t testing.TB, in *channel.Input, scan connector.Scan) connector.Reader {
	t.Helper()
	splits, err := in.Splits(context.Background())
	if err != nil || len(splits) != 1 {
		t.Fatal(splits, err)
	}
	r, err := in.Open(context.Background(), splits[0], scan, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestInput(t *testing.T) {
	ctx := context.Background()
	in := channel.NewInput(fruit, sqltype.RetractMode)
	r := open(t, in, connector.Scan{Columns: []int{1, 0}})
	if _, err := in.Open(ctx, connector.Split{}, connector.Scan{}, nil); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("a second reader: %v", err)
	}
	for i := range 3 {
		if err := in.Send(ctx, channel.Insert(i, "a"), channel.Delete(i, nil)); err != nil {
			t.Fatal(err)
		}
	}
	// Batches that wait are joined, and cut at the limit.
	p := vector.NewCheckedPool()
	schema := fruit.Project([]int{1, 0})
	var got []string
	ended, cancel := context.WithCancel(ctx)
	cancel() // rows at hand come all the same
	for _, want := range []int{4, 2} {
		b, err := r.Read(ended, p, 4)
		if err != nil || b.Len() != want {
			t.Fatal(b, err)
		}
		for i := range b.Len() {
			got = append(got, connectortest.Row(schema, b, i))
		}
		b.Release()
	}
	if want := "[+I[a, 0] -D[NULL, 0] +I[a, 1] -D[NULL, 1] +I[a, 2] -D[NULL, 2]]"; fmt.Sprint(got) != want {
		t.Errorf("got %v", got)
	}
	if b, err := r.Read(ended, p, 4); b != nil || err != nil {
		t.Errorf("got %v, %v", b, err)
	}
	// A batch with a selection, larger than the limit.
	own := vector.NewCheckedPool()
	all := connectortest.Batch(t, own, fruit, []string{"0", "x"}, []string{"1", "b"}, []string{"2", "c"}, []string{"3", "d"})
	some := all.Select(vector.Of[int32](own, 3, 1, 2))
	if err := in.SendBatch(ctx, some); err != nil {
		t.Fatal(err)
	}
	all.Release()
	some.Release()
	in.Close()
	in.Close()
	if err := in.Send(ctx, channel.Insert(1, "late")); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("sent after Close: %v", err)
	}
	rows, err := connectortest.ReadAll(t, r, schema, 2)
	if want := "[+I[d, 3] +I[b, 1] +I[c, 2]]"; fmt.Sprint(rows) != want || err != nil {
		t.Errorf("got %v, %v", rows, err)
	}
	if err := errors.Join(p.Leaks(), own.Leaks()); err != nil {
		t.Error(err)
	}
}

// A watermark ends a batch, so that it stands between the rows that it was sent between.
func TestInputWatermarks(t *testing.T) {
	ctx := context.Background()
	in := channel.NewInput(fruit, sqltype.AppendMode)
	r := open(t, in, connector.Scan{}).(connector.TimedReader)
	send := func(ids ...int) {
		for _, id := range ids {
			if err := in.Send(ctx, channel.Insert(id, nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tell := func(ms int64) {
		if err := in.SendWatermark(ctx, time.UnixMilli(ms)); err != nil {
			t.Fatal(err)
		}
	}
	if w, ok := r.Watermark(); ok {
		t.Errorf("there is a watermark %d", w)
	}
	send(1, 2)
	tell(10)
	tell(20)
	send(3)
	tell(30)
	in.Close()
	p := vector.NewCheckedPool()
	var got []string
	for {
		b, err := r.Read(ctx, p, 10)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		w, _ := r.Watermark()
		got = append(got, fmt.Sprint(b.Len(), " rows, then ", w))
		b.Release()
	}
	if want := []string{"2 rows, then 10", "0 rows, then 20", "1 rows, then 30"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if err := errors.Join(r.Close(), p.Leaks()); err != nil {
		t.Error(err)
	}
}

func TestInputErrors(t *testing.T) {
	ctx := context.Background()
	in := channel.NewInput(fruit, sqltype.AppendMode)
	p := vector.NewCheckedPool()
	for _, tt := range []struct {
		row  channel.Row
		want string
	}{
		{channel.Insert(1), `row 0 has 1 values for 2 columns`},
		{channel.Delete(1, "a"), `row 0 is of kind -D; the input takes I`},
		{channel.Insert(nil, "a"), `row 0, column "id": NULL in a column that is NOT NULL`},
		{channel.Insert("x", "a"), `row 0, column "id": "x" is not a value of type BIGINT`},
		{channel.Insert(1.5, "a"), `row 0, column "id": the number 1.5 is no BIGINT`},
		{channel.Insert(1, 2), `row 0, column "name": the integer 2 is no STRING`},
		{channel.Insert(1, []byte("a")), `row 0, column "name": a Go value of type []uint8 is no STRING`},
		{channel.Insert(struct{}{}, "a"), `row 0, column "id": a Go value of type struct {} is no BIGINT`},
		{channel.Insert(time.Time{}, "a"), `row 0, column "id": the time 0001-01-01 00:00:00 +0000 UTC is no BIGINT`},
	} {
		if err := in.Send(ctx, tt.row); fmt.Sprint(err) != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
	wrong := vector.NewBatch(1, []*vector.Vector{vector.Of[int64](p, 1), vector.Of[int64](p, 1)}, nil)
	if err := in.SendBatch(ctx, wrong); errs.CodeOf(err) != errs.Type {
		t.Errorf("got %v", err)
	}
	narrow := wrong.Project([]int{0})
	if err := in.SendBatch(ctx, narrow); errs.CodeOf(err) != errs.Type {
		t.Errorf("got %v", err)
	}
	wrong.Release()
	narrow.Release()
	deleted := connectortest.Batch(t, p, fruit, []string{"-D", "1", "a"})
	if err := in.SendBatch(ctx, deleted); errs.CodeOf(err) != errs.Changelog {
		t.Errorf("got %v", err)
	}
	deleted.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// A deletion by key has no values but those of the key.
func TestInputOfDeletesByKey(t *testing.T) {
	ctx := context.Background()
	schema := sqltype.Schema{fruit[0], {Name: "name", Type: sqltype.StringType.Required()}}
	p := vector.NewCheckedPool()
	deleted := connectortest.Batch(t, p, schema, []string{"-D", "2", "NULL"})
	defer deleted.Release()
	for _, mode := range []sqltype.ChangelogMode{sqltype.UpsertMode, sqltype.UpsertMode.WithDeletesByKey()} {
		in := channel.NewInput(schema, mode)
		if err := in.Send(ctx, channel.Delete(1, nil)); (err == nil) != mode.DeletesByKey() {
			t.Errorf("%v: got %v", mode, err)
		}
		if err := in.SendBatch(ctx, deleted); (err == nil) != mode.DeletesByKey() {
			t.Errorf("%v: got %v", mode, err)
		}
		if err := in.Send(ctx, channel.Insert(1, nil)); errs.CodeOf(err) != errs.Data {
			t.Errorf("%v: got %v", mode, err)
		}
	}
}

func TestValues(t *testing.T) {
	schema := sqltype.Schema{
		{Name: "b", Type: sqltype.BoolType},
		{Name: "t", Type: sqltype.TinyType},
		{Name: "f", Type: sqltype.FloatType},
		{Name: "x", Type: sqltype.DoubleType},
		{Name: "n", Type: sqltype.DecimalOf(5, 2)},
		{Name: "y", Type: sqltype.BytesType},
		{Name: "d", Type: sqltype.DateType},
		{Name: "ti", Type: sqltype.Type{ID: sqltype.Time, Precision: 3}},
		{Name: "ts", Type: sqltype.TimestampOf(6)},
		{Name: "tz", Type: sqltype.TimestampLTZOf(3)},
	}
	in := channel.NewInput(schema, sqltype.AppendMode)
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.FixedZone("", 3600))
	err := in.Send(context.Background(),
		channel.Insert(true, int8(-5), float32(1.5), 2.5, "1.5", []byte{1}, at, at, at, at),
		channel.Insert("true", uint8(5), 1.5, "2.5", 7, nil, "2026-01-02", "03:04", "2026-01-02", "2026-01-02"))
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	rows, err := connectortest.ReadAll(t, open(t, in, connector.Scan{}), schema, 10)
	want := "[+I[TRUE, -5, 1.5, 2.5, 1.50, x'01', 2026-01-02, 03:04:05.678, 2026-01-02 03:04:05.678901, 2026-01-02 02:04:05.678Z] +I[TRUE, 5, 1.5, 2.5, 7.00, NULL, 2026-01-02, 03:04:00, 2026-01-02 00:00:00, 2026-01-02 00:00:00Z]]"
	if fmt.Sprint(rows) != want || err != nil {
		t.Errorf("got %v, %v", rows, err)
	}
}

// A sender waits while nobody reads; it is let go by its context or the reader's end.
func TestInputBackPressure(t *testing.T) {
	in := channel.NewInput(fruit, sqltype.AppendMode)
	r := open(t, in, connector.Scan{})
	ctx, cancel := context.WithCancel(context.Background())
	sent := 0
	full := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for ; ; sent++ {
			if sent == 16 { // the queue is full: the next one waits
				close(full)
			}
			if err := in.Send(ctx, channel.Insert(sent, nil)); err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
		}
	})
	<-full
	cancel()
	wg.Wait()
	if sent != 16 {
		t.Errorf("%d rows were sent", sent)
	}
	wg.Go(func() {
		if err := in.Send(context.Background(), channel.Insert(99, nil)); errs.CodeOf(err) != errs.Canceled {
			t.Errorf("got %v", err)
		}
	})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestInputFails(t *testing.T) {
	in := channel.NewInput(fruit, sqltype.AppendMode)
	_ = in.Send(context.Background(), channel.Insert(1, "a"))
	in.Fail(errors.New("the sensor broke"))
	rows, err := connectortest.ReadAll(t, open(t, in, connector.Scan{}), fruit, 10)
	if len(rows) != 1 || fmt.Sprint(err) != "the program that sends rows failed: the sensor broke" {
		t.Errorf("got %v, %v", rows, err)
	}
}

func TestOutput(t *testing.T) {
	ctx := context.Background()
	out := channel.NewOutput(fruit, sqltype.RetractMode)
	w, err := out.Writer(ctx, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := vector.NewCheckedPool()
	b := connectortest.Batch(t, p, fruit, []string{"+I", "1", "a"}, []string{"-D", "1", "a"}, []string{"+I", "2", "b"})
	some := b.Select(vector.Of[int32](p, 2, 1))
	if err := errors.Join(w.Write(b), w.Write(some)); err != nil {
		t.Fatal(err)
	}
	b.Release()
	some.Release()
	if err := p.Leaks(); err != nil { // the output has copies
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := out.Next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("rows came before the end of their epoch: %v", err)
	}
	if err := w.EndEpoch(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 2 {
		b, err := out.Next(ended)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			got = append(got, connectortest.Row(fruit, b, i))
		}
		b.Release()
	}
	if want := "[+I[1, a] -D[1, a] +I[2, b] +I[2, b] -D[1, a]]"; fmt.Sprint(got) != want {
		t.Errorf("got %v", got)
	}
	if _, err := w.Prepare(connector.Final); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := out.Next(ctx); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
	}
}

func TestOutputEnds(t *testing.T) {
	ctx := context.Background()
	p := vector.NewPool()
	b := connectortest.Batch(t, p, fruit, []string{"1", "a"})

	// The query fails.
	out := channel.NewOutput(fruit, sqltype.AppendMode)
	w, _ := out.Writer(ctx, 0, 1)
	_ = w.Write(b)
	_ = w.Close()
	if _, err := out.Next(ctx); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("got %v", err)
	}

	// The program leaves while the query waits for it.
	out = channel.NewOutput(fruit, sqltype.AppendMode)
	w, _ = out.Writer(ctx, 0, 1)
	var wg sync.WaitGroup
	full := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			if i == 16 {
				close(full)
			}
			_ = w.Write(b)
			if err := w.EndEpoch(); err != nil {
				if errs.CodeOf(err) != errs.Canceled || i != 16 {
					t.Errorf("after %d: %v", i, err)
				}
				_ = w.Close()
				return
			}
		}
	})
	<-full
	go out.Close()
	wg.Wait()
	if _, err := out.Next(ctx); err == nil {
		t.Error("rows came after Close")
	}

	// The query is cancelled while it waits.
	ended, cancel := context.WithCancel(ctx)
	cancel()
	out = channel.NewOutput(fruit, sqltype.AppendMode)
	w, _ = out.Writer(ended, 0, 1)
	for range 20 {
		_ = w.Write(b)
	}
	for range 20 { // at the latest when the queue is full
		if err := w.EndEpoch(); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			break
		}
	}
	_ = w.Close()
}

func TestConnector(t *testing.T) {
	c := channel.New()
	in, out := channel.NewInput(fruit, sqltype.AppendMode), channel.NewOutput(fruit, sqltype.RetractMode)
	c.AddInput("t", in)
	c.AddOutput("results", out)
	table := connectortest.Table(fruit)
	src, err := c.Source(table, connectortest.Options(t, table, c.Options()))
	if err != nil || src != connector.Source(in) {
		t.Errorf("got %v, %v", src, err)
	}
	table = connectortest.Table(fruit, "channel", "results")
	snk, err := c.Sink(table, connectortest.Options(t, table, c.Options()))
	if err != nil || snk != connector.Sink(out) {
		t.Errorf("got %v, %v", snk, err)
	}
	schema, err := c.Infer(context.Background(), table, connectortest.Options(t, table, c.Options()))
	if err != nil || schema.String() != fruit.String() {
		t.Errorf("got %v, %v", schema, err)
	}
	table = connectortest.Table(fruit, "channel", "result")
	if _, err = c.Sink(table, connectortest.Options(t, table, c.Options())); fmt.Sprint(err) != `line 2:3: the program has no output channel "result"; did you mean "results"?` {
		t.Errorf("got %v", err)
	}
	table = connectortest.Table(fruit[:1])
	if _, err = c.Source(table, connectortest.Options(t, table, c.Options())); fmt.Sprint(err) != `line 1:14: table "t" has 1 columns, its channel 2` {
		t.Errorf("got %v", err)
	}
}

// A program sends rows in; what the engine would do between is left out here.
func Example() {
	ctx := context.Background()
	in := channel.NewInput(sqltype.Schema{{Name: "n", Type: sqltype.BigIntType}}, sqltype.AppendMode)
	go func() {
		defer in.Close()
		for n := range 3 {
			if err := in.Send(ctx, channel.Insert(n)); err != nil {
				return
			}
		}
	}()
	pool := vector.NewPool()
	reader, err := in.Open(ctx, connector.Split{}, connector.Scan{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	sum := int64(0)
	for {
		batch, err := reader.Read(ctx, pool, 100)
		if err != nil {
			break // io.EOF
		}
		for _, n := range vector.Values[int64](batch.Col(0)) {
			sum += n
		}
		batch.Release()
	}
	fmt.Println(sum)
	// Output: 3
}
