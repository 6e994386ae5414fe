package exec

import (
	"context"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// exchange sends an output over channels to the shards of a node in other tasks.
// Rows are copied into the sender's pool; small batches are gathered until there
// are enough rows or the epoch ends.
type exchange struct {
	from *output
	kind ExchangeKind
	keys []int
	// to are the channels by the receiver's shard. A Forward exchange has one.
	to    []*channel
	ctx   context.Context
	pool  *vector.Pool
	shard int // the sender's
	fault Faults

	pending []*vector.Builder // by receiver: rows of earlier batches, or nil
	encoder *rowkey.Encoder   // made for the first batch, as the shard table is
	shardOf [rowkey.Groups]uint16
	dest    []uint16 // receivers of the live rows
	rows    []int32  // positions of the live rows, ordered by receiver
	start   []int32  // where each receiver's part of rows begins, and the end
}

const (
	// directRows is the number of rows from which on a part of a batch is sent by
	// itself.
	directRows = vector.Target / 2
	// pendingBytes is the size from which on gathered rows are sent.
	pendingBytes = 16 << 20
)

func newExchange(from *output, e Exchange, to []*channel, pool *vector.Pool, shard int) *exchange {
	x := &exchange{from: from, kind: e.Kind, keys: e.Keys, to: to, pool: pool, shard: shard}
	if len(to) == 1 {
		x.kind = Single
	}
	x.pending = make([]*vector.Builder, len(to))
	return x
}

func (x *exchange) emit(b *vector.Batch) error {
	if x.kind == Hash {
		x.partition(b)
		for i := range x.to {
			if rows := x.rows[x.start[i]:x.start[i+1]]; len(rows) > 0 {
				if err := x.add(i, b, rows); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if b.Len() >= directRows {
		if err := x.sendPending(0); err != nil {
			return err
		}
		return x.send(0, b.Keep(x.pool))
	}
	rows, some := b.Sel()
	if !some {
		x.rows = resize(x.rows, b.Len())
		for i := range x.rows {
			x.rows[i] = int32(i)
		}
		rows = x.rows
	}
	return x.add(0, b, rows)
}

// partition orders the positions of b's live rows by receiver: a counting sort.
func (x *exchange) partition(b *vector.Batch) {
	if x.encoder == nil {
		x.prepare(b)
	}
	hashes := x.encoder.Hash(b, x.keys)
	if x.fault.Misroute {
		for i := range hashes {
			hashes[i] ^= uint64(x.shard) << 63
		}
	}
	n := len(hashes)
	x.dest, x.rows = resize(x.dest, n), resize(x.rows, n)
	start := x.start
	clear(start)
	dest := x.dest[:n]
	for i, h := range hashes {
		d := x.shardOf[rowkey.KeyGroup(h, rowkey.Groups)]
		dest[i] = d
		start[d]++
	}
	at := int32(0)
	for i, count := range start {
		start[i] = at
		at += count
	}
	// Scattering moves every start to the next one; that is undone below.
	if sel, some := b.Sel(); some {
		sel = sel[:n]
		for i, d := range dest {
			x.rows[start[d]] = sel[i]
			start[d]++
		}
	} else {
		for i, d := range dest {
			x.rows[start[d]] = int32(i)
			start[d]++
		}
	}
	copy(start[1:], start[:len(start)-1])
	start[0] = 0
}

func (x *exchange) prepare(b *vector.Batch) {
	var layout rowkey.Layout
	for _, k := range x.keys {
		layout.Kinds = append(layout.Kinds, b.Col(k).Kind())
	}
	x.encoder = rowkey.NewEncoder(layout)
	x.start = make([]int32, len(x.to)+1)
	for g := range x.shardOf {
		x.shardOf[g] = uint16(rowkey.Shard(g, len(x.to)))
	}
}

// add sends rows of b to a receiver, by themselves or gathered with others.
func (x *exchange) add(to int, b *vector.Batch, rows []int32) error {
	if len(rows) >= directRows {
		if err := x.sendPending(to); err != nil {
			return err
		}
		return x.send(to, b.Take(x.pool, rows))
	}
	p := x.pending[to]
	if p == nil {
		kinds := make([]vector.Kind, b.Cols())
		for i := range kinds {
			kinds[i] = b.Col(i).Kind()
		}
		p = vector.NewBuilder(x.pool, kinds)
		x.pending[to] = p
	}
	p.AppendTake(b, rows)
	if p.Len() >= vector.Target || p.Size() >= pendingBytes {
		return x.sendPending(to)
	}
	return nil
}

func (x *exchange) sendPending(to int) error {
	p := x.pending[to]
	if p == nil || p.Len() == 0 {
		return nil
	}
	return x.send(to, p.Finish())
}

func (x *exchange) send(to int, b *vector.Batch) error {
	return x.to[to].put(x.ctx, event{batch: b})
}

// mark sends what is pending, then the mark.
func (x *exchange) mark(m Mark) error {
	m.Watermark, m.Idle, m.Ended = x.from.watermark, x.from.idle, x.from.ended
	for i, c := range x.to {
		if !x.fault.LatePending || m.Last {
			if err := x.sendPending(i); err != nil {
				return err
			}
		}
		if err := c.put(x.ctx, event{mark: m}); err != nil {
			return err
		}
	}
	return nil
}

// close releases what was not sent.
func (x *exchange) close() {
	for _, p := range x.pending {
		if p != nil {
			p.Discard()
		}
	}
}

// full reports whether a receiver's soft channel has no space.
func (x *exchange) full() bool {
	for _, c := range x.to {
		if c.full() {
			return true
		}
	}
	return false
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
