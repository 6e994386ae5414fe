package op

import "github.com/weirdb/weir/engine/internal/window"

// Of eight windows of HOP one after the other nearly all is the same: that core of theirs is
// merged once, of the core that eight such groups have in common, and of blocks beside it.
// When the first of the eight is over all are begun: the last is the core, each other is a
// copy of the one after it and the slices between their starts. What is behind the core, a
// block, is added when the window itself is over. So what a window costs does not grow with
// its length.

// coreSize is of how many windows, or groups of the level below, a core is.
const coreSize = 8

// coreLevels is how many levels of cores the windows of HOP have.
func coreLevels(a window.Assigner) int { return levels(a.Size/a.Step, coreSize) }

// complete merges what is in a window that is over, if it is not all in one part, and
// returns the part that has it.
func (w *WindowAggregate) complete(end int64) (partKey, error) {
	part := partKey{at: end}
	if !w.hops() {
		return part, nil
	}
	if err := w.grow(end); err != nil {
		return part, err
	}
	w.fired.advance(end)
	s := w.in.Assigner.OfEnd(end)
	if len(w.cores) == 0 {
		return part, w.coverInto(s, part)
	}
	if err := w.begin(s.Start); err != nil {
		return part, err
	}
	alone := part // rows that came late for other windows
	part = w.begun(s.Start)
	if err := w.mergeIfKept(alone, part); err != nil {
		return part, err
	}
	w.drop(alone)
	return part, w.coverInto(window.Span{Start: w.coreOf(s.Start, 1).End, End: end}, part)
}

// lastOf is where the last window begins of the group of a level that one is in which begins
// at a time. At level 0 it is that one.
func (w *WindowAggregate) lastOf(start int64, level int) int64 {
	a := w.in.Assigner
	all := times(a.Step, coreSize, level)
	return window.Floor(start, all, a.Offset) + all - a.Step
}

// coreOf is what all windows of a group have in common, of which one begins at a time. Of
// larger groups, which are put together, it begins with a block, a step later.
func (w *WindowAggregate) coreOf(start int64, level int) window.Span {
	a := w.in.Assigner
	all, last := times(a.Step, coreSize, level), w.lastOf(start, level)
	core := window.Span{Start: last, End: last + a.Step - all + a.Size}
	if level > 1 {
		core.Start += a.Step
	}
	return core
}

// begun is the part that the window which begins at a time is composed in.
func (w *WindowAggregate) begun(start int64) partKey {
	if start == w.lastOf(start, 1) {
		return partKey{at: w.coreOf(start, 1).End, kind: corePart, level: 1}
	}
	return partKey{at: start + w.in.Assigner.Size, kind: corePart}
}

// begin merges what the window that begins at a time has up to the end of its group's core,
// if it is not there, and so that of the windows after it.
func (w *WindowAggregate) begin(start int64) error {
	part := w.begun(start)
	if have, err := w.kept(part).Slice(part.at, false); err != nil || have != nil {
		return err
	}
	if part.level == 1 {
		return w.compose(part, start)
	}
	after := start + w.in.Assigner.Step
	if err := w.begin(after); err != nil {
		return err
	}
	if err := w.mergeIfKept(w.begun(after), part); err != nil {
		return err
	}
	return w.coverInto(window.Span{Start: start, End: after}, part)
}

// compose merges into a core of a level all that is in it. One of its windows begins at start.
func (w *WindowAggregate) compose(core partKey, start int64) error {
	s := w.coreOf(start, core.level)
	if core.level == len(w.cores)-1 {
		return w.coverInto(s, core)
	}
	inner := w.coreOf(start, core.level+1)
	of := partKey{at: inner.End, kind: corePart, level: core.level + 1}
	have, err := w.kept(of).Slice(of.at, false)
	if err == nil && have == nil && w.some(inner) {
		err = w.compose(of, start)
	}
	if err != nil {
		return err
	}
	if err := w.mergeIfKept(of, core); err != nil {
		return err
	}
	if err := w.coverInto(window.Span{Start: s.Start, End: inner.Start}, core); err != nil {
		return err
	}
	return w.coverInto(window.Span{Start: inner.End, End: s.End}, core)
}

// composed is the stretch of time of which a core has been merged, or a window been begun.
func (w *WindowAggregate) composed(end int64, level int) window.Span {
	start := end - w.in.Assigner.Size
	if level == 0 {
		return window.Span{Start: start, End: w.coreOf(start, 1).End}
	}
	return w.coreOf(start, level)
}

// dropCores forgets windows that were begun, up to one that was emitted, and the cores of
// groups that it was the last of.
func (w *WindowAggregate) dropCores(end int64) {
	size := w.in.Assigner.Size
	for level, core := range w.cores {
		for len(core.Times()) > 0 && w.lastOf(core.Times()[0]-size, level) <= end-size {
			w.drop(partKey{at: core.Times()[0], kind: corePart, level: level})
		}
	}
}
