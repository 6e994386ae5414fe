package exec

import (
	"time"

	"github.com/weirdb/weir/engine/connector"
)

// Graph is what a job runs: nodes, each after those it reads from.
type Graph struct {
	Nodes []*Node
}

// Node is one source, operator or sink, of which every shard runs an instance.
// Exactly one of Source, New and Sink is set.
type Node struct {
	// ID is stable under changes elsewhere in the query: state belongs to it.
	ID string
	// Name is what errors and metrics call the node, as "Join[4]".
	Name string
	// What says what a source reads, or an operator keeps state of: a query that is
	// changed can go on with the state if that stays the same.
	What string
	// Source is read by readers that the job drives; Scan says which columns.
	Source connector.Source
	Scan   connector.Scan
	// Time says how a source's splits keep event time.
	Time SourceTime
	// New makes the operator of one shard.
	New func(shard int) (Operator, error)
	// Sink is written by a connector.Writer per shard, which the task drives:
	// Write for every batch, EndEpoch at every mark, Prepare at checkpoints and at
	// the job's end. The job collects the handles and drives the Committer.
	Sink connector.Sink
	// Inputs are the edges into the node. Edge i is port i.
	Inputs []Edge
	// Parallelism is the number of shards, or 0 for the job's.
	Parallelism int
}

// SourceTime says how the splits of a source keep event time.
type SourceTime struct {
	// Own says that the source's readers know the watermarks.
	Own bool
	// IdleTimeout is the time after which a split of a source that does not end, and has
	// nothing to read, holds back nobody; 0: it does so for ever.
	IdleTimeout time.Duration
	// MaxDrift is about how far a split may be ahead of the slowest before it waits; 0:
	// as far as it likes.
	MaxDrift time.Duration
}

// Edge says where a port's rows come from and how they get there.
type Edge struct {
	From     *Node
	Side     string // the name of a side output of From, or "" for its results
	Exchange Exchange
}

// ExchangeKind is a way to spread rows over shards.
type ExchangeKind uint8

// The ways.
const (
	Forward ExchangeKind = iota // rows stay in their shard
	Hash                        // to the shard that owns the key
	Single                      // to shard 0
)

func (k ExchangeKind) String() string {
	return [...]string{"forward", "hash", "single"}[k]
}

// Exchange is how the rows of an edge spread over the shards of its target.
type Exchange struct {
	Kind ExchangeKind
	Keys []int // columns of a Hash exchange
}
