package exec

// Question is asked of the operators of one node, in all shards, at the end of an epoch.
// What they know then is of one moment: all of them have seen the same rows.
type Question struct {
	Node string // the ID
	// Ask is called on the goroutine of each operator's task, when the operator has flushed,
	// and must leave it as it is. It may be called by several shards at a time.
	Ask func(shard int, op Operator)
}

// answer asks the operators of a task.
func (t *Task) answer(questions []*Question) error {
	for _, q := range questions {
		for _, in := range t.instances {
			if in.node.ID != q.Node {
				continue
			}
			t.at = in
			q.Ask(in.shard, in.op)
			if err := in.store.EndCall(); err != nil {
				return in.fail(err)
			}
			t.at = nil
		}
	}
	return nil
}
