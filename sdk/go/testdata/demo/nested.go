package demo

import weir "github.com/weirdb/weir/sdk/go"

//weir:scalar array_sum(a ARRAY<BIGINT>) BIGINT deterministic
func arraySum(a []int64) (sum int64) {
	for _, v := range a {
		sum += v
	}
	return sum
}

//weir:scalar array_reverse(a ARRAY<INT>) ARRAY<INT> deterministic
func arrayReverse(a []weir.Null[int32]) []weir.Null[int32] {
	for i, j := 0, len(a)-1; i < j; i, j = i+1, j-1 {
		a[i], a[j] = a[j], a[i]
	}
	return a
}

type point struct {
	X, Y  float64
	Label weir.Null[string]
}

//weir:scalar mirror(p ROW<x DOUBLE, y DOUBLE, label STRING>) ROW<x DOUBLE, y DOUBLE, label STRING> deterministic
func mirror(p point) weir.Null[point] {
	if p.X == p.Y {
		return weir.None[point]()
	}
	p.X, p.Y = p.Y, p.X
	return weir.Some(p)
}

//weir:scalar centroids(p ARRAY<ARRAY<ROW<x DOUBLE, y DOUBLE, label STRING>>>) ARRAY<ROW<x DOUBLE, y DOUBLE, label STRING>> deterministic
func centroids(groups [][]point) []point {
	var out []point
	for _, g := range groups {
		var c point
		for _, p := range g {
			c.X += p.X / float64(len(g))
			c.Y += p.Y / float64(len(g))
			if p.Label.Valid {
				c.Label = p.Label
			}
		}
		out = append(out, c)
	}
	return out
}

//weir:scalar swap_map(m MAP<STRING, INT>) MAP<INT, STRING> deterministic
func swapMap(m []weir.Entry[string, int32]) []weir.Entry[int32, string] {
	var out []weir.Entry[int32, string]
	for _, e := range m {
		out = append(out, weir.Entry[int32, string]{Key: e.Value, Value: e.Key})
	}
	return out
}

// echo hands every type back that SQL has.
type everything struct {
	Boolean   weir.Null[bool]
	Tiny      weir.Null[int8]
	Small     weir.Null[int16]
	Int       weir.Null[int32]
	Big       weir.Null[int64]
	Float     weir.Null[float32]
	Double    weir.Null[float64]
	Decimal   weir.Null[weir.Decimal]
	Date      weir.Null[weir.Date]
	Time      weir.Null[int32]
	Nano      weir.Null[int64]
	Timestamp weir.Null[int64]
	Instant   weir.Null[int64]
	Text      weir.Null[string]
	Bytes     weir.Null[[]byte]
	Months    weir.Null[int32]
	Millis    weir.Null[int64]
	List      weir.Null[[]weir.Null[string]]
	Flags     weir.Null[[]weir.Null[bool]]
	Map       weir.Null[[]weir.Entry[string, weir.Null[[]weir.Null[int64]]]]
	Bag       weir.Null[[]weir.Entry[string, int32]]
	Items     weir.Null[[]weir.Null[item]]
}

type item struct {
	Number weir.Null[int8]
	Label  weir.Null[label]
}

type label struct {
	Text  weir.Null[string]
	Price weir.Null[weir.Decimal]
}

//weir:scalar echo(v ROW<f1 BOOLEAN, f2 TINYINT, f3 SMALLINT, f4 INT, f5 BIGINT, f6 FLOAT, f7 DOUBLE, f8 DECIMAL(30, 5), f9 DATE, f10 TIME(3), f11 TIME(9), f12 TIMESTAMP(3), f13 TIMESTAMP_LTZ(9), f14 STRING, f15 BYTES, f16 INTERVAL YEAR TO MONTH, f17 INTERVAL DAY TO SECOND, f18 ARRAY<STRING>, f19 ARRAY<BOOLEAN>, f20 MAP<STRING, ARRAY<BIGINT>>, f21 MULTISET<STRING>, f22 ARRAY<ROW<a TINYINT, b ROW<c STRING, d DECIMAL(4, 1)>>>>) ROW<f1 BOOLEAN, f2 TINYINT, f3 SMALLINT, f4 INT, f5 BIGINT, f6 FLOAT, f7 DOUBLE, f8 DECIMAL(30, 5), f9 DATE, f10 TIME(3), f11 TIME(9), f12 TIMESTAMP(3), f13 TIMESTAMP_LTZ(9), f14 STRING, f15 BYTES, f16 INTERVAL YEAR TO MONTH, f17 INTERVAL DAY TO SECOND, f18 ARRAY<STRING>, f19 ARRAY<BOOLEAN>, f20 MAP<STRING, ARRAY<BIGINT>>, f21 MULTISET<STRING>, f22 ARRAY<ROW<a TINYINT, b ROW<c STRING, d DECIMAL(4, 1)>>>> deterministic
func echo(v weir.Null[everything]) weir.Null[everything] { return v }
