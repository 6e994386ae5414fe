package state

import "fmt"

// Discard forgets the state of an operator. Its entries are deleted with the next
// commit, and not before. It is called before stores of that operator are made, which
// then begin without entries.
func (d *DB) Discard(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.operators[id]
	if o == nil {
		return
	}
	gone := newPart(o, 0, keyGroups)
	meta := &tablePart{}
	meta.delete(metaItem{operator: o}.key())
	delete(d.dirty, metaItem{operator: o})
	for _, t := range o.Tables {
		for time := range t.counts {
			item := metaItem{o, t, time}
			meta.delete(item.key())
			delete(d.dirty, item)
		}
		all := groupSpan(o.Number, t.byte(), 0, keyGroups)
		gone.tables = append(gone.tables, &tablePart{stored: t, spans: []span{all}})
	}
	gone.tables = append(gone.tables, meta)
	gone.finish()
	d.pending = append(d.pending, gone)
	// Its number stays taken until the database is opened again.
	delete(d.operators, id)
	d.operators[fmt.Sprintf("discarded %d", o.Number)] = o
}

// Keep takes parts of a checkpoint that did not come about, to be written with the
// next.
func (d *DB) Keep(parts []*Part) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range parts {
		if p != nil {
			d.take(p)
			d.pending = append(d.pending, p)
		}
	}
}
