package op

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Values is the source of VALUES: rows of expressions without columns. Shard 0
// reads it, as its only split.
type Values struct {
	kinds []vector.Kind
	rows  [][]expr.Expr
}

// NewValues returns the source of the given rows, whose expressions already have
// the types of the columns.
func NewValues(types []sqltype.Type, rows [][]expr.Expr) *Values {
	v := &Values{rows: rows}
	for _, t := range types {
		v.kinds = append(v.kinds, t.Kind())
	}
	return v
}

// Mode is append-only.
func (v *Values) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }

// Bounded is true.
func (v *Values) Bounded() bool { return true }

// Replayable is true.
func (v *Values) Replayable() bool { return true }

// Splits is the one split of all rows.
func (v *Values) Splits(context.Context) ([]connector.Split, error) {
	return []connector.Split{{ID: "values", Size: int64(len(v.rows))}}, nil
}

// Open returns a reader of the rows. A position is the number of rows read.
func (v *Values) Open(ctx context.Context, _ connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	r := &valuesReader{of: v, cols: scan.Of(len(v.kinds)), functions: function.NewInstances(ctx, 0)}
	if position != nil {
		n, size := binary.Uvarint(position)
		if size <= 0 || n > uint64(len(v.rows)) {
			return nil, errs.New(errs.State, errs.Position{}, "a position in VALUES is corrupt")
		}
		r.next = int(n)
	}
	return r, nil
}

type valuesReader struct {
	of        *Values
	cols      []int
	functions *function.Instances
	next      int
}

// Read evaluates the next rows.
func (r *valuesReader) Read(_ context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	n := min(limit, len(r.of.rows)-r.next)
	if n == 0 {
		return nil, io.EOF
	}
	kinds := make([]vector.Kind, len(r.cols))
	for i, c := range r.cols {
		kinds[i] = r.of.kinds[c]
	}
	b := vector.NewBuilder(p, kinds)
	none := vector.NewBatch(1, nil, nil)
	defer none.Release()
	for _, row := range r.of.rows[r.next : r.next+n] {
		for i, c := range r.cols {
			if err := r.append(b.Col(i), row[c], p, none); err != nil {
				b.Discard()
				return nil, err
			}
		}
		b.EndRow(vector.Insert)
	}
	r.next += n
	return b.Finish(), nil
}

// append evaluates e on the one row of a batch without columns.
func (r *valuesReader) append(to *vector.ColumnBuilder, e expr.Expr, p *vector.Pool, none *vector.Batch) error {
	ev, err := expr.Compile(e)
	if err != nil {
		return err
	}
	if err := ev.Open(r.functions); err != nil {
		return err
	}
	v, err := ev.Eval(p, none)
	if err != nil {
		return err
	}
	defer v.Release()
	if v.Kind() != to.Kind() { // an untyped NULL
		to.AppendNull()
		return nil
	}
	to.AppendFrom(v, 0)
	return nil
}

// Position is the number of rows read.
func (r *valuesReader) Position() []byte { return binary.AppendUvarint(nil, uint64(r.next)) }

// Close closes the functions that rows have called.
func (r *valuesReader) Close() error {
	r.functions.Close()
	return nil
}
