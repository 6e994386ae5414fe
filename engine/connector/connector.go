// Package connector holds the contracts between the engine and what its tables
// stand for: sources, sinks, formats, and the options that declare them in SQL.
package connector

import (
	"context"
	"math"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Connector makes the sources and sinks of the tables that name it in
// 'connector'. It is a value without state of its own between calls, safe for
// concurrent use.
type Connector interface {
	// Name is the value of 'connector' that chooses it.
	Name() string
	// Doc says in a sentence what its tables are.
	Doc() string
	// Options are all options that its tables may have, besides 'connector'.
	Options() []Option
	// Source checks the table's declaration and returns the side that is read.
	// Connectors without one return an error of code errs.Unsupported. Nothing is
	// opened yet.
	Source(t *Table, opt Options) (Source, error)
	// Sink is the same for the side that is written.
	Sink(t *Table, opt Options) (Sink, error)
	// Infer finds the columns of a table that was declared without any. An error
	// of code errs.Unsupported says that columns must be declared.
	Infer(ctx context.Context, t *Table, opt Options) (sqltype.Schema, error)
}

// Table is a table's declaration as far as connectors see it: physical and metadata
// columns only, in the order of the declaration.
type Table struct {
	Name       string
	Schema     sqltype.Schema
	PrimaryKey []int // columns, or nil
	// Metadata are the columns that tell something about a row, and are none of its own.
	// They stand in Schema where they were declared. Only a WithMetadata is given any.
	Metadata []MetadataColumn
	Options  map[string]string
	// OptionPos is where in the statement an option's key stands. It may be nil.
	OptionPos func(key string) errs.Position
	Pos       errs.Position // of the table's name
}

// Scan is what a query wants of a source.
type Scan struct {
	// Columns are the positions in the table's schema to be read, in the order of
	// the batches' columns. Nil means all; empty means only the number of rows.
	Columns []int
}

// Of lists the columns of the scan for a table of n columns: Columns, or all.
func (s Scan) Of(n int) []int {
	if s.Columns != nil {
		return s.Columns
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Source is the side of a table that a query reads.
type Source interface {
	// Mode is the set of row kinds that batches may carry, and says whether a -D may
	// have the columns of the table's primary key only.
	Mode() sqltype.ChangelogMode
	// Bounded reports whether every split ends.
	Bounded() bool
	// Replayable reports whether Open at an old position gives the same rows again.
	Replayable() bool
	// Splits lists the parts that can be read independently. An input that is
	// missing or cannot be read is found here, before any row flows.
	Splits(ctx context.Context) ([]Split, error)
	// Open returns a reader of one split, from its beginning when position is nil,
	// else from what Reader.Position gave. ctx bounds the opening only.
	Open(ctx context.Context, split Split, scan Scan, position []byte) (Reader, error)
}

// Split is a part of a source that one reader reads.
type Split struct {
	ID   string // unique in the source and the same after a restart
	Size int64  // in bytes or rows, for balancing; 0: unknown
	Data any    // the source's own
}

// Reader reads one split. It is used by one goroutine.
type Reader interface {
	// Read returns the next batch, of at most limit rows, without selection,
	// allocated from p and owned by the caller. It returns (nil, nil) when ctx
	// ended before there was a row, and (nil, io.EOF) after the last. A reader
	// that has rows at hand returns them even when ctx has ended.
	Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error)
	// Position is where reading goes on after the last row that Read returned.
	// The caller may keep it.
	Position() []byte
	// Close ends the reader. It is called once, also after an error.
	Close() error
}

// Guarantee is what a sink makes of the rows of a query that was restarted from a
// checkpoint.
type Guarantee uint8

// The guarantees, from the weakest.
const (
	AtLeastOnce Guarantee = iota // rows since the checkpoint may come twice
	ExactlyOnce                  // every row comes once
)

func (g Guarantee) String() string {
	if g == ExactlyOnce {
		return "exactly-once"
	}
	return "at-least-once"
}

// Final is the checkpoint number of the last Prepare: the query has ended or was
// stopped, every row has been written, and no Write follows.
const Final uint64 = math.MaxUint64

// Sink is the side of a table that a query writes.
//
// The order of calls is: Committer, which commits the handles of the checkpoint that
// the query goes on from once more and aborts all else, then one Writer per shard. At
// a checkpoint every writer prepares, the handles are stored, then committed. The
// handles of a checkpoint that was not stored belong to the next one. A query that
// ends well prepares and commits the checkpoint Final; only then a bounded result is
// complete. A query that fails closes its writers without Prepare, and aborts all but
// the handles that were stored.
type Sink interface {
	// Mode is the set of row kinds that the sink can take, and says whether it can take
	// a -D of which only the columns of the table's primary key count.
	Mode() sqltype.ChangelogMode
	// Guarantee says what a restart makes of its rows.
	Guarantee() Guarantee
	// MaxWriters is the largest number of shards that may write at a time, or 0
	// when there is no limit.
	MaxWriters() int
	// Writer returns the writer of a shard. A target that cannot be written is
	// found here, before any row flows. ctx lives as long as the writer: what
	// blocks in Write or Prepare gives up when it ends.
	Writer(ctx context.Context, shard, shards int) (Writer, error)
	Committer(ctx context.Context) (Committer, error)
}

// Resumable is a sink that keeps apart what different queries left in one place. A
// query that can go on after a crash calls Resume before anything else, with a name
// that no other query has and that is the same each time: then Abort discards what
// earlier runs of this query left, and of no other.
type Resumable interface {
	Resume(query string)
}

// Writer writes the rows of one shard. It is used by one goroutine. A writer that
// failed, other than by an error about a row, goes on failing: its query must end.
type Writer interface {
	// Write takes the live rows of b, which is borrowed until Write returns.
	Write(b *vector.Batch) error
	// EndEpoch says that the rows so far are a consistent state: sinks that show
	// rows at once show them now.
	EndEpoch() error
	// Prepare makes the rows since the last Prepare durable, but not yet visible,
	// and returns what Commit needs to show them; nil: nothing to commit.
	Prepare(checkpoint uint64) (handle []byte, err error)
	// Close ends the writer. What was not prepared is discarded.
	Close() error
}

// Committer makes prepared rows visible. It is used by one goroutine.
type Committer interface {
	// Commit shows what all writers prepared at one checkpoint. It is idempotent:
	// after a restart the handles of the last checkpoint are committed again.
	Commit(handles [][]byte) error
	// Abort discards what was prepared or begun by any run, except keep.
	Abort(keep [][]byte) error
	Close() error
}

// NopCommitter is the committer of sinks that show rows by themselves.
type NopCommitter struct{}

// Commit does nothing.
func (NopCommitter) Commit([][]byte) error { return nil }

// Abort does nothing.
func (NopCommitter) Abort([][]byte) error { return nil }

// Close does nothing.
func (NopCommitter) Close() error { return nil }
