package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// ProbeSpec says what a join computes in which every row of the probe side is joined once,
// with the rows that a table has under its key at that moment, and is never joined again.
type ProbeSpec struct {
	Types []sqltype.Type // of the probe side
	Table []sqltype.Type // of the rows of the table
	// Outer lets rows without a partner leave, padded with NULLs.
	Outer bool
	// Residual is a condition over the columns of a pair, those of the probe side first, or
	// nil.
	Residual expr.Expr
	Output   []int // columns of a pair to be emitted
	// Updating says that the probe side may take rows away. What was emitted for a row is
	// then kept, and taken back as it was, whatever the table has by then; changes leave as
	// +I and -D.
	Updating bool
	Spread   []int // columns that rows of the probe side are spread by; nil: one shard has all
	// Watermark is one more than the hidden column of the probe side, or 0. It is not the
	// same when a row is taken away as when it came.
	Watermark int
}

// probeJoin joins rows of the probe side with what a table has: the part that LookupJoin
// and SnapshotJoin share.
type probeJoin struct {
	spec     ProbeSpec
	residual *expr.Predicate
	reads    []int // columns of a pair that the residual condition reads
	frozen   *frozenRows
	rt       *exec.Runtime

	matches state.Matches
	// The pairs of a part of a batch: rows of the batch, with rows of the table, or 0 for
	// one that is padded.
	probe []int32
	rows  []state.RowID
	found []bool // by row of the batch: it has a partner
	what  []int8 // by pair, when it is kept: what is emitted
}

func newProbeJoin(spec ProbeSpec) (probeJoin, error) {
	j := probeJoin{spec: spec}
	if spec.Updating {
		j.frozen = newFrozenRows(spec)
	}
	if spec.Residual == nil {
		return j, nil
	}
	read := map[int]int{}
	for i, c := range expr.Columns(spec.Residual) {
		read[c] = i
		j.reads = append(j.reads, c)
	}
	var err error
	j.residual, err = expr.CompilePredicate(expr.Remap(spec.Residual, func(i int) int { return read[i] }))
	return j, err
}

func (j *probeJoin) open(rt *exec.Runtime) error {
	j.rt = rt
	if j.frozen != nil {
		j.frozen.open(rt)
	}
	if j.residual == nil {
		return nil
	}
	return j.residual.Open(rt.Functions)
}

// partners is where the rows of the table are that have the keys of a batch's rows.
type partners struct {
	rows  *state.Rows
	slots []state.Slot // by row of the batch; None: there are none
}

// join emits the pairs of the rows of b, which is dense, and what is under their keys, in
// the order of b. With an updating probe side all of b are additions, and what is emitted
// is kept.
func (j *probeJoin) join(b *vector.Batch, with partners, out exec.Output) error {
	n := b.Len()
	j.found = resize(j.found, n)
	clear(j.found)
	var cursor state.Cursor
	next := 0 // the first row of which it is not known yet whether it has a partner
	for done := false; !done; {
		j.matches.Reset()
		done = with.rows.Match(with.slots, &cursor, vector.Target, &j.matches)
		if err := j.pass(b, with.rows); err != nil {
			return err
		}
		known := n
		if !done {
			known = cursor.Pos
		}
		if j.spec.Outer || j.frozen != nil {
			j.pad(next, known)
			next = known
		}
		if err := j.emit(b, with, out); err != nil {
			return err
		}
	}
	return nil
}

// pass brings the matches that meet the residual condition into j.probe and j.rows.
func (j *probeJoin) pass(b *vector.Batch, from *state.Rows) error {
	m := &j.matches
	j.probe, j.rows = j.probe[:0], j.rows[:0]
	if j.residual != nil && len(m.Row) > 0 {
		pair := j.columns(b, from, j.reads, m.Probe, m.Row)
		narrow := vector.NewBatch(len(m.Row), pair, nil)
		j.residual.SetNow(j.rt.Now())
		sel, err := j.residual.Select(j.rt.Pool, narrow)
		narrow.Release()
		if err != nil {
			return err
		}
		at := vector.Values[int32](sel)
		m.Probe, m.Row, m.Count = gather(m.Probe, m.Probe, at), gather(m.Row, m.Row, at), gather(m.Count, m.Count, at)
		sel.Release()
	}
	for i, count := range m.Count {
		if count == 1 {
			j.probe, j.rows = append(j.probe, m.Probe[i]), append(j.rows, m.Row[i])
			continue
		}
		for range count { // none when it was taken away before it was added
			j.probe, j.rows = append(j.probe, m.Probe[i]), append(j.rows, m.Row[i])
		}
	}
	for _, r := range j.probe {
		j.found[r] = true
	}
	return nil
}

// pad adds the rows from one on, up to another, that have no partner, where they belong.
func (j *probeJoin) pad(from, to int) {
	alone := 0
	for _, found := range j.found[from:to] {
		if !found {
			alone++
		}
	}
	if alone == 0 {
		return
	}
	// From the end, so that pairs move once.
	at := len(j.probe) - 1
	j.probe, j.rows = extend(j.probe, alone), extend(j.rows, alone)
	w := len(j.probe) - 1
	for r := to - 1; r >= from && alone > 0; r-- {
		if j.found[r] {
			continue
		}
		for ; at >= 0 && int(j.probe[at]) > r; at, w = at-1, w-1 {
			j.probe[w], j.rows[w] = j.probe[at], j.rows[at]
		}
		j.probe[w], j.rows[w] = int32(r), 0
		w, alone = w-1, alone-1
	}
}

func extend[T any](s []T, by int) []T {
	if n := len(s) + by; n <= cap(s) {
		return s[:n]
	}
	return append(s, make([]T, by)...)
}

// emit emits the pairs, and keeps them if they may be taken back.
func (j *probeJoin) emit(b *vector.Batch, with partners, out exec.Output) error {
	n := len(j.probe)
	if n == 0 {
		return nil
	}
	if j.frozen != nil {
		return j.freeze(b, with, out)
	}
	cols := j.columns(b, with.rows, j.spec.Output, j.probe, j.rows)
	pairs := vector.NewBatch(n, cols, nil)
	defer pairs.Release()
	return out.Emit(pairs)
}

// freeze emits the pairs and keeps them.
func (j *probeJoin) freeze(b *vector.Batch, with partners, out exec.Output) error {
	j.what = resize(j.what, len(j.probe))
	for i, row := range j.rows {
		switch {
		case row != 0:
			j.what[i] = emittedPair
		case j.spec.Outer:
			j.what[i] = emittedPadded
		default:
			j.what[i] = emittedNothing
		}
	}
	return j.frozen.add(b, j.probe, j.what, func(of []int, pairs []int32) []*vector.Vector {
		if pairs == nil {
			return j.columns(b, with.rows, of, j.probe, j.rows)
		}
		return j.columns(b, with.rows, of, gather(nil, j.probe, pairs), gather(nil, j.rows, pairs))
	}, out)
}

// columns gathers columns of pairs: of the rows probe of b, with rows of the table, 0 for
// one that is padded.
func (j *probeJoin) columns(b *vector.Batch, from *state.Rows, of []int, probe []int32, rows []state.RowID) []*vector.Vector {
	p, width := j.rt.Pool, len(j.spec.Types)
	cols, same := make([]*vector.Vector, len(of)), j.identical(probe, b.Len())
	for i, c := range of {
		switch {
		case c >= width:
			cols[i] = tableColumn(p, from, c-width, j.spec.Table[c-width].Kind(), rows)
		case same:
			cols[i] = b.Col(c).Retain()
		default:
			cols[i] = b.Col(c).Take(p, probe)
		}
	}
	return cols
}

// identical reports whether the rows are all n of a batch, in order.
func (j *probeJoin) identical(rows []int32, n int) bool {
	if len(rows) != n {
		return false
	}
	for i, r := range rows {
		if int(r) != i {
			return false
		}
	}
	return true
}

// tableColumn gathers a column of rows of a table, NULL for row 0.
func tableColumn(p *vector.Pool, from *state.Rows, col int, kind vector.Kind, rows []state.RowID) *vector.Vector {
	padded := 0
	for _, r := range rows {
		if r == 0 {
			padded++
		}
	}
	switch padded {
	case 0:
		return from.TakeColumn(p, rows, col)
	case len(rows):
		return allNull(p, kind, len(rows))
	}
	// Any row stands in for the ones that are padded.
	some := slices.IndexFunc(rows, func(r state.RowID) bool { return r != 0 })
	whole := slices.Clone(rows)
	for i, r := range whole {
		if r == 0 {
			whole[i] = rows[some]
		}
	}
	v := from.TakeColumn(p, whole, col)
	valid := v.Valid()
	if valid == nil {
		valid = v.NewValid(true)
	}
	for i, r := range rows {
		if r == 0 {
			valid.Clear(i)
		}
	}
	return v
}
