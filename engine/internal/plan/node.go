package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// Node is an operator of a plan and the edge that leaves it. The node types of
// this file are the only ones, all of them used as pointers.
type Node interface {
	// Op is the operator's name in EXPLAIN, metrics and errors.
	Op() string
	// Schema has the columns of the rows that leave the node.
	Schema() sqltype.Schema
	Inputs() []Node
	// Traits say what is known about the changelog that leaves the node. They are
	// complete when Build returns.
	Traits() *Traits
	// Pos is the clause of the statement that the node comes from.
	Pos() errs.Position

	setInput(i int, n Node)
	retentions() *retentions
}

// Traits are the properties of an edge.
type Traits struct {
	// ID is the operator's stable name: a hash of its place and kind in the plan.
	ID string
	// Mode is the set of row kinds that may occur.
	Mode sqltype.ChangelogMode
	// Keys are the upsert keys, the smallest first.
	Keys []Key
	Dist Distribution
	// State says what the operator's state is bounded by or grows with, or is empty
	// when it keeps none.
	State string
}

// Key is an upsert key: at every mark the table has at most one row for each
// value of the columns. Without columns the table has at most one row.
type Key struct {
	Columns []int // ascending
	// Ordered says that all changes of a value of the key travel one first-in
	// first-out path. The key of a changelog that is not ordered holds only at
	// marks: between them a removal may come after the addition that replaces it.
	Ordered bool
}

// DistributionKind says how the rows of an edge are spread over shards.
type DistributionKind uint8

// The kinds of distribution.
const (
	AnyShard    DistributionKind = iota // a row may be on any shard
	HashShards                          // the shard follows from the values of Distribution.Keys
	SingleShard                         // all rows are on one shard
)

// Distribution says how the rows of an edge are spread over shards.
type Distribution struct {
	Kind DistributionKind
	Keys []int // HashShards: the columns hashed, in the order they are hashed in
}

// base has what all nodes share.
type base struct {
	schema sqltype.Schema
	traits Traits
	at     errs.Position
	keep   retentions
}

func (b *base) Schema() sqltype.Schema { return b.schema }
func (b *base) Traits() *Traits        { return &b.traits }
func (b *base) Pos() errs.Position     { return b.at }

// leaf is a node without inputs, unary one with one.
type leaf struct{ base }

func (*leaf) Inputs() []Node     { return nil }
func (*leaf) setInput(int, Node) { panic("plan: a leaf has no input") }

type unary struct {
	base
	Input Node
}

func (u *unary) Inputs() []Node         { return []Node{u.Input} }
func (u *unary) setInput(i int, n Node) { u.Input = n }

// Scan reads a table. Its columns are those of the connector's schema that Columns
// lists, in that order; computed columns are the business of a Calc above.
type Scan struct {
	leaf
	Table   *catalog.Table
	Source  connector.Source
	Columns []int
}

// Values has its rows in the plan.
type Values struct {
	leaf
	Rows [][]expr.Expr // without columns; each of its column's type
}

// Calc passes the rows on which Filter is TRUE, and computes Exprs of them.
// Row kinds stay as they are: the filter may let one half of an update through.
type Calc struct {
	unary
	Filter expr.Expr // nil: all rows
	Exprs  []expr.Expr
}

// Union is UNION ALL: the rows of all inputs, which have the same column types.
type Union struct {
	base
	Ins []Node
}

// Aggregate computes aggregates for each group of rows. The output has the key
// columns, then one column for each aggregate. Without keys there is one group,
// which exists even without rows.
type Aggregate struct {
	unary
	Keys []int // input columns
	Aggs []*expr.Aggregate
	// InputAppendOnly says that nothing is ever taken back.
	InputAppendOnly bool
	// EmitUpdateBefore says that an update is -U and +U, not +U alone.
	EmitUpdateBefore bool
}

// Limit passes Count rows after the first Offset. Its input is append-only and on
// a single shard.
type Limit struct {
	unary
	Offset, Count int64 // without LIMIT Count is math.MaxInt64
}

// Exchange sends every row to a shard: by the hash of Keys, or all to one.
type Exchange struct {
	unary
	Kind DistributionKind // HashShards or SingleShard
	Keys []int
}

// Normalize makes a full changelog of an upsert source: its state knows the last
// row of each key.
type Normalize struct {
	unary
	Keys             []int
	EmitUpdateBefore bool
}

// Materialize makes Keys an upsert key. Its state has the live rows of each key,
// in the order they came in, one of which counts.
type Materialize struct {
	unary
	Keys             []int
	Keep             Keep
	EmitUpdateBefore bool
}

// Consolidate makes Keys, an upsert key that holds at marks, an ordered one: it
// collects the changes of an epoch, among which a removal may come before or after
// the addition that replaces it, and emits what they come to for each key.
type Consolidate struct {
	unary
	Keys             []int
	EmitUpdateBefore bool
}

// SinkMode says how a Sink writes.
type SinkMode uint8

// The sink modes.
const (
	// SinkAppend writes inserts; the input has nothing else.
	SinkAppend SinkMode = iota
	// SinkRetract writes all changes as they come, -U among them.
	SinkRetract
	// SinkUpsert writes +I, +U and -D of an ordered key. A -U that comes says nothing
	// that the +U after it does not, and is dropped.
	SinkUpsert
)

func (m SinkMode) String() string {
	return [...]string{"append", "retract", "upsert"}[m]
}

// Sink writes its input to a table. The columns are the table's physical ones.
type Sink struct {
	unary
	Table  *catalog.Table
	Target connector.Sink
	Mode   SinkMode
	Keys   []int // the primary key among the columns, for SinkUpsert
	// NotNull are columns that the table declares NOT NULL while the query may
	// give NULL: such a row is an error at run time, or dropped with DropNull.
	NotNull  []int
	DropNull bool
	// Nested are columns whose types have parts that are NOT NULL: fields of rows, and
	// with Collections elements, keys and values. They are treated in the same way.
	Nested      []int
	Collections bool
	// Lengths are the columns of which the table declares a length that the query may
	// not keep to: it is brought about, or an error with StrictLength.
	Lengths      []int
	StrictLength bool

	conflict parse.OnConflict
	// upserts says that the input is an upsert changelog by the primary key.
	upserts bool
}

// Collect hands the result of a query to whoever asked: all changes, -U included.
type Collect struct {
	unary
}

func (*Scan) Op() string        { return "Scan" }
func (*Values) Op() string      { return "Values" }
func (*Calc) Op() string        { return "Calc" }
func (*Union) Op() string       { return "Union" }
func (*Aggregate) Op() string   { return "Aggregate" }
func (*Limit) Op() string       { return "Limit" }
func (*Exchange) Op() string    { return "Exchange" }
func (*Normalize) Op() string   { return "Normalize" }
func (*Materialize) Op() string { return "Materialize" }
func (*Consolidate) Op() string { return "Consolidate" }
func (*Sink) Op() string        { return "Sink" }
func (*Collect) Op() string     { return "Collect" }

// Inputs are the united inputs.
func (u *Union) Inputs() []Node         { return u.Ins }
func (u *Union) setInput(i int, n Node) { u.Ins[i] = n }

func newScan(t *catalog.Table, src connector.Source, cols []int, at errs.Position) *Scan {
	n := &Scan{Table: t, Source: src, Columns: cols}
	n.schema, n.at = t.Declaration.Schema.Project(cols), at
	return n
}

func newValues(schema sqltype.Schema, rows [][]expr.Expr, at errs.Position) *Values {
	n := &Values{Rows: rows}
	n.schema, n.at = schema, at
	return n
}

func newCalc(in Node, filter expr.Expr, exprs []expr.Expr, names []string, at errs.Position) *Calc {
	n := &Calc{Filter: filter, Exprs: exprs}
	n.Input, n.at = in, at
	n.schema = make(sqltype.Schema, len(exprs))
	for i, e := range exprs {
		n.schema[i] = sqltype.Column{Name: names[i], Type: e.Type()}
	}
	return n
}

// newFilter is a Calc that passes rows on as they are.
func newFilter(in Node, filter expr.Expr, at errs.Position) *Calc {
	return newCalc(in, filter, columns(in), in.Schema().Names(), at)
}

// newProjection is a Calc that forwards the given columns.
func newProjection(in Node, cols []int) *Calc {
	exprs := make([]expr.Expr, len(cols))
	for i, c := range cols {
		exprs[i] = expr.NewColumn(in.Schema(), c, in.Pos())
	}
	return newCalc(in, nil, exprs, in.Schema().Project(cols).Names(), in.Pos())
}

// columns are references to all columns of n.
func columns(n Node) []expr.Expr {
	out := make([]expr.Expr, len(n.Schema()))
	for i := range out {
		out[i] = expr.NewColumn(n.Schema(), i, errs.Position{})
	}
	return out
}

func newUnion(ins []Node, schema sqltype.Schema, at errs.Position) *Union {
	n := &Union{Ins: ins}
	n.schema, n.at = schema, at
	return n
}

func newAggregate(in Node, keys []int, aggs []*expr.Aggregate, names []string, at errs.Position) *Aggregate {
	n := &Aggregate{Keys: keys, Aggs: aggs, EmitUpdateBefore: true}
	n.Input, n.at = in, at
	n.schema = slices.Clone(in.Schema().Project(keys))
	for i, a := range aggs {
		n.schema = append(n.schema, sqltype.Column{Name: names[i], Type: a.T})
	}
	return n
}

func newLimit(in Node, offset, count int64, at errs.Position) *Limit {
	n := &Limit{Offset: offset, Count: count}
	n.Input, n.schema, n.at = in, in.Schema(), at
	return n
}

func newExchange(in Node, kind DistributionKind, keys []int) *Exchange {
	n := &Exchange{Kind: kind, Keys: keys}
	n.Input, n.schema, n.at = in, in.Schema(), in.Pos()
	return n
}

func newNormalize(in Node, keys []int) *Normalize {
	n := &Normalize{Keys: keys, EmitUpdateBefore: true}
	n.Input, n.schema, n.at = in, in.Schema(), in.Pos()
	return n
}

func newMaterialize(in Node, keys []int, keep Keep, at errs.Position) *Materialize {
	n := &Materialize{Keys: keys, Keep: keep, EmitUpdateBefore: true}
	n.Input, n.schema, n.at = in, in.Schema(), at
	return n
}

func newConsolidate(in Node, keys []int, at errs.Position) *Consolidate {
	n := &Consolidate{Keys: keys, EmitUpdateBefore: true}
	n.Input, n.schema, n.at = in, in.Schema(), at
	return n
}

// upTo lists 0 to n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
