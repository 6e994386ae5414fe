package plan

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/expr"
)

// placeExchanges works out how rows are spread over shards, and puts an exchange
// where an operator needs them spread differently.
func placeExchanges(n Node) (Node, error) {
	for i, in := range n.Inputs() {
		placed, err := placeExchanges(in)
		if err != nil {
			return nil, err
		}
		n.setInput(i, placed)
	}
	switch n := n.(type) {
	case *Aggregate:
		n.Input = onKeys(n.Input, n.Keys)
	case *Rank:
		n.Input = onKeys(n.Input, n.Partition)
	case *Over:
		n.Input = onKeys(n.Input, n.Partition)
	case *Limit:
		n.Input = onOneShard(n.Input)
	case *Sort:
		n.Input = onOneShard(n.Input)
	case *TemporalSort:
		n.Input = onOneShard(n.Input)
	case *Normalize:
		n.Input = onKeys(n.Input, n.Keys)
	case *ToChangelog:
		if len(n.Partition) > 0 {
			n.Input = onKeys(n.Input, n.Partition)
		}
	case *FromChangelog:
		if len(n.Partition) > 0 {
			n.Input = onKeys(n.Input, n.Partition)
		}
	case *WindowTable:
		n.placeExchanges()
	case *WindowAggregate:
		n.placeExchanges()
	case *Join:
		n.placeExchanges()
	case *TemporalJoin:
		n.placeExchanges()
	case *SetOperation:
		n.placeExchanges()
	case *LookupJoin:
		if err := n.placeExchanges(); err != nil {
			return nil, err
		}
	}
	n.Traits().Dist = distribution(n)
	return n, nil
}

// exchanged is in behind an exchange, with its distribution known.
func exchanged(in Node, kind DistributionKind, keys []int) Node {
	n := newExchange(in, kind, keys)
	n.traits.Dist = Distribution{Kind: kind, Keys: keys}
	return n
}

func onOneShard(in Node) Node {
	if in.Traits().Dist.Kind == SingleShard {
		return in
	}
	return exchanged(in, SingleShard, nil)
}

// onKeys has all rows with the same keys on one shard: without keys all there are.
func onKeys(in Node, keys []int) Node {
	if len(keys) == 0 {
		return onOneShard(in)
	}
	d := in.Traits().Dist
	if d.Kind == SingleShard || d.Kind == HashShards && subset(d.Keys, keys) {
		return in
	}
	return exchanged(in, HashShards, keys)
}

// placeExchanges brings the rows of both sides with the same keys together. A side
// that is hashed by some of the keys stays where it is, and the other follows.
// Without keys all rows have to meet.
func (n *Join) placeExchanges() {
	if len(n.LeftKeys) == 0 {
		n.Left, n.Right = onOneShard(n.Left), onOneShard(n.Right)
		return
	}
	l, r := n.Left.Traits().Dist, n.Right.Traits().Dist
	if l.Kind == SingleShard && r.Kind == SingleShard {
		return
	}
	pairs := make([]int, len(n.LeftKeys))
	for i := range pairs {
		pairs[i] = i
	}
	if p, ok := hashedPairs(l, n.LeftKeys); ok {
		pairs = p
	} else if p, ok := hashedPairs(r, n.RightKeys); ok {
		pairs = p
	}
	move := func(in Node, keys []int) Node {
		if d := in.Traits().Dist; d.Kind == HashShards && slices.Equal(d.Keys, keys) {
			return in
		}
		return exchanged(in, HashShards, keys)
	}
	n.Left = move(n.Left, pick(n.LeftKeys, pairs))
	n.Right = move(n.Right, pick(n.RightKeys, pairs))
}

// hashedPairs says by which of the keys, in order, a side is hashed already.
func hashedPairs(d Distribution, keys []int) ([]int, bool) {
	if d.Kind != HashShards {
		return nil, false
	}
	pairs := make([]int, len(d.Keys))
	for i, c := range d.Keys {
		if pairs[i] = slices.Index(keys, c); pairs[i] < 0 {
			return nil, false
		}
	}
	return pairs, true
}

// distribution is that of the rows that leave n, from those of its inputs.
func distribution(n Node) Distribution {
	switch n := n.(type) {
	case *Scan, *Values, *LateRows:
		return Distribution{}
	case *Exchange:
		return Distribution{Kind: n.Kind, Keys: n.Keys}
	case *Calc:
		return n.Input.Traits().Dist.through(n)
	case *Aggregate:
		d := n.Input.Traits().Dist
		if d.Kind == HashShards {
			d.Keys = positions(d.Keys, n.Keys)
		}
		return d
	case *Join:
		d := n.Left.Traits().Dist
		if d.Kind != HashShards {
			return d
		}
		hashed := d.Keys
		switch n.Kind {
		case RightJoin:
			hashed = n.shifted(n.Right.Traits().Dist.Keys)
		case FullJoin: // a row may have NULL in the place of either side's keys
			return Distribution{}
		}
		keys, ok := n.visible(hashed)
		if !ok {
			return Distribution{}
		}
		return Distribution{Kind: HashShards, Keys: keys}
	case *TemporalJoin:
		return distribution(&n.Join)
	case *ToChangelog, *FromChangelog:
		d := n.Inputs()[0].Traits().Dist
		if d.Kind != HashShards {
			return d
		}
		keys, ok := moved(n, d.Keys)
		if !ok {
			return Distribution{}
		}
		return Distribution{Kind: HashShards, Keys: keys}
	case *SetOperation:
		return n.Left.Traits().Dist
	case *Expand:
		return n.distribution()
	case *Unnest:
		return n.distribution()
	case *LookupJoin:
		return n.distribution()
	case *WindowTable:
		return n.distribution()
	case *WindowAggregate:
		return n.distribution()
	case *Union:
		d := n.Ins[0].Traits().Dist
		for _, in := range n.Ins[1:] {
			if e := in.Traits().Dist; e.Kind != d.Kind || !slices.Equal(e.Keys, d.Keys) {
				return Distribution{}
			}
		}
		return d
	}
	return n.Inputs()[0].Traits().Dist
}

// through is the distribution of rows of which only the results of a Calc are left.
func (d Distribution) through(n *Calc) Distribution {
	if d.Kind != HashShards {
		return d
	}
	keys := make([]int, len(d.Keys))
	for i, k := range d.Keys {
		if keys[i] = n.forwarded(k); keys[i] < 0 {
			return Distribution{}
		}
	}
	return Distribution{Kind: HashShards, Keys: keys}
}

// forwarded is the first result that is input column col, or one equal to it, as it
// is, or -1.
func (n *Calc) forwarded(col int) int {
	for _, same := range synonyms(n.Input, col) {
		i := slices.IndexFunc(n.Exprs, func(e expr.Expr) bool {
			c, ok := e.(*expr.Column)
			return ok && c.Index == same
		})
		if i >= 0 {
			return i
		}
	}
	return -1
}

// synonyms are a column of n and those that always have the same value.
func synonyms(n Node, col int) []int {
	out := []int{col}
	j, ok := n.(*Join)
	if !ok || j.Kind != InnerJoin {
		return out
	}
	equal := j.equal(j.Output[col])
	for i, c := range j.Output {
		if i != col && slices.Contains(equal, c) {
			out = append(out, i)
		}
	}
	return out
}

// equal are a column of a pair and those that have the same value because of a key.
// In a padded row the column of the padded side is NULL: there the other one stands
// for it, which tells rows apart as well.
func (n *Join) equal(col int) []int {
	out := []int{col}
	at := len(n.Left.Schema())
	for i, l := range n.LeftKeys {
		switch r := at + n.RightKeys[i]; {
		case col == l && !n.Kind.PadsRight() && n.Kind.Pairs():
			out = append(out, r)
		case col == r && !n.Kind.PadsLeft():
			out = append(out, l)
		}
	}
	return out
}

// shifted are columns of the right as columns of a pair.
func (n *Join) shifted(cols []int) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = c + len(n.Left.Schema())
	}
	return out
}

// visible are the places in the output of columns of a pair, or of equal ones.
func (n *Join) visible(cols []int) ([]int, bool) {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = -1
		for _, same := range n.equal(c) {
			if at := slices.Index(n.Output, same); at >= 0 {
				out[i] = at
				break
			}
		}
		if out[i] < 0 {
			return nil, false
		}
	}
	return out, true
}
