package blackhole_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/blackhole"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestBlackhole(t *testing.T) {
	schema := sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}}
	c := blackhole.Connector{}
	s, err := c.Sink(connectortest.Table(schema), connector.Options{})
	if err != nil || s.Mode() != sqltype.RetractMode {
		t.Fatal(err)
	}
	w, err := s.Writer(context.Background(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := vector.NewCheckedPool()
	b := connectortest.Batch(t, p, schema, []string{"-D", "1"})
	err = errors.Join(w.Write(b), w.EndEpoch())
	b.Release()
	h, e := w.Prepare(connector.Final)
	if err := errors.Join(err, e, w.Close(), p.Leaks()); err != nil || h != nil {
		t.Error(err)
	}
	if _, err := c.Source(connectortest.Table(schema), connector.Options{}); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("got %v", err)
	}
}

func ExampleConnector() {
	c := blackhole.Connector{}
	fmt.Println(c.Name(), c.Doc())
	// Output: blackhole takes rows and forgets them
}
