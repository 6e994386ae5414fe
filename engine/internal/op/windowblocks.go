package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
)

// A window of HOP that has many slices is not merged of these one by one. Blocks of eight
// slices are merged once, blocks of these blocks too, and a stretch of time is made of the
// largest that it has in it.
//
// A slice is kept as long as a window may begin behind the one before, so blocks are kept
// beside, not in place of them. The block that the last windows end in grows with each of
// them: it stands for the last slices of all.

// blockSize is how many slices, or blocks of the level below, a block has.
const blockSize = 8

// blockLevels is how many levels of blocks the windows of HOP have.
func blockLevels(a window.Assigner) int { return levels(a.Size/a.Slice(), blockSize) }

// levels is how often n things are put together, by so many: as long as the largest is at
// most half of all, and up to about the root of n. The rest, that many of the largest, is
// merged once for that many windows, so that larger ones would not save anything.
func levels(n int64, by int64) int {
	l := 0
	for of := int64(1); 2*by*of <= n && of*of < n; of *= by {
		l++
	}
	return l
}

// times is what a length is at a level.
func times(length int64, by int64, level int) int64 {
	for range level {
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
		w.dropAll(partKey{kind: corePart, level: level})
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

// blockOf is the block of a level that the slice which ends at a time is in. One begins
// where a window ends.
func (w *WindowAggregate) blockOf(at int64, level int) window.Span {
	a := w.in.Assigner
	size := times(a.Slice(), blockSize, level)
	start := window.Floor(at-a.Slice(), size, a.Offset+a.Size)
	return window.Span{Start: start, End: start + size}
}

// some reports whether there are slices of a stretch of time.
func (w *WindowAggregate) some(s window.Span) bool {
	ends := w.slices[0].Times()
	i, _ := slices.BinarySearch(ends, s.Start+1)
	return i < len(ends) && ends[i] <= s.End
}

// cover calls use for slices, and blocks up to a level, that make up a stretch of time up to
// the end of the last window that is over. Blocks are built where they are used first.
func (w *WindowAggregate) cover(s window.Span, most int, use func(part partKey) error) error {
	ends := w.slices[0].Times()
	i, _ := slices.BinarySearch(ends, s.Start+1)
	for i < len(ends) && ends[i] <= s.End {
		part := partKey{at: ends[i], kind: slicePart}
		for level := most; level > 0; level-- {
			if b := w.blockOf(ends[i], level); b.Start >= s.Start && w.reached(b, level) <= s.End {
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
		for i < len(ends) && ends[i] <= part.at {
			i++
		}
	}
	return nil
}

// reached is how far a block can be merged now: one of slices as far as windows are over,
// any other only as a whole.
func (w *WindowAggregate) reached(block window.Span, level int) int64 {
	if level == 1 {
		return min(block.End, w.fired.end)
	}
	return block.End
}

// build merges a block as far as it has reached, if it is not there.
func (w *WindowAggregate) build(block partKey, s window.Span) error {
	have, err := w.kept(block).Slice(block.at, false)
	if err != nil || have != nil {
		return err
	}
	into, err := w.into(block)
	if err != nil {
		return err
	}
	s.End = w.reached(s, block.level)
	return w.cover(s, block.level-1, func(part partKey) error { return w.merge(part, into) })
}

// grow adds the slices of a window that is going to be over to the block that has reached
// the end of the one before, but not its own.
func (w *WindowAggregate) grow(end int64) error {
	if len(w.slices) == 1 {
		return nil
	}
	blocks := w.slices[1].Times()
	if len(blocks) == 0 || blocks[len(blocks)-1] <= w.fired.end {
		return nil
	}
	block := partKey{at: blocks[len(blocks)-1], kind: slicePart, level: 1}
	into, err := w.into(block)
	if err != nil {
		return err
	}
	s := window.Span{Start: w.fired.end, End: min(block.at, end)}
	return w.cover(s, 0, func(part partKey) error { return w.merge(part, into) })
}

// mergeIfKept merges a part into another, if it is there.
func (w *WindowAggregate) mergeIfKept(part, to partKey) error {
	have, err := w.kept(part).Slice(part.at, false)
	if err != nil || have == nil {
		return err
	}
	into, err := w.into(to)
	if err != nil {
		return err
	}
	return w.merge(part, into)
}

// coverInto merges what makes up a stretch of time into a part.
func (w *WindowAggregate) coverInto(s window.Span, part partKey) error {
	into, err := w.into(part)
	if err != nil {
		return err
	}
	return w.cover(s, len(w.slices)-1, func(of partKey) error { return w.merge(of, into) })
}

// foldIntoMerged adds rows of a slice to what has been merged of it: only rows that come
// late for other windows find something. What will be merged finds them in the slice.
func (w *WindowAggregate) foldIntoMerged(b *vector.Batch, at int64) error {
	if at > w.fired.end {
		return nil
	}
	for level := 1; level < len(w.slices); level++ {
		if err := w.foldIfKept(b, partKey{at: w.blockOf(at, level).End, kind: slicePart, level: level}); err != nil {
			return err
		}
	}
	for level, core := range w.cores {
		for _, end := range core.Times() {
			if s := w.composed(end, level); at <= s.Start || at > s.End {
				continue
			}
			if err := w.foldIfKept(b, partKey{at: end, kind: corePart, level: level}); err != nil {
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
