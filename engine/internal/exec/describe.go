package exec

import (
	"context"

	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// Describe lists the tables that the operator of a node keeps its state in; there are
// none when it has no state. It opens an operator that processes nothing.
func (n *Node) Describe(ctx context.Context) (tables []state.TableInfo, err error) {
	if n.New == nil {
		return nil, nil
	}
	op, err := n.New(0)
	if err != nil || !isStateful(op) {
		return nil, opError(n.Name, 0, err)
	}
	store := state.NewStore(state.Options{})
	functions := function.NewInstances(ctx, seedOf(n.ID, 0))
	defer functions.Close()
	rt := &Runtime{
		Name: n.Name, ID: n.ID, Shards: 1, Pool: vector.NewPool(), State: store, Functions: functions,
		Now: func() int64 { return 0 },
	}
	defer func() {
		if closed := op.Close(); err == nil {
			err = opError(n.Name, 0, closed)
		}
	}()
	if err := op.Open(ctx, rt); err != nil {
		return nil, opError(n.Name, 0, err)
	}
	return store.Tables(), nil
}
