package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
)

// Options are the options of a session, set by SET and read by the planner and by
// jobs when they start.
type Options struct {
	// Parallelism is the number of shards of a job; 0: one for each processor.
	Parallelism int
	// BatchSize is the number of rows that batches aim for. At 1 every row is an
	// epoch of its own, as in Flink without mini-batches.
	BatchSize int
	// FlushInterval and FlushRows end an epoch, whichever comes first.
	FlushInterval time.Duration
	FlushRows     int
	// UpsertMaterialize is what an INSERT does when the primary key of its table
	// is no key of the query: "none" refuses it, "auto" keeps the live rows in
	// state, "force" does so even when it is not necessary.
	UpsertMaterialize string
	// NotNullEnforcer is what a sink does with NULL in a NOT NULL column: "error" or
	// "drop" the row. LengthEnforcer is what it does with a text that is longer or
	// shorter than its column: "ignore", "trim_pad" or "error".
	NotNullEnforcer, LengthEnforcer string
	// NestedEnforcer says where NotNullEnforcer looks beside columns: "ignore",
	// "rows" or "rows_and_collections".
	NestedEnforcer string
	// SortAtEnd lets ORDER BY without LIMIT wait for the end of tables that do not
	// say that they have one.
	SortAtEnd bool
	// ReuseSubPlan lets equal parts of a statement be computed once.
	ReuseSubPlan bool
	// TimeZone is the zone in which local times of TIMESTAMP_LTZ are read and shown.
	TimeZone *time.Location
	// IdleTimeout is the time after which a split of a table that does not end holds back
	// event time no longer when it has nothing to read; 0: it always does.
	IdleTimeout time.Duration
	// LateRows is what becomes of rows that are late: "drop" or "table:name".
	LateRows string
	// Retention says when jobs forget state that nothing touches.
	Retention RetentionOptions
	// JobName names the jobs that are started; "": after their statement.
	JobName string
	// State is about what jobs keep.
	State StateOptions

	given []string // names that were set, to tell them from defaults
}

// DefaultOptions returns the options of a new session.
func DefaultOptions() *Options {
	return &Options{
		BatchSize:         8192, // vector.Target
		FlushInterval:     20 * time.Millisecond,
		FlushRows:         64 << 10,
		UpsertMaterialize: "none",
		NotNullEnforcer:   "error",
		LengthEnforcer:    "ignore",
		ReuseSubPlan:      true,
		NestedEnforcer:    "ignore",
		TimeZone:          time.UTC,
		IdleTimeout:       5 * time.Second,
		LateRows:          "drop",
	}
}

// option is one key of SET. Aliases are Flink's names for the same thing.
type option struct {
	name    string
	aliases []string
	doc     string
	set     func(o *Options, value string) error
	get     func(o *Options) string
	reset   func(o, defaults *Options)
}

func known() []option {
	return append(append(stateOptions(), retentionOptions()...), []option{
		{
			name:    "parallelism.default",
			aliases: []string{"table.exec.resource.default-parallelism"},
			doc:     "the number of shards of a job; 0: one for each processor",
			set:     func(o *Options, v string) error { return setInt(&o.Parallelism, v, 0, 256) },
			get:     func(o *Options) string { return strconv.Itoa(o.Parallelism) },
			reset:   func(o, d *Options) { o.Parallelism = d.Parallelism },
		},
		{
			name:  "exec.batch-size",
			doc:   "the number of rows that batches aim for; at 1 every row is an epoch of its own",
			set:   func(o *Options, v string) error { return setInt(&o.BatchSize, v, 1, 1<<20) },
			get:   func(o *Options) string { return strconv.Itoa(o.BatchSize) },
			reset: func(o, d *Options) { o.BatchSize = d.BatchSize },
		},
		{
			name:    "exec.flush-interval",
			aliases: []string{"table.exec.mini-batch.allow-latency"},
			doc:     "the time after which an epoch ends and results become visible",
			set:     func(o *Options, v string) error { return setDuration(&o.FlushInterval, v) },
			get:     func(o *Options) string { return o.FlushInterval.String() },
			reset:   func(o, d *Options) { o.FlushInterval = d.FlushInterval },
		},
		{
			name:    "exec.flush-rows",
			aliases: []string{"table.exec.mini-batch.size"},
			doc:     "the number of rows after which an epoch ends",
			set:     func(o *Options, v string) error { return setInt(&o.FlushRows, v, 1, 1<<30) },
			get:     func(o *Options) string { return strconv.Itoa(o.FlushRows) },
			reset:   func(o, d *Options) { o.FlushRows = d.FlushRows },
		},
		{
			name:    "exec.sink.upsert-materialize",
			aliases: []string{"table.exec.sink.upsert-materialize"},
			doc:     "what an INSERT does when the table's primary key is no key of the query: none, auto or force",
			set: func(o *Options, v string) error {
				return setChoice(&o.UpsertMaterialize, v, materializeChoices()...)
			},
			get:   func(o *Options) string { return o.UpsertMaterialize },
			reset: func(o, d *Options) { o.UpsertMaterialize = d.UpsertMaterialize },
		},
		{
			name:    "exec.sink.not-null-enforcer",
			aliases: []string{"table.exec.sink.not-null-enforcer"},
			doc:     "what a sink does with NULL in a column that is NOT NULL: error, or drop the row",
			set:     func(o *Options, v string) error { return setChoice(&o.NotNullEnforcer, v, "error", "drop") },
			get:     func(o *Options) string { return o.NotNullEnforcer },
			reset:   func(o, d *Options) { o.NotNullEnforcer = d.NotNullEnforcer },
		},
		{
			name:    "exec.sink.nested-constraint-enforcer",
			aliases: []string{"table.exec.sink.nested-constraint-enforcer"},
			doc:     "where a sink looks for NULL beside its columns: ignore, rows (in fields of rows), rows_and_collections",
			set: func(o *Options, v string) error {
				return setChoice(&o.NestedEnforcer, v, "ignore", "rows", "rows_and_collections")
			},
			get:   func(o *Options) string { return o.NestedEnforcer },
			reset: func(o, d *Options) { o.NestedEnforcer = d.NestedEnforcer },
		},
		{
			name:    "exec.sink.type-length-enforcer",
			aliases: []string{"table.exec.sink.type-length-enforcer"},
			doc:     "what a sink does with a value longer or shorter than its CHAR, VARCHAR, BINARY or VARBINARY: ignore, trim_pad or error",
			set: func(o *Options, v string) error {
				return setChoice(&o.LengthEnforcer, v, "ignore", "trim_pad", "error")
			},
			get:   func(o *Options) string { return o.LengthEnforcer },
			reset: func(o, d *Options) { o.LengthEnforcer = d.LengthEnforcer },
		},
		{
			name:    "exec.sort.at-end",
			aliases: []string{"table.exec.sort.non-temporal.enabled", "__table.exec.sort.non-temporal.enabled__"},
			doc:     "ORDER BY without LIMIT waits for the end of tables that do not say that they have one",
			set:     func(o *Options, v string) error { return setBool(&o.SortAtEnd, v) },
			get:     func(o *Options) string { return strconv.FormatBool(o.SortAtEnd) },
			reset:   func(o, d *Options) { o.SortAtEnd = d.SortAtEnd },
		},
		{
			name:    "plan.reuse-sub-plan",
			aliases: []string{"table.optimizer.reuse-sub-plan-enabled"},
			doc:     "equal parts of a statement are computed once",
			set:     func(o *Options, v string) error { return setBool(&o.ReuseSubPlan, v) },
			get:     func(o *Options) string { return strconv.FormatBool(o.ReuseSubPlan) },
			reset:   func(o, d *Options) { o.ReuseSubPlan = d.ReuseSubPlan },
		},
		{
			name:    "table.local-time-zone",
			aliases: []string{"time-zone"},
			doc:     "the zone of local times, such as UTC or Europe/Berlin",
			set:     func(o *Options, v string) error { return setZone(&o.TimeZone, v) },
			get:     func(o *Options) string { return o.TimeZone.String() },
			reset:   func(o, d *Options) { o.TimeZone = d.TimeZone },
		},
		{
			name:    "watermark.idle-timeout",
			aliases: []string{"table.exec.source.idle-timeout"},
			doc:     "the time after which a part of a table without new rows holds back event time no longer; 0: it always does",
			set:     func(o *Options, v string) error { return setDurationOrNone(&o.IdleTimeout, v) },
			get:     func(o *Options) string { return o.IdleTimeout.String() },
			reset:   func(o, d *Options) { o.IdleTimeout = d.IdleTimeout },
		},
		{
			name:  LateRows,
			doc:   "what becomes of rows that are late: 'drop', or 'table:name' for a table that takes them",
			set:   func(o *Options, v string) error { return setLateRows(&o.LateRows, v) },
			get:   func(o *Options) string { return o.LateRows },
			reset: func(o, d *Options) { o.LateRows = d.LateRows },
		},
		{
			name:  "pipeline.name",
			doc:   "the name of the jobs that are started",
			set:   func(o *Options, v string) error { o.JobName = v; return nil },
			get:   func(o *Options) string { return o.JobName },
			reset: func(o, d *Options) { o.JobName = d.JobName },
		},
	}...)
}

func setInt(p *int, value string, low, high int) error {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < low || n > high {
		return fmt.Errorf("'%s' is not a whole number from %d to %d", value, low, high)
	}
	*p = n
	return nil
}

func setBool(p *bool, value string) error {
	b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(value)))
	if err != nil {
		return fmt.Errorf("'%s' is not true or false", value)
	}
	*p = b
	return nil
}

func setDuration(p *time.Duration, value string) error {
	d, err := connector.ParseDuration(value)
	if err != nil {
		return err
	}
	if d <= 0 {
		return fmt.Errorf("'%s' is not longer than nothing", value)
	}
	*p = d
	return nil
}

func setDurationOrNone(p *time.Duration, value string) error {
	if strings.TrimSpace(value) == "0" {
		*p = 0
		return nil
	}
	d, err := connector.ParseDuration(value)
	if err != nil || d < 0 {
		return fmt.Errorf("'%s' is no duration such as 5 s", value)
	}
	*p = d
	return nil
}

func setLateRows(p *string, value string) error {
	if _, _, err := ParseLateRows(value); err != nil {
		return err
	}
	*p = value
	return nil
}

func setZone(p **time.Location, value string) error {
	// Local is a name of Go's, and would depend on the machine.
	loc, err := time.LoadLocation(strings.TrimSpace(value))
	if err != nil || loc == time.Local {
		return fmt.Errorf("'%s' is no time zone such as UTC or Europe/Berlin", value)
	}
	*p = loc
	return nil
}

func setChoice(p *string, value string, choices ...string) error {
	i := slices.IndexFunc(choices, func(c string) bool { return strings.EqualFold(c, strings.TrimSpace(value)) })
	if i < 0 {
		return fmt.Errorf("'%s' is none of '%s'", value, strings.Join(choices, "', '"))
	}
	*p = choices[i]
	return nil
}

func find(name string, pos errs.Position) (option, error) {
	all := known()
	names := make([]string, 0, 2*len(all))
	for _, k := range all {
		if k.name == name || slices.Contains(k.aliases, name) {
			return k, nil
		}
		names = append(append(names, k.name), k.aliases...)
	}
	e := errs.New(errs.Option, pos, "unknown option '%s'", name)
	if hint := errs.DidYouMean(name, names); hint != "" {
		return option{}, e.WithHint("%s", hint)
	}
	return option{}, e.WithHint("SET without a key lists the options")
}

// Set executes SET 'key' = 'value'.
func (o *Options) Set(opt parse.Option) error {
	k, err := find(opt.Key, opt.At)
	if err != nil {
		return err
	}
	if err := k.set(o, opt.Value); err != nil {
		return errs.New(errs.Option, opt.ValueAt, "option '%s': %w", opt.Key, err)
	}
	if !slices.Contains(o.given, k.name) {
		o.given = append(o.given, k.name)
	}
	return nil
}

// Reset executes RESET 'key', or RESET of everything when the key is "".
func (o *Options) Reset(key string, pos errs.Position) error {
	if key == "" {
		*o = *DefaultOptions()
		return nil
	}
	k, err := find(key, pos)
	if err != nil {
		return err
	}
	k.reset(o, DefaultOptions())
	o.given = slices.DeleteFunc(o.given, func(n string) bool { return n == k.name })
	return nil
}

// Setting is an option with its value.
type Setting struct {
	Name, Value string
	Given       bool // set in this session, not the default
	Doc         string
}

// List lists all options in order of their names.
func (o *Options) List() []Setting {
	var out []Setting
	for _, k := range known() {
		out = append(out, Setting{k.name, k.get(o), slices.Contains(o.given, k.name), k.doc})
	}
	slices.SortFunc(out, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return out
}
