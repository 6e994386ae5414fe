package job

import (
	"fmt"
	"slices"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// Compile turns a plan into the graph that runs it. collect is written by the
// plan's Collect; it may be nil when there is none.
func Compile(p *plan.Plan, collect connector.Sink) (*exec.Graph, error) {
	c := compiler{collect: collect, made: map[plan.Node]*exec.Node{}, consumers: plan.Consumers(p.Roots)}
	for _, root := range p.Roots {
		if err := c.sink(root); err != nil {
			return nil, err
		}
	}
	return &c.graph, nil
}

type compiler struct {
	collect connector.Sink
	graph   exec.Graph
	// made are the nodes that are compiled: one that is shared is compiled once.
	made      map[plan.Node]*exec.Node
	consumers map[plan.Node]int
}

// add appends a node for n to the graph, after those it reads from.
func (c *compiler) add(n plan.Node, node *exec.Node) *exec.Node {
	node.ID, node.What = n.Traits().ID, plan.StateText(n)
	node.Name = fmt.Sprintf("%s[%d]", n.Op(), len(c.graph.Nodes)+1)
	c.graph.Nodes = append(c.graph.Nodes, node)
	return node
}

// operator appends a node that runs what make returns. It makes one at once, so
// that an error in the plan is found before anything runs.
func (c *compiler) operator(n plan.Node, inputs []exec.Edge, make func() (exec.Operator, error)) (*exec.Node, error) {
	if _, err := make(); err != nil {
		return nil, err
	}
	node := &exec.Node{Inputs: inputs, New: func(int) (exec.Operator, error) { return make() }}
	spread(node)
	return c.add(n, node), nil
}

// spread gives a node one shard when all its input comes to one: so its state is
// where a restart looks for it. Else what comes from one shard stays on one.
func spread(n *exec.Node) {
	single := func(e exec.Edge) bool {
		return e.Exchange.Kind == exec.Single || e.Exchange.Kind == exec.Forward && e.From.Parallelism == 1
	}
	if !slices.ContainsFunc(n.Inputs, func(e exec.Edge) bool { return !single(e) }) {
		n.Parallelism = 1
		return
	}
	for i, e := range n.Inputs {
		if single(e) {
			n.Inputs[i].Exchange.Kind = exec.Single
		}
	}
}

// edge compiles n and returns the edge that leaves it. An Exchange is a property
// of the edge, not a node, unless its rows have several consumers: one node then
// takes them in for all.
func (c *compiler) edge(n plan.Node) (exec.Edge, error) {
	var way exec.Exchange
	if x, ok := n.(*plan.Exchange); ok && c.consumers[x] < 2 {
		way = exchange(x)
		n = x.Input
	}
	from, err := c.node(n)
	return exec.Edge{From: from, Exchange: way}, err
}

func exchange(x *plan.Exchange) exec.Exchange {
	if x.Kind == plan.HashShards {
		return exec.Exchange{Kind: exec.Hash, Keys: x.Keys}
	}
	return exec.Exchange{Kind: exec.Single}
}

func (c *compiler) edges(ns []plan.Node) ([]exec.Edge, error) {
	edges := make([]exec.Edge, len(ns))
	for i, n := range ns {
		var err error
		if edges[i], err = c.edge(n); err != nil {
			return nil, err
		}
	}
	return edges, nil
}

func (c *compiler) node(n plan.Node) (*exec.Node, error) {
	if made, ok := c.made[n]; ok {
		return made, nil
	}
	made, err := c.make(n)
	c.made[n] = made
	return made, err
}

func (c *compiler) make(n plan.Node) (*exec.Node, error) {
	inputs, err := c.edges(n.Inputs())
	if err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *plan.Exchange:
		inputs[0].Exchange = exchange(n)
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewUnion(1), nil })
	case *plan.Scan:
		return c.add(n, &exec.Node{Source: n.Source, Scan: connector.Scan{Columns: n.Columns}}), nil
	case *plan.Values:
		return c.add(n, &exec.Node{Source: op.NewValues(n.Schema().Types(), n.Rows)}), nil
	case *plan.Calc:
		return c.operator(n, inputs, func() (exec.Operator, error) {
			calc, err := op.NewCalc(n.Filter, n.Exprs)
			if key, byKey := n.DeleteColumns(); byKey && err == nil {
				calc.DeletesByKey(key, n.Exprs)
			}
			return calc, err
		})
	case *plan.WatermarkAssigner:
		from := inputs[0].From
		for from.Source == nil {
			from = from.Inputs[0].From
		}
		from.Time = exec.SourceTime{Own: n.Expr == nil, IdleTimeout: n.IdleTimeout, MaxDrift: n.MaxDrift}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewWatermarkAssigner(n.Expr, n.Hidden) })
	case *plan.LateRows:
		inputs[0].Side = exec.LateSide(n.Port)
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewCalc(nil, n.Exprs) })
	case *plan.Union:
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewUnion(len(n.Ins)), nil })
	case *plan.LookupJoin:
		return c.lookupJoin(n, inputs)
	case *plan.WindowTable:
		return c.windowTable(n, inputs)
	case *plan.WindowAggregate:
		return c.windowAggregate(n, inputs)
	case *plan.Limit:
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewLimit(n.Offset, n.Count), nil })
	case *plan.Expand:
		spec := op.ExpandSpec{Types: n.Input.Schema().Types(), Keys: n.Keys, Forward: n.Forward}
		for _, set := range n.Sets {
			keep := make([]bool, len(n.Keys))
			for _, k := range set {
				keep[k] = true
			}
			spec.Sets = append(spec.Sets, keep)
		}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewExpand(spec), nil })
	case *plan.Unnest:
		spec := op.UnnestSpec{Types: n.Input.Schema().Types(), Collections: n.Collections, Forward: n.Forward, Outer: n.Outer, Ordinality: n.Ordinality}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewUnnest(spec), nil })
	case *plan.Sort:
		spec := op.SortSpec{Types: n.Schema().Types(), Skip: n.Offset, Count: n.Count, Updating: !n.InputAppendOnly, AtEnd: n.AtEnd}
		for _, k := range n.Order {
			spec.Order = append(spec.Order, op.SortKey(k))
		}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewSort(spec), nil })
	case *plan.Over:
		return c.operator(n, inputs, func() (exec.Operator, error) { return over(n) })
	case *plan.TemporalSort:
		return c.operator(n, inputs, func() (exec.Operator, error) { return temporalSort(n), nil })
	case *plan.Rank:
		return c.operator(n, inputs, func() (exec.Operator, error) { return rank(n), nil })
	case *plan.Aggregate:
		spec := op.AggregateSpec{
			Input:      n.Input.Schema().Types(),
			Spread:     spreadBy(n.Input),
			Keys:       n.Keys,
			Calls:      n.Aggs,
			Updating:   !n.InputAppendOnly,
			OmitBefore: !n.EmitUpdateBefore,
			Retention:  op.Retention(n.Retention(0)),
		}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewAggregate(spec) })
	case *plan.Join:
		switch {
		case n.Windowed:
			return c.windowJoin(n, inputs)
		case n.Interval != nil:
			return c.intervalJoin(n, inputs)
		case n.Snapshot != nil:
			return c.snapshotJoin(n, inputs)
		}
		spec := op.JoinSpec{
			Left:     joinSide(n.Left, n.LeftKeys, n.LeftAppendOnly, n.Upsert, n.LeftUnique),
			Right:    joinSide(n.Right, n.RightKeys, n.RightAppendOnly, n.Upsert, n.RightUnique),
			NullSafe: n.NullSafe,
			Residual: n.Residual,
			Output:   n.Output,
		}
		spec.Left.Retention, spec.Right.Retention = op.Retention(n.Retention(0)), op.Retention(n.Retention(1))
		return c.operator(n, inputs, func() (exec.Operator, error) {
			switch n.Kind {
			case plan.LeftJoin:
				return op.NewOuterJoin(op.LeftJoin, spec)
			case plan.RightJoin:
				return op.NewOuterJoin(op.RightJoin, spec)
			case plan.FullJoin:
				return op.NewOuterJoin(op.FullJoin, spec)
			case plan.SemiJoin:
				return op.NewOuterJoin(op.SemiJoin, spec)
			case plan.AntiJoin:
				return op.NewOuterJoin(op.AntiJoin, spec)
			}
			return op.NewJoin(spec)
		})
	case *plan.TemporalJoin:
		return c.temporalJoin(n, inputs)
	case *plan.SetOperation:
		spec := op.SetSpec{Types: n.Schema().Types(), Except: n.Except, All: n.All, Spread: spreadBy(n.Left), Retention: op.Retention(n.Retention(0))}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewSetOperation(spec), nil })
	case *plan.ToChangelog:
		var shown []int
		if n.Partial {
			shown = n.Keys
		}
		return c.operator(n, inputs, func() (exec.Operator, error) {
			return op.NewToChangelog(n.Input.Schema().Types(), operationCodes(n.Codes), shown), nil
		})
	case *plan.FromChangelog:
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewFromChangelog(n.Code, operationCodes(n.Codes)), nil })
	case *plan.Normalize:
		spec := op.TableSpec{Types: n.Schema().Types(), Key: n.Keys, Spread: spreadBy(n.Input), OmitBefore: !n.EmitUpdateBefore, Retention: op.Retention(n.Retention(0))}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewNormalize(spec), nil })
	case *plan.Materialize:
		spec := op.TableSpec{Types: n.Schema().Types(), Key: n.Keys, Spread: spreadBy(n.Input), OmitBefore: !n.EmitUpdateBefore, Retention: op.Retention(n.Retention(0))}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewMaterialize(spec, op.Keep(n.Keep)), nil })
	case *plan.Consolidate:
		spec := op.TableSpec{Types: n.Schema().Types(), Key: n.Keys, OmitBefore: !n.EmitUpdateBefore}
		return c.operator(n, inputs, func() (exec.Operator, error) { return op.NewConsolidate(spec), nil })
	}
	panic(fmt.Sprintf("job: a plan cannot have a %s here", n.Op()))
}

// spreadBy lists the columns by whose hash the rows of a node are spread over shards, or
// none when one shard has them all.
func spreadBy(n plan.Node) []int {
	if d := n.Traits().Dist; d.Kind == plan.HashShards {
		return d.Keys
	}
	return nil
}

func joinSide(in plan.Node, keys []int, appendOnly, upsert bool, unique []int) op.JoinSide {
	s := op.JoinSide{Types: in.Schema().Types(), Keys: keys, Updating: !appendOnly, Spread: spreadBy(in)}
	if upsert && !appendOnly {
		s.Replacing = true
		for _, c := range unique {
			if !slices.Contains(keys, c) {
				s.Identity = append(s.Identity, c)
			}
		}
	}
	return s
}

func operationCodes(codes plan.Codes) []op.OperationCode {
	out := make([]op.OperationCode, len(codes))
	for i, c := range codes {
		out[i] = op.OperationCode(c)
	}
	return out
}

// sink compiles a root with what stands between its query and the connector: the
// check of NOT NULL columns, and the changelog that the sink's mode asks for.
func (c *compiler) sink(root plan.Node) error {
	in, err := c.edge(root.Inputs()[0])
	if err != nil {
		return err
	}
	steps := 0
	then := func(make func() (exec.Operator, error)) {
		if err == nil {
			var n *exec.Node
			if n, err = c.operator(root, []exec.Edge{in}, make); err == nil {
				n.ID += "/" + string(rune('a'+steps)) // the steps share a place in the plan, not their state
				steps++
			}
			in = exec.Edge{From: n}
		}
	}
	target := c.collect
	if n, ok := root.(*plan.Sink); ok {
		target = n.Target
		name := n.Table.ID.Object
		if len(n.NotNull)+len(n.Nested) > 0 {
			spec := op.NotNullSpec{Table: name, Columns: n.NotNull, Names: n.Schema().Project(n.NotNull).Names(), Collections: n.Collections}
			for _, c := range n.Nested {
				spec.Nested = append(spec.Nested, op.NestedColumn{Column: c, Name: n.Schema()[c].Name, Type: n.Schema()[c].Type})
			}
			switch {
			case n.DropNull && n.Mode == plan.SinkUpsert:
				spec.Rule = op.DropNewNull
			case n.DropNull:
				spec.Rule = op.DropNull
			}
			then(func() (exec.Operator, error) { return op.NewNotNull(spec), nil })
		}
		if n.Input.Traits().Mode.DeletesByKey() {
			types := n.Input.Schema().Types()
			for i, c := range n.Schema() {
				types[i].NotNull = types[i].NotNull || c.Type.NotNull
			}
			then(func() (exec.Operator, error) { return op.NewFillDeletes(types), nil })
		}
		if len(n.Lengths) > 0 {
			cols := make([]op.TextColumn, len(n.Lengths))
			for i, c := range n.Lengths {
				cols[i] = op.TextColumn{Column: c, Name: n.Schema()[c].Name, Type: n.Schema()[c].Type}
			}
			then(func() (exec.Operator, error) { return op.NewTextLength(name, cols, n.StrictLength), nil })
		}
		switch n.Mode {
		case plan.SinkAppend:
			then(func() (exec.Operator, error) { return op.NewSinkChangelog(name, sqltype.AppendMode), nil })
		case plan.SinkUpsert:
			then(func() (exec.Operator, error) { return op.NewSinkChangelog(name, sqltype.UpsertMode), nil })
		}
	}
	if err != nil {
		return err
	}
	node := &exec.Node{Sink: target, Inputs: []exec.Edge{in}}
	if target.MaxWriters() == 1 {
		node.Inputs[0].Exchange = exec.Exchange{Kind: exec.Single}
	}
	spread(node)
	c.add(root, node)
	return nil
}
