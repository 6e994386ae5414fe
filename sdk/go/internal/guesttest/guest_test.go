package guesttest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// columnOf makes a column of values as people write them.
func columnOf(t *testing.T, p *vector.Pool, typ sqltype.Type, texts []string) *vector.Vector {
	t.Helper()
	c := vector.NewColumnBuilder(p, typ.Kind())
	for _, text := range texts {
		if text == "NULL" {
			c.AppendNull()
		} else if !sqltype.AppendParsed(c, typ, []byte(text)) {
			t.Fatalf("%q is no %s", text, typ)
		}
	}
	return c.Finish()
}

func textsOf(typ sqltype.Type, v *vector.Vector) (texts []string) {
	for i := range v.Len() {
		texts = append(texts, string(sqltype.AppendText(nil, typ, v, i)))
	}
	return texts
}

// callFor makes a call with a column of each list of texts.
func callFor(t *testing.T, p *vector.Pool, f *udf.Function, args [][]string) (*udf.Call, func()) {
	t.Helper()
	c := &udf.Call{Pool: p, Now: 1_700_000_000_123, Seed: 5}
	lead := len(f.Inputs(len(f.Args))) - len(f.Args) // of a temporal function
	for i, typ := range f.Inputs(len(args) - lead) {
		c.Args = append(c.Args, columnOf(t, p, typ, args[i]))
		c.Rows = len(args[i])
	}
	return c, func() {
		for _, a := range c.Args {
			a.Release()
		}
	}
}

func col(texts ...string) []string { return texts }

// TestGuest calls the functions of testdata/demo, which is compiled once.
func TestGuest(t *testing.T) {
	m := open(t)
	for name, test := range map[string]func(t *testing.T, m *udf.Module){
		"scalars": testScalars, "errors": testErrors, "clock and chance": testClockAndChance, "tables": testTables,
		"aggregates": testAggregates, "upgrade": testUpgrade, "table aggregates": testTableAggregates, "echo": testEcho, "allocations": testAllocations,
	} {
		t.Run(name, func(t *testing.T) { test(t, m) })
	}
}

func testScalars(t *testing.T, m *udf.Module) {
	for _, c := range []struct {
		name string
		args [][]string
		want []string
	}{
		{"add", [][]string{col("1", "NULL", "-5"), col("2", "3", "5")}, col("3", "NULL", "0")},
		{"add_rows", [][]string{col("1", "NULL", "-5"), col("2", "3", "5")}, col("3", "NULL", "0")},
		{"divide", [][]string{col("7", "NULL", "-7"), col("2", "0", "2")}, col("3", "NULL", "-3")},
		{"quotient", [][]string{col("7", "8"), col("2", "NULL")}, col("3", "NULL")},
		{"upper_ascii", [][]string{col("abc", "", "NULL", "Grüße")}, col("ABC", "", "NULL", "GRüßE")},
		{"upper_string", [][]string{col("abc", "", "NULL", "grüße")}, col("ABC", "", "NULL", "GRÜßE")},
		{"repeat_string", [][]string{col("ab", "x", "NULL", ""), col("3", "0", "1", "9")}, col("ababab", "", "NULL", "")},
		{"coalesce2", [][]string{col("1", "NULL", "NULL"), col("2", "3", "NULL")}, col("1", "3", "NULL")},
		{"null_if_odd", [][]string{col("1", "2", "NULL")}, col("NULL", "2", "NULL")},
		{"half_called", [][]string{col("a", "NULL", "b"), col("x", "y", "NULL")}, col("ax", "-y", "NULL")},
		{"is_weekend", [][]string{col("2024-06-01", "2024-06-03", "NULL")}, col("TRUE", "FALSE", "NULL")},
		{"next_month", [][]string{col("2024-01-15 10:20:30.123456", "1969-12-31 23:59:59.5")}, col("2024-02-15 10:20:30.123456", "1970-01-31 23:59:59.5")},
		{"half_time", [][]string{col("10:00:00.000000002")}, col("05:00:00.000000001")},
		{"plus_money", [][]string{col("1.50", "-0.01"), col("2.25", "0.01")}, col("3.75", "0.00")},
		{"any_true", [][]string{col("false", "true", "false"), col("false", "false", "NULL"), col("true", "false", "true")}, col("TRUE", "TRUE", "NULL")},
		{"join_all", [][]string{col("-", "-", "NULL"), col("a", "NULL", "a"), col("b", "b", "b")}, col("a-b", "b", "NULL")},
		{"join_all", [][]string{col("-"), col("a")}, col("a")},
		{"array_sum", [][]string{col("[1, 2, 3]", "[]", "NULL")}, col("6", "0", "NULL")},
		{"array_reverse", [][]string{col("[1, NULL, 3]", "[]", "NULL")}, col("[3, NULL, 1]", "[]", "NULL")},
		{"mirror", [][]string{col("(1.0, 2.0, a)", "(3.0, 3.0, b)", "(1.0, 0.0, NULL)", "NULL")}, col("(2.0, 1.0, a)", "NULL", "(0.0, 1.0, NULL)", "NULL")},
		{"centroids", [][]string{col("[[(1.0, 2.0, a), (3.0, 4.0, NULL)], []]", "[]")}, col("[(2.0, 3.0, a), (0.0, 0.0, NULL)]", "[]")},
		{"swap_map", [][]string{col("{a=1, b=2}", "{}", "NULL")}, col("{1=a, 2=b}", "{}", "NULL")},
		{"odd_fails", [][]string{col("2", "NULL", "4")}, col("2", "NULL", "4")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := vector.NewCheckedPool()
			f, _ := m.Function(c.name)
			call, done := callFor(t, p, f, c.args)
			in, err := f.Open(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			for range 2 {
				v, err := in.Call(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				if got := textsOf(f.Returns, v); !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
				v.Release()
			}
			done()
			if err := p.Leaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

// testErrors finds what a function said, and the row.
func testErrors(t *testing.T, m *udf.Module) {
	for _, c := range []struct {
		name string
		args [][]string
		row  int
		want string
	}{
		{"divide", [][]string{col("1", "NULL", "1"), col("1", "0", "0")}, 2, "b is zero"},
		{"quotient", [][]string{col("1", "1"), col("1", "0")}, 1, "panic: runtime error: integer divide by zero"},
		{"repeat_string", [][]string{col("a"), col("-3")}, 0, "n is not between 0 and 100: -3"},
		{"odd_fails", [][]string{col("2", "4", "5")}, 2, "odd"},
		{"array_sum", [][]string{col("[1]", "[1, NULL]")}, 1, "argument a holds a NULL inside"},
		{"any_true", [][]string{col("true"), col("true")}, -2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := vector.NewPool()
			f, _ := m.Function(c.name)
			call, done := callFor(t, p, f, c.args)
			defer done()
			in, err := f.Open(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			v, err := in.Call(t.Context(), call)
			if c.row == -2 {
				if err != nil {
					t.Fatal(err)
				}
				v.Release()
				return
			}
			var fault *udf.Fault
			if !errors.As(err, &fault) || fault.Cause != udf.Refused || fault.Row != c.row || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want row %d: %s", err, c.row, c.want)
			}
		})
	}
}

// testClockAndChance sees what the call gives.
func testClockAndChance(t *testing.T, m *udf.Module) {
	p := vector.NewPool()
	f, _ := m.Function("draw")
	call, done := callFor(t, p, f, [][]string{col("1000000", "1000000", "1000000")})
	defer done()
	draw := func(in *udf.Instance, seed uint64) []string {
		call.Seed = seed
		v, err := in.Call(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Release()
		return textsOf(f.Returns, v)
	}
	in, err := f.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	a, b, c := draw(in, 1), draw(in, 2), draw(in, 1)
	if slices.Equal(a, b) || !slices.Equal(a, c) || a[0] == a[1] {
		t.Errorf("%v, %v, %v", a, b, c)
	}
	clock, _ := m.Function("clock")
	ci, err := clock.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	v, err := ci.Call(t.Context(), &udf.Call{Rows: 2, Now: 1_700_000_000_123, Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	if got := textsOf(clock.Returns, v); !slices.Equal(got, col("2023-11-14 22:13:20.123Z", "2023-11-14 22:13:20.123Z")) {
		t.Error(got)
	}
}

// tableOf evaluates a function that makes rows: each is parent: fields.
func tableOf(t *testing.T, f *udf.Function, run func(yield func(*udf.Rows) error) error) (rows []string) {
	t.Helper()
	err := run(func(r *udf.Rows) error {
		defer r.Release()
		for i := range r.Len {
			var fields []string
			for k, typ := range f.Returns.Fields {
				fields = append(fields, string(sqltype.AppendText(nil, typ.Type, r.Columns[k], i)))
			}
			sign := ""
			if r.Retract != nil {
				sign = map[bool]string{true: "-"}[r.Retract[i]]
			}
			rows = append(rows, fmt.Sprintf("%s%d: %s", sign, r.Parent[i], strings.Join(fields, " ")))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func testTables(t *testing.T, m *udf.Module) {
	long := strings.Repeat("p/", 9999)
	for _, c := range []struct {
		name string
		args [][]string
		want []string
		last string // of many
		n    int
	}{
		{"split", [][]string{col("a/b", "NULL", "", "c")}, col("0: a 0", "0: b 1", "2:  0", "3: c 0"), "", 4},
		{"split", [][]string{col("x", long, "y")}, nil, "2: y 0", 10002},
		{"series", [][]string{col("1", "5", "NULL", "7"), col("3", "4", "1", "7")}, col("0: 1", "0: 2", "0: 3", "3: 7"), "", 4},
		{"series", [][]string{col("1", "1"), col("100000", "2")}, nil, "1: 2", 100002},
		{
			"rate_at", [][]string{
				col("EUR", "EUR", "EUR", "NULL"), col("1970-01-01 00:00:05", "1970-01-01 00:00:05", "1970-01-01 00:00:05", "1970-01-01 00:00:05"),
				col("1970-01-01 00:00:00", "1970-01-01 00:00:00", "NULL", "1970-01-01 00:00:00"), col("1.0", "1.0", "NULL", "1.0"),
				col("1970-01-01 00:00:10", "NULL", "1970-01-01 00:00:10", "NULL"), col("2.0", "NULL", "2.0", "NULL"),
				col("1", "2", "1", "1"),
			}, col("0: 1.500000", "1: 2.000000"), "", 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := vector.NewCheckedPool()
			f, _ := m.Function(c.name)
			call, done := callFor(t, p, f, c.args)
			in, err := f.Open(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			got := tableOf(t, f, func(yield func(*udf.Rows) error) error { return in.CallTable(t.Context(), call, yield) })
			if len(got) != c.n || c.want != nil && !slices.Equal(got, c.want) || c.want == nil && got[len(got)-1] != c.last {
				t.Errorf("%d rows: %q", len(got), got[max(0, len(got)-10):])
			}
			done()
			if err := p.Leaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

// statesOf are the states of groups without rows.
func statesOf(t *testing.T, in *udf.Instance, groups int) *udf.States {
	t.Helper()
	first, err := in.Init(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &udf.States{}
	for range groups {
		if in.Function().StateSize == 0 {
			s.Views = append(s.Views, slices.Clone(first))
		} else {
			s.Fixed = append(s.Fixed, first...)
		}
	}
	return s
}

func testAggregates(t *testing.T, m *udf.Module) {
	for _, c := range []struct {
		name  string
		args  [][]string
		group []uint32
		sign  []int8
		want  []string // of three groups
	}{
		{"avg2", [][]string{col("4", "8", "NULL", "5", "5")}, []uint32{0, 0, 0, 1, 1}, nil, col("6", "5", "NULL")},
		{"avg2", [][]string{col("4", "8", "4", "5", "5")}, []uint32{0, 0, 0, 1, 1}, []int8{1, 1, -1, 1, -1}, col("8", "NULL", "NULL")},
		{"smallest", [][]string{col("4", "-8", "NULL", "5")}, []uint32{0, 0, 1, 2}, nil, col("-8", "NULL", "5")},
		{"str_agg", [][]string{col("a", "b", "NULL", "", "c"), col("-", "-", "-", "-", "NULL")}, []uint32{0, 0, 0, 1, 2}, nil, col("a-b", "", "NULL")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := vector.NewCheckedPool()
			f, _ := m.Function(c.name)
			call, done := callFor(t, p, f, c.args)
			in, err := f.Open(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			s := statesOf(t, in, 3)
			if err := in.Update(t.Context(), call, c.group, c.sign, s); err != nil {
				t.Fatal(err)
			}
			finish := func(s *udf.States) []string {
				v, err := in.Finish(t.Context(), &udf.Call{Pool: p}, s)
				if err != nil {
					t.Fatal(err)
				}
				defer v.Release()
				return textsOf(f.Returns, v)
			}
			if got := finish(s); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if f.Merge { // into states without rows: nothing changes
				empty := statesOf(t, in, 3)
				if err := in.Merge(t.Context(), &udf.Call{Pool: p}, s, []uint32{0, 1, 2}, empty); err != nil {
					t.Fatal(err)
				}
				if got := finish(empty); !slices.Equal(got, c.want) {
					t.Errorf("merged: %q, want %q", got, c.want)
				}
			}
			done()
			if err := p.Leaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

func testUpgrade(t *testing.T, m *udf.Module) {
	f, _ := m.Function("smallest")
	in, err := f.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	old := &udf.States{Fixed: []byte{7, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}} // 7, seen; 9, not seen
	p := vector.NewPool()
	s, err := in.Upgrade(t.Context(), &udf.Call{Pool: p}, old, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := in.Finish(t.Context(), &udf.Call{Pool: p}, s)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	if got := textsOf(f.Returns, v); !slices.Equal(got, col("7", "NULL")) {
		t.Error(got)
	}
}

func testTableAggregates(t *testing.T, m *udf.Module) {
	p := vector.NewPool()
	emitted := func(in *udf.Instance, s *udf.States) []string {
		return tableOf(t, in.Function(), func(yield func(*udf.Rows) error) error {
			return in.Emit(t.Context(), &udf.Call{Pool: p}, s, yield)
		})
	}
	update := func(in *udf.Instance, s *udf.States, sign []int8, group []uint32, texts ...string) {
		call, done := callFor(t, p, in.Function(), [][]string{texts})
		defer done()
		if err := in.Update(t.Context(), call, group, sign, s); err != nil {
			t.Fatal(err)
		}
	}
	top2, _ := m.Function("top2")
	in, err := top2.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	s := statesOf(t, in, 3)
	update(in, s, nil, []uint32{0, 0, 0, 2}, "3", "9", "5", "1")
	for range 2 { // the whole result, each time
		if got := emitted(in, s); !slices.Equal(got, col("0: 9 1", "0: 5 2", "2: 1 1")) {
			t.Error(got)
		}
	}
	distinct, _ := m.Function("distinct_values")
	di, err := distinct.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer di.Close()
	s = statesOf(t, di, 2)
	for _, c := range []struct {
		sign  []int8
		group []uint32
		texts []string
		want  []string
	}{
		{nil, []uint32{0, 0, 1}, col("4", "4", "4"), col("0: 4", "1: 4")},
		{[]int8{-1, 1}, []uint32{0, 0}, col("4", "5"), col("0: 5")},
		{[]int8{-1}, []uint32{0}, col("4"), col("-0: 4")},
		{[]int8{1, -1}, []uint32{1, 1}, col("7", "7"), nil},
	} {
		update(di, s, c.sign, c.group, c.texts...)
		if got := emitted(di, s); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	// More rows than one call hands over.
	var many []string
	var group []uint32
	for i := range 20_000 {
		many, group = append(many, fmt.Sprint(i)), append(group, 1)
	}
	update(di, s, nil, group, many...)
	if got := emitted(di, s); len(got) != 20_000-1 || got[0] != "1: 0" || got[len(got)-1] != "1: 19999" {
		t.Error(len(got))
	}
	if got := emitted(di, s); len(got) != 0 {
		t.Errorf("%d changes again", len(got))
	}
}

// testEcho sends every type there is and back; check sends random values.
func testEcho(t *testing.T, m *udf.Module) {
	p := vector.NewCheckedPool()
	f, _ := m.Function("echo")
	b := vector.NewColumnBuilder(p, f.Returns.Kind())
	for i := range 100 {
		if i%9 == 4 {
			b.AppendNull()
			continue
		}
		for k, field := range f.Returns.Fields {
			if (i+k)%5 == 0 {
				b.Child(k).AppendNull()
			} else {
				appendSome(b.Child(k), field.Type, int64(i*31+k))
			}
		}
		b.EndValue()
	}
	v := b.Finish()
	in, err := f.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := in.Call(t.Context(), &udf.Call{Args: []*vector.Vector{v}, Rows: 100, Pool: p})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if vector.Compare(v, i, out, i) != 0 {
			t.Errorf("row %d: %s\nbecomes %s", i, sqltype.AppendText(nil, f.Returns, v, i), sqltype.AppendText(nil, f.Returns, out, i))
		}
	}
	out.Release()
	v.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

// appendSome adds a value of any type made from a number.
func appendSome(c *vector.ColumnBuilder, t sqltype.Type, x int64) {
	switch c.Kind() {
	case vector.Bool:
		vector.Append(c, x%2 == 0)
	case vector.Int8:
		vector.Append(c, int8(x))
	case vector.Int16:
		vector.Append(c, int16(x))
	case vector.Int32:
		vector.Append(c, int32(x))
	case vector.Int64:
		vector.Append(c, x)
	case vector.Float32:
		vector.Append(c, float32(x)/4)
	case vector.Float64:
		vector.Append(c, float64(x)/4)
	case vector.Decimal:
		vector.Append(c, vector.DecFromInt64(-x))
	case vector.String, vector.Bytes:
		c.AppendString(strings.Repeat("ab", int(x%7)))
	default:
		kids, n := t.Children(), x%4
		if t.ID == sqltype.Row {
			n = 1
		}
		for j := range n {
			for k, kid := range kids {
				appendSome(c.Child(k), kid, x+j)
			}
		}
		c.EndValue()
	}
}

// testAllocations calls functions until they have what memory they need, and finds
// that they allocate no more, whatever the author's own code does.
func testAllocations(t *testing.T, m *udf.Module) {
	p, pool := vector.NewPool(), udf.NewPool()
	defer pool.Close()
	mallocs := func() int64 { // by the same instance
		f, _ := m.Function("mallocs")
		in, err := f.Open(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		v, err := in.Call(t.Context(), &udf.Call{Rows: 1, Now: 1, Pool: p})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Release()
		return vector.Values[int64](v)[0]
	}
	const calls = 100
	for name, args := range map[string][][]string{
		"add": {col("1", "2"), col("3", "4")}, "divide": {col("1", "NULL"), col("3", "4")}, "coalesce2": {col("1", "NULL"), col("NULL", "4")},
		"upper_ascii": {col("abc", "NULL")}, "repeat_string": {col("abc", "d"), col("9", "80")}, "array_reverse": {col("[1, NULL, 2]", "[3]")},
		"any_true": {col("true", "false"), col("true", "NULL")}, "echo": {col("NULL", "NULL")}, "half_time": {col("10:00:00")},
		"is_weekend": {col("2024-06-01")}, "upper_string": {col("abc")}, "plus_money": {col("1.5"), col("2.5")}, "split": {col("a/b/c", "d")}, "series": {col("1"), col("500")},
	} {
		f, _ := m.Function(name)
		call, done := callFor(t, p, f, args)
		in, err := f.Open(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		run := func(in *udf.Instance) {
			for range calls {
				if f.Kind != abi.Scalar {
					err = in.CallTable(t.Context(), call, func(r *udf.Rows) error {
						r.Release()
						return nil
					})
				} else if v, e := in.Call(t.Context(), call); e == nil {
					v.Release()
				} else {
					err = e
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		run(in)
		in.Close()
		before := mallocs()
		idle := mallocs() - before // what counting itself takes
		before = mallocs()
		if in, err = f.Open(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
		run(in)
		in.Close()
		n := mallocs() - before - idle
		if name == "upper_string" { // strings.ToUpper does: the count counts
			n = calls - n
		}
		if n > calls/10 {
			t.Errorf("%s: %d allocations in %d calls", name, n, calls)
		}
		done()
	}
}
