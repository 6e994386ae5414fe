package print_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/connector/print"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

var fruit = sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "name", Type: sqltype.StringType}}

func sink(t testing.TB, c print.Connector, options ...string) connector.Sink {
	t.Helper()
	table := connectortest.Table(fruit, options...)
	s, err := c.Sink(table, connectortest.Options(t, table, c.Options()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPrint(t *testing.T) {
	for _, tt := range []struct {
		options []string
		want    string
	}{
		{nil, "+I[1, apple]\n-U[1, apple]\n+U[1, NULL]\n-D[1, NULL]\n"},
		{[]string{"print-identifier", "x", "standard-error", "true"}, "x> +I[1, apple]\nx> -U[1, apple]\nx> +U[1, NULL]\nx> -D[1, NULL]\n"},
	} {
		var out, err bytes.Buffer
		s := sink(t, print.Connector{Out: &out, Err: &err}, tt.options...)
		if s.Mode() != sqltype.RetractMode || s.MaxWriters() != 0 {
			t.Error("print takes everything from everyone")
		}
		w, e := s.Writer(context.Background(), 0, 1)
		if e != nil {
			t.Fatal(e)
		}
		p := vector.NewCheckedPool()
		b := connectortest.Batch(t, p, fruit, []string{"+I", "1", "apple"}, []string{"-U", "1", "apple"}, []string{"+U", "1", "NULL"}, []string{"-D", "1", "NULL"})
		if e := w.Write(b); e != nil {
			t.Fatal(e)
		}
		if out.Len()+err.Len() > 0 {
			t.Error("rows are shown before their epoch ends")
		}
		if e := w.EndEpoch(); e != nil {
			t.Fatal(e)
		}
		got := out.String()
		if tt.options != nil {
			got = err.String()
		}
		if got != tt.want {
			t.Errorf("got %q", got)
		}
		none := b.Select(vector.Of[int32](p))
		b.Release()
		if e := errors.Join(w.Write(none), w.EndEpoch(), w.Close()); e != nil {
			t.Error(e)
		}
		none.Release()
		if e := p.Leaks(); e != nil {
			t.Error(e)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no paper") }

func TestErrors(t *testing.T) {
	w, _ := sink(t, print.Connector{Out: failing{}}).Writer(context.Background(), 0, 1)
	b := connectortest.Batch(t, vector.NewPool(), fruit, []string{"1", "a"})
	_ = w.Write(b)
	if err := w.EndEpoch(); errs.CodeOf(err) != errs.Output || err.Error() != "printing failed: no paper" {
		t.Errorf("got %v", err)
	}
	if _, err := (print.Connector{}).Source(connectortest.Table(fruit), connector.Options{}); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("got %v", err)
	}
}

// Lines of several shards do not mix.
func TestShards(t *testing.T) {
	var out bytes.Buffer
	s := sink(t, print.Connector{Out: &out})
	var wg sync.WaitGroup
	for shard := range 4 {
		wg.Go(func() {
			w, _ := s.Writer(context.Background(), shard, 4)
			b := connectortest.Batch(t, vector.NewPool(), fruit, []string{"1", strings.Repeat("x", 50)})
			for range 100 {
				_ = w.Write(b)
				_ = w.EndEpoch()
			}
		})
	}
	wg.Wait()
	line := "+I[1, " + strings.Repeat("x", 50) + "]\n"
	if out.String() != strings.Repeat(line, 400) {
		t.Error("lines are mixed")
	}
}

func ExampleAppendRow() {
	schema := sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "price", Type: sqltype.DecimalOf(5, 2)}}
	b := vector.NewBuilder(vector.NewPool(), schema.Kinds())
	sqltype.AppendParsed(b.Col(0), schema[0].Type, []byte("7"))
	sqltype.AppendParsed(b.Col(1), schema[1].Type, []byte("1.5"))
	b.EndRow(vector.Delete)
	fmt.Println(string(print.AppendRow(nil, schema, b.Finish(), 0)))
	// Output: -D[7, 1.50]
}
