package udf_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

const kinds = "../sdk/c/testdata/kinds.wasm"

func openHost(t testing.TB, c udf.Config) *udf.Host {
	t.Helper()
	h, err := udf.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func loadFile(t testing.TB, h *udf.Host, path string, l udf.Limits) *udf.Module {
	t.Helper()
	code, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Load(context.Background(), filepath.Base(path), code, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func open(t testing.TB, m *udf.Module, export string) *udf.Instance {
	t.Helper()
	f, ok := m.Function(export)
	if !ok {
		t.Fatalf("module %s has no function %s", m.Name(), export)
	}
	i, err := f.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// checkedPool is a pool that must be empty at the end of the test.
func checkedPool(t testing.TB) *vector.Pool {
	p := vector.NewCheckedPool()
	t.Cleanup(func() {
		if err := p.Leaks(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// faultOf is the fault in an error, or ends the test.
func faultOf(t testing.TB, err error) *udf.Fault {
	t.Helper()
	var f *udf.Fault
	if !errors.As(err, &f) {
		t.Fatalf("error %v has no fault in it", err)
	}
	return f
}

// parse makes a column of texts as AppendText writes them, "NULL" for NULL.
func parse(t testing.TB, p *vector.Pool, typ sqltype.Type, texts ...string) *vector.Vector {
	t.Helper()
	b := vector.NewColumnBuilder(p, typ.Kind())
	for _, s := range texts {
		switch {
		case s == "NULL":
			b.AppendNull()
		case typ.IsBinary():
			b.AppendBytes([]byte(s))
		case !sqltype.AppendParsed(b, typ, []byte(s)):
			t.Fatalf("%q is no %v", s, typ)
		}
	}
	return b.Finish()
}

// show is a column as texts.
func show(typ sqltype.Type, v *vector.Vector) []string {
	out := make([]string, v.Len())
	for i := range out {
		out[i] = string(sqltype.AppendText(nil, typ, v, i))
		if typ.IsBinary() && !v.IsNull(i) {
			out[i] = string(v.Bytes(i))
		}
	}
	return out
}

func mustType(t testing.TB, text string) sqltype.Type {
	t.Helper()
	typ, err := sqltype.ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// randomColumn draws n values of a type, with NULLs where it may have them.
func randomColumn(rng *rand.Rand, p *vector.Pool, typ sqltype.Type, n int) *vector.Vector {
	b := vector.NewColumnBuilder(p, typ.Kind())
	for range n {
		appendRandom(rng, b, typ)
	}
	return b.Finish()
}

func appendRandom(rng *rand.Rand, b *vector.ColumnBuilder, typ sqltype.Type) {
	if !typ.NotNull && rng.IntN(5) == 0 {
		b.AppendNull()
		return
	}
	switch typ.ID {
	case sqltype.Boolean:
		vector.Append(b, rng.IntN(2) == 0)
	case sqltype.TinyInt:
		vector.Append(b, int8(rng.Uint32()))
	case sqltype.SmallInt:
		vector.Append(b, int16(rng.Uint32()))
	case sqltype.Integer, sqltype.Date, sqltype.IntervalMonth:
		v := int32(rng.Uint32())
		if typ.NotNull && v < 1 {
			v = 1 + v&7 // counts of multisets
		}
		vector.Append(b, v)
	case sqltype.BigInt, sqltype.Timestamp, sqltype.TimestampLTZ, sqltype.IntervalDay:
		vector.Append(b, int64(rng.Uint64()))
	case sqltype.Time:
		vector.Append(b, rng.Int64N(int64(24*3600*1e9)/int64(typ.Unit())))
	case sqltype.Float:
		vector.Append(b, rng.Float32())
	case sqltype.Double:
		vector.Append(b, rng.NormFloat64())
	case sqltype.Decimal:
		vector.Append(b, vector.DecFromInt64(rng.Int64N(1999)-999))
	case sqltype.Char, sqltype.Varchar:
		alphabet := []rune("abcxyzäß€😀")
		var s []rune
		for range rng.IntN(min(8, typ.Precision+1)) {
			s = append(s, alphabet[rng.IntN(len(alphabet))])
		}
		b.AppendString(string(s))
	case sqltype.Binary, sqltype.Varbinary:
		s := make([]byte, rng.IntN(min(8, typ.Precision+1)))
		for i := range s {
			s[i] = byte(rng.Uint32())
		}
		b.AppendBytes(s)
	case sqltype.Row:
		for f, c := range typ.Children() {
			appendRandom(rng, b.Child(f), c)
		}
		b.EndValue()
	default:
		for range rng.IntN(4) {
			for f, c := range typ.Children() {
				appendRandom(rng, b.Child(f), c)
			}
		}
		b.EndValue()
	}
}

// everyOther is a selection that skips rows, and turns their order around.
func everyOther(n int) []int32 {
	var sel []int32
	for r := n - 1; r >= 0; r -= 2 {
		sel = append(sel, int32(r))
	}
	return sel
}
