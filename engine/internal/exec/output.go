package exec

import "github.com/weirdb/weir/vector"

// output is one result stream of an operator in a shard, with those that read it.
type output struct {
	from    *instance
	targets []target
	// watermark, idle and ended are where the operator has got to. The readers of
	// the stream look at them at the mark, after the rows of the epoch.
	watermark Watermark
	idle      bool
	ended     bool
}

// target is a reader of an output: an operator of the same task, or an exchange.
type target interface {
	emit(b *vector.Batch) error
}

var _ Output = (*output)(nil)

// Emit hands the batch to one reader after the other.
func (o *output) Emit(b *vector.Batch) error {
	n := b.Len()
	if n == 0 {
		return nil
	}
	o.from.rowsOut += int64(n)
	o.from.batchesOut++
	for _, t := range o.targets {
		if err := t.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// Advance notes the watermark, which goes on at the mark.
func (o *output) Advance(w Watermark) error {
	o.watermark = max(o.watermark, w)
	return nil
}

// direct is an edge inside a task: a call.
type direct struct {
	to   *instance
	port int
}

func (d direct) emit(b *vector.Batch) error { return d.to.process(d.port, b) }
