package op_test

import (
	"context"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// driver calls an operator by hand, on a store that keeps everything in memory.
type driver struct {
	op    exec.Operator
	pool  *vector.Pool
	store *state.Store
	sizes []int    // of the batches emitted
	rows  []string // of them
	quiet bool     // only the sizes are noted
	now   int64

	emitted func(b *vector.Batch) // if not nil, called in place of noting anything
}

func newDriver(t testing.TB, o exec.Operator, err error) *driver {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{op: o, pool: vector.NewPool(), store: state.NewStore(state.Options{})}
	rt := exec.NewRuntime(d.pool, d.store, func() int64 { return d.now }, nil, nil)
	if err := o.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *driver) process(port int, b *vector.Batch) error {
	if err := d.op.Process(port, b, d); err != nil {
		return err
	}
	return d.store.EndCall()
}

func (d *driver) flush() error {
	if err := d.op.Flush(d); err != nil {
		return err
	}
	if err := d.store.EndCall(); err != nil {
		return err
	}
	return d.store.EndEpoch()
}

// Emit notes b.
func (d *driver) Emit(b *vector.Batch) error {
	if d.emitted != nil {
		d.emitted(b)
		return nil
	}
	d.sizes = append(d.sizes, b.Len())
	if !d.quiet {
		d.rows = append(d.rows, exectest.Text(b)...)
	}
	return nil
}

// Advance does nothing.
func (*driver) Advance(exec.Watermark) error { return nil }

// drive gives the operator of a case one batch of rows and a mark, and returns its
// changes or its error.
func drive(t testing.TB, c exectest.Case, rows ...string) ([]string, error) {
	t.Helper()
	o, err := c.New()
	d := newDriver(t, o, err)
	b := exectest.NewBatch(d.pool, c.Kinds[0], rows...)
	defer b.Release()
	if err := d.process(0, b); err != nil {
		return nil, err
	}
	if err := d.flush(); err != nil {
		return nil, err
	}
	return d.rows, o.Close()
}
