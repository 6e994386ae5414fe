package conformance

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/vector"
)

// flightWindow is a window of an airport, in milliseconds; flightCount what is counted in
// it.
type (
	flightWindow struct {
		airport    string
		start, end int64
	}
	flightCount struct{ flights, delay, most int64 }
)

const (
	hour    = int64(60 * 60 * 1000)
	idleGap = 90 * hour / 60 // of a session
	minute  = hour / 60
	step    = hour / 6   // of days
	short   = minute / 6 // of minutes
)

// someAirports are those whose days and minutes are counted.
var someAirports = map[string]bool{"ANC": true, "ATL": true, "HNL": true}

// TestThreeMillionFlightsByTime counts real flights by airport and hour, by the times in
// which one left at least every hour and a half, by the days that begin every ten minutes
// and by the minutes that begin every ten seconds, and compares with a loop over a map.
func TestThreeMillionFlightsByTime(t *testing.T) {
	flights := filepath.Join(sharedData, "flights-3m.parquet")
	if _, err := os.Stat(flights); err != nil {
		t.Skipf("%s is not here: flights-3m.parquet of vega-datasets 3.2.1 is", flights)
	}
	hand := windowsByHand(t, flights)
	for _, c := range []struct {
		name, windows string
		want          map[flightWindow]flightCount
	}{
		{"hours", "TABLE(TUMBLE(TABLE flights, DESCRIPTOR(at), INTERVAL '1' HOUR))", hand.hours},
		{"sessions", "TABLE(SESSION(TABLE flights PARTITION BY origin, DESCRIPTOR(at), INTERVAL '90' MINUTE))", hand.sessions},
		{"days", "TABLE(HOP(TABLE flights, DESCRIPTOR(at), INTERVAL '10' MINUTE, INTERVAL '1' DAY)) WHERE origin IN ('ANC', 'ATL', 'HNL')", hand.days},
		{"minutes", "TABLE(HOP(TABLE flights, DESCRIPTOR(at), INTERVAL '10' SECOND, INTERVAL '1' MINUTE)) WHERE origin IN ('ANC', 'ATL', 'HNL')", hand.minutes},
	} {
		for _, parallelism := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s, parallel=%d", c.name, parallelism), func(t *testing.T) {
				got := windowsBySQL(t, parallelism, flights, c.windows)
				if len(c.want) < 10_000 || !maps.Equal(got, c.want) {
					t.Errorf("%d windows, want %d", len(got), len(c.want))
					reportWindows(t, got, c.want)
				}
			})
		}
	}
}

// reportWindows shows some of the windows that differ.
func reportWindows(t *testing.T, got, want map[flightWindow]flightCount) {
	n := 0
	for w, c := range want {
		if g, ok := got[w]; g != c && n < 10 {
			t.Errorf("%v: got %v (%t), want %v", w, g, ok, c)
			n++
		}
	}
}

func windowsBySQL(t *testing.T, parallelism int, flights, windows string) map[flightWindow]flightCount {
	ctx := t.Context()
	e, err := engine.Open(ctx, engine.Config{Parallelism: parallelism})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got := map[flightWindow]flightCount{}
	err = e.ExecuteScript(ctx, fmt.Sprintf("CREATE TABLE flights (`date` TIMESTAMP(6), delay BIGINT, origin STRING, "+
		"at AS CAST(`date` AS TIMESTAMP(3)), WATERMARK FOR at AS at - INTERVAL '1' MINUTE) WITH ('connector' = 'filesystem', 'path' = '%s');"+
		"SELECT origin, window_start, window_end, COUNT(*), SUM(delay), MAX(delay) FROM %s GROUP BY origin, window_start, window_end",
		flights, windows), func(q *engine.Query) error {
		for q.Changelog() != nil {
			b, err := q.Changelog().Next(ctx)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			number := func(c, r int) int64 { return vector.Values[int64](b.Col(c))[r] }
			for i := range b.Len() {
				r := b.Row(i)
				w := flightWindow{string(b.Col(0).Bytes(r)), number(1, r), number(2, r)}
				if _, twice := got[w]; twice || !b.Kind(r).Adds() {
					return fmt.Errorf("%v is not emitted once", w)
				}
				got[w] = flightCount{number(3, r), number(4, r), number(5, r)}
			}
			b.Release()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// flightWindows are the windows of the file.
type flightWindows struct{ hours, sessions, days, minutes map[flightWindow]flightCount }

// windowsByHand reads the file, which is in the order of time, with another library.
func windowsByHand(t *testing.T, flights string) flightWindows {
	pf, err := file.OpenParquetFile(flights, false)
	if err != nil {
		t.Fatal(err)
	}
	defer pf.Close()
	r, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: 1 << 16}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	column := func(name string) []int64 {
		var out []int64
		for _, c := range table.Column(table.Schema().FieldIndices(name)[0]).Data().Chunks() {
			switch c := c.(type) {
			case *array.Int64:
				out = append(out, c.Int64Values()...)
			case *array.Timestamp: // microseconds
				for i := range c.Len() {
					out = append(out, int64(c.Value(i))/1000)
				}
			}
		}
		return out
	}
	times, delays := column("date"), column("delay")
	hours, sessions, steps := map[flightWindow]flightCount{}, map[flightWindow]flightCount{}, map[flightWindow]flightCount{}
	shorts := map[flightWindow]flightCount{}
	add := func(to map[flightWindow]flightCount, w flightWindow, c flightCount) {
		if have, ok := to[w]; ok {
			c = flightCount{have.flights + c.flights, have.delay + c.delay, max(have.most, c.most)}
		}
		to[w] = c
	}
	open := map[string]flightWindow{} // the last session of each airport
	at := 0
	for _, c := range table.Column(table.Schema().FieldIndices("origin")[0]).Data().Chunks() {
		for i := range c.Len() {
			origin, ms, one := c.ValueStr(i), times[at], flightCount{1, delays[at], delays[at]}
			at++
			add(hours, flightWindow{origin, ms - ms%hour, ms - ms%hour + hour}, one)
			if someAirports[origin] {
				add(steps, flightWindow{origin, ms - ms%step, 0}, one)
				add(shorts, flightWindow{origin, ms - ms%short, 0}, one)
			}
			w, ok := open[origin]
			if !ok || ms > w.end {
				w = flightWindow{origin, ms, 0}
			} else {
				one = flightCount{sessions[w].flights + 1, sessions[w].delay + one.delay, max(sessions[w].most, one.most)}
				delete(sessions, w)
			}
			w.end = ms + idleGap
			open[origin], sessions[w] = w, one
		}
	}
	hop := func(of map[flightWindow]flightCount, step, size int64) map[flightWindow]flightCount {
		windows := map[flightWindow]flightCount{}
		for s, c := range of {
			for start := s.start + step - size; start <= s.start; start += step {
				add(windows, flightWindow{s.airport, start, start + size}, c)
			}
		}
		return windows
	}
	return flightWindows{hours, sessions, hop(steps, step, 24*hour), hop(shorts, short, minute)}
}
