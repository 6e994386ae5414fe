package udf

import "sync"

// maxIdle is how many idle instances of one module a pool keeps.
const maxIdle = 64

// Pool keeps the idle instances of one query, so that a restarted task need not make
// new ones. It must not be shared by queries: a guest's memory keeps old rows. It may
// be used by several goroutines.
type Pool struct {
	mu     sync.Mutex
	closed bool
	idle   map[*Module][]*Instance
}

// NewPool returns an empty pool.
func NewPool() *Pool { return &Pool{idle: map[*Module][]*Instance{}} }

// Close frees the idle instances and those that come back later.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for m, idle := range p.idle {
		for _, i := range idle {
			i.destroy()
		}
		delete(p.idle, m)
	}
}

// take returns an idle instance of the module, or nil.
func (p *Pool) take(m *Module) *Instance {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.idle[m]
	if len(idle) == 0 {
		return nil
	}
	i := idle[len(idle)-1]
	p.idle[m] = idle[:len(idle)-1]
	return i
}

// put takes an instance back.
func (p *Pool) put(i *Instance) {
	if p == nil {
		i.destroy()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i.dead || p.closed || len(p.idle[i.module]) >= maxIdle {
		i.destroy()
		return
	}
	p.idle[i.module] = append(p.idle[i.module], i)
}
