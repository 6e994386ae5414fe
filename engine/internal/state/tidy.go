package state

// Deleted spans, those of slices above all, leave garbage in the tables below them.
// Pebble gets to it when a level is full, which may be long after there is more of it
// than of what lives. So the database is compacted as soon as garbage is this share of
// the tables, one of maxGarbage, and more than leastGarbage.
const (
	maxGarbage   = 4
	leastGarbage = 2 << 20
)

// tidy compacts the tables of operators that have deleted spans, in the background, if
// there is much garbage. One such compaction is under way at a time.
func (d *DB) tidy(all []run) {
	var spans []span
	for _, r := range all {
		if len(r.part.spans) > 0 {
			s := groupSpan(r.operator, r.table, 0, keyGroups)
			if n := len(spans); n == 0 || string(spans[n-1].start) != string(s.start) {
				spans = append(spans, s)
			}
		}
	}
	if len(spans) == 0 || !d.littered() || d.tidying.Swap(true) {
		return
	}
	d.tidied.Add(1)
	go func() {
		defer d.tidied.Done()
		defer d.tidying.Store(false)
		for _, s := range spans {
			if !d.littered() {
				return
			}
			// What fails here is tried again after the next commit; Pebble reports it, too.
			_ = d.try(func() error { return d.pebble.Compact(d.ctx, s.start, s.end, false) })
		}
	}()
}

func (d *DB) littered() bool {
	t := &d.pebble.Metrics().Table
	garbage := t.Garbage.RangeDeletionsBytesEstimate
	return garbage > leastGarbage && garbage > t.Local.LiveSize/maxGarbage
}
