package job_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/vector"
)

// some is a bounded source of splits of so many rows that are all alike.
type some struct {
	endless
	splits, rows int
}

func (s some) Bounded() bool { return true }

func (s some) Splits(context.Context) ([]connector.Split, error) {
	out := make([]connector.Split, s.splits)
	for i := range out {
		out[i].ID = fmt.Sprint(i)
	}
	return out, nil
}

func (s some) Open(context.Context, connector.Split, connector.Scan, []byte) (connector.Reader, error) {
	return &someReader{left: s.rows}, nil
}

type someReader struct {
	endless
	left int
}

func (r *someReader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if r.left == 0 {
		return nil, io.EOF
	}
	limit = min(limit, r.left)
	r.left -= limit
	return r.endless.Read(ctx, p, limit)
}

func open() *counting {
	c := &counting{gate: make(chan struct{}), hit: make(chan struct{}, 1)}
	close(c.gate)
	return c
}

// A million rows of two columns from a source to a sink, straight or spread by
// key; and rows one by one, each an epoch.
func BenchmarkJob(b *testing.B) {
	for _, c := range []struct {
		name               string
		parallelism, batch int
		rows               int
		exchange           exec.ExchangeKind
	}{
		{"straight", 1, 0, 1_000_000, exec.Forward},
		{"hash", 2, 0, 1_000_000, exec.Hash},
		{"row by row", 1, 1, 10_000, exec.Forward},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				src := &exec.Node{ID: "Scan", Name: "Scan", Source: some{splits: 4, rows: c.rows / 4}}
				sink := &exec.Node{ID: "Sink", Name: "Sink", Sink: unlimited{open()}, Inputs: []exec.Edge{
					{From: src, Exchange: exec.Exchange{Kind: c.exchange, Keys: []int{0}}},
				}}
				g := &exec.Graph{Nodes: []*exec.Node{src, sink}}
				j, err := job.Start(b.Context(), g, job.Config{Parallelism: c.parallelism, BatchSize: c.batch})
				if err != nil {
					b.Fatal(err)
				}
				if err := j.Wait(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.rows), "ns/row")
		})
	}
}

type unlimited struct{ *counting }

func (unlimited) MaxWriters() int { return 0 }
