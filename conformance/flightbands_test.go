package conformance

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// TestThreeMillionFlightsByDistance groups real flights by a band of their distance that
// a function in WebAssembly computes, of the distance that the data have and of that
// between the airports, and compares the groups with those of a built-in expression and
// of a function in Go.
func TestThreeMillionFlightsByDistance(t *testing.T) {
	flights, airports := filepath.Join(sharedData, "flights-3m.parquet"), filepath.Join(sharedData, "airports.csv")
	if _, err := os.Stat(flights); err != nil {
		t.Skipf("%s is not here: flights-3m.parquet and airports.csv of vega-datasets 3.2.1 are", flights)
	}
	const (
		inWasm    = "band(f.distance, 250)"
		builtIn   = "FLOOR(f.distance / 250)"
		farInWasm = "CAST(haversine(a.latitude, a.longitude, b.latitude, b.longitude) / 100000 AS INT)"
		farInGo   = "CAST(great_circle(a.latitude, a.longitude, b.latitude, b.longitude) / 100000 AS INT)"
	)
	join := " JOIN airports AS a ON f.origin = a.iata JOIN airports AS b ON f.destination = b.iata"
	for _, c := range []struct{ name, wasm, other, join string }{
		{"bands", inWasm, builtIn, ""},
		{"great circles", farInWasm, farInGo, join},
	} {
		want := groups(t, 2, flights, airports, c.other, c.join)
		for _, parallelism := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s, parallel=%d", c.name, parallelism), func(t *testing.T) {
				got := groups(t, parallelism, flights, airports, c.wasm, c.join)
				if len(got) < 10 || !maps.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		}
	}
}

// greatCircle is the formula of plugins/geo, in Go.
func greatCircle() *function.ScalarFunction {
	d := sqltype.DoubleType
	return &function.ScalarFunction{
		Name: "great_circle", Args: []sqltype.Type{d, d, d, d}, Returns: d,
		Eval: func(c *function.Call) (*vector.Vector, error) {
			out := c.Pool.New(vector.Float64, c.N)
			to := vector.Values[float64](out)
			var in [4][]float64
			for i, v := range c.Args {
				in[i] = vector.Values[float64](v)
			}
			const radian = math.Pi / 180
			for i := range to {
				y1, y2 := in[0][i]*radian, in[2][i]*radian
				y, x := math.Sin((y2-y1)/2), math.Sin((in[3][i]-in[1][i])*radian/2)
				to[i] = 2 * 6371008.7714 * math.Asin(math.Sqrt(min(1, y*y+math.Cos(y1)*math.Cos(y2)*x*x)))
			}
			return out, nil
		},
	}
}

// group is what the query computes for a band.
type group struct{ flights, delay int64 }

func groups(t *testing.T, parallelism int, flights, airports, band, join string) map[int64]group {
	t.Helper()
	ctx := t.Context()
	e, err := engine.Open(ctx, engine.Config{Parallelism: parallelism, Functions: []function.Function{greatCircle()}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got := map[int64]group{}
	err = e.ExecuteScript(ctx, fmt.Sprintf(`
		CREATE FUNCTION band AS 'band' LANGUAGE WASM USING FILE '../engine/testdata/lab.wasm';
		CREATE FUNCTION haversine AS 'haversine' LANGUAGE WASM USING FILE '../plugins/geo/geo.wasm';
		CREATE TABLE flights WITH ('connector' = 'filesystem', 'path' = '%s');
		CREATE TABLE airports (iata STRING, name STRING, city STRING, state STRING, country STRING, latitude DOUBLE, longitude DOUBLE)
			WITH ('connector' = 'filesystem', 'path' = '%s', 'csv.null-literal' = 'NA');
		SELECT band, COUNT(*), SUM(delay) FROM (SELECT CAST(%s AS BIGINT) AS band, CAST(f.delay AS BIGINT) AS delay FROM flights AS f %s) GROUP BY band`,
		flights, airports, band, join), func(q *engine.Query) error {
		for q.Changelog() != nil {
			b, err := q.Changelog().Next(ctx)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			for i := range b.Len() {
				r := b.Row(i)
				key := vector.Values[int64](b.Col(0))[r]
				if !b.Kind(r).Adds() {
					delete(got, key)
					continue
				}
				got[key] = group{vector.Values[int64](b.Col(1))[r], vector.Values[int64](b.Col(2))[r]}
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
