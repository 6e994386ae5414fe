package udf_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// collect runs a call that yields rows and shows each as parent: fields.
func collect(t *testing.T, f *udf.Function, call func(yield func(*udf.Rows) error) error) (out []string, pieces int) {
	t.Helper()
	err := call(func(r *udf.Rows) error {
		pieces++
		var columns [][]string
		for c, v := range r.Columns {
			columns = append(columns, show(f.Returns.Fields[c].Type, v))
		}
		for k := range r.Len {
			s := fmt.Sprintf("%d:", r.Parent[k])
			if r.Retract != nil && r.Retract[k] {
				s = "-" + s
			}
			for _, texts := range columns {
				s += " " + texts[k]
			}
			out = append(out, s)
		}
		r.Release()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, pieces
}

func TestTableFunction(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	p := checkedPool(t)
	i := open(t, m, "split")
	s := parse(t, p, i.Function().Inputs(1)[0], "a/b", "NULL", "", "c", "NULL", "/d")
	defer s.Release()
	call := udf.Call{Args: []*vector.Vector{s}, Rows: 6, Pool: p}
	got, _ := collect(t, i.Function(), func(y func(*udf.Rows) error) error { return i.CallTable(context.Background(), &call, y) })
	want := []string{"0: a 0", "0: b 1", "2:  0", "3: c 0", "5:  0", "5: d 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	call.Sel, call.Rows = []int32{5, 1, 0}, 3
	got, _ = collect(t, i.Function(), func(y func(*udf.Rows) error) error { return i.CallTable(context.Background(), &call, y) })
	if want := []string{"0:  0", "0: d 1", "2: a 0", "2: b 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	call.Sel, call.Rows = nil, 0
	if got, _ = collect(t, i.Function(), func(y func(*udf.Rows) error) error { return i.CallTable(context.Background(), &call, y) }); len(got) > 0 {
		t.Errorf("rows of no row: %q", got)
	}
}

func TestTableFunctionGoesOn(t *testing.T) {
	for _, memory := range []int64{4 << 20, 16 << 20} {
		m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{Memory: memory, Fuel: 1 << 30, RowsOut: 45_000})
		p := checkedPool(t)
		i := open(t, m, "split")
		texts := []string{strings.Repeat("x/", 19_999) + "x", "y", strings.Repeat("zz/", 20_000)}
		s := vector.OfStrings(p, texts...)
		defer s.Release()
		call := udf.Call{Args: []*vector.Vector{s}, Rows: 3, Pool: p}
		got, pieces := collect(t, i.Function(), func(y func(*udf.Rows) error) error { return i.CallTable(context.Background(), &call, y) })
		if len(got) != 40_002 || pieces < 2 || got[20_000] != "1: y 0" || got[19_999] != "0: x 19999" || got[40_001] != "2:  20000" {
			t.Errorf("%d rows in %d pieces: %q", len(got), pieces, got[19_999:20_003])
		}
		stop := errors.New("enough")
		if err := i.CallTable(context.Background(), &call, func(r *udf.Rows) error { r.Release(); return stop }); !errors.Is(err, stop) || !i.Dead() {
			t.Errorf("an error of the caller: %v, dead %v", err, i.Dead())
		}

		i = open(t, m, "split")
		many := vector.OfStrings(p, append(texts, texts...)...)
		defer many.Release()
		call.Args, call.Rows = []*vector.Vector{many}, 6
		err := i.CallTable(context.Background(), &call, func(r *udf.Rows) error { r.Release(); return nil })
		if f := faultOf(t, err); f.Cause != udf.Overflow {
			t.Errorf("80000 rows: %v", err)
		}
	}
}

func TestTemporalFunction(t *testing.T) {
	m := loadFile(t, openHost(t, udf.Config{}), kinds, udf.Limits{})
	p := checkedPool(t)
	i := open(t, m, "rate_at")
	f := i.Function()
	var args []*vector.Vector
	for k, texts := range [][]string{
		{"EUR", "EUR", "USD", "NULL", "JPY"},
		{"1970-01-01 00:00:05", "1970-01-01 00:00:05", "1970-01-01 00:00:05", "1970-01-01 00:00:05", "1970-01-01 00:00:07"},
		{"1970-01-01 00:00:00", "NULL", "1970-01-01 00:00:04", "1970-01-01 00:00:04", "1970-01-01 00:00:06"},
		{"1.0", "NULL", "2.0", "3.0", "4.0"},
		{"1970-01-01 00:00:10", "1970-01-01 00:00:10", "NULL", "NULL", "1970-01-01 00:00:08"},
		{"2.0", "9.0", "NULL", "NULL", "8.0"},
	} {
		v := parse(t, p, f.Inputs(0)[k], texts...)
		defer v.Release()
		args = append(args, v)
	}
	call := udf.Call{Args: args, Rows: 5, Pool: p}
	got, _ := collect(t, f, func(y func(*udf.Rows) error) error { return i.CallTable(context.Background(), &call, y) })
	if want := []string{"0: 1.5", "2: 2.0", "4: 6.0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: versions may be missing, keys not", got, want)
	}
}
