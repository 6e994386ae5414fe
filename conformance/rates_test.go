package conformance

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/udf"
)

const ratesDir = "conformance/testdata/rates/"

// TestRatesTour runs the tour of the README, which converts orders at the rates of their
// time, and compares with a loop over the two files.
func TestRatesTour(t *testing.T) {
	t.Chdir("..") // the script's files are named from there
	text, err := os.ReadFile(ratesDir + "tour.sql")
	if err != nil {
		t.Fatal(err)
	}
	booked := bookedByHand(t)
	if len(booked) != 40 {
		t.Fatalf("%d orders have a rate, want 40", len(booked))
	}
	var all, first []string
	for _, b := range booked {
		all = append(all, b.row)
		if b.at < "2026-09-05" {
			first = append(first, b.row)
		}
	}
	want := [][]string{first, weeksByHand(t, booked), ratesByHand(t, "2026-09-15 12:00:00", "CHF", "EUR", "USD"), all}
	modules := udf.Config{CacheDir: filepath.Join(t.TempDir(), "modules")}
	for _, size := range []int{1, 7, 8192} {
		for _, parallelism := range []int{1, 2} {
			t.Run(fmt.Sprintf("batch=%d, parallel=%d", size, parallelism), func(t *testing.T) {
				got := resultsOf(t, engine.Config{Parallelism: parallelism, UDF: modules}, fmt.Sprintf("SET 'exec.batch-size' = '%d';\n%s\nSELECT * FROM booked ORDER BY order_time;", size, text))
				if len(got) != len(want) {
					t.Fatalf("%d results, want %d", len(got), len(want))
				}
				for i := range want {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("query %d:\n%s\nwant:\n%s", i, strings.Join(got[i], "\n"), strings.Join(want[i], "\n"))
					}
				}
			})
		}
	}
}

// TestRatesAreWaitedFor asks a query over files that grow why it has no row: the order of
// the last day may still get a rate of that day.
func TestRatesAreWaitedFor(t *testing.T) {
	t.Chdir("..")
	text, err := os.ReadFile(ratesDir + "waiting.sql")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	e, err := engine.Open(ctx, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var got string
	err = e.ExecuteScript(ctx, string(text), func(q *engine.Query) error {
		if q.Job() == "" {
			return nil
		}
		if err := q.Sync(ctx); err != nil {
			return err
		}
		got = q.Explain()
		return q.Stop(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `no rows in Collect: TemporalJoin has taken in 373 rows and waits for event time to go on: Scan rates, split "conformance/testdata/rates/rates.csv", at 2026-09-28 23:59:59.999`
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwhich has not\n%s", got, want)
	}
}

// resultsOf gives the rows of each query of a script in the order in which they came;
// none may be taken back.
func resultsOf(t *testing.T, config engine.Config, script string) [][]string {
	t.Helper()
	ctx := t.Context()
	e, err := engine.Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var out [][]string
	err = e.ExecuteScript(ctx, script, func(q *engine.Query) error {
		if q.Job() == "" {
			return nil // a statement that only defines something
		}
		var changes []rows.Row
		for {
			b, err := q.Changelog().Next(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			changes = rows.FromBatch(changes, q.Schema(), b)
			b.Release()
		}
		var result []string
		for _, c := range changes {
			if !c.Kind.Adds() {
				t.Errorf("%s: taken back", c)
			}
			result = append(result, c.Key(nil))
		}
		out = append(out, result)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bookedOrder is an order with what the tour computes of it; row is how that is shown.
type bookedOrder struct {
	at, row string
	yen     int64
}

// bookedByHand gives each order the last rate at or before its time, in order of time.
// Times are texts, which sort as times do.
func bookedByHand(t *testing.T) []bookedOrder {
	rates := csvRows(t, ratesDir+"rates.csv")
	var out []bookedOrder
	for _, o := range csvRows(t, ratesDir+"orders.csv") {
		id, at, amount, currency := o[0], o[1], exact(t, o[2]), o[3]
		r := rateAt(rates, at, currency)
		if r == nil {
			continue
		}
		rate := exact(t, r[2])
		yen := roundHalfEven(new(big.Rat).Mul(amount, rate), 0)
		digits := 2
		if currency == "JPY" || currency == "KRW" {
			digits = 0
		}
		fee := roundHalfEven(new(big.Rat).Mul(amount, big.NewRat(29, 1000)), digits)
		out = append(out, bookedOrder{
			at: at, yen: yen.Num().Int64(),
			row: fmt.Sprintf("%s '%s' %s %s %s %s %s", id, at, amount.FloatString(2), currency, rate.FloatString(6), yen.FloatString(0), fee.FloatString(2)),
		})
	}
	slices.SortFunc(out, func(a, b bookedOrder) int { return strings.Compare(a.at, b.at) })
	return out
}

// rateAt is the row of the last rate of a currency at or before a time.
func rateAt(rates [][]string, at, currency string) []string {
	var last []string
	for _, r := range rates {
		if r[1] == currency && r[0] <= at && (last == nil || r[0] >= last[0]) {
			last = r
		}
	}
	return last
}

// weeksByHand counts the orders of each week from Monday, and their yen.
func weeksByHand(t *testing.T, booked []bookedOrder) []string {
	type week struct{ orders, yen int64 }
	weeks := map[string]week{}
	for _, b := range booked {
		day, err := time.Parse(time.DateTime, b.at)
		if err != nil {
			t.Fatal(err)
		}
		for day.Weekday() != time.Monday {
			day = day.AddDate(0, 0, -1)
		}
		w := weeks[day.Format(time.DateOnly)]
		weeks[day.Format(time.DateOnly)] = week{w.orders + 1, w.yen + b.yen}
	}
	var out []string
	for monday, w := range weeks {
		out = append(out, fmt.Sprint(monday, " ", w.orders, " ", w.yen))
	}
	slices.Sort(out)
	return out
}

// ratesByHand is what the rates of some currencies were at a time.
func ratesByHand(t *testing.T, at string, currencies ...string) []string {
	rates := csvRows(t, ratesDir+"rates.csv")
	var out []string
	for _, c := range currencies {
		r := rateAt(rates, at, c)
		out = append(out, fmt.Sprintf("'%s' %s %s", r[0], c, exact(t, r[2]).FloatString(6)))
	}
	return out
}

// csvRows are the rows of a file behind its header.
func csvRows(t *testing.T, path string) [][]string {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

func exact(t *testing.T, number string) *big.Rat {
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		t.Fatal(strconv.Quote(number) + " is no number")
	}
	return r
}

// roundHalfEven rounds a number that is not negative to so many digits after the point.
func roundHalfEven(r *big.Rat, digits int) *big.Rat {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(unit))
	whole, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	half := rest.Lsh(rest, 1).Cmp(scaled.Denom())
	if half > 0 || half == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(whole, unit)
}
