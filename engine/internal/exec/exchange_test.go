package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// rowsOf is a batch of keys and running numbers, some rows of which are not live.
func rowsOf(p *vector.Pool, r *rand.Rand, n int, number *int64) *vector.Batch {
	b := vector.NewBuilder(p, []vector.Kind{vector.String, vector.Int64})
	var live []int32
	for range n {
		for r.IntN(4) == 0 {
			b.Col(0).AppendString("hole")
			vector.Append(b.Col(1), int64(-1))
			b.EndRow(vector.Delete)
		}
		live = append(live, int32(b.Len()))
		if key := r.IntN(40); key == 0 {
			b.Col(0).AppendNull()
		} else {
			b.Col(0).AppendString("key"[:key%4] + string(rune('a'+key)))
		}
		vector.Append(b.Col(1), *number)
		b.EndRow(vector.RowKind(*number % 4))
		*number++
	}
	all := b.Finish()
	if all.Len() == n && r.IntN(2) == 0 {
		return all
	}
	defer all.Release()
	return all.Select(vector.Of(p, live...))
}

// Every row arrives once, unchanged, in order, at the shard that owns its key, and
// in batches that are not small.
func TestExchange(t *testing.T) {
	for _, kind := range []ExchangeKind{Hash, Single, Forward} {
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, uint64(kind)))
			shards := 1 + r.IntN(5)
			if kind == Forward {
				shards = 1
			}
			p, input := vector.NewCheckedPool(), vector.NewCheckedPool()
			var to []*channel
			for range shards {
				to = append(to, newChannel(1, true))
			}
			out := &output{watermark: 7}
			x := newExchange(out, Exchange{Kind: kind, Keys: []int{0}}, to, p, 0)
			x.ctx = t.Context()

			sent := int64(0)
			epochs := 1 + r.IntN(3)
			ends := make([]int64, epochs)
			for e := range epochs {
				for range r.IntN(8) {
					n := []int{0, 1, 100, 5000, 8192}[r.IntN(5)]
					b := rowsOf(input, r, n, &sent)
					if err := x.emit(b); err != nil {
						t.Fatal(err)
					}
					b.Release()
				}
				if err := x.mark(Mark{Epoch: uint64(e)}); err != nil {
					t.Fatal(err)
				}
				ends[e] = sent
			}
			if err := input.Leaks(); err != nil {
				t.Fatalf("seed %d: the sender keeps its input: %v", seed, err)
			}

			seen := make([]bool, sent)
			encoder := rowkey.NewEncoder(rowkey.Layout{Kinds: []vector.Kind{vector.String}})
			for shard, c := range to {
				epoch, last, small := 0, int64(-1), 0
				for {
					ev, ok := c.take()
					if !ok {
						break
					}
					if ev.batch == nil {
						if ev.mark.Epoch != uint64(epoch) || ev.mark.Watermark != 7 {
							t.Fatalf("seed %d: mark %+v in epoch %d", seed, ev.mark, epoch)
						}
						epoch++
						small = 0
						continue
					}
					if ev.batch.Len() < directRows {
						small++
					}
					hashes := encoder.Hash(ev.batch, []int{0})
					numbers := vector.Values[int64](ev.batch.Col(1))
					for i := range ev.batch.Len() {
						row := ev.batch.Row(i)
						n := numbers[row]
						switch {
						case n <= last || n < 0 || seen[n]:
							t.Fatalf("seed %d: row %d after %d", seed, n, last)
						case n >= ends[epoch]:
							t.Fatalf("seed %d: row %d came in epoch %d", seed, n, epoch)
						case ev.batch.Kind(row) != vector.RowKind(n%4):
							t.Fatalf("seed %d: row %d has kind %v", seed, n, ev.batch.Kind(row))
						case kind == Hash && shards > 1 && rowkey.Shard(rowkey.KeyGroup(hashes[i], rowkey.Groups), shards) != shard:
							t.Fatalf("seed %d: row %d came to shard %d", seed, n, shard)
						case kind != Hash && shard != 0:
							t.Fatalf("seed %d: row %d came to shard %d", seed, n, shard)
						}
						seen[n], last = true, n
					}
					ev.batch.Release()
				}
				if epoch != epochs {
					t.Fatalf("seed %d: %d marks, want %d", seed, epoch, epochs)
				}
				// One small batch may go before each direct one, and one at the mark.
				if small > 9 {
					t.Errorf("seed %d: %d small batches in an epoch", seed, small)
				}
			}
			for n, ok := range seen {
				if !ok {
					t.Fatalf("seed %d: row %d is lost", seed, n)
				}
			}
			x.close()
			if err := p.Leaks(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// What was gathered is released when the epoch never ends.
func TestExchangeCloses(t *testing.T) {
	p := vector.NewCheckedPool()
	to := []*channel{newChannel(1, true), newChannel(1, true)}
	x := newExchange(&output{}, Exchange{Kind: Hash, Keys: []int{0}}, to, p, 0)
	x.ctx = t.Context()
	number := int64(0)
	b := rowsOf(p, rand.New(rand.NewPCG(1, 1)), 100, &number)
	if err := x.emit(b); err != nil {
		t.Fatal(err)
	}
	b.Release()
	x.close()
	x.close()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}
