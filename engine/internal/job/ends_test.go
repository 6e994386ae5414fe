package job_test

import (
	"context"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// endless gives rows without end, as fast as they are taken.
type endless struct{}

func (endless) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }
func (endless) Bounded() bool               { return false }
func (endless) Replayable() bool            { return false }
func (endless) Splits(context.Context) ([]connector.Split, error) {
	return []connector.Split{{ID: "0"}, {ID: "1"}}, nil
}

func (endless) Open(context.Context, connector.Split, connector.Scan, []byte) (connector.Reader, error) {
	return endless{}, nil
}

func (endless) Read(_ context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	a, b := p.New(vector.Int64, limit), p.New(vector.Int64, limit)
	keys, ones := vector.Values[int64](a), vector.Values[int64](b)
	for i := range keys {
		keys[i], ones[i] = int64(i%1000), 1
	}
	return vector.NewBatch(limit, []*vector.Vector{a, b}, nil), nil
}

func (endless) Position() []byte { return nil }
func (endless) Close() error     { return nil }

// counting is a sink that counts rows, and waits when told so.
type counting struct {
	mu   sync.Mutex
	rows int
	gate chan struct{} // closed: go on
	hit  chan struct{} // receives when the gate is reached
}

func (c *counting) Mode() sqltype.ChangelogMode    { return sqltype.RetractMode }
func (c *counting) Guarantee() connector.Guarantee { return connector.AtLeastOnce }
func (c *counting) MaxWriters() int                { return 1 }

func (c *counting) Writer(context.Context, int, int) (connector.Writer, error) {
	return countingWriter{c}, nil
}

func (c *counting) Committer(context.Context) (connector.Committer, error) {
	return connector.NopCommitter{}, nil
}

type countingWriter struct{ c *counting }

func (w countingWriter) Write(b *vector.Batch) error {
	select {
	case w.c.hit <- struct{}{}:
	default:
	}
	<-w.c.gate
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.c.rows += b.Len()
	return nil
}

func (countingWriter) EndEpoch() error                { return nil }
func (countingWriter) Prepare(uint64) ([]byte, error) { return nil, nil }
func (countingWriter) Close() error                   { return nil }
