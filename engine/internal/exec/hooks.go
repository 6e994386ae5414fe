package exec

// Hooks are told what happens in a job. A func that is nil is not called. They
// run on the goroutine where the event happens, so they must be quick and safe
// for concurrent use.
type Hooks struct {
	// Mark says that a node of a shard has passed on a mark: what it makes of the
	// epoch has left it. For a source it is called when the epoch has been read.
	Mark func(n *Node, shard int, m Mark)
	// Epoch says that every task has passed the mark of an epoch.
	Epoch func(m Mark)
	// Inconsistent says that an operator found rows or keys of which its input took
	// away more than it had added.
	Inconsistent func(n *Node, shard int, count int64)
	// Commit says that what a sink's writers prepared at a checkpoint is visible.
	Commit func(n *Node, checkpoint uint64)
}
