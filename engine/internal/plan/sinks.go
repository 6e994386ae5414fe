package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
)

// planSinks decides how every sink takes the changes of its query, and puts what it
// needs for that below it. materialize is the session's option.
func planSinks(materialize string) func(Node) (Node, error) {
	return func(n Node) (Node, error) {
		sink, ok := n.(*Sink)
		if !ok {
			return n, nil
		}
		if err := sink.plan(materialize); err != nil {
			return nil, err
		}
		derive(sink)
		sink.traits.Dist = sink.Input.Traits().Dist
		return sink, nil
	}
}

// plan chooses the mode. materialize is the session's option.
func (n *Sink) plan(materialize string) error {
	materialize = n.materialize(materialize)
	takes, gets := n.Target.Mode(), n.Input.Traits().Mode
	upsert := takes.Has(updateAfter) && !takes.Has(updateBefore)
	switch {
	case !gets.InsertOnly() && takes.InsertOnly():
		return n.refuseUpdates()
	case !gets.InsertOnly() && upsert && len(n.Keys) == 0:
		return errs.New(errs.Changelog, n.at, "table %q takes updates by key, but has no PRIMARY KEY; %s", n.Table.ID.Object, why(n.Input)).
			WithHint("declare PRIMARY KEY (..) NOT ENFORCED in the table")
	case upsert && len(n.Keys) > 0:
		if err := n.planUpsert(materialize); err != nil {
			return err
		}
	case gets.InsertOnly():
		n.Mode = SinkAppend
	default:
		n.Mode = SinkRetract
	}
	if n.Target.MaxWriters() == 1 {
		n.exchange(SingleShard, nil)
	}
	return nil
}

// materialize is the option that holds for the sink, where that of the session is
// given.
func (n *Sink) materialize(session string) string {
	if n.Table.UpsertMaterialize() != "" {
		session = n.Table.UpsertMaterialize()
	}
	if n.conflict != parse.ConflictDefault && session == "none" {
		return "auto"
	}
	return session
}

// refuseUpdates is the error for an updating query in front of an append-only sink.
func (n *Sink) refuseUpdates() error {
	e := errs.New(errs.Changelog, n.at, "table %q only takes inserts, but %s", n.Table.ID.Object, why(n.Input))
	return e.WithHint("write it to a table that takes %s, such as one with 'connector' = 'print'", n.Input.Traits().Mode)
}

// planUpsert is for a sink that replaces rows by the table's primary key.
func (n *Sink) planUpsert(materialize string) error {
	t := n.Input.Traits()
	n.Mode = SinkUpsert
	pk := union(n.Keys)
	var fits *Key
	for i, k := range t.Keys {
		if subset(k.Columns, pk) && (fits == nil || k.Ordered && len(k.Columns) == len(pk)) {
			fits = &t.Keys[i]
		}
	}
	switch {
	case materialize == "force", fits == nil && materialize == "auto" && (!t.Mode.InsertOnly() || n.keep() != KeepLast):
		n.exchange(HashShards, n.Keys)
		n.insert(newMaterialize(n.Input, n.Keys, n.keep(), n.at))
	case fits == nil && !t.Mode.InsertOnly():
		return n.refuseKey()
	case fits == nil:
		// Only inserts: of the rows of a key, which come on one path, the last one stays.
		n.exchange(HashShards, n.Keys)
	case t.Mode.InsertOnly(), n.upserts: // nothing on the way could be netted: it has no -U
	case fits.Ordered && len(fits.Columns) == len(pk) && redundantBefore(n.Input, pk):
	default:
		n.exchange(HashShards, n.Keys)
		n.insert(newConsolidate(n.Input, n.Keys, n.at))
	}
	return nil
}

// Keep says which of the rows with one key counts.
type Keep uint8

// The rows to keep: ON CONFLICT DO DEDUPLICATE, DO NOTHING and DO ERROR.
const (
	KeepLast  Keep = iota // that came last
	KeepFirst             // that came first
	KeepOnly              // two different ones are an error
)

func (n *Sink) keep() Keep {
	switch n.conflict {
	case parse.ConflictNothing:
		return KeepFirst
	case parse.ConflictError:
		return KeepOnly
	}
	return KeepLast
}

// insert puts an operator right below the sink.
func (n *Sink) insert(op Node) {
	op.Traits().Dist = n.Input.Traits().Dist
	derive(op)
	n.Input = op
}

func (n *Sink) exchange(kind DistributionKind, keys []int) {
	switch before := n.Input; kind {
	case SingleShard:
		n.Input = onOneShard(before)
	default:
		n.Input = onKeys(before, keys)
	}
	if e, ok := n.Input.(*Exchange); ok && e.traits.Mode == 0 {
		derive(e)
	}
}

// refuseKey is the error for a primary key that is no key of the query.
func (n *Sink) refuseKey() error {
	have, declare := "the query has no key", ""
	if keys := n.Input.Traits().Keys; len(keys) > 0 {
		var names []string
		for _, k := range keys {
			names = append(names, "("+columnList(n, k.Columns)+")")
		}
		have, declare = "the query's rows are identified by "+strings.Join(names, " or by "), "declare that key in the table, or "
	}
	return errs.New(errs.Changelog, n.at, "the primary key (%s) of table %q does not identify the query's rows: %s", columnList(n, n.Keys), n.Table.ID.Object, have).
		WithHint("%swrite INSERT INTO .. ON CONFLICT DO DEDUPLICATE or '%s' = 'auto' to keep the last row of each key, with state for all rows", declare, catalog.UpsertMaterialize)
}

// redundantBefore reports whether the -U of n say nothing that the +U of the same
// key do not say: no filter between the operator that updates and this edge can
// separate the two, and they travel one path.
func redundantBefore(n Node, key []int) bool {
	if n.Traits().Mode.InsertOnly() {
		return true
	}
	switch n := n.(type) {
	case *Scan, *Normalize, *Materialize, *Consolidate, *Aggregate, *SetOperation, *Sort:
		return hasKey(n, key)
	case *Over:
		return hasKey(n, key)
	case *Rank:
		return hasKey(n, key) && (!n.Traits().Mode.Has(updateAfter) || subset(n.place(), key))
	case *Join:
		return n.Upsert && hasKey(n, key)
	case *Exchange:
		return subset(n.Keys, key) && redundantBefore(n.Input, key)
	case *Calc:
		below, ok := n.keyBelow(key)
		if !ok || n.Filter != nil && !subset(filterColumns(n), below) {
			return false
		}
		return redundantBefore(n.Input, below)
	}
	return false
}

// hasKey reports whether the columns are an upsert key of n.
func hasKey(n Node, key []int) bool {
	return slices.ContainsFunc(n.Traits().Keys, func(k Key) bool { return len(k.Columns) == len(key) && subset(k.Columns, key) })
}

// keyBelow is the key of the input that becomes the given key.
func (n *Calc) keyBelow(key []int) ([]int, bool) {
	for _, k := range n.Input.Traits().Keys {
		var up []int
		for _, c := range k.Columns {
			up = append(up, n.identified(c))
		}
		if len(k.Columns) == len(key) && subset(up, key) {
			return k.Columns, true
		}
	}
	return nil, false
}

// describe is the sink's mode with its key, and its guarantee.
func (n *Sink) describe() string {
	how := n.Mode.String()
	if n.Mode == SinkUpsert {
		how += " by (" + columnList(n, n.Keys) + ")"
	}
	if n.Input.Traits().Mode.DeletesByKey() {
		how += ", deletes by key"
	}
	how += ", " + n.Target.Guarantee().String()
	if n.DropNull && len(n.NotNull) > 0 {
		how += ", without rows with NULL in " + columnList(n, n.NotNull)
	}
	switch {
	case len(n.Lengths) == 0:
	case n.StrictLength:
		how += ", checks the lengths of " + columnList(n, n.Lengths)
	default:
		how += ", fits the lengths of " + columnList(n, n.Lengths)
	}
	return how
}
