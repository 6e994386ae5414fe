// Package plugins_test tests the functions that ship, by the modules that are
// committed and by what their sources give now.
package plugins_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/weirdb/weir/sdk/c/csdktest"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// TestRebuild builds the modules in C that are committed.
func TestRebuild(t *testing.T) {
	for _, name := range []string{"textstats", "geo"} {
		file := name + "/" + name
		t.Run(name, func(t *testing.T) { csdktest.Rebuild(t, file+".wasm", "../sdk/c", file+".c") })
	}
}

// eachBuild runs a test on the committed module of a plugin in C, and on one built
// from its source where there is a compiler.
func eachBuild(t *testing.T, name string, test func(t *testing.T, m *udf.Module)) {
	file := name + "/" + name
	t.Run("committed", func(t *testing.T) {
		module, err := os.ReadFile(file + ".wasm")
		if err != nil {
			t.Fatal(err)
		}
		test(t, load(t, name, module))
	})
	t.Run("rebuilt", func(t *testing.T) {
		test(t, load(t, name, csdktest.Build(t, "../sdk/c", file+".c")))
	})
}

func load(t testing.TB, name string, module []byte) *udf.Module {
	t.Helper()
	h, err := udf.Open(t.Context(), udf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Load(t.Context(), name, module, udf.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// evaluate calls a function on a fresh instance and gives the columns back.
func evaluate(t testing.TB, p *vector.Pool, m *udf.Module, export string, rows int, args ...*vector.Vector) (*vector.Vector, error) {
	t.Helper()
	f, ok := m.Function(export)
	if !ok {
		t.Fatalf("there is no function %s", export)
	}
	i, err := f.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	out, err := i.Call(context.WithoutCancel(t.Context()), &udf.Call{Args: args, Rows: rows, Pool: p})
	for _, a := range args {
		a.Release()
	}
	return out, err
}

// column makes a column of values and NULLs.
func column[T any](p *vector.Pool, kind vector.Kind, add func(*vector.ColumnBuilder, T), values ...*T) *vector.Vector {
	b := vector.NewColumnBuilder(p, kind)
	for _, v := range values {
		if v == nil {
			b.AppendNull()
		} else {
			add(b, *v)
		}
	}
	return b.Finish()
}

func texts(p *vector.Pool, values ...*string) *vector.Vector {
	return column(p, vector.String, (*vector.ColumnBuilder).AppendString, values...)
}

// refused is the row and the reason of a value that a function refused.
func refused(t testing.TB, err error) (row int, reason string) {
	t.Helper()
	var f *udf.Fault
	if !errors.As(err, &f) || f.Cause != udf.Refused {
		t.Fatalf("want a refusal: %v", err)
	}
	return f.Row, f.Reason
}

func noLeaks(t testing.TB, p *vector.Pool) {
	t.Helper()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
