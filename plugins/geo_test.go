package plugins_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

func TestGeo(t *testing.T) {
	eachBuild(t, "geo", func(t *testing.T, m *udf.Module) {
		t.Run("Haversine", func(t *testing.T) { testHaversine(t, m) })
		t.Run("HaversineRandom", func(t *testing.T) { testHaversineRandom(t, m) })
		t.Run("Geohash", func(t *testing.T) { testGeohash(t, m) })
	})
}

const radius = 6371008.7714

func testHaversine(t *testing.T, m *udf.Module) {
	p := vector.NewCheckedPool()
	for _, c := range []struct {
		name                   string
		lat1, lon1, lat2, lon2 float64
		want, within           float64
	}{
		// Published with a radius of 6372.8 km: 2887.2599506071106 km.
		{"Nashville to Los Angeles (Rosetta Code)", 36.12, -86.67, 33.94, -118.40, 2887259.9506071106 * radius / 6372800, 1e-6},
		{"the same place", 47.5, 8.5, 47.5, 8.5, 0, 0},
		{"a quarter of the equator", 0, 0, 0, 90, math.Pi / 2 * radius, 1e-6},
		{"pole to pole", 90, 0, -90, 0, math.Pi * radius, 1e-6},
		{"antipodes", 12.5, 40, -12.5, -140, math.Pi * radius, 0.2}, // the formula is flat there
		{"over the date line", 0, 179.5, 0, -179.5, math.Pi / 180 * radius, 1e-6},
		{"a metre", 0, 0, 0, 0.00001, math.Pi / 180 * radius * 0.00001, 1e-9},
	} {
		out, err := evaluate(t, p, m, "haversine", 1, vector.Of(p, c.lat1), vector.Of(p, c.lon1), vector.Of(p, c.lat2), vector.Of(p, c.lon2))
		if err != nil {
			t.Fatal(err)
		}
		if got := vector.Values[float64](out)[0]; !(math.Abs(got-c.want) <= c.within) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		out.Release()
	}
	noLeaks(t, p)
}

// distance is the angle between unit vectors: another formula for the same thing.
func distance(lat1, lon1, lat2, lon2 float64) float64 {
	vec := func(lat, lon float64) [3]float64 {
		lat, lon = lat*math.Pi/180, lon*math.Pi/180
		return [3]float64{math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)}
	}
	a, b := vec(lat1, lon1), vec(lat2, lon2)
	cross := [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	return radius * math.Atan2(math.Hypot(math.Hypot(cross[0], cross[1]), cross[2]), a[0]*b[0]+a[1]*b[1]+a[2]*b[2])
}

func testHaversineRandom(t *testing.T, m *udf.Module) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	p := vector.NewCheckedPool()
	r := rand.New(rand.NewPCG(seed, 1))
	var c [4][]float64
	for range 5000 {
		for k, most := range []float64{90, 180, 90, 180} {
			c[k] = append(c[k], (2*r.Float64()-1)*most)
		}
	}
	out, err := evaluate(t, p, m, "haversine", len(c[0]), vector.Of(p, c[0]...), vector.Of(p, c[1]...), vector.Of(p, c[2]...), vector.Of(p, c[3]...))
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range vector.Values[float64](out) {
		if want := distance(c[0][i], c[1][i], c[2][i], c[3][i]); math.Abs(got-want) > 0.5 {
			t.Errorf("from %v %v to %v %v: %v, want %v", c[0][i], c[1][i], c[2][i], c[3][i], got, want)
		}
	}
	out.Release()
	noLeaks(t, p)
}

// geohash halves intervals, as the algorithm is told everywhere.
func geohash(lat, lon float64, length int) string {
	const digits = "0123456789bcdefghjkmnpqrstuvwxyz"
	ranges := [2][2]float64{{-180, 180}, {-90, 90}}
	values := [2]float64{lon, lat}
	var b strings.Builder
	for k := range length {
		d := 0
		for i := range 5 {
			r := &ranges[(5*k+i)%2]
			mid := (r[0] + r[1]) / 2
			if d <<= 1; values[(5*k+i)%2] >= mid {
				d |= 1
				r[0] = mid
			} else {
				r[1] = mid
			}
		}
		b.WriteByte(digits[d])
	}
	return b.String()
}

func testGeohash(t *testing.T, m *udf.Module) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	p := vector.NewCheckedPool()
	r := rand.New(rand.NewPCG(seed, 1))
	lat := []float64{57.64911, 42.6, 0, 90, -90, 90, -1e-20, 1e-20, math.Copysign(0, -1), 45, math.Nextafter(45, 0)}
	lon := []float64{10.40744, -5.6, 0, 180, -180, -180, -1e-300, 1e-300, 0, 90, math.Nextafter(90, 0)}
	length := []int32{11, 5, 12, 12, 12, 1, 12, 12, 12, 12, 12}
	for range 5000 {
		// Bounds of cells, and their neighbours, besides points anywhere.
		step := 180.0 / float64(int64(1)<<r.IntN(31))
		a := math.Floor((2*r.Float64()-1)*90/step) * step
		o := math.Floor((2*r.Float64()-1)*180/step) * step
		switch r.IntN(3) {
		case 0:
			a, o = math.Nextafter(a, -90), math.Nextafter(o, -180)
		case 1:
			a, o = (2*r.Float64()-1)*90, (2*r.Float64()-1)*180
		}
		lat, lon, length = append(lat, max(a, -90)), append(lon, max(o, -180)), append(length, int32(1+r.IntN(12)))
	}
	out, err := evaluate(t, p, m, "geohash", len(lat), vector.Of(p, lat...), vector.Of(p, lon...), vector.Of(p, length...))
	if err != nil {
		t.Fatal(err)
	}
	// From the Wikipedia article on geohash.
	if out.Text(0) != "u4pruydqqvj" || out.Text(1) != "ezs42" {
		t.Errorf("%s, %s", out.Text(0), out.Text(1))
	}
	for i := range lat {
		if got, want := out.Text(i), geohash(lat[i], lon[i], int(length[i])); got != want {
			t.Errorf("geohash(%v, %v, %d) = %s, want %s", lat[i], lon[i], length[i], got, want)
		}
	}
	out.Release()
	for _, c := range []struct {
		lat, lon float64
		length   int32
		want     string
	}{
		{90.1, 0, 12, "the latitude is not from -90 to 90"},
		{math.NaN(), 0, 12, "the latitude is not from -90 to 90"},
		{0, -181, 12, "the longitude is not from -180 to 180"},
		{0, 0, 0, "the length is not from 1 to 12"},
		{0, 0, 13, "the length is not from 1 to 12"},
	} {
		_, err := evaluate(t, p, m, "geohash", 2, vector.Of(p, 0, c.lat), vector.Of(p, 0, c.lon), vector.Of(p, 1, c.length))
		if row, reason := refused(t, err); row != 1 || reason != c.want {
			t.Errorf("geohash(%v, %v, %v): row %d, %s", c.lat, c.lon, c.length, row, reason)
		}
	}
	// What a null row holds is not looked at.
	bad, one := 1000.0, int32(3)
	add := vector.Append[float64]
	out, err = evaluate(t, p, m, "geohash", 2, column(p, vector.Float64, add, &bad, nil), column(p, vector.Float64, add, nil, &bad),
		column(p, vector.Int32, vector.Append[int32], &one, &one))
	if err != nil {
		t.Fatal(err)
	}
	if !out.IsNull(0) || !out.IsNull(1) {
		t.Error("want NULL, NULL")
	}
	out.Release()
	noLeaks(t, p)
}
