package connector

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
)

// Lookups is a connector whose tables can be asked for rows by key while a query runs:
// what FOR SYSTEM_TIME AS OF a processing time needs.
//
// A table of any other connector can be looked up in as well when its Source is bounded
// and has only inserts: the engine then reads all of it and keeps it.
type Lookups interface {
	Connector
	// Lookup checks the table's declaration and returns the side that is asked for rows
	// by key. An error of code errs.Unsupported says that this table has none. Nothing is
	// opened yet.
	Lookup(t *Table, opt Options) (LookupSource, error)
}

// LookupSource is the side of a table that a lookup join asks.
type LookupSource interface {
	// Takes reports whether Open can do something with a filter: rows that do not meet it
	// are then not sent. It changes nothing in the result, because the engine tests every
	// condition itself; so a filter is to be taken only if no row that meets it is lost,
	// whatever collation or rounding the other side has.
	Takes(f Filter) bool
	// Open returns what asks for one shard of a query. ctx lives as long as that is used.
	Open(ctx context.Context, ask Ask) (Lookup, error)
}

// Ask is what a query wants to know of a table.
type Ask struct {
	// Keys are the columns of the table's schema whose values are given.
	Keys []int
	// Columns are the columns of the table's schema to be returned, in this order; those
	// of Keys are among them.
	Columns []int
	// Filters all hold for the rows that are wanted. They are those that Takes took.
	Filters []Filter
}

// Lookup asks for rows. It is used by one goroutine, and may ask with several of its own.
type Lookup interface {
	// Lookup returns the rows of the table, at some moment between the call and its
	// return, whose key columns equal those of a row of keys: a batch with the columns
	// asked for, without selection and kinds, allocated from p, in any order.
	//
	// keys has the columns Ask.Keys; no two of its rows are equal and none has a NULL. It
	// is borrowed. Rows may be returned whose keys were not asked for: they are dropped.
	//
	// An error of code errs.Input, and any that is no *errs.Error, is one that may pass:
	// the engine tries again. Others end the query.
	Lookup(ctx context.Context, p *vector.Pool, keys *vector.Batch) (*vector.Batch, error)
	// Close ends it. It is called once, also after an error.
	Close() error
}

// FilterOp compares a column with constants.
type FilterOp uint8

// The comparisons. NULL meets none of them but IsNull.
const (
	Equal FilterOp = iota
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	In // one of several values
	IsNull
	IsNotNull
)

func (o FilterOp) String() string {
	return [...]string{"=", "<>", "<", "<=", ">", ">=", "IN", "IS NULL", "IS NOT NULL"}[o]
}

// Filter is a condition on a column.
type Filter struct {
	Column int // of the table's schema
	Op     FilterOp
	// Values are what the column is compared with, as Go values of its type: bool, int64,
	// float64, string, []byte, vector.Dec of the column's scale, time.Time (in UTC for
	// types without a zone), time.Duration for TIME. In has several, IsNull and IsNotNull
	// none, the others one.
	Values []any
}

// CacheKind says what a lookup join keeps of a table.
type CacheKind uint8

// The kinds.
const (
	NoCache      CacheKind = iota // nothing: every batch asks
	PartialCache                  // the rows of the keys that were asked for last
	FullCache                     // the whole table
)

func (k CacheKind) String() string { return [...]string{"NONE", "PARTIAL", "FULL"}[k] }

// LookupSettings say how a table is looked up in: the options 'lookup.*'.
type LookupSettings struct {
	Cache CacheKind
	// MaxRows is about how many rows a partial cache keeps.
	MaxRows int64
	// AfterWrite and AfterAccess are the time after which the rows of a key are asked for
	// again: since they were read, and since they were used. 0: never.
	AfterWrite, AfterAccess time.Duration
	// KeepMissing keeps, too, that a key has no rows.
	KeepMissing bool
	// Reload is the interval at which a full cache is read again; 0: never.
	Reload time.Duration
	// Retries is how often a call that failed is made again, the first time after Delay,
	// then after twice as long each time, and Timeout the time after which it is given up.
	Retries        int
	Delay, Timeout time.Duration
}

const (
	lookupCache       = "lookup.cache"
	lookupMaxRows     = "lookup.partial-cache.max-rows"
	lookupAfterWrite  = "lookup.partial-cache.expire-after-write"
	lookupAfterAccess = "lookup.partial-cache.expire-after-access"
	lookupKeepMissing = "lookup.partial-cache.cache-missing-key"
	lookupReload      = "lookup.full-cache.periodic-reload.interval"
	lookupStrategy    = "lookup.full-cache.reload-strategy"
	lookupRetries     = "lookup.max-retries"
	lookupDelay       = "lookup.retry-delay"
	lookupTimeout     = "lookup.timeout"
)

// LookupOptions are the options that every table understands which can be looked up in.
// The names are Flink's, where Flink has them.
func LookupOptions() []Option {
	return []Option{
		{Name: lookupCache, Choices: []string{"NONE", "PARTIAL", "FULL"}, Doc: "what lookup joins keep of the table: NONE, PARTIAL for the keys asked for last, FULL for the whole table; by default NONE, and FULL for tables that can only be read as a whole"},
		{Name: lookupMaxRows, Type: IntOption, Default: "100000", Doc: "about how many rows a partial cache keeps, in each shard"},
		{Name: lookupAfterWrite, Type: DurationOption, Doc: "the time since they were read after which a partial cache asks for the rows of a key again; by default never"},
		{Name: lookupAfterAccess, Type: DurationOption, Doc: "the time since they were used after which a partial cache asks for the rows of a key again; by default never"},
		{Name: lookupKeepMissing, Type: BoolOption, Default: "true", Doc: "a partial cache keeps that a key has no rows"},
		{Name: lookupStrategy, Choices: []string{"PERIODIC"}, Doc: "how a full cache is read again"},
		{Name: lookupReload, Type: DurationOption, Doc: "the interval at which a full cache is read again; by default it is read once"},
		{Name: lookupRetries, Type: IntOption, Default: "3", Doc: "how often a lookup that failed is tried again"},
		{Name: lookupDelay, Type: DurationOption, Default: "100 ms", Doc: "the time before a lookup is tried again; it doubles each time"},
		{Name: lookupTimeout, Type: DurationOption, Default: "1 min", Doc: "the time after which a lookup is not tried again"},
	}
}

// Lookup reads the options that LookupOptions declares. whole says that the table can only
// be read as a whole.
func (o Options) Lookup(whole bool) (LookupSettings, error) {
	s := LookupSettings{
		MaxRows: o.Int(lookupMaxRows), AfterWrite: o.Duration(lookupAfterWrite), AfterAccess: o.Duration(lookupAfterAccess),
		KeepMissing: o.Bool(lookupKeepMissing), Reload: o.Duration(lookupReload),
		Retries: int(o.Int(lookupRetries)), Delay: o.Duration(lookupDelay), Timeout: o.Duration(lookupTimeout),
	}
	if whole {
		s.Cache = FullCache
	}
	if o.Given(lookupCache) {
		switch o.Text(lookupCache) {
		case "NONE":
			s.Cache = NoCache
		case "PARTIAL":
			s.Cache = PartialCache
		case "FULL":
			s.Cache = FullCache
		}
	}
	switch {
	case whole && s.Cache != FullCache:
		return s, o.Errorf(lookupCache, "the table can only be read as a whole, which '%s' = '%s' does not", lookupCache, s.Cache).
			WithHint("leave the option out, and let '%s' say how often the table is read again", lookupReload)
	case s.MaxRows < 1 || s.MaxRows > math.MaxInt32:
		return s, o.Errorf(lookupMaxRows, "option '%s': %d is not a number of rows", lookupMaxRows, s.MaxRows)
	case s.Retries < 0:
		return s, o.Errorf(lookupRetries, "option '%s': %d is less than 0", lookupRetries, s.Retries)
	}
	for _, key := range o.Keys() {
		for prefix, kind := range map[string]CacheKind{"lookup.partial-cache.": PartialCache, "lookup.full-cache.": FullCache} {
			if strings.HasPrefix(key, prefix) && s.Cache != kind {
				return s, o.Errorf(key, "option '%s' has no effect without '%s' = '%s'", key, lookupCache, kind).
					WithHint("the table has '%s' = '%s'", lookupCache, s.Cache)
			}
		}
	}
	return s, nil
}

// PassesBy reports whether a call that failed with err may succeed when it is made again.
func PassesBy(err error) bool {
	var e *errs.Error
	return !errors.As(err, &e) || e.Code == errs.Input
}
