package op

import (
	"slices"
	"strconv"

	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
)

// A window of HOP that has many slices is not merged of these one by one: blocks of eight of
// them are merged once, blocks of these blocks too, and a window is made of the largest
// that it has in it. What a window costs when it is over then hardly grows with its length.
// A slice is kept as long as a window may begin behind the one before, so blocks are kept
// beside, not in place of them.

// blockSize is how many slices, or blocks of the level below, a block has.
const blockSize = 8

// blockLevels is how many levels of blocks the windows of HOP have. The largest are at most
// half a window.
func blockLevels(a window.Assigner) int {
	levels, n := 0, a.Size/a.Slice()/2
	for ; n >= blockSize; n /= blockSize {
		levels++
	}
	return levels
}

// sliceTable is the name of the table of slices, or of the blocks of a level.
func sliceTable(level int) string {
	if level == 0 {
		return "slices"
	}
	return "blocks" + strconv.Itoa(level)
}

// blockOf is the block of a level that the slice which ends at a time is in.
func (w *WindowAggregate) blockOf(at int64, level int) window.Span {
	a := w.in.Assigner
	size := a.Slice()
	first := at - size
	for range level {
		size *= blockSize
	}
	start := window.Floor(first, size, a.Offset)
	return window.Span{Start: start, End: start + size}
}

// cover calls use for slices, and blocks up to a level, that make up the time from start to
// end. Blocks are built where they are used first.
func (w *WindowAggregate) cover(start, end int64, most int, use func(part partKey) error) error {
	times := w.slices[0].Times()
	i, _ := slices.BinarySearch(times, start+1)
	for i < len(times) && times[i] <= end {
		part := partKey{at: times[i], slice: true}
		for level := most; level > 0; level-- {
			if b := w.blockOf(times[i], level); b.Start >= start && b.End <= end {
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
		i, _ = slices.BinarySearch(times, part.at+1)
	}
	return nil
}

// build merges a block, if it is not there.
func (w *WindowAggregate) build(block partKey, s window.Span) error {
	have, err := w.kept(block).Slice(block.at, false)
	if err != nil || have != nil {
		return err
	}
	into, err := w.kept(block).Slice(block.at, true)
	if err != nil {
		return err
	}
	return w.cover(s.Start, s.End, block.level-1, func(part partKey) error { return w.merge(into, part, block) })
}

// foldIntoBlocks adds rows of a slice to the blocks that have been merged of it: only rows
// that come late for other windows find some.
func (w *WindowAggregate) foldIntoBlocks(b *vector.Batch, at int64) error {
	for level := 1; level < len(w.slices); level++ {
		block := partKey{at: w.blockOf(at, level).End, slice: true, level: level}
		have, err := w.kept(block).Slice(block.at, false)
		if err == nil && have != nil {
			err = w.foldInto(b, block)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropSlice forgets a slice that no further window has, and the blocks that it is in.
func (w *WindowAggregate) dropSlice(at int64) {
	for level := range w.slices {
		w.drop(partKey{at: w.blockOf(at, level).End, slice: true, level: level})
	}
}
