package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// randomTable is a table with a random history of changes.
type randomTable struct {
	name   string
	schema sqltype.Schema
	key    int // the first columns that are the primary key; 0: there is none
	mode   sqltype.ChangelogMode
	splits int
	steps  []step
	// watermark is an expression over the column ts, which then is event time.
	watermark string
	clock     bool // there is a column p, processing time
	asked     bool // the table is asked for rows by key, and has them all from the start
}

// step is a change of one of the table's rows: it gets new values, or goes. Any
// part of a history is a valid one, since what a step does to the changelog is found
// only when the steps before it are known.
type step struct {
	id     int
	row    enginetest.Row // nil: the row goes
	apart  bool           // an update is -D and +I, not -U and +U
	keyful bool           // a deletion of an upsert table has the key alone
}

// rowChange is a row of a changelog.
type rowChange struct {
	kind  vector.RowKind
	row   enginetest.Row
	split int
}

// changes are the changelog of the table's history.
func (t *randomTable) changes() []rowChange {
	live := map[int]enginetest.Row{}
	var out []rowChange
	for _, s := range t.steps {
		old, lives := live[s.id], live[s.id] != nil
		add := func(k vector.RowKind, row enginetest.Row) {
			out = append(out, rowChange{k, row, s.id % t.splits})
		}
		switch {
		case s.row == nil && (!lives || t.mode.InsertOnly()):
			continue
		case t.mode.InsertOnly(), !lives:
			add(vector.Insert, s.row)
		case s.row == nil && t.mode == sqltype.UpsertMode && s.keyful:
			bare := slices.Clone(old)
			for c := t.key; c < len(bare); c++ {
				if !t.schema[c].Type.NotNull {
					bare[c] = nil
				}
			}
			add(vector.Delete, bare)
		case s.row == nil:
			add(vector.Delete, old)
		case t.mode == sqltype.UpsertMode:
			add(vector.UpdateAfter, s.row)
		case s.apart:
			add(vector.Delete, old)
			add(vector.Insert, s.row)
		default:
			add(vector.UpdateBefore, old)
			add(vector.UpdateAfter, s.row)
		}
		live[s.id] = s.row
	}
	return out
}

// after is what the table has after some changes.
func (t *randomTable) after(changes []rowChange) []enginetest.Row {
	rows := []enginetest.Row{}
	types := t.schema.Types()
	drop := func(r enginetest.Row, cols int) {
		key := ref.Key(types[:cols], r[:cols])
		i := slices.IndexFunc(rows, func(have enginetest.Row) bool { return ref.Key(types[:cols], have[:cols]) == key })
		if i >= 0 {
			rows = slices.Delete(rows, i, i+1)
		} else if t.mode != sqltype.UpsertMode {
			panic("the history of " + t.name + " takes away what it has not")
		}
	}
	for _, c := range changes {
		switch {
		case t.mode == sqltype.UpsertMode:
			drop(c.row, t.key)
		case !c.kind.Adds():
			drop(c.row, len(types))
		}
		if c.kind.Adds() {
			rows = append(rows, c.row)
		}
	}
	return rows
}

// declaration is the table as a conformance case declares it.
func (t *randomTable) declaration() string { return t.declare(upTo(t.key)) }

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// declare is declaration with the given key.
func (t *randomTable) declare(key []int) string {
	cols := make([]string, len(t.schema))
	for i, c := range t.schema {
		cols[i] = c.Name + " " + c.Type.String()
	}
	if t.clock {
		cols = append(cols, "p AS PROCTIME()")
	}
	if len(key) > 0 {
		cols = append(cols, "PRIMARY KEY ("+strings.Join(t.schema.Project(key).Names(), ", ")+") NOT ENFORCED")
	}
	if t.watermark != "" {
		cols = append(cols, "WATERMARK FOR ts AS "+t.watermark)
	}
	words := ""
	switch t.mode {
	case sqltype.RetractMode:
		words = " retract"
	case sqltype.UpsertMode:
		words = " upsert"
	}
	if t.asked {
		words += " lookup"
	}
	return t.name + " (" + strings.Join(cols, ", ") + ")" + words
}

var columnTypes = []sqltype.Type{
	sqltype.BoolType, sqltype.TinyType, sqltype.SmallType, sqltype.IntType, sqltype.IntType, sqltype.BigIntType, sqltype.DoubleType, sqltype.FloatType,
	sqltype.DecimalOf(5, 2), sqltype.DecimalOf(20, 4), sqltype.StringType,
	{ID: sqltype.Varchar, Precision: 3},
	sqltype.DateType, sqltype.TimestampOf(3),
	sqltype.TimestampLTZOf(3),
	{ID: sqltype.Time, Precision: 3},
	sqltype.BytesType,
	sqltype.ArrayOf(sqltype.IntType),
	sqltype.MapOf(sqltype.StringType.Required(), sqltype.IntType),
	sqltype.RowOf(sqltype.Column{Name: "f", Type: sqltype.IntType}, sqltype.Column{Name: "g", Type: sqltype.StringType}),
}

// newRandomTable has a table with columns of the given types.
func newRandomTable(r *rand.Rand, name string, types []sqltype.Type, steps int) *randomTable {
	t := &randomTable{name: name, mode: sqltype.RetractMode, splits: 1 + r.IntN(2)}
	switch r.IntN(4) {
	case 0:
		t.mode = sqltype.AppendMode
	case 1:
		t.mode = sqltype.UpsertMode
	}
	if t.mode == sqltype.UpsertMode || t.mode == sqltype.RetractMode && r.IntN(3) > 0 {
		t.key = 1 + r.IntN(2)
	}
	for i := range t.key + 2 + r.IntN(3) {
		typ := types[r.IntN(len(types))]
		if i < t.key {
			typ = sqltype.IntType.Required()
		} else if i == t.key {
			typ = sqltype.IntType
		}
		if i >= t.key && r.IntN(4) == 0 {
			typ = typ.Required()
		}
		t.schema = append(t.schema, sqltype.Column{Name: fmt.Sprintf("c%d", i), Type: typ})
	}
	ids := 2 + r.IntN(8)
	for i := range steps {
		s := step{id: r.IntN(ids), apart: r.IntN(4) == 0, keyful: r.IntN(2) == 0}
		if t.mode.InsertOnly() {
			s.id = i
		}
		if t.mode.InsertOnly() || r.IntN(5) > 0 {
			s.row = t.randomRow(r, s.id)
		}
		t.steps = append(t.steps, s)
	}
	return t
}

// randomRow has the id as its key, if the table has one.
func (t *randomTable) randomRow(r *rand.Rand, id int) enginetest.Row {
	row := make(enginetest.Row, len(t.schema))
	for i, c := range t.schema {
		switch {
		case i < t.key && t.key == 2:
			row[i] = int64([]int{id / 3, id % 3}[i])
		case i < t.key:
			row[i] = int64(id)
		case !c.Type.NotNull && r.IntN(5) == 0:
		default:
			row[i] = randomValue(r, c.Type)
		}
	}
	return row
}

var sampleTexts = []string{"", "a", "ab", "A b", "é", "12", "x'y", "%_"}

// most is the greatest absolute number in a random table.
const most = 3

// randomValue is one of few, so that values meet. Approximate ones are binary
// fractions, whose sums are exact in any order.
func randomValue(r *rand.Rand, t sqltype.Type) any {
	switch t.ID {
	case sqltype.Boolean:
		return r.IntN(2) == 0
	case sqltype.Float, sqltype.Double:
		return float64(r.IntN(4*most)-2*most) / 4
	case sqltype.Decimal:
		return big.NewRat(int64(r.IntN(2*most)-most), int64([]int{1, 2, 4, 100}[r.IntN(4)]))
	case sqltype.Varchar:
		return sampleTexts[r.IntN(len(sampleTexts))]
	case sqltype.Date:
		return int64(r.IntN(5)) - 2
	case sqltype.Time:
		return int64(r.IntN(3)) * 43_199_999
	case sqltype.Varbinary:
		return []byte([]string{"", "a", "ab", "\xff", "é"}[r.IntN(5)])
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		return int64(r.IntN(5)-2) * 43_200_000
	case sqltype.Array:
		out := ref.Nested{}
		for range r.IntN(3) {
			out = append(out, randomPart(r, *t.Elem))
		}
		return out
	case sqltype.Map:
		out := ref.Nested{}
		for _, key := range []string{"a", "b"} {
			if r.IntN(2) == 0 {
				out = append(out, ref.Nested{key, randomPart(r, *t.Elem)})
			}
		}
		return out
	case sqltype.Row:
		out := ref.Nested{}
		for _, f := range t.Fields {
			out = append(out, randomPart(r, f.Type))
		}
		return out
	}
	return int64(r.IntN(2*most)) - most
}

// randomPart is a value inside of a nested one.
func randomPart(r *rand.Rand, t sqltype.Type) any {
	if r.IntN(4) == 0 {
		return nil
	}
	return randomValue(r, t)
}

// library is the connector of random tables, and of the table that is written.
type library struct {
	tables []*randomTable
	sink   *capture
}

func (l *library) Name() string                { return "random" }
func (l *library) Doc() string                 { return "random tables" }
func (l *library) Options() []connector.Option { return nil }

func (l *library) find(name string) *randomTable {
	i := slices.IndexFunc(l.tables, func(t *randomTable) bool { return t.name == name })
	return l.tables[i]
}

func (l *library) Source(t *connector.Table, _ connector.Options) (connector.Source, error) {
	return &shelf{l.find(t.Name)}, nil
}

func (l *library) Sink(t *connector.Table, _ connector.Options) (connector.Sink, error) {
	return l.sink, nil
}

func (l *library) Infer(context.Context, *connector.Table, connector.Options) (sqltype.Schema, error) {
	return nil, errors.New("declare the columns")
}

// shelf is a random table as a source.
type shelf struct{ *randomTable }

func (s *shelf) Mode() sqltype.ChangelogMode { return s.mode }
func (s *shelf) Bounded() bool               { return true }
func (s *shelf) Replayable() bool            { return true }

func (s *shelf) Splits(context.Context) ([]connector.Split, error) {
	var out []connector.Split
	for i := range s.splits {
		out = append(out, connector.Split{ID: fmt.Sprint(s.name, i), Data: i})
	}
	return out, nil
}

func (s *shelf) Open(_ context.Context, split connector.Split, scan connector.Scan, _ []byte) (connector.Reader, error) {
	r := &shelfReader{types: s.schema.Types(), cols: scan.Of(len(s.schema)), rest: s.changes()}
	r.rest = slices.DeleteFunc(r.rest, func(c rowChange) bool { return c.split != split.Data.(int) })
	return r, nil
}

type shelfReader struct {
	types []sqltype.Type
	cols  []int
	rest  []rowChange
}

func (r *shelfReader) Position() []byte { return nil }
func (r *shelfReader) Close() error     { return nil }

func (r *shelfReader) Read(_ context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if len(r.rest) == 0 {
		return nil, io.EOF
	}
	kinds := make([]vector.Kind, len(r.cols))
	for i, c := range r.cols {
		kinds[i] = r.types[c].Kind()
	}
	b := vector.NewBuilder(p, kinds)
	for b.Len() < limit && len(r.rest) > 0 {
		for i, c := range r.cols {
			ref.Append(b.Col(i), r.types[c], r.rest[0].row[c])
		}
		b.EndRow(r.rest[0].kind)
		r.rest = r.rest[1:]
	}
	return b.Finish(), nil
}

// capture is a sink that folds what it is given: by key, or as a multiset.
type capture struct {
	types []sqltype.Type
	key   []int // of an upsert sink; nil: it takes -U

	mu     sync.Mutex
	shards []*captureWriter
}

func (k *capture) Mode() sqltype.ChangelogMode {
	if k.key != nil {
		return sqltype.UpsertMode
	}
	return sqltype.RetractMode
}

func (k *capture) Guarantee() connector.Guarantee { return connector.AtLeastOnce }
func (k *capture) MaxWriters() int                { return 0 }

func (k *capture) Committer(context.Context) (connector.Committer, error) {
	return connector.NopCommitter{}, nil
}

func (k *capture) Writer(context.Context, int, int) (connector.Writer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := &captureWriter{k: k, epochs: [][]rowChange{nil}}
	k.shards = append(k.shards, w)
	return w, nil
}

type captureWriter struct {
	k      *capture
	epochs [][]rowChange // the last is not over
}

func (w *captureWriter) Write(b *vector.Batch) error {
	last := &w.epochs[len(w.epochs)-1]
	*last = appendChanges(*last, w.k.types, b)
	return nil
}

func appendChanges(to []rowChange, types []sqltype.Type, b *vector.Batch) []rowChange {
	for i := range b.Len() {
		r := b.Row(i)
		to = append(to, rowChange{kind: b.Kind(r), row: ref.RowOf(types, b, r)})
	}
	return to
}

func (w *captureWriter) EndEpoch() error {
	w.epochs = append(w.epochs, nil)
	return nil
}

func (w *captureWriter) Prepare(uint64) ([]byte, error) { return nil, nil }
func (w *captureWriter) Close() error                   { return nil }

// changes are what the sink was given in some epochs.
func (k *capture) changes(epochs int) (all []rowChange) {
	for _, w := range k.shards {
		all = append(all, slices.Concat(w.epochs[:min(epochs, len(w.epochs))]...)...)
	}
	return all
}

// table is what the sink shows after some epochs: rows, and how often each is there.
func (k *capture) table(epochs int) (map[string]int, error) {
	rows, err := live(k.changes(epochs), k.types, k.key)
	return counted(k.types, rows), err
}

// live is what changes come to: by key, or as a multiset.
func live(changes []rowChange, types []sqltype.Type, key []int) ([]enginetest.Row, error) {
	counts, rows := map[string]int{}, map[string]enginetest.Row{}
	for _, c := range changes {
		text := ref.Key(types, c.row)
		if key != nil {
			text = keyOf(types, c.row, key)
			counts[text] = 0 // the row that was there is replaced, or goes
		}
		if rows[text] = c.row; c.kind.Adds() {
			counts[text]++
		} else if key == nil {
			counts[text]--
		}
	}
	var out []enginetest.Row
	for text, n := range counts {
		if n < 0 {
			return out, fmt.Errorf("row %s is there %d times", text, n)
		}
		for range n {
			out = append(out, rows[text])
		}
	}
	return out, nil
}

func keyOf(types []sqltype.Type, row enginetest.Row, key []int) string {
	var values enginetest.Row
	var of []sqltype.Type
	for _, c := range key {
		values, of = append(values, row[c]), append(of, types[c])
	}
	return ref.Key(of, values)
}
