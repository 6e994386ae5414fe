package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// frozenRows keeps, for each row of a probe side that may take rows away, what was emitted
// for it. Rows that are equal are told apart by a number: that of the row that came first
// is taken back first.
type frozenRows struct {
	probe  []int // columns of the probe side by which a row is found
	output []int // columns of a pair that are emitted
	kept   []int // those of them that are the table's, as columns of a pair
	layout rowkey.Layout
	enc    *rowkey.Encoder
	kinds  []vector.Kind // of rows: the number, what was emitted, then kept
	width  int           // columns of the probe side
	rows   *state.Rows
	rt     *exec.Runtime

	owed []*vector.Batch // what was taken away in this epoch and had not come

	slots   []state.Slot
	matches state.Matches
	number  []int64 // by row of a batch
	probes  []int32
	ids     []state.RowID
	shown   []int32 // pairs that are emitted
}

// What was emitted for a row.
const (
	emittedNothing int8 = iota
	emittedPair
	emittedPadded
)

func newFrozenRows(spec ProbeSpec) *frozenRows {
	f := &frozenRows{output: spec.Output, width: len(spec.Types), kinds: []vector.Kind{vector.Int64, vector.Int8}}
	for c := range spec.Types {
		if c != spec.Watermark-1 {
			f.probe = append(f.probe, c)
		}
	}
	for _, c := range spec.Output {
		if c >= f.width && !slices.Contains(f.kept, c) {
			f.kept = append(f.kept, c)
			f.kinds = append(f.kinds, spec.Table[c-f.width].Kind())
		}
	}
	f.layout = keyLayout(spec.Types, f.probe, spec.Spread)
	f.enc = rowkey.NewEncoder(f.layout)
	return f
}

func (f *frozenRows) open(rt *exec.Runtime) {
	f.rt = rt
	f.rows = rt.State.Rows("emitted", f.layout, state.RowsOptions{Cols: f.kinds, Indexed: true})
}

// resolve finds what is kept for the rows of b.
func (f *frozenRows) resolve(b *vector.Batch, create bool) error {
	f.slots = resize(f.slots, b.Len())
	return f.rows.Resolve(f.enc.Encode(b, f.probe), create, f.slots)
}

// numbers finds, for each row of b, the least or the greatest number that is kept, or -1.
func (f *frozenRows) numbers(b *vector.Batch, greatest bool) {
	f.number = resize(f.number, b.Len())
	for i := range f.number {
		f.number[i] = -1
	}
	f.match(b, func(row int32, id state.RowID, number int64) {
		if n := f.number[row]; n < 0 || greatest == (number > n) {
			f.number[row] = number
		}
	})
}

// match calls back with all that is kept for the rows of b.
func (f *frozenRows) match(b *vector.Batch, each func(row int32, id state.RowID, number int64)) {
	var cursor state.Cursor
	for done := false; !done; {
		f.matches.Reset()
		done = f.rows.Match(f.slots, &cursor, vector.Target, &f.matches)
		if len(f.matches.Row) == 0 {
			continue
		}
		v := f.rows.TakeColumn(f.rt.Pool, f.matches.Row, 0)
		for i, n := range vector.Values[int64](v) {
			for range f.matches.Count[i] {
				each(f.matches.Probe[i], f.matches.Row[i], n)
			}
		}
		v.Release()
	}
}

// begin gives numbers to the rows of b, which are additions.
func (f *frozenRows) begin(b *vector.Batch) error {
	if err := f.resolve(b, true); err != nil {
		return err
	}
	f.numbers(b, true)
	last := map[state.Slot]int64{}
	for i, s := range f.slots {
		n, again := last[s]
		if !again {
			n = f.number[i]
		}
		last[s], f.number[i] = n+1, n+1
	}
	return nil
}

// add emits pairs of rows of b, and keeps them. probe has the row of each pair, what says
// what it is, and columns makes columns of pairs, of all for nil. Pairs that are nothing
// are kept only.
func (f *frozenRows) add(b *vector.Batch, probe []int32, what []int8, columns func(of []int, pairs []int32) []*vector.Vector, out exec.Output) error {
	p, n := f.rt.Pool, len(probe)
	numbers, whats := p.New(vector.Int64, n), p.New(vector.Int8, n)
	f.slots, f.shown = resize(f.slots, n), f.shown[:0]
	dst := vector.Values[int64](numbers)
	copy(vector.Values[int8](whats), what)
	for i, r := range probe {
		dst[i] = f.number[r]
		if what[i] != emittedNothing {
			f.shown = append(f.shown, int32(i))
		}
	}
	rows := vector.NewBatch(n, append([]*vector.Vector{numbers, whats}, columns(f.kept, nil)...), nil)
	defer rows.Release()
	probes := b.Take(p, probe)
	defer probes.Release()
	if err := f.rows.Resolve(f.enc.Encode(probes, f.probe), true, f.slots); err != nil {
		return err
	}
	if err := f.rows.Add(f.slots, rows); err != nil {
		return err
	}
	if len(f.shown) == 0 {
		return nil
	}
	pairs := vector.NewBatch(len(f.shown), columns(f.output, f.shown), nil)
	defer pairs.Release()
	return out.Emit(pairs)
}

// has reports whether something is kept for each row of b, and no two are equal.
func (f *frozenRows) has(b *vector.Batch) (bool, error) {
	if err := f.resolve(b, false); err != nil {
		return false, err
	}
	seen := make(map[state.Slot]bool, len(f.slots))
	for _, s := range f.slots {
		if s == state.None || seen[s] {
			return false, nil
		}
		seen[s] = true
	}
	return true, nil
}

// remove takes back what was emitted for the rows of b. What had not come is owed: it may
// come until the epoch ends.
func (f *frozenRows) remove(b *vector.Batch, out exec.Output) error {
	rest := b.Retain()
	for rest.Len() > 0 {
		// Of rows that are equal, one at a time.
		if err := f.resolve(rest, false); err != nil {
			rest.Release()
			return err
		}
		var now, later, missing []int32
		seen := map[state.Slot]bool{}
		for i, s := range f.slots {
			switch {
			case s == state.None:
				missing = append(missing, int32(i))
			case seen[s]:
				later = append(later, int32(i))
			default:
				seen[s] = true
				now = append(now, int32(i))
			}
		}
		if len(missing) > 0 {
			f.owed = append(f.owed, rest.Take(f.rt.Pool, missing))
		}
		err := f.takeBack(rest, now, out)
		next := rest.Take(f.rt.Pool, later)
		rest.Release()
		rest = next
		if err != nil {
			rest.Release()
			return err
		}
	}
	rest.Release()
	return nil
}

// takeBack emits, as removals, what was emitted for the given rows of b, which are
// different, and forgets it.
func (f *frozenRows) takeBack(b *vector.Batch, rows []int32, out exec.Output) error {
	if len(rows) == 0 {
		return nil
	}
	p := f.rt.Pool
	part := b.Take(p, rows)
	defer part.Release()
	if err := f.resolve(part, false); err != nil {
		return err
	}
	f.numbers(part, false)
	f.probes, f.ids = f.probes[:0], f.ids[:0]
	f.match(part, func(row int32, id state.RowID, number int64) {
		if number == f.number[row] {
			f.probes, f.ids = append(f.probes, row), append(f.ids, id)
		}
	})
	kept := vector.NewBatch(len(f.ids), f.rows.Take(p, f.ids), deletes(p, len(f.ids)))
	defer kept.Release()
	slots := gather(nil, f.slots, f.probes)
	if err := f.rows.Add(slots, kept); err != nil {
		return err
	}
	return f.emitRemoved(part, kept, out)
}

// emitRemoved emits rows of b with what was kept for them, as removals.
func (f *frozenRows) emitRemoved(b, kept *vector.Batch, out exec.Output) error {
	p := f.rt.Pool
	var shown []int32
	for i, what := range vector.Values[int8](kept.Col(1)) {
		if what != emittedNothing {
			shown = append(shown, int32(i))
		}
	}
	if len(shown) == 0 {
		return nil
	}
	probes := gather(nil, f.probes, shown)
	cols := make([]*vector.Vector, len(f.output))
	for i, c := range f.output {
		if c < f.width {
			cols[i] = b.Col(c).Take(p, probes)
		} else {
			cols[i] = kept.Col(2+slices.Index(f.kept, c)).Take(p, shown)
		}
	}
	pairs := vector.NewBatch(len(shown), cols, deletes(p, len(shown)))
	defer pairs.Release()
	return out.Emit(pairs)
}

// deletes are the kinds of n removals.
func deletes(p *vector.Pool, n int) *vector.Vector {
	v, k := p.NewKinds(n)
	for i := range k {
		k[i] = vector.Delete
	}
	return v
}

// flush takes back what is owed, if it has come meanwhile, and reports the rest.
func (f *frozenRows) flush(out exec.Output) error {
	owed := f.owed
	f.owed = nil
	for i, b := range owed {
		err := f.remove(b, out)
		b.Release()
		if err != nil {
			for _, b := range owed[i+1:] {
				b.Release()
			}
			return err
		}
	}
	for _, b := range f.owed {
		f.rt.Inconsistent(int64(b.Len()))
	}
	f.close()
	return nil
}

// close frees what is owed.
func (f *frozenRows) close() {
	for _, b := range f.owed {
		b.Release()
	}
	f.owed = nil
}

// process parts a batch, which is dense, into additions and removals, keeping the order
// where it counts, and hands the additions to join.
func (f *frozenRows) process(b *vector.Batch, out exec.Output, join func(*vector.Batch) error) error {
	p := f.rt.Pool
	var plus, minus []int32
	for i := range b.Len() {
		if b.Kind(i).Adds() {
			plus = append(plus, int32(i))
		} else {
			minus = append(minus, int32(i))
		}
	}
	add := func(rows []int32) error {
		part := plain(b.Take(p, rows))
		defer part.Release()
		if err := f.begin(part); err != nil {
			return err
		}
		return join(part)
	}
	remove := func(rows []int32) error {
		part := b.Take(p, rows)
		defer part.Release()
		return f.remove(part, out)
	}
	switch {
	case len(minus) == 0:
		return add(plus)
	case len(plus) == 0:
		return remove(minus)
	}
	part := b.Take(p, minus)
	there, err := f.has(part)
	part.Release()
	if err != nil {
		return err
	}
	if there { // all that goes was there before the batch
		if err := remove(minus); err != nil {
			return err
		}
		return add(plus)
	}
	for from, to := 0, 0; from < b.Len(); from = to {
		adds := b.Kind(from).Adds()
		var run []int32
		for to = from; to < b.Len() && b.Kind(to).Adds() == adds; to++ {
			run = append(run, int32(to))
		}
		step := remove
		if adds {
			step = add
		}
		if err := step(run); err != nil {
			return err
		}
	}
	return nil
}

// plain is b without kinds. It takes b over.
func plain(b *vector.Batch) *vector.Batch {
	defer b.Release()
	return b.WithKinds(nil)
}
