package engine

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// kept finds, among the queries that run, one that keeps versions of a temporal table
// function, and reads from it; nil when there is none.
func (e *Engine) kept(v plan.KeptVersions) (src connector.Source, job string) {
	running := make([]*Query, 0, len(e.queries))
	for q := range e.queries {
		running = append(running, q)
	}
	slices.SortFunc(running, func(a, b *Query) int { return cmp.Compare(a.name, b.name) })
	var found *keptVersions
	for _, q := range running {
		join := q.plan.Keeping(v)
		if join == nil {
			continue
		}
		if cols := join.KeptColumns(v.Schema); found == nil || len(cols) > len(found.columns) {
			found = &keptVersions{of: v, query: q, node: join.Traits().ID, columns: cols}
		}
	}
	if found == nil {
		return nil, ""
	}
	return found, found.query.name
}

// keptVersions is the source of the rows that a temporal table function has at a time, in
// the state of a query that runs: those that have come by the end of one of its epochs.
type keptVersions struct {
	of      plan.KeptVersions
	query   *Query
	node    string      // of the join that keeps them
	columns map[int]int // of its right side, by column of the function's table
}

// Mode is append-only.
func (k *keptVersions) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }

// Bounded is true.
func (k *keptVersions) Bounded() bool { return true }

// Replayable is false: later the query keeps other versions.
func (k *keptVersions) Replayable() bool { return false }

// Splits is one of all rows.
func (k *keptVersions) Splits(context.Context) ([]connector.Split, error) {
	return []connector.Split{{ID: "versions"}}, nil
}

// Open asks the query. It refuses columns that it does not keep.
func (k *keptVersions) Open(_ context.Context, _ connector.Split, scan connector.Scan, _ []byte) (connector.Reader, error) {
	var columns []int
	var have, missing []string
	for i, c := range k.of.Schema {
		if _, ok := k.columns[i]; ok {
			have = append(have, c.Name)
		}
	}
	for _, c := range scan.Of(len(k.of.Schema)) {
		at, ok := k.columns[c]
		if !ok {
			missing = append(missing, k.of.Schema[c].Name)
		}
		columns = append(columns, at)
	}
	name := k.of.Function.ID.Object
	if len(missing) > 0 {
		return nil, errs.New(errs.State, errs.Position{}, "job %s, which runs, does not keep %s of the versions of %s, since it does not read it", k.query.name, strings.Join(missing, ", "), name).
			WithHint("SELECT %s; or INSERT INTO a table, which reads the history itself", strings.Join(have, ", "))
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &keptReader{answer: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(r.answer)
		var v job.Versions
		if v, r.err = k.query.job.VersionsAt(ctx, k.node, k.of.At, columns); r.err == nil && k.of.At < v.Since {
			r.err = errs.New(errs.State, errs.Position{}, "of the versions of %s job %s keeps those since %s, and not what held at %s", name, k.query.name, keptTime(v.Since), keptTime(k.of.At)).
				WithHint("ask for a later time; or INSERT INTO a table, which reads the history itself")
		}
		r.rows = v.Rows
	}()
	return r, nil
}

func keptTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.999") }

// keptReader hands out the answer of a query that was asked.
type keptReader struct {
	cancel context.CancelFunc
	answer chan struct{} // closed when what follows is set
	rows   []*vector.Batch
	err    error
	next   int // row of the first batch
}

// Read waits for the answer.
func (r *keptReader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	select {
	case <-r.answer:
	default:
		select {
		case <-r.answer:
		case <-ctx.Done():
			return nil, nil
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	for len(r.rows) > 0 && r.next == r.rows[0].Len() {
		r.rows[0].Release()
		r.rows, r.next = r.rows[1:], 0
	}
	if len(r.rows) == 0 {
		return nil, io.EOF
	}
	b := r.rows[0]
	rows := make([]int32, min(limit, b.Len()-r.next))
	for i := range rows {
		rows[i] = int32(r.next + i)
	}
	r.next += len(rows)
	return b.Take(p, rows), nil
}

// Position is empty: there is none to go on from.
func (r *keptReader) Position() []byte { return nil }

// Close gives the question up.
func (r *keptReader) Close() error {
	r.cancel()
	<-r.answer
	for _, b := range r.rows {
		b.Release()
	}
	r.rows = nil
	return nil
}
