package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
)

// A window of HOP that has many slices is not merged of these one by one.
//
// Blocks of eight slices are merged once, blocks of these blocks too, and a stretch of time is
// made of the largest that it has in it. A slice is kept as long as a window may begin
// behind the one before, so blocks are kept beside, not in place of them.
//
// And of four windows one after the other nearly all is the same: that core of theirs is
// merged once, of the core that four such groups have in common and what is beside it. A
// window is a core and up to three slices on either side, so that what it costs when it is
// over does not grow with its length.

const (
	blockSize = 8 // how many slices, or blocks of the level below, a block has
	coreSize  = 4 // of how many windows, or groups of the level below, a core is
)

// blockLevels is how many levels of blocks the windows of HOP have, and coreLevels of cores.
// The largest block is at most half a window, the largest group half of those that a row is in.
func blockLevels(a window.Assigner) int { return levels(a.Size/a.Slice()/2, blockSize) }
func coreLevels(a window.Assigner) int  { return levels(a.Size/a.Step/2, coreSize) }

// levels is how often n can be divided, and times what a length is multiplied by so often.
func levels(n int64, by int64) int {
	l := 0
	for ; n >= by; n /= by {
		l++
	}
	return l
}

func times(length int64, by int64, levels int) int64 {
	for range levels {
		length *= by
	}
	return length
}

// openMerged forgets blocks and cores that other shards have merged. A shard merges when a
// window is over that has rows there, and of what is not merged late rows need not be told,
// so that of two shards one may have a block that the other's rows are not in.
func (w *WindowAggregate) openMerged() error {
	if len(w.slices) == 1 && len(w.cores) == 0 {
		return nil
	}
	counts, all, err := w.shards.open(w.in.rt, "shards")
	if err != nil {
		return err
	}
	now := int64(w.in.rt.Shards)
	w.moved = !all || slices.ContainsFunc(counts, func(n int64) bool { return n != now })
	if !w.moved {
		return nil
	}
	for level := 1; level < len(w.slices); level++ {
		w.dropAll(partKey{kind: slicePart, level: level})
	}
	for level := range w.cores {
		w.dropAll(partKey{kind: corePart, level: level + 1})
	}
	return nil
}

// dropAll forgets all parts of a kind and a level.
func (w *WindowAggregate) dropAll(part partKey) {
	for _, at := range slices.Clone(w.kept(part).Times()) {
		part.at = at
		w.drop(part)
	}
}

// flushMerged notes which shards have merged.
func (w *WindowAggregate) flushMerged() error {
	if !w.moved {
		return nil
	}
	w.moved = false
	return w.shards.set(int64(w.in.rt.Shards))
}

// blockOf is the block of a level that the slice which ends at a time is in.
func (w *WindowAggregate) blockOf(at int64, level int) window.Span {
	slice := w.in.Assigner.Slice()
	size := times(slice, blockSize, level)
	start := window.Floor(at-slice, size, w.in.Assigner.Offset)
	return window.Span{Start: start, End: start + size}
}

// coreOf is what all windows of a group have in common, of which one begins at a time. At
// level 0 it is that window.
func (w *WindowAggregate) coreOf(start int64, level int) window.Span {
	a := w.in.Assigner
	all := times(a.Step, coreSize, level)
	first := window.Floor(start, all, a.Offset)
	return window.Span{Start: first + all - a.Step, End: first + a.Size}
}

// compose merges into a window, or a core of a level, all that is in it. One of its windows
// begins at start.
func (w *WindowAggregate) compose(of partKey, start int64) error {
	into, err := w.into(of)
	if err != nil {
		return err
	}
	merge := func(part partKey) error { return w.merge(part, into) }
	s := w.coreOf(start, of.level)
	if of.level == len(w.cores) {
		return w.cover(s, len(w.slices)-1, merge)
	}
	inner := w.coreOf(start, of.level+1)
	core := partKey{at: inner.End, kind: corePart, level: of.level + 1}
	have, err := w.kept(core).Slice(core.at, false)
	if err == nil && have == nil && w.some(inner) {
		err = w.compose(core, start)
	}
	if err != nil {
		return err
	}
	if err := w.cover(window.Span{Start: s.Start, End: inner.Start}, len(w.slices)-1, merge); err != nil {
		return err
	}
	if have != nil || w.some(inner) {
		if err := merge(core); err != nil {
			return err
		}
	}
	return w.cover(window.Span{Start: inner.End, End: s.End}, len(w.slices)-1, merge)
}

// some reports whether there are slices of a stretch of time.
func (w *WindowAggregate) some(s window.Span) bool {
	ends := w.slices[0].Times()
	i, _ := slices.BinarySearch(ends, s.Start+1)
	return i < len(ends) && ends[i] <= s.End
}

// cover calls use for slices, and blocks up to a level, that make up a stretch of time.
// Blocks are built where they are used first.
func (w *WindowAggregate) cover(s window.Span, most int, use func(part partKey) error) error {
	ends := w.slices[0].Times()
	i, _ := slices.BinarySearch(ends, s.Start+1)
	for i < len(ends) && ends[i] <= s.End {
		part := partKey{at: ends[i], kind: slicePart}
		for level := most; level > 0; level-- {
			if b := w.blockOf(ends[i], level); b.Start >= s.Start && b.End <= s.End {
				part.at, part.level = b.End, level
				if err := w.build(part, b); err != nil {
					return err
				}
				break
			}
		}
		if err := use(part); err != nil {
			return err
		}
		i, _ = slices.BinarySearch(ends, part.at+1)
	}
	return nil
}

// build merges a block, if it is not there.
func (w *WindowAggregate) build(block partKey, s window.Span) error {
	have, err := w.kept(block).Slice(block.at, false)
	if err != nil || have != nil {
		return err
	}
	into, err := w.into(block)
	if err != nil {
		return err
	}
	return w.cover(s, block.level-1, func(part partKey) error { return w.merge(part, into) })
}

// foldIntoMerged adds rows of a slice to what has been merged of it: only rows that come
// late for other windows find something.
func (w *WindowAggregate) foldIntoMerged(b *vector.Batch, at int64) error {
	if at > w.fired.end {
		return nil
	}
	for level := 1; level < len(w.slices); level++ {
		if err := w.foldIfKept(b, partKey{at: w.blockOf(at, level).End, kind: slicePart, level: level}); err != nil {
			return err
		}
	}
	for k, core := range w.cores {
		for _, end := range core.Times() {
			if at > end || at <= w.coreOf(end-w.in.Assigner.Size, k+1).Start {
				continue
			}
			if err := w.foldIfKept(b, partKey{at: end, kind: corePart, level: k + 1}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *WindowAggregate) foldIfKept(b *vector.Batch, part partKey) error {
	have, err := w.kept(part).Slice(part.at, false)
	if err != nil || have == nil {
		return err
	}
	return w.foldInto(b, part)
}

// dropSlice forgets a slice that no further window has, and the blocks that it is in.
func (w *WindowAggregate) dropSlice(at int64) {
	for level := range w.slices {
		w.drop(partKey{at: w.blockOf(at, level).End, kind: slicePart, level: level})
	}
}

// dropCores forgets the cores of groups whose last window was emitted, which began at start
// or before. It had rows if the core has.
func (w *WindowAggregate) dropCores(start int64) {
	for k, core := range w.cores {
		for len(core.Times()) > 0 && w.coreOf(core.Times()[0]-w.in.Assigner.Size, k+1).Start <= start {
			w.drop(partKey{at: core.Times()[0], kind: corePart, level: k + 1})
		}
	}
}
