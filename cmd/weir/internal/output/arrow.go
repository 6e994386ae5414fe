package output

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// arrowStream writes an Arrow IPC stream, a record batch for each batch. Its first
// column is the row kind, as +I -U +U -D.
type arrowStream struct {
	w      *ipc.Writer
	schema *arrow.Schema // without op
	full   *arrow.Schema
	pool   *vector.Pool
	rows   int64
}

func newArrow(w io.Writer, schema sqltype.Schema) *arrowStream {
	s := schema.Arrow()
	op := arrow.Field{Name: "op", Type: arrow.BinaryTypes.String}
	full := arrow.NewSchema(append([]arrow.Field{op}, s.Fields()...), nil)
	return &arrowStream{w: ipc.NewWriter(w, ipc.WithSchema(full)), schema: s, full: full, pool: vector.NewPool()}
}

func (a *arrowStream) Print(b *vector.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	rec := b.Arrow(a.pool, a.schema)
	defer rec.Release()
	op := array.NewStringBuilder(memory.DefaultAllocator)
	defer op.Release()
	op.Reserve(b.Len())
	for i := range b.Len() {
		op.Append(b.Kind(b.Row(i)).String())
	}
	ops := op.NewArray()
	defer ops.Release()
	all := array.NewRecordBatch(a.full, append([]arrow.Array{ops}, rec.Columns()...), int64(b.Len()))
	defer all.Release()
	a.rows += int64(b.Len())
	return a.w.Write(all)
}

func (a *arrowStream) Close() error { return a.w.Close() }

func (a *arrowStream) Rows() int64 { return a.rows }
