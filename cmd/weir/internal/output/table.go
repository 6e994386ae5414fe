package output

import (
	"io"
	"strings"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// sampleRows is how many rows of an append-only result decide the widths of the
// columns. What follows is written at once, so that memory stays bounded.
const sampleRows = 10_000

// table shows the final rows of a result.
type table struct {
	g     *grid
	cells cellReader
	rows  rowSet
	// grows: rows are only ever added, so they may be written before the end.
	grows   bool
	written int64
	begun   bool
}

func newTable(w io.Writer, schema sqltype.Schema, mode sqltype.ChangelogMode) *table {
	return &table{
		g:     newGrid(w, schema.Names(), alignRight(schema)),
		cells: cellReader{schema: schema},
		rows:  rowSet{at: map[string][]int{}, free: -1},
		grows: mode.InsertOnly(),
	}
}

func (t *table) Print(b *vector.Batch) error {
	for i := range b.Len() {
		r := b.Row(i)
		cells := make([]string, len(t.cells.schema))
		t.cells.read(b, r, cells)
		switch {
		case !t.grows:
			t.rows.apply(b.Kind(r), cells)
		case t.begun:
			t.g.line(cells)
			t.written++
		default:
			t.rows.rows = append(t.rows.rows, cells)
		}
	}
	if t.grows && !t.begun && len(t.rows.rows) >= sampleRows {
		t.begin()
	}
	if t.begun {
		return t.g.flush()
	}
	return nil
}

// begin writes the header and the rows held so far.
func (t *table) begin() {
	for _, cells := range t.rows.rows {
		if cells != nil {
			t.g.fit(cells)
		}
	}
	t.g.header()
	for _, cells := range t.rows.rows {
		if cells != nil {
			t.g.line(cells)
			t.written++
		}
	}
	t.rows, t.begun = rowSet{}, true
}

func (t *table) Close() error {
	if !t.begun {
		t.begin()
	}
	return t.g.flush()
}

func (t *table) Rows() int64 { return t.written }

// rowSet is what a changelog adds up to: a multiset of rows that keeps the order
// of arrival, where an updated row stays in the place of the old one.
type rowSet struct {
	rows [][]string       // nil: taken away
	at   map[string][]int // places of equal rows
	free int              // place of the row that the last -U took away, or -1
	live int
	debt map[string]int // rows taken away before they came
}

func (s *rowSet) apply(kind vector.RowKind, cells []string) {
	key := strings.Join(cells, "\x00") // cells hold no control characters
	free := s.free
	s.free = -1
	if !kind.Adds() {
		places := s.at[key]
		if len(places) == 0 {
			if s.debt == nil {
				s.debt = map[string]int{}
			}
			s.debt[key]++
			return
		}
		last := places[len(places)-1]
		if len(places) == 1 {
			delete(s.at, key)
		} else {
			s.at[key] = places[:len(places)-1]
		}
		s.rows[last] = nil
		s.live--
		if kind == vector.UpdateBefore {
			s.free = last
		}
		return
	}
	if s.debt[key] > 0 {
		s.debt[key]--
		return
	}
	place := len(s.rows)
	if kind == vector.UpdateAfter && free >= 0 {
		place = free
	} else {
		s.rows = append(s.rows, nil)
	}
	s.rows[place] = cells
	s.at[key] = append(s.at[key], place)
	s.live++
	if len(s.rows) > 2*s.live+1024 {
		s.compact()
	}
}

// compact drops the places of rows that are gone.
func (s *rowSet) compact() {
	rows := s.rows[:0]
	clear(s.at)
	for _, cells := range s.rows {
		if cells != nil {
			key := strings.Join(cells, "\x00")
			s.at[key] = append(s.at[key], len(rows))
			rows = append(rows, cells)
		}
	}
	clear(s.rows[len(rows):])
	s.rows, s.free = rows, -1
}
