// Package datagen is the connector of tables whose rows are made up: numbers,
// text and times, random or in sequence.
//
// A row's values depend on the seed, the column's name and the row's number only,
// never on batches, splits or parallelism.
package datagen

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Connector is the connector "datagen".
type Connector struct {
	// Now is the clock for 'rows-per-second' and for times before now; nil: time.Now.
	Now func() time.Time
	// Wait sleeps, at most until ctx ends; nil: on the system's clock.
	Wait func(ctx context.Context, d time.Duration)
}

// Name is "datagen".
func (Connector) Name() string { return "datagen" }

// Doc describes the connector.
func (Connector) Doc() string { return "makes up rows" }

// Options are named as in Flink, but for seed and fields.#.step.
func (Connector) Options() []connector.Option {
	return []connector.Option{
		{Name: "number-of-rows", Type: connector.IntOption, Doc: "how many rows there are; by default no end, but that of the shortest sequence"},
		{Name: "rows-per-second", Type: connector.IntOption, Doc: "how fast rows come; by default 10000 when there is no end, else as fast as possible"},
		{Name: "seed", Type: connector.IntOption, Default: "0", Doc: "the same seed gives the same rows"},
		{Name: "fields.#.kind", Default: "random", Choices: []string{"random", "sequence"}, Doc: "how the values of a column come"},
		{Name: "fields.#.min", Doc: "the smallest random value"},
		{Name: "fields.#.max", Doc: "the largest random value"},
		{Name: "fields.#.length", Type: connector.IntOption, Doc: "the length of random text or bytes; by default 100 characters, 20 bytes"},
		{Name: "fields.#.start", Doc: "the first value of a sequence"},
		{Name: "fields.#.end", Doc: "the last value of a sequence"},
		{Name: "fields.#.step", Doc: "what a sequence goes on by: a number, or a duration for timestamps; by default 1, 1 ms"},
		{Name: "fields.#.max-past", Type: connector.DurationOption, Doc: "how long before now random timestamps may be, where now is the start and goes on with 'rows-per-second'; by default not at all"},
		{Name: "fields.#.null-rate", Type: connector.FloatOption, Doc: "the share of NULLs"},
	}
}

// Sink fails: there is nothing to write to.
func (Connector) Sink(t *connector.Table, _ connector.Options) (connector.Sink, error) {
	return nil, errs.New(errs.Unsupported, t.Pos, "table %q cannot be written: connector datagen is only read", t.Name)
}

// Infer fails: columns must be declared.
func (Connector) Infer(_ context.Context, t *connector.Table, _ connector.Options) (sqltype.Schema, error) {
	return nil, errs.New(errs.Unsupported, t.Pos, "table %q needs columns", t.Name)
}

// defaultRate is the rate of a table without end, as in Flink; above maxRate there
// is no limit.
const (
	defaultRate = 10000
	maxRate     = 1e9
)

// Source checks the table's columns and options.
func (c Connector) Source(t *connector.Table, opt connector.Options) (connector.Source, error) {
	s := &source{rows: -1, rate: opt.Int("rows-per-second"), now: c.Now, wait: c.Wait}
	if s.now == nil {
		s.now = time.Now
	}
	if s.wait == nil {
		s.wait = sleep
	}
	if opt.Given("number-of-rows") {
		if s.rows = opt.Int("number-of-rows"); s.rows < 0 {
			return nil, opt.Errorf("number-of-rows", "'number-of-rows' is negative")
		}
	}
	if opt.Given("rows-per-second") && s.rate <= 0 {
		return nil, opt.Errorf("rows-per-second", "'rows-per-second' must be positive")
	}
	if err := checkFields(t, opt); err != nil {
		return nil, err
	}
	if s.rate == 0 && s.rows < 0 && !hasEnd(t, opt) {
		s.rate = defaultRate
	}
	if s.rate > maxRate {
		s.rate = 0
	}
	now := s.now()
	for _, col := range t.Schema {
		g, length, err := newField(col, opt, now, s.rate)
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, g)
		if length >= 0 && (s.rows < 0 || length < s.rows) {
			s.rows = length
		}
	}
	return s, nil
}

// hasEnd reports whether a sequence ends the table.
func hasEnd(t *connector.Table, opt connector.Options) bool {
	return slices.ContainsFunc(t.Schema, func(c sqltype.Column) bool {
		return opt.Text("fields."+c.Name+".kind") == "sequence" && opt.Given("fields."+c.Name+".end")
	})
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// source makes up rows number 0 to rows.
type source struct {
	fields []field
	rows   int64 // -1: no end
	rate   int64 // 0: no limit
	now    func() time.Time
	wait   func(context.Context, time.Duration)
}

func (*source) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }
func (s *source) Bounded() bool             { return s.rows >= 0 }
func (*source) Replayable() bool            { return true }

// splitRows is the least number of rows that is worth a split, maxSplits how many
// there are at most.
const (
	splitRows = 1 << 18
	maxSplits = 16
)

// span is the rows of a split.
type span struct {
	from, to int64
}

// Splits are ranges of rows. A table that is slow, or has no end, is one.
func (s *source) Splits(context.Context) ([]connector.Split, error) {
	if s.rows < 0 {
		return []connector.Split{{ID: "0", Data: span{from: 0, to: math.MaxInt64}}}, nil
	}
	n := int64(1)
	if s.rate == 0 {
		n = min(max(s.rows/splitRows, 1), maxSplits)
	}
	out := make([]connector.Split, n)
	for i := range n {
		sp := span{from: s.rows / n * i, to: s.rows / n * (i + 1)}
		if i == n-1 {
			sp.to = s.rows
		}
		out[i] = connector.Split{ID: strconv.FormatInt(i, 10), Size: sp.to - sp.from, Data: sp}
	}
	return out, nil
}
