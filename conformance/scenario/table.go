package scenario

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Table declares a table of a scenario.
type Table struct {
	Name    string
	Columns string // columns, keys and watermark, as between the parentheses of CREATE TABLE
	Mode    sqltype.ChangelogMode
	Sink    bool // it is written, not read
	Bounded bool // its rows are known to end, though none may be there yet
	Lookup  bool // it is asked for rows by key
}

var tableLine = regexp.MustCompile(`^(\w+)\s*\((.*)\)((?:\s+\w+)*)\s*$`)

// ParseTable reads "name (columns) words", where the words are retract or upsert
// for a table with updates, bykey for one whose deletions may have only the key, lookup
// for one that is asked for rows by key, and sink for one that is written.
func ParseTable(line string) (Table, error) {
	m := tableLine.FindStringSubmatch(line)
	if m == nil {
		return Table{}, fmt.Errorf("not a table: %s", line)
	}
	t := Table{Name: m[1], Columns: m[2], Mode: sqltype.AppendMode}
	for _, word := range strings.Fields(m[3]) {
		switch word {
		case "retract":
			t.Mode = sqltype.RetractMode
		case "upsert":
			t.Mode = sqltype.UpsertMode
		case "bykey":
			t.Mode = t.Mode.WithDeletesByKey()
		case "sink":
			t.Sink = true
		case "lookup":
			t.Lookup = true
		default:
			return Table{}, fmt.Errorf("%q says nothing about a table", word)
		}
	}
	return t, nil
}

// connectorName is the value of 'connector' for the tables of a scenario.
const connectorName = "scenario"

func (t Table) ddl() string {
	return fmt.Sprintf("CREATE TABLE `%s` (%s) WITH ('connector' = '%s')", t.Name, t.Columns, connectorName)
}

// table is a Table at work: what was fed to it or written to it.
type table struct {
	Table
	schema sqltype.Schema
	key    []int

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when one of the following changes
	in      []input
	ended   bool
	readers []*reader
	out     []rows.Row
	ledger  ledger // of out
}

// input is a row, or a watermark of a table that has SOURCE_WATERMARK().
type input struct {
	row       *vector.Batch // nil: the watermark
	watermark int64         // in milliseconds since 1970
}

func newTable(t Table) *table { return &table{Table: t, changed: make(chan struct{})} }

// update makes a change under the lock and wakes who waits for one.
func (t *table) update(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}

// await waits until the condition, which is tested under the lock, holds. It
// reports whether it does: false means that ctx ended first.
func (t *table) await(ctx context.Context, holds func() bool) bool {
	for {
		t.mu.Lock()
		ok, changed := holds(), t.changed
		t.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// read waits until every reader has been given every row.
func (t *table) read(ctx context.Context) bool {
	return t.await(ctx, func() bool {
		return !slices.ContainsFunc(t.readers, func(r *reader) bool { return r.at < len(t.in) })
	})
}

// tables is the connector of a session.
type tables map[string]*table

func (ts tables) Name() string                { return connectorName }
func (ts tables) Doc() string                 { return "Tables that a test feeds and reads." }
func (ts tables) Options() []connector.Option { return nil }

func (ts tables) Source(d *connector.Table, _ connector.Options) (connector.Source, error) {
	t, err := ts.find(d)
	if err != nil {
		return nil, err
	}
	if t.Sink {
		return nil, errs.New(errs.Invalid, d.Pos, "table %q is only written", d.Name)
	}
	return source{t}, nil
}

func (ts tables) Sink(d *connector.Table, _ connector.Options) (connector.Sink, error) {
	t, err := ts.find(d)
	if err != nil {
		return nil, err
	}
	if !t.Sink {
		return nil, errs.New(errs.Invalid, d.Pos, "table %q is only read", d.Name)
	}
	return &sink{t: t}, nil
}

func (ts tables) Infer(_ context.Context, t *connector.Table, _ connector.Options) (sqltype.Schema, error) {
	return nil, errs.New(errs.Unsupported, t.Pos, "the columns of table %q must be declared", t.Name)
}

func (ts tables) find(d *connector.Table) (*table, error) {
	t := ts[d.Name[strings.LastIndexByte(d.Name, '.')+1:]]
	if t == nil {
		return nil, errs.New(errs.NotFound, d.Pos, "the scenario has no table %q", d.Name)
	}
	t.schema, t.key = d.Schema, d.PrimaryKey
	return t, nil
}

// source is a table that is read: every reader gets all rows, from the first on.
type source struct{ t *table }

func (s source) Mode() sqltype.ChangelogMode { return s.t.Mode }
func (s source) Replayable() bool            { return true }
func (s source) Timed() bool                 { return true }

// Bounded reports whether all rows are there: a table that is still fed may have
// none for long.
func (s source) Bounded() bool {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.t.ended || s.t.Bounded
}

func (s source) Splits(context.Context) ([]connector.Split, error) {
	return []connector.Split{{ID: s.t.Name}}, nil
}

func (s source) Open(_ context.Context, _ connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	r := &reader{t: s.t, cols: scan.Of(len(s.t.schema))}
	if position != nil {
		r.at = int(binary.BigEndian.Uint64(position))
	}
	s.t.update(func() { s.t.readers = append(s.t.readers, r) })
	return r, nil
}

type reader struct {
	t    *table
	cols []int
	at   int // what was given of the table's input

	watermark int64
	timed     bool
}

// Watermark is the last one before what was not given yet.
func (r *reader) Watermark() (int64, bool) { return r.watermark, r.timed }

func (r *reader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	t := r.t
	if !t.await(ctx, func() bool { return r.at < len(t.in) || t.ended }) {
		return nil, nil
	}
	var in []input
	t.update(func() {
		in = t.in[r.at:min(r.at+limit, len(t.in))]
		if i := slices.IndexFunc(in, func(i input) bool { return i.row == nil }); i >= 0 {
			in = in[:i+1] // a watermark ends the batch
		}
		r.at += len(in)
	})
	if len(in) == 0 {
		return nil, io.EOF
	}
	b := vector.NewBuilder(p, t.schema.Project(r.cols).Kinds())
	for _, next := range in {
		if next.row == nil {
			r.watermark, r.timed = next.watermark, true
			break
		}
		for i, c := range r.cols {
			b.Col(i).AppendFrom(next.row.Col(c), 0)
		}
		b.EndRow(next.row.Kind(0))
	}
	return b.Finish(), nil
}

func (r *reader) Position() []byte { return binary.BigEndian.AppendUint64(nil, uint64(r.at)) }

func (r *reader) Close() error {
	r.t.update(func() {
		r.t.readers = slices.DeleteFunc(r.t.readers, func(o *reader) bool { return o == r })
	})
	return nil
}
