package json

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// The quick way takes what the careful way takes, with the same rows, errors and
// positions.
func FuzzQuick(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"name":"apple","ok":true,"x":1.5}` + "\n" + `{"x":-0.5e+3,"ok":null}`,
		`{"name":"a\u00e4\n","y":"\ud800"}`, `[{"id":01},{"id":-}]`, `{"id":1,"id":2}`, "{\"name\":\"\xc3\xa4\x01\"}", `{"id":12`, `{"ok":truefalse}`,
		`{"x":1.,"name":5,"z":nul}`, `{"name":"12345678","unknown":"a\qb","id":"7"}`, `{"op":"-D"}`, `{"m":{"2":{"a":["x",null]},"1":null},"id":1}{"m":{"1":{"a":[{}]},"1":{}}}`, `{"m":{"1":{"a":["x"`, `{"m":"{1=([x])}"}`, `{"m":{"x":{}}}`, `{"id":9223372036854775807}{"id":-9223372036854775809}`,
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	schema := sqltype.Schema{
		{Name: "id", Type: sqltype.BigIntType},
		{Name: "name", Type: sqltype.StringType},
		{Name: "ok", Type: sqltype.BoolType},
		{Name: "x", Type: sqltype.DoubleType},
		{Name: "m", Type: sqltype.MapOf(sqltype.IntType, sqltype.RowOf(sqltype.Column{Name: "a", Type: sqltype.ArrayOf(sqltype.StringType)}))},
	}
	f.Fuzz(func(t *testing.T, in string, ignore bool) {
		readAll := func(file connector.File, careful bool, limit int) (rows []string, err error) {
			r := newReader(settings{ignore: ignore, maxLine: 1 << 20}, schema, file)
			r.careful = careful
			p := vector.NewCheckedPool()
			for n := 0; n < 10000; n++ {
				b, err := r.Read(context.Background(), p, limit)
				if err != nil {
					if e := p.Leaks(); e != nil {
						t.Fatal(e)
					}
					if errors.Is(err, io.EOF) {
						err = nil
					}
					return rows, err
				}
				if b == nil {
					continue
				}
				for i := range b.Len() {
					rows = append(rows, connectortest.Row(schema, b, i))
				}
				b.Release()
			}
			t.Fatal("reading does not end")
			return nil, nil
		}
		want, wantErr := readAll(connectortest.File("f", in), true, 8192)
		for _, limit := range []int{1, 8192} {
			got, err := readAll(connectortest.File("f", in), false, limit)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got, want) {
				t.Fatalf("%q\nquick   %q, %v\ncareful %q, %v", in, got, err, want, wantErr)
			}
		}
		cut := len(in) / 2
		got, err := readAll(connectortest.Stream("f", in[:cut], in[cut:]), false, 8192)
		if place(err) != place(wantErr) || !slices.Equal(got, want) { // messages quote what is there
			t.Fatalf("%q\ncut     %q, %v\ncareful %q, %v", in, got, err, want, wantErr)
		}
	})
}

// place is where an error is.
func place(err error) string {
	var e *errs.Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	return e.Pos.String()
}
