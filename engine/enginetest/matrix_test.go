package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// matrixKeys says what becomes of the key of t.
var matrixKeys = []struct {
	name    string
	columns []string
	keyed   bool
}{
	{"no key", []string{"a", "b", "g", "v"}, false},
	{"key kept", []string{"a", "b", "g", "v"}, true},
	{"key narrowed", []string{"a", "g", "v"}, true},
	{"key dropped", []string{"g", "v"}, true},
}

// matrixSinks are the tables that are written.
var matrixSinks = []struct {
	name   string
	mode   sqltype.ChangelogMode
	key    func(keys [][]int, columns int) []int // nil: none such
	option string                                // 'upsert-materialize', or the end of INSERT
}{
	{"append", sqltype.AppendMode, nil, ""},
	{"retract", sqltype.RetractMode, nil, ""},
	{"upsert by a key of the query", sqltype.UpsertMode, firstKey, ""},
	{"upsert by its last key", sqltype.UpsertMode, lastKey, ""},
	{"upsert by a wider key", sqltype.UpsertMode, widerKey, ""},
	{"upsert by another key", sqltype.UpsertMode, otherKey, ""},
	{"upsert by another key, materialized", sqltype.UpsertMode, otherKey, "auto"},
	{"upsert by a key of the query, materialized", sqltype.UpsertMode, firstKey, "force"},
	{"upsert by another key, the first row kept", sqltype.UpsertMode, otherKey, "ON CONFLICT DO NOTHING"},
	{"upsert and delete by a key of the query", sqltype.UpsertMode.WithDeletesByKey(), firstKey, ""},
}

func firstKey(keys [][]int, _ int) []int {
	if len(keys) == 0 || len(keys[0]) == 0 {
		return nil
	}
	return keys[0]
}

func lastKey(keys [][]int, _ int) []int {
	if len(keys) < 2 {
		return nil
	}
	return keys[len(keys)-1]
}

func widerKey(keys [][]int, columns int) []int {
	for c := range columns {
		if len(keys) > 0 && !slices.Contains(keys[0], c) {
			return append(slices.Clone(keys[0]), c)
		}
	}
	return nil
}

// otherKey is a column that has no key of the query in it.
func otherKey(keys [][]int, columns int) []int {
	for c := columns - 1; c >= 0; c-- {
		if !slices.ContainsFunc(keys, func(k []int) bool { return len(k) == 0 || len(k) == 1 && k[0] == c }) {
			return []int{c}
		}
	}
	return nil
}

// matrixTable has the given columns, the first of which are the key when keyed, and
// the last of which has the given type.
func matrixTable(r *rand.Rand, name string, mode sqltype.ChangelogMode, keyed bool, key int, last sqltype.Type, columns ...string) *randomTable {
	t := &randomTable{name: name, mode: mode.WithoutDeletesByKey(), splits: 2}
	for i, c := range columns {
		typ := sqltype.IntType
		if i < key {
			typ = typ.Required()
		} else if i == len(columns)-1 {
			typ = last
		}
		t.schema = append(t.schema, sqltype.Column{Name: c, Type: typ})
	}
	t.key = key // of the values drawn
	for i := range 14 {
		s := step{id: r.IntN(6), apart: r.IntN(4) == 0}
		if mode.InsertOnly() {
			s.id = i
		}
		if mode.InsertOnly() || r.IntN(4) > 0 {
			s.row = t.randomRow(r, s.id)
		}
		t.steps = append(t.steps, s)
	}
	if !keyed {
		t.key = 0
	}
	return t
}

// matrixLibrary is a library whose tables are declared as an input of the matrix is,
// and whose written table takes what a sink of the matrix does.
type matrixLibrary struct {
	*library
	input, mode sqltype.ChangelogMode
}

func (l matrixLibrary) Source(t *connector.Table, opt connector.Options) (connector.Source, error) {
	s, err := l.library.Source(t, opt)
	if l.input.DeletesByKey() {
		s = keyShelf{s.(*shelf), l.input}
	}
	return s, err
}

// keyShelf is a table whose deletions have nothing but the key, every other time.
type keyShelf struct {
	*shelf
	mode sqltype.ChangelogMode
}

func (s keyShelf) Mode() sqltype.ChangelogMode { return s.mode }

func (s keyShelf) Open(ctx context.Context, split connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	r, err := s.shelf.Open(ctx, split, scan, position)
	rest := r.(*shelfReader).rest
	for i, c := range rest {
		if c.kind == vector.Delete && i%2 == 0 {
			rest[i].row = slices.Concat(c.row[:s.key], make(enginetest.Row, len(c.row)-s.key))
		}
	}
	return r, err
}

func (l matrixLibrary) Sink(*connector.Table, connector.Options) (connector.Sink, error) {
	return matrixSink{l.sink, l.mode}, nil
}

type matrixSink struct {
	*capture
	mode sqltype.ChangelogMode
}

func (s matrixSink) Mode() sqltype.ChangelogMode { return s.mode }

// cell is one combination.
type cell struct {
	name, sql         string // of the operator
	input, keys, sink int
	value             int // of matrixValues
	round             int // of other rows
}

var matrixInputs = []sqltype.ChangelogMode{sqltype.AppendMode, sqltype.RetractMode, sqltype.UpsertMode, sqltype.UpsertMode.WithDeletesByKey()}

// matrixValues are the types of v and w, and where there is a number in them.
var matrixValues = []struct {
	typ    sqltype.Type
	number string
}{
	{sqltype.IntType, ""},
	{sqltype.RowOf(sqltype.Column{Name: "f", Type: sqltype.IntType}, sqltype.Column{Name: "g", Type: sqltype.StringType}), ".f"},
	{sqltype.ArrayOf(sqltype.IntType), "[1]"},
	{sqltype.MapOf(sqltype.StringType.Required(), sqltype.IntType), "['a']"},
}

func (c cell) String() string {
	return fmt.Sprintf("%s of %s, input %s, %s, sink %s", c.name, matrixValues[c.value].typ, matrixInputs[c.input], matrixKeys[c.keys].name, matrixSinks[c.sink].name)
}

func (c cell) seed() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, c.name, c.input, c.keys, c.value, c.round)
	return h.Sum64()
}

// query is the cell's query.
func (c cell) query() string {
	cols := matrixKeys[c.keys].columns
	number := matrixValues[c.value].number
	pairs := []string{"{C}", strings.Join(cols, ", "), "{l.C}", "l." + strings.Join(cols, ", l."), "{S}", strings.Join(cols, ", ") + number}
	for _, v := range []string{"v", "w", "l.v", "r.w"} {
		pairs = append(pairs, "{"+v+"}", v+number)
	}
	return strings.NewReplacer(pairs...).Replace(c.sql)
}

// session opens an engine with the cell's tables.
func (c cell) session(ctx context.Context) (*trial, *session, error) {
	r := rand.New(rand.NewPCG(c.seed(), 5))
	mode, keyed, value := matrixInputs[c.input], matrixKeys[c.keys].keyed, matrixValues[c.value].typ
	if mode.DeletesByKey() {
		value = value.Required() // and still not there in a deletion
	}
	t := &trial{tables: []*randomTable{
		matrixTable(r, "t", mode, keyed, 2, value, "a", "b", "g", "v"),
		matrixTable(r, "t2", mode, keyed, 2, value, "a", "b", "g", "v"),
		matrixTable(r, "u", mode, keyed, 1, value, "k", "w"),
	}}
	asked := *t.tables[2]
	asked.name, asked.asked = "asked", true
	t.tables = append(t.tables, &asked)
	lib := matrixLibrary{&library{tables: t.tables, sink: &capture{}}, mode, matrixSinks[c.sink].mode}
	e, err := engine.Open(ctx, engine.Config{Connectors: []connector.Connector{lib}})
	if err != nil {
		return nil, nil, err
	}
	s := &session{Engine: e, sink: lib.sink}
	for i, tab := range t.tables {
		declaration := tab.declaration()
		if timed.MatchString(c.sql) { // time in milliseconds, of which none is ever late
			declaration = strings.Replace(declaration, "(", "(ts AS TO_TIMESTAMP_LTZ("+[]string{"a", "a", "k", "k"}[i]+", 3), WATERMARK FOR ts AS ts - INTERVAL '1' HOUR, ", 1)
		}
		if err := s.declare(ctx, declaration, ""); err != nil {
			e.Close()
			return nil, nil, err
		}
	}
	return t, s, nil
}

// timed are the queries that read event time.
var timed = regexp.MustCompile(`\bts\b`)

func (s *session) declare(ctx context.Context, declaration, option string) error {
	declaration = strings.TrimSuffix(declaration, " lookup")
	declaration = strings.TrimSuffix(strings.TrimSuffix(declaration, " retract"), " upsert")
	if option != "" {
		option = ", 'upsert-materialize' = '" + option + "'"
	}
	_, err := s.ExecuteSQL(ctx, "CREATE TABLE "+declaration+" WITH ('connector' = 'random'"+option+")")
	return err
}

// errNoCell says that a combination does not exist.
var errNoCell = errors.New("there is no such combination")

// target creates the table that is written and completes the statement. It returns
// the changes that the query makes.
func (c cell) target(ctx context.Context, s *session) (mode sqltype.ChangelogMode, err error) {
	s.sql = c.query()
	p, err := s.Plan(ctx, s.sql, false)
	if err != nil {
		return 0, err
	}
	traits, schema := p.Roots[0].Traits(), p.Roots[0].Schema()
	mode = traits.Mode
	sink := matrixSinks[c.sink]
	var key []int
	if sink.key != nil {
		var keys [][]int
		for _, k := range traits.Keys {
			keys = append(keys, k.Columns)
		}
		if key = sink.key(keys, len(schema)); key == nil {
			return 0, errNoCell
		}
		s.sink.key = key
	}
	result := &randomTable{name: "result", schema: slices.Clone(schema), mode: sink.mode.WithoutDeletesByKey()}
	s.sink.types = schema.Types()
	where := ""
	for _, k := range key {
		if !schema[k].Type.NotNull {
			where += []string{" WHERE ", " AND "}[min(len(where), 1)] + schema[k].Name + " IS NOT NULL"
		}
	}
	if where != "" {
		s.sql = "SELECT * FROM (" + s.sql + ") AS q" + where
		if p, err = s.Plan(ctx, s.sql, false); err != nil {
			return 0, err
		}
		mode = p.Roots[0].Traits().Mode
	}
	s.sql = "INSERT INTO result " + s.sql
	option := sink.option
	if strings.HasPrefix(option, "ON CONFLICT") {
		s.sql += " " + option
		option = ""
	}
	return mode, s.declare(ctx, result.declare(key), option)
}

// refused reports whether the cell is one that must be.
func (c cell) refused(query sqltype.ChangelogMode) bool {
	switch matrixSinks[c.sink].name {
	case "append", "upsert by another key":
		return !query.InsertOnly()
	}
	return false
}

// refusals are the errors that refuse a cell. Each names what is in the way.
var refusals = []*regexp.Regexp{
	regexp.MustCompile(`^table "result" only takes inserts, but the table "\w+" changes: its source has `),
	regexp.MustCompile(`^table "result" only takes inserts, but (GROUP BY .+|the aggregation .+|the \w+( \w+)? join|EXCEPT|Sort|Rank|TopN|Deduplicate|Over) \(line 1:\d+\) updates its results$`),
	regexp.MustCompile(`^the primary key \(\w+\) of table "result" does not identify the query's rows: (the query has no key|the query's rows are identified by \(.+\))$`),
	regexp.MustCompile(`^table "(t|t2|u)" has updates without the rows that they replace, and no key$`),
}

// checkRefusal tests that an error says where, what and what to do.
func checkRefusal(err error) error {
	var e *errs.Error
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("it is refused by %T: %w", err, err)
	case e.Code != errs.Changelog, !e.Pos.IsValid(), e.Hint == "":
		return fmt.Errorf("it is refused with code %q, position %v, hint %q: %w", e.Code, e.Pos, e.Hint, err)
	}
	for _, reason := range refusals {
		if reason.MatchString(e.Msg) {
			return nil
		}
	}
	return fmt.Errorf("it is refused without the reason: %s", e.Msg)
}

// outcome is what became of a cell.
type outcome uint8

const (
	ranRight outcome = iota
	ranByKey         // the same, with deletions that have only the key
	ranOpen          // the reference cannot say which rows LIMIT takes
	wasRefused
)

// check runs the cell at every batch size and parallelism, or sees it refused.
func (c cell) check(ctx context.Context) (outcome, error) {
	t, s, err := c.session(ctx)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if m := matrixInputs[c.input]; m.Has(vector.UpdateAfter) && !m.Has(vector.UpdateBefore) && !matrixKeys[c.keys].keyed {
		if _, err = s.Plan(ctx, c.query(), false); err == nil {
			return 0, errors.New("an upsert table without a key is read")
		}
		return wasRefused, checkRefusal(err)
	}
	if strings.Contains(c.sql, "JOIN u FOR SYSTEM_TIME") && !matrixKeys[c.keys].keyed {
		return 0, errNoCell // it is not known of what there are versions
	}
	mode, err := c.target(ctx, s)
	if err != nil {
		return 0, err
	}
	if c.refused(mode) {
		if _, err = s.Plan(ctx, s.sql, false); err == nil {
			return 0, errors.New("it is not refused")
		}
		return wasRefused, checkRefusal(err)
	}
	result := ranRight
	want, err := enginetest.Reference(ctx, s.Engine, s.sql, t.now(everything))
	if code(err) == errs.Unsupported || err == nil && want.Rule != ref.Exactly {
		result = ranOpen
	} else if err != nil {
		return 0, err
	}
	ways := []way{{batch: 1, parallel: 1}, {batch: 8192, parallel: 1}, {batch: 1, parallel: 2}, {batch: 8192, parallel: 2}}
	if strings.Contains(matrixSinks[c.sink].name, "key") && !strings.Contains(matrixSinks[c.sink].name, "another") {
		ways = append(ways, way{parallel: 2, scheduled: true}) // the order of changes matters to the sink
	}
	if c.value > 0 || matrixInputs[c.input].DeletesByKey() && strings.Contains(matrixSinks[c.sink].name, "another") {
		ways = ways[1:3] // what differs is not in the order of changes
	}
	right := result == ranRight
	known := right || want.Rule == ref.Choice && !strings.Contains(matrixSinks[c.sink].name, "another")
	if p, err := s.Plan(ctx, s.sql, false); right && err == nil && p.Roots[0].Traits().Mode.DeletesByKey() {
		result = ranByKey
	}
	for _, w := range ways {
		got, err := s.run(ctx, w, c.seed())
		if err == nil {
			err = c.checkDeletes(s.sink)
		}
		if err == nil && known {
			err = c.compare(got, s, want)
		}
		if err != nil {
			return 0, fmt.Errorf("%v: %w\n%s", w, err, s.sql)
		}
	}
	return result, nil
}

// run runs the cell's statement in a way, and returns what the sink shows then.
func (s *session) run(ctx context.Context, w way, seed uint64) (map[string]int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("it hangs"))
	defer cancel()
	s.sink.shards = nil
	if w.scheduled {
		if err := enginetest.Run(ctx, s.Engine, s.sql, nil, enginetest.Schedule{Seed: seed, Parallelism: w.parallel, BatchSize: w.batch}); err != nil {
			return nil, err
		}
		return s.sink.table(1 << 30)
	}
	for _, sql := range []string{
		fmt.Sprintf("SET 'exec.batch-size' = '%d'", w.batch),
		fmt.Sprintf("SET 'parallelism.default' = '%d'", w.parallel),
		s.sql,
	} {
		q, err := s.ExecuteSQL(ctx, sql)
		if err == nil {
			err = q.Wait(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.sink.table(1 << 30)
}

// checkDeletes tests that a -D has what its sink takes: the row that the sink has, or
// by key no NULL in a column that is NOT NULL.
func (c cell) checkDeletes(sink *capture) error {
	if sink.key == nil {
		return nil
	}
	byKey, last := matrixSinks[c.sink].mode.DeletesByKey(), map[string]string{}
	for _, w := range sink.shards {
		for _, change := range slices.Concat(w.epochs...) {
			key, row := keyOf(sink.types, change.row, sink.key), ref.Key(sink.types, change.row)
			switch {
			case change.kind.Adds():
				last[key] = row
			case byKey:
				for i, t := range sink.types {
					if t.NotNull && change.row[i] == nil {
						return fmt.Errorf("column %d of %v %v is NULL", i, change.kind, change.row)
					}
				}
			case last[key] != row:
				return fmt.Errorf("%v %v deletes another row", change.kind, change.row)
			}
		}
	}
	return nil
}

// compare holds the sink against the result. By a key that is none of the query the
// sink has one of the rows of each value.
func (c cell) compare(got map[string]int, s *session, want enginetest.Result) error {
	if matrixSinks[c.sink].key == nil || !strings.Contains(matrixSinks[c.sink].name, "another") {
		return compare(got, want)
	}
	types := want.Schema.Types()
	keys := map[string]int{}
	for _, r := range want.Rows {
		k := keyOf(types, r, s.sink.key)
		keys[k] += got[ref.Key(types, r)]
	}
	n := 0
	for k, count := range keys {
		if n += count; count == 0 && want.Take < 0 {
			return fmt.Errorf("the sink has no row of the result with key %s\n\t%v", k, got)
		}
	}
	if want.Take < 0 && (n < len(got) || len(got) != len(keys)) {
		return fmt.Errorf("the sink has %d rows for %d keys\n\t%v", len(got), len(keys), got)
	}
	return nil
}

// Every operator over every kind of input, with every fate of the input's key, into
// every kind of sink: it runs right or is refused with the reason and a way out.
func TestMatrixOfOperatorsInputsKeysAndSinks(t *testing.T) {
	var mu sync.Mutex
	counts, none := map[outcome]int{}, 0
	rounds := 1
	if os.Getenv("WEIR_SOAK") != "" {
		rounds = 20
	}
	// run runs a cell and says what became of it, and whether there is such a one.
	run := func(t *testing.T, c cell) (became outcome, exists bool) {
		became, err := c.check(t.Context())
		mu.Lock()
		defer mu.Unlock()
		switch {
		case errors.Is(err, errNoCell):
			none++
			return became, false
		case err != nil:
			t.Errorf("%v, round %d: %v", c, c.round, err)
		default:
			counts[became]++
		}
		return became, true
	}
	inputs, keys, sinks := len(matrixInputs), len(matrixKeys), len(matrixSinks)
	t.Run("operators", func(t *testing.T) {
		for _, o := range matrixOperators {
			t.Run(strings.ReplaceAll(o.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				for i := range rounds * inputs * keys * sinks {
					c := cell{o.name, o.sql, i % inputs, i / inputs % keys, i / inputs / keys % sinks, 0, i / inputs / keys / sinks}
					became, _ := run(t, c)
					for range 5 { // these are few
						if c.round += rounds; became == ranByKey {
							run(t, c)
						}
					}
				}
			})
		}
		// Nested values go through every operator, with some of the combinations.
		for _, o := range slices.Concat(matrixOperators, nestedOperators) {
			t.Run("nested/"+strings.ReplaceAll(o.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				h := fnv.New64a()
				fmt.Fprint(h, o.name)
				r := rand.New(rand.NewPCG(h.Sum64(), 6))
				for value := 1; value < len(matrixValues); value++ {
					for ran, round := 0, 0; ran < 6*rounds; round++ {
						if _, exists := run(t, cell{o.name, o.sql, r.IntN(inputs), 1 + r.IntN(keys-1), r.IntN(sinks), value, round}); exists {
							ran++
						}
					}
				}
			})
		}
	})
	t.Logf("%d combinations run right, %d with deletions by key, %d run with any rows, %d are refused, %d do not exist",
		counts[ranRight], counts[ranByKey], counts[ranOpen], counts[wasRefused], none)
	if counts[ranRight] < 2500 || counts[wasRefused] < 800 || counts[ranByKey] < 50 || counts[ranOpen] > counts[ranRight]/20 {
		t.Error("too few combinations are held against the reference")
	}
}
