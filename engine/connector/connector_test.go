package connector_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/blackhole"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/connector/datagen"
	"github.com/weirdb/weir/engine/connector/print"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestOptions(t *testing.T) {
	declared := []connector.Option{
		{Name: "path", Required: true, Doc: "where the file is"},
		{Name: "mode", Default: "fast", Choices: []string{"fast", "safe"}},
		{Name: "rows", Type: connector.IntOption, Default: "7"},
		{Name: "rate", Type: connector.FloatOption},
		{Name: "strict", Type: connector.BoolOption},
		{Name: "every", Type: connector.DurationOption, Default: "1 s"},
		{Name: "buffer", Type: connector.SizeOption, Default: "64 kb"},
		{Name: "fields.#.min", Type: connector.IntOption},
	}
	table := connectortest.Table(nil, "path", "x", "mode", "SAFE", "rate", "1e3", "strict", "TRUE", "every", "5 min", "fields.a.b.min", "3")
	opt, err := connector.ParseOptions(table, declared)
	if err != nil {
		t.Fatal(err)
	}
	if opt.Text("path") != "x" || opt.Text("mode") != "safe" || opt.Int("rows") != 7 || opt.Float("rate") != 1000 || !opt.Bool("strict") ||
		opt.Duration("every") != 5*time.Minute || opt.Size("buffer") != 65536 || opt.Int("fields.a.b.min") != 3 || opt.Int("fields.x.min") != 0 {
		t.Errorf("values are wrong: %v", opt)
	}
	if !opt.Given("path") || opt.Given("rows") || !opt.Has("rows") || opt.Has("fields.x.min") {
		t.Error("Given or Has is wrong")
	}
	if want := []string{"every", "fields.a.b.min", "mode", "path", "rate", "strict"}; !slices.Equal(opt.Keys(), want) {
		t.Errorf("keys: %v", opt.Keys())
	}
	for _, tt := range []struct {
		options []string
		want    string
	}{
		{nil, `line 1:14: table "t" needs the option 'path': where the file is`},
		{[]string{"path", "x", "paths", "y"}, `line 2:3: unknown option 'paths' for table "t"; did you mean "path"?`},
		{[]string{"path", "x", "colour", "red"}, `line 2:3: unknown option 'colour' for table "t"; the options are path, mode, rows, rate, strict, every, buffer, fields.#.min`},
		{[]string{"path", "x", "fields.a.mim", "1"}, `line 2:3: unknown option 'fields.a.mim' for table "t"; did you mean "fields.a.min"?`},
		{[]string{"path", "x", "mode", "slow"}, `line 2:3: option 'mode': 'slow' is none of 'fast', 'safe'`},
		{[]string{"path", "x", "rows", "many"}, `line 2:3: option 'rows': 'many' is not a whole number`},
		{[]string{"path", "x", "rate", "x"}, `line 2:3: option 'rate': 'x' is not a number`},
		{[]string{"path", "x", "strict", "1"}, `line 2:3: option 'strict': '1' is neither 'true' nor 'false'`},
		{[]string{"path", "x", "every", "soon"}, `line 2:3: option 'every': 'soon' is not a duration such as '10 s', '1 min' or '500 ms'`},
		{[]string{"path", "x", "buffer", "-1"}, `line 2:3: option 'buffer': '-1' is not a size such as '64 kb' or '16 mb'`},
		{[]string{"rows", "x", "strict", "x"}, "line 2:3: option 'rows': 'x' is not a whole number\nline 2:3: option 'strict': 'x' is neither 'true' nor 'false'\nline 1:14: table \"t\" needs the option 'path': where the file is"},
	} {
		_, err := connector.ParseOptions(connectortest.Table(nil, tt.options...), declared)
		if fmt.Sprint(err) != tt.want || errs.CodeOf(err) != errs.Option {
			t.Errorf("%v:\ngot  %v\nwant %s", tt.options, err, tt.want)
		}
	}
}

func TestDurationsAndSizes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10": 10 * time.Millisecond, "500ms": 500 * time.Millisecond, " 2 Seconds ": 2 * time.Second, "1m30s": 90 * time.Second, "1.5s": 1500 * time.Millisecond,
		"3 h": 3 * time.Hour, "1 d": 24 * time.Hour, "7us": 7 * time.Microsecond, "": -1, "x": -1, "-1 s": -1, "1 year": -1, "999999999999 d": -1,
	} {
		got, err := connector.ParseDuration(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]int64{
		"0": 0, "12": 12, "1 kb": 1024, "16MiB": 16 << 20, "2 g": 2 << 30, "1t": 1 << 40, "1.5mb": -1, "mb": -1, "9999999999 tb": -1, "1 pb": -1,
	} {
		got, err := connector.ParseSize(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestRegistry(t *testing.T) {
	r := connector.NewRegistry(print.Connector{}, blackhole.Connector{})
	r2 := r.With(datagen.Connector{}, print.Connector{})
	if got := strings.Join(r.Names(), " "); got != "blackhole print" {
		t.Errorf("names: %s", got)
	}
	if got := strings.Join(r2.Names(), " "); got != "blackhole datagen print" {
		t.Errorf("names: %s", got)
	}
	common := connector.Option{Name: "late-rows"}
	c, opt, err := r.Bind(connectortest.Table(nil, "connector", "print", "late-rows", "drop", "print-identifier", "x"), common)
	if err != nil || c.Name() != "print" || opt.Text("late-rows") != "drop" || opt.Text("print-identifier") != "x" {
		t.Errorf("got %v, %v", c, err)
	}
	for _, tt := range []struct{ options, want string }{
		{"", `line 1:14: table "t" has no option 'connector'; choose one of blackhole, print`},
		{"connector=prnt", `line 2:3: there is no connector "prnt"; did you mean "print"?`},
		{"connector=kafka", `line 2:3: there is no connector "kafka"; choose one of blackhole, print`},
		{"connector=print late-rows=drop", `line 2:3: unknown option 'late-rows' for table "t"; the options are connector, print-identifier, standard-error`},
	} {
		var options []string
		for _, o := range strings.Fields(tt.options) {
			k, v, _ := strings.Cut(o, "=")
			options = append(options, k, v)
		}
		if _, _, err := r.Bind(connectortest.Table(nil, options...)); fmt.Sprint(err) != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}

func TestAdapt(t *testing.T) {
	ts := sqltype.TimestampOf
	for _, tt := range []struct {
		from, to sqltype.Type
		in, want string // "": not allowed; "!": fails
	}{
		{sqltype.TinyType, sqltype.SmallType, "-7", "-7"},
		{sqltype.TinyType, sqltype.IntType, "-7", "-7"},
		{sqltype.TinyType, sqltype.BigIntType, "-7", "-7"},
		{sqltype.SmallType, sqltype.IntType, "-7", "-7"},
		{sqltype.SmallType, sqltype.BigIntType, "-7", "-7"},
		{sqltype.IntType, sqltype.BigIntType, "-7", "-7"},
		{sqltype.BigIntType, sqltype.IntType, "", ""},
		{sqltype.IntType, sqltype.DecimalOf(5, 2), "123", "123.00"},
		{sqltype.IntType, sqltype.DecimalOf(5, 2), "1234", "!"},
		{sqltype.FloatType, sqltype.DoubleType, "0.5", "0.5"},
		{sqltype.DoubleType, sqltype.FloatType, "", ""},
		{sqltype.DecimalOf(5, 2), sqltype.DecimalOf(8, 4), "-1.25", "-1.2500"},
		{sqltype.DecimalOf(5, 2), sqltype.DecimalOf(5, 3), "", ""},
		{ts(3), ts(6), "2026-01-02 03:04:05.678", "2026-01-02 03:04:05.678"},
		{ts(6), ts(3), "1969-12-31 23:59:59.999999", "1969-12-31 23:59:59.999"},
		{ts(3), ts(9), "9999-01-01", "!"},
		{ts(3), sqltype.TimestampLTZOf(3), "2026-01-02", "2026-01-02 00:00:00Z"},
		{sqltype.StringType, sqltype.Type{ID: sqltype.Varchar, Precision: 2}, "\u00e4\u00f6", "\u00e4\u00f6"},
		{sqltype.StringType, sqltype.Type{ID: sqltype.Varchar, Precision: 2}, "abc", "!"},
		{sqltype.StringType, sqltype.BytesType, "", ""},
		{sqltype.BoolType, sqltype.BoolType, "true", "TRUE"},
		{sqltype.NullType, sqltype.StringType, "NULL", "NULL"},
	} {
		name := fmt.Sprintf("%v %s to %v", tt.from, tt.in, tt.to)
		if ok := connector.CanAdapt(tt.from, tt.to); ok != (tt.want != "") {
			t.Errorf("%s: CanAdapt is %v", name, ok)
		}
		if tt.want == "" {
			continue
		}
		p := vector.NewCheckedPool()
		c := vector.NewColumnBuilder(p, tt.from.Kind())
		c.AppendNull()
		if tt.in == "NULL" {
			c.AppendNull()
		} else if !sqltype.AppendParsed(c, tt.from, []byte(tt.in)) {
			t.Fatal(name)
		}
		got := "!"
		v, err := connector.Adapt(p, c.Finish(), tt.from, tt.to)
		if err == nil {
			got = string(sqltype.AppendText(nil, tt.to, v, 1))
			if !v.IsNull(0) {
				t.Errorf("%s: NULL became a value", name)
			}
			v.Release()
		}
		if got != tt.want {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
		if err := p.Leaks(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A table is declared with options; the registry finds its connector, which makes
// the source to be read.
func Example() {
	registry := connector.NewRegistry(datagen.Connector{}, print.Connector{})
	table := &connector.Table{
		Name:    "numbers",
		Schema:  sqltype.Schema{{Name: "n", Type: sqltype.BigIntType}},
		Options: map[string]string{"connector": "datagen", "number-of-rows": "3", "fields.n.kind": "sequence", "fields.n.start": "1"},
	}
	c, options, err := registry.Bind(table)
	if err != nil {
		fmt.Println(err)
		return
	}
	source, err := c.Source(table, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, pool := context.Background(), vector.NewPool()
	splits, _ := source.Splits(ctx)
	for _, split := range splits {
		reader, err := source.Open(ctx, split, connector.Scan{}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		for {
			batch, err := reader.Read(ctx, pool, 100)
			if err != nil {
				break // io.EOF
			}
			fmt.Println(vector.Values[int64](batch.Col(0)))
			batch.Release()
		}
		reader.Close()
	}
	// Output: [1 2 3]
}
