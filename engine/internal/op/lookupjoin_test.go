package op_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// shelf is a table of rows (k BIGINT, name STRING) that is asked for rows by k.
type shelf struct {
	rows  map[int64][]string
	asked []string // the keys of each call
	fail  []error  // of the next calls
}

func (s *shelf) Takes(connector.Filter) bool { return false }

func (s *shelf) Open(context.Context, connector.Ask) (connector.Lookup, error) { return s, nil }

func (s *shelf) Close() error { return nil }

func (s *shelf) Lookup(_ context.Context, p *vector.Pool, keys *vector.Batch) (*vector.Batch, error) {
	asked := slices.Clone(vector.Values[int64](keys.Col(0)))
	s.asked = append(s.asked, fmt.Sprint(asked))
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		if err != nil {
			return nil, err
		}
	}
	b := vector.NewBuilder(p, []vector.Kind{vector.Int64, vector.String})
	add := func(k int64, name string) {
		vector.Append(b.Col(0), k)
		b.Col(1).AppendString(name)
		b.EndRow(vector.Insert)
	}
	slices.Reverse(asked) // in any order
	for _, k := range asked {
		for _, name := range s.rows[k] {
			add(k, name)
		}
	}
	add(-1, "not asked for")
	return b.Finish(), nil
}

// lookupSpec joins (id BIGINT, k BIGINT) with a shelf, and emits id and name.
func lookupSpec(s *shelf, settings connector.LookupSettings, waits *[]time.Duration) op.LookupJoinSpec {
	probe, table := schema("id bigint!", "k bigint"), schema("k bigint", "name string")
	return op.LookupJoinSpec{
		ProbeSpec: op.ProbeSpec{Types: probe.Types(), Table: table.Types(), Outer: true, Output: []int{0, 3}},
		Name:      "shelf", Keys: []int{1}, TableKeys: []int{0}, Source: s,
		Ask: connector.Ask{Keys: []int{0}, Columns: []int{0, 1}}, Read: table.Types(),
		Exprs: []expr.Expr{
			&expr.Column{Index: 0, Name: "k", T: sqltype.BigIntType}, &expr.Column{Index: 1, Name: "name", T: sqltype.StringType},
		},
		Settings: settings,
		Wait: func(_ context.Context, d time.Duration) error {
			if waits != nil {
				*waits = append(*waits, d)
			}
			return nil
		},
	}
}

// probeBatch has rows with ids from 0 and the given keys; a negative one is NULL.
func probeBatch(p *vector.Pool, keys ...int64) *vector.Batch {
	b := vector.NewBuilder(p, []vector.Kind{vector.Int64, vector.Int64})
	for i, k := range keys {
		vector.Append(b.Col(0), int64(i))
		if k < 0 {
			b.Col(1).AppendNull()
		} else {
			vector.Append(b.Col(1), k)
		}
		b.EndRow(vector.Insert)
	}
	return b.Finish()
}

// probes processes a batch for each list of keys, and returns what came out.
func probes(t *testing.T, d *driver, lists ...[]int64) []string {
	t.Helper()
	for _, keys := range lists {
		b := probeBatch(d.pool, keys...)
		err := d.process(0, b)
		b.Release()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.flush(); err != nil {
			t.Fatal(err)
		}
	}
	return d.rows
}

func TestLookupJoinAsksOnceForABatch(t *testing.T) {
	s := &shelf{rows: map[int64][]string{1: {"a", "b"}, 2: {"c"}}}
	j, err := op.NewLookupJoin(lookupSpec(s, connector.LookupSettings{}, nil))
	d := newDriver(t, j, err)
	got := probes(t, d, []int64{2, 3, -1, 1, 2}, []int64{2})
	want := "+I 0 c|+I 1 NULL|+I 2 NULL|+I 3 b|+I 3 a|+I 4 c|+I 0 c"
	if text := strings.Join(got, "|"); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if asked := strings.Join(s.asked, " "); asked != "[2 3 1] [2]" {
		t.Errorf("asked for %s", asked)
	}
}

func TestLookupCache(t *testing.T) {
	for name, tt := range map[string]struct {
		settings connector.LookupSettings
		lists    [][]int64
		advance  int64 // milliseconds after each list
		asked    string
	}{
		"hits, and keys without rows": {connector.LookupSettings{MaxRows: 100, KeepMissing: true}, [][]int64{{1, 9}, {1, 9, 2}, {9, 2}}, 0, "[1 9] [2]"},
		"keys without rows not kept":  {connector.LookupSettings{MaxRows: 100}, [][]int64{{1, 9}, {1, 9}}, 0, "[1 9] [9]"},
		"expired after reading":       {connector.LookupSettings{MaxRows: 100, KeepMissing: true, AfterWrite: 10 * time.Millisecond}, [][]int64{{1}, {1}, {1, 1}}, 5, "[1] [1]"},
		"expired after use":           {connector.LookupSettings{MaxRows: 100, KeepMissing: true, AfterAccess: 6 * time.Millisecond}, [][]int64{{1, 2}, {1}, {1, 2}}, 5, "[1 2] [2]"},
		"least recently used":         {connector.LookupSettings{MaxRows: 4, KeepMissing: true}, [][]int64{{11}, {12}, {13}, {11}, {14}, {15}, {11}, {12}}, 0, "[11] [12] [13] [14] [15] [12]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{rows: map[int64][]string{1: {"a"}, 2: {"b"}}}
			for k := int64(11); k < 16; k++ {
				s.rows[k] = []string{"x"}
			}
			tt.settings.Cache = connector.PartialCache
			j, err := op.NewLookupJoin(lookupSpec(s, tt.settings, nil))
			d := newDriver(t, j, err)
			for _, keys := range tt.lists {
				for i, row := range probes(t, d, keys)[len(d.rows)-len(keys):] {
					if found := !strings.HasSuffix(row, "NULL"); found != (s.rows[keys[i]] != nil) {
						t.Errorf("key %d: %s", keys[i], row)
					}
				}
				d.now += tt.advance
			}
			if asked := strings.Join(s.asked, " "); asked != tt.asked {
				t.Errorf("asked for %s, want %s", asked, tt.asked)
			}
		})
	}
}

func TestLookupIsTriedAgain(t *testing.T) {
	away := errs.New(errs.Input, errs.Position{}, "the server is away").WithHint("start it")
	settings := connector.LookupSettings{Retries: 2, Delay: time.Second}
	for name, tt := range map[string]struct {
		fail  []error
		waits string
		want  string
	}{
		"passes":  {[]error{away, errors.New("broken pipe")}, "[1s 2s]", ""},
		"remains": {[]error{away, away, away}, "[1s 2s]", `the table "shelf" could not be looked up in, after 3 tries: the server is away`},
		"fatal":   {[]error{errs.New(errs.NotFound, errs.Position{}, "no such table")}, "[]", "no such table"},
	} {
		t.Run(name, func(t *testing.T) {
			waits := []time.Duration{}
			s := &shelf{rows: map[int64][]string{1: {"a"}}, fail: tt.fail}
			j, err := op.NewLookupJoin(lookupSpec(s, settings, &waits))
			d := newDriver(t, j, err)
			b := probeBatch(d.pool, 1)
			defer b.Release()
			err = d.process(0, b)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if fmt.Sprint(waits) != tt.waits {
				t.Errorf("waited %v", waits)
			}
		})
	}
}

func TestLookupMissIsTriedAgain(t *testing.T) {
	waits := []time.Duration{}
	s := &shelf{rows: map[int64][]string{1: {"a"}}}
	spec := lookupSpec(s, connector.LookupSettings{}, &waits)
	spec.MissRetries, spec.MissDelay = 2, time.Minute
	j, err := op.NewLookupJoin(spec)
	d := newDriver(t, j, err)
	got := probes(t, d, []int64{1, 2, 3, 2})
	if text := strings.Join(got, "|"); text != "+I 0 a|+I 1 NULL|+I 2 NULL|+I 3 NULL" {
		t.Errorf("got %s", text)
	}
	if asked := strings.Join(s.asked, " "); asked != "[1 2 3] [2 3] [2 3]" || len(waits) != 2 {
		t.Errorf("asked for %s, waited %v", asked, waits)
	}
}

// BenchmarkLookupJoin is a LEFT JOIN of rows (BIGINT, BIGINT) with rows that the cache has.
func BenchmarkLookupJoin(b *testing.B) {
	for _, keys := range []int64{1000, 100_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			s := &shelf{rows: map[int64][]string{}}
			for k := range keys {
				s.rows[k] = []string{fmt.Sprintf("customer %d", k)}
			}
			settings := connector.LookupSettings{Cache: connector.PartialCache, MaxRows: 4 * keys, KeepMissing: true}
			j, err := op.NewLookupJoin(lookupSpec(s, settings, nil))
			d := newDriver(b, j, err)
			r := rand.New(rand.NewPCG(1, 1))
			var batches []*vector.Batch
			for range max(int(keys)/vector.Target, 1) * 2 {
				list := make([]int64, vector.Target)
				for i := range list {
					list[i] = r.Int64N(keys)
				}
				batches = append(batches, probeBatch(d.pool, list...))
			}
			feed(b, d, batches, len(batches)*vector.Target, epochRows) // all keys are there
			cpu := startCPU(b)
			cpu.begin()
			feed(b, d, batches, b.N, epochRows)
			cpu.end(b.N)
		})
	}
}
