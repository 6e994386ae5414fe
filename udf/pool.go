package udf

// Pool keeps the idle instances of one query, so that a restarted task need not make
// new ones. It must not be shared by queries: a guest's memory keeps old rows. It may
// be used by several goroutines.
type Pool struct{}

// NewPool returns an empty pool.
func NewPool() *Pool { panic("soon") }

// Close frees the idle instances and those that come back later.
func (p *Pool) Close() { panic("soon") }
