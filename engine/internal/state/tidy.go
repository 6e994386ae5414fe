package state

import "maps"

// What is deleted, spans of slices above all, leaves garbage in the tables below.
// Pebble gets to it when a level is full, which may be long after there is more of it
// than of what lives. So the database is compacted as soon as garbage is this share of
// the tables, one of maxGarbage, and more than leastGarbage.
const (
	maxGarbage   = 4
	leastGarbage = 2 << 20
)

// tidy compacts the tables of operators of which something was deleted since it was done
// last, in the background, if there is much garbage. One such compaction is under way at
// a time. It is called with mu held.
func (d *DB) tidy(all []run) {
	for _, r := range all {
		if r.operator > 0 && r.part.deletes() {
			s := groupSpan(r.operator, r.table, 0, keyGroups)
			d.litter[string(s.start)] = s
		}
	}
	// How much garbage there is may be known only some time after the commit.
	if len(d.litter) == 0 || !d.littered() || d.tidying.Swap(true) {
		return
	}
	spans := maps.Clone(d.litter)
	clear(d.litter)
	d.tidied.Add(1)
	go func() {
		defer d.tidied.Done()
		defer d.tidying.Store(false)
		for _, s := range spans {
			if !d.littered() {
				return
			}
			// What fails here is tried again after a later commit; Pebble reports it, too.
			_ = d.try(func() error { return d.pebble.Compact(d.ctx, s.start, s.end, false) })
		}
	}()
}

func (d *DB) littered() bool {
	t := &d.pebble.Metrics().Table
	garbage := t.Garbage.RangeDeletionsBytesEstimate + t.Garbage.PointDeletionsBytesEstimate
	return garbage > leastGarbage && garbage > t.Local.LiveSize/maxGarbage
}
