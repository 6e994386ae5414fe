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
	meta := gone.table(0)
	number := []byte{byte(o.Number >> 8), byte(o.Number)}
	meta.delete(metaKey(metaOperator, number...))
	for _, t := range o.Tables {
		meta.delete(metaKey(metaCounts, append(number, t.Number)...))
		gone.table(t.byte()).spans = []span{groupSpan(o.Number, t.byte(), 0, keyGroups)}
		delete(d.dirty, metaTable{o, t})
	}
	delete(d.dirty, metaTable{operator: o})
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

// take takes over the numbers of entries that a part tells.
func (d *DB) take(p *Part) {
	for _, t := range p.tables {
		if t.counts == nil {
			continue
		}
		for _, s := range p.operator.Tables {
			if s.byte() == t.table {
				copy(s.counts[p.from:p.to], t.counts[p.from:p.to])
				d.dirty[metaTable{p.operator, s}] = true
			}
		}
	}
}
