package conformance

import (
	"context"
	"encoding/csv"
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

// sharedData is where a checkout may have the larger data files beside it.
const sharedData = "../../shared/data"

// stateDelays is what the query computes for a state.
type stateDelays struct {
	flights, total int64
	mean           float64
}

// TestThreeMillionFlights joins real flights with airports and compares the delays
// by state with those that the Parquet and CSV libraries and a map give.
func TestThreeMillionFlights(t *testing.T) {
	flights, airports := filepath.Join(sharedData, "flights-3m.parquet"), filepath.Join(sharedData, "airports.csv")
	if _, err := os.Stat(flights); err != nil {
		t.Skipf("%s is not here: flights-3m.parquet and airports.csv of vega-datasets 3.2.1 are", flights)
	}
	want := delaysByHand(t, flights, airports)
	for _, parallelism := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("parallel=%d", parallelism), func(t *testing.T) {
			got := delaysBySQL(t, parallelism, flights, airports)
			if len(got) < 50 || !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func delaysBySQL(t *testing.T, parallelism int, flights, airports string) map[string]stateDelays {
	ctx := t.Context()
	e, err := engine.Open(ctx, engine.Config{Parallelism: parallelism})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got := map[string]stateDelays{}
	err = e.ExecuteScript(ctx, fmt.Sprintf(`
		CREATE TABLE flights WITH ('connector' = 'filesystem', 'path' = '%s');
		CREATE TABLE airports (iata STRING, name STRING, city STRING, state STRING, country STRING, latitude DOUBLE, longitude DOUBLE)
			WITH ('connector' = 'filesystem', 'path' = '%s', 'csv.null-literal' = 'NA');
		SELECT COALESCE(a.state, 'none'), COUNT(*), SUM(f.delay), AVG(CAST(f.delay AS DOUBLE))
		FROM flights AS f JOIN airports AS a ON f.origin = a.iata GROUP BY a.state`, flights, airports),
		func(q *engine.Query) error { return fold(ctx, q, got) })
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// fold applies a query's changes to a map of the live rows.
func fold(ctx context.Context, q *engine.Query, into map[string]stateDelays) error {
	if q.Changelog() == nil {
		return nil
	}
	for {
		b, err := q.Changelog().Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range b.Len() {
			r := b.Row(i)
			state := string(b.Col(0).Bytes(r))
			if !b.Kind(r).Adds() {
				delete(into, state)
				continue
			}
			into[state] = stateDelays{vector.Values[int64](b.Col(1))[r], vector.Values[int64](b.Col(2))[r], vector.Values[float64](b.Col(3))[r]}
		}
		b.Release()
	}
}

func delaysByHand(t *testing.T, flights, airports string) map[string]stateDelays {
	f, err := os.Open(airports)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	stateOf := map[string]string{}
	for _, row := range rows[1:] {
		stateOf[row[0]] = row[3]
		if row[3] == "NA" {
			stateOf[row[0]] = "none"
		}
	}
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
	out := map[string]stateDelays{}
	var delays []int64
	for _, c := range table.Column(table.Schema().FieldIndices("delay")[0]).Data().Chunks() {
		delays = append(delays, c.(*array.Int64).Int64Values()...)
	}
	at := 0
	for _, c := range table.Column(table.Schema().FieldIndices("origin")[0]).Data().Chunks() {
		for i := range c.Len() {
			if state, ok := stateOf[c.ValueStr(i)]; ok {
				s := out[state]
				s.flights, s.total = s.flights+1, s.total+delays[at]
				out[state] = s
			}
			at++
		}
	}
	for state, s := range out {
		s.mean = float64(s.total) / float64(s.flights)
		out[state] = s
	}
	return out
}
