// Package oracle holds Weir's results against those of SQLite: the same tables, the
// same query, where the two dialects mean the same. It is a module of its own, so
// that nobody who builds Weir builds SQLite.
//
// The queries are those of testdata/queries.sql and random ones, by seed. What is
// said differently is translated (dialect); where the meaning differs a query says
// what is the same: 1 / NULLIF(x, 0), AVG(CAST(x AS DOUBLE)).
package oracle

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// way is one way to run all queries: which changes bring the tables to their rows.
type way struct {
	name            string
	mode            sqltype.ChangelogMode // of tables with a key; the others' are retract or append
	batch, parallel int
}

var ways = []way{
	{"append", sqltype.AppendMode, 8192, 1},
	{"retract", sqltype.RetractMode, 3, 2},
	{"upsert", sqltype.UpsertMode, 8192, 2},
}

// oracle is SQLite and, for each way, an engine, all with the same tables.
type oracle struct {
	lite    *sql.DB
	engines []*engine.Engine
}

func open(t *testing.T) *oracle {
	t.Helper()
	o := &oracle{}
	var err error
	if o.lite, err = sql.Open("sqlite", ":memory:"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.lite.Close() })
	o.lite.SetMaxOpenConns(1) // every connection would have tables of its own
	ctx := context.Background()
	lite := func(statement string, args ...any) {
		if _, err := o.lite.ExecContext(ctx, statement, args...); err != nil {
			t.Fatalf("SQLite: %v\n%s", err, statement)
		}
	}
	lite("PRAGMA case_sensitive_like = ON")
	tables := newTables()
	for _, tab := range tables {
		lite("CREATE TABLE " + tab.name + " (" + strings.Join(tab.columns(), ", ") + ")")
		for _, row := range tab.rows {
			lite("INSERT INTO "+tab.name+" VALUES (?"+strings.Repeat(", ?", len(row)-1)+")", row...)
		}
	}
	for _, w := range ways {
		e, err := engine.Open(ctx, engine.Config{BatchSize: w.batch, Parallelism: w.parallel, Connectors: []connector.Connector{shelves{w, tables}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		for _, tab := range tables {
			cols := tab.columns()
			if tab.keyed && w.mode != sqltype.AppendMode {
				cols = append(cols, "PRIMARY KEY ("+tab.schema[0].Name+") NOT ENFORCED")
			}
			if _, err := e.ExecuteSQL(ctx, "CREATE TABLE "+tab.name+" ("+strings.Join(cols, ", ")+") WITH ('connector' = 'shelf')"); err != nil {
				t.Fatal(err)
			}
		}
		o.engines = append(o.engines, e)
	}
	return o
}

// dialect says in SQLite's words what is said in Weir's.
var dialect = strings.NewReplacer(
	"CHAR_LENGTH(", "LENGTH(",
	" IS NOT UNKNOWN", " IS NOT NULL",
	" IS UNKNOWN", " IS NULL",
	" AS STRING)", " AS TEXT)",
)

// compare runs a query everywhere. ordered says that the order of the rows counts.
// It returns the number of rows of the result.
func (o *oracle) compare(ctx context.Context, query, lite string, ordered bool) (int, error) {
	var got []rowSet
	for i, e := range o.engines {
		rows, err := run(ctx, e, query)
		if err != nil {
			return 0, fmt.Errorf("Weir, %s: %w", ways[i].name, err)
		}
		got = append(got, rows)
	}
	want, err := o.ask(ctx, lite, got[0].types)
	if err != nil {
		return 0, fmt.Errorf("SQLite: %w", err)
	}
	for i, rows := range got {
		have := rows.texts
		wanted := slices.Clone(want)
		if !ordered || ways[i].mode != sqltype.AppendMode {
			slices.Sort(have)
			slices.Sort(wanted)
		}
		if !slices.Equal(have, wanted) {
			return 0, fmt.Errorf("Weir, %s, has %d rows, SQLite %d%s", ways[i].name, len(have), len(wanted), difference(have, wanted))
		}
	}
	return len(want), nil
}

// difference shows the rows that one result has more often than the other.
func difference(have, want []string) string {
	counts := map[string]int{}
	for _, text := range have {
		counts[text]++
	}
	for _, text := range want {
		counts[text]--
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
	if len(counts) == 0 {
		return fmt.Sprintf(", in another order:\n\t%s\n\n\t%s", strings.Join(have, "\n\t"), strings.Join(want, "\n\t"))
	}
	out := ", Weir has"
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		out += fmt.Sprintf("\n\t%+d times %s", counts[text], text)
	}
	return out
}

// rowSet is a result: a text for each row.
type rowSet struct {
	types []sqltype.Type
	texts []string
}

// run computes a query in an engine and folds its changelog.
func run(ctx context.Context, e *engine.Engine, query string) (rowSet, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the query hangs"))
	defer cancel()
	q, err := e.ExecuteSQL(ctx, query)
	if err != nil {
		return rowSet{}, err
	}
	defer q.Cancel()
	out := rowSet{types: q.Schema().Types()}
	taken := map[string]int{} // rows that went before they came
	for {
		b, err := q.Changelog().Next(ctx)
		if err == io.EOF {
			break
		} else if err != nil {
			return rowSet{}, err
		}
		for i := range b.Len() {
			r := b.Row(i)
			text := make([]string, len(out.types))
			for c, typ := range out.types {
				text[c] = show(typ, value(typ, b.Col(c), r))
			}
			out.apply(strings.Join(text, " | "), b.Kind(r), taken)
		}
		b.Release()
	}
	for text, n := range taken {
		if n != 0 {
			return rowSet{}, fmt.Errorf("the row %s went %d times more than it came", text, n)
		}
	}
	return out, q.Wait(ctx)
}

func (s *rowSet) apply(text string, kind vector.RowKind, taken map[string]int) {
	switch at := slices.Index(s.texts, text); {
	case kind.Adds() && taken[text] > 0:
		taken[text]--
	case kind.Adds():
		s.texts = append(s.texts, text)
	case at < 0:
		taken[text]++
	default:
		s.texts = slices.Delete(s.texts, at, at+1)
	}
}

// ask computes a query in SQLite. types are those that the columns have in Weir,
// since SQLite knows only values.
func (o *oracle) ask(ctx context.Context, query string, types []sqltype.Type) ([]string, error) {
	rows, err := o.lite.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		vals, to := make([]any, len(types)), make([]any, len(types))
		for i := range vals {
			to[i] = &vals[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		text := make([]string, len(types))
		for i, v := range vals {
			text[i] = show(types[i], v)
		}
		out = append(out, strings.Join(text, " | "))
	}
	return out, rows.Err()
}

// value is what SQLite would have: nil, an int64, a float64 or a string.
func value(t sqltype.Type, v *vector.Vector, i int) any {
	switch {
	case v.IsNull(i):
		return nil
	case v.Kind() == vector.Bool:
		if vector.Values[bool](v)[i] {
			return int64(1)
		}
		return int64(0)
	case v.Kind() == vector.Float64:
		return vector.Values[float64](v)[i]
	case t.IsInteger():
		return sqltype.Int(v, i)
	case t.ID == sqltype.Decimal:
		f, err := strconv.ParseFloat(string(sqltype.AppendText(nil, t, v, i)), 64)
		if err != nil {
			panic("oracle: a DECIMAL that is no number: " + err.Error())
		}
		return f
	}
	return string(v.Bytes(i))
}

// show is a value as text. A number is approximate when its type is not an integer.
func show(t sqltype.Type, v any) string {
	if n, ok := v.(int64); ok && (t.IsApprox() || t.ID == sqltype.Decimal) {
		v = float64(n)
	}
	switch v := v.(type) {
	case nil:
		return "NULL"
	case float64:
		return strconv.FormatFloat(v+0, 'g', 12, 64) + "e" // -0 + 0 is 0
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}

// listed is a query of testdata/queries.sql.
type listed struct {
	line        int
	query, lite string
	ordered     bool
}

// readQueries reads queries that end in ";" at the end of a line. A comment "sqlite:"
// before a query says it in SQLite's words, "ordered" that the order of rows counts.
func readQueries(t *testing.T) (out []listed) {
	text, err := os.ReadFile("testdata/queries.sql")
	if err != nil {
		t.Fatal(err)
	}
	var q listed
	for i, line := range strings.Split(string(text), "\n") {
		comment, isComment := strings.CutPrefix(line, "-- ")
		lite, isLite := strings.CutPrefix(comment, "sqlite: ")
		switch {
		case isComment && isLite:
			q.lite = lite
		case isComment:
			q.ordered = q.ordered || comment == "ordered"
		case line != "":
			q.line = cmp.Or(q.line, i+1)
			last := strings.HasSuffix(line, ";")
			q.query += " " + strings.TrimSuffix(line, ";")
			if last {
				q.query = strings.TrimSpace(q.query)
				q.lite = cmp.Or(q.lite, dialect.Replace(q.query))
				out, q = append(out, q), listed{}
			}
		}
	}
	return out
}

func TestListedQueriesAgreeWithSQLite(t *testing.T) {
	o := open(t)
	full := 0
	queries := readQueries(t)
	for _, q := range queries {
		n, err := o.compare(t.Context(), q.query, q.lite, q.ordered)
		if full += min(n, 1); err != nil {
			t.Errorf("testdata/queries.sql:%d: %v\n%s", q.line, err, q.query)
		}
	}
	t.Logf("%d queries, %d with rows", len(queries), full)
}

var onlySeed = flag.Uint64("seed", 0, "run the random query of this seed alone")

func TestRandomQueriesAgreeWithSQLite(t *testing.T) {
	first, last := uint64(1), uint64(400)
	switch {
	case *onlySeed > 0:
		first, last = *onlySeed, *onlySeed
	case os.Getenv("WEIR_SOAK") != "":
		last = 20_000
	case testing.Short():
		last = 60
	}
	o := open(t)
	full, failed := 0, 0
	var mu sync.Mutex
	t.Run("queries", func(t *testing.T) {
		for worker := range uint64(2) {
			t.Run(fmt.Sprint("worker", worker), func(t *testing.T) {
				t.Parallel()
				for seed := first + worker; seed <= last; seed += 2 {
					query := randomQuery(seed)
					n, err := o.compare(t.Context(), query, dialect.Replace(query), false)
					mu.Lock()
					if full += min(n, 1); err != nil {
						failed++
						t.Errorf("seed %d: %v\n%s", seed, err, query)
					}
					stop := failed >= 10
					mu.Unlock()
					if stop {
						return
					}
				}
			})
		}
	})
	t.Logf("%d queries, %d with rows", last-first+1, full)
	if *onlySeed == 0 && uint64(full) < last/2 {
		t.Error("too few queries have a result that says something")
	}
}
