package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// temporalPairs joins left rows with the versions that hold at their time.
type temporalPairs struct {
	left     TemporalSide
	strict   []int // key columns of the left in which NULL equals nothing
	outer    bool
	versions *versions
	output   []temporalColumn
	pred     *expr.Predicate // nil: no condition
	reads    []temporalColumn
	frozen   *frozenRows                // nil: nothing is taken back as it was
	column   func(c int) temporalColumn // of a pair
	enc      *rowkey.Encoder
	rt       *exec.Runtime

	slots   []state.Slot
	kept    []state.Slot
	follows []int32
	rows    []int32
	// Of the rows that are chosen:
	keptRows   []state.Slot
	followRows []int32
	pass       []int32
	// Of those that are kept:
	what []int8
	all  []int32
}

// temporalColumn is a column of a pair: column col of a side.
type temporalColumn struct {
	right bool
	col   int
	// key is, for a column of the right that is a key, the left column with the same
	// value, else -1.
	key int
}

func newTemporalPairs(spec TemporalJoinSpec) (temporalPairs, error) {
	l, r := spec.Left, spec.Right
	t := temporalPairs{left: l, outer: spec.Outer, enc: rowkey.NewEncoder(keyLayout(l.Types, l.Keys, l.Spread))}
	for i, k := range l.Keys {
		if spec.NullSafe == nil || !spec.NullSafe[i] {
			t.strict = append(t.strict, k)
		}
	}
	var stored []int
	column := func(c int) temporalColumn {
		if c < len(l.Types) {
			return temporalColumn{col: c, key: -1}
		}
		out := temporalColumn{right: true, col: c - len(l.Types), key: -1}
		if i := slices.Index(r.Keys, out.col); i >= 0 && sameText(l.Types[l.Keys[i]], r.Types[out.col]) {
			out.key = l.Keys[i]
		} else {
			stored = append(stored, out.col)
		}
		return out
	}
	t.column = column
	for _, c := range spec.Output {
		t.output = append(t.output, column(c))
	}
	var err error
	if spec.Residual != nil {
		read := map[int]int{}
		for i, c := range expr.Columns(spec.Residual) {
			read[c] = i
			t.reads = append(t.reads, column(c))
		}
		t.pred, err = expr.CompilePredicate(expr.Remap(spec.Residual, func(i int) int { return read[i] }))
	}
	t.versions = newVersions(r.Types, r.Keys, r.Spread, stored, spec.Retention)
	return t, err
}

// sameText reports whether values of two types that are equal are also written alike.
func sameText(a, b sqltype.Type) bool {
	k := a.Kind()
	return k == b.Kind() && k != vector.Float32 && k != vector.Float64 && !k.Nested()
}

func (t *temporalPairs) open(rt *exec.Runtime) error {
	t.rt = rt
	t.versions.open(rt)
	if t.frozen != nil {
		t.frozen.open(rt)
	}
	if t.pred == nil {
		return nil
	}
	return t.pred.Open(rt.Functions)
}

// join emits the pairs of the rows of a dense batch at their times.
func (t *temporalPairs) join(b *vector.Batch, at []int64, out exec.Output) error {
	n := b.Len()
	t.slots, t.kept, t.follows = resize(t.slots, n), resize(t.kept, n), resize(t.follows, n)
	keys := t.enc.Encode(b, t.left.Keys)
	if err := t.versions.use(keys, false, t.slots); err != nil {
		return err
	}
	if keys.AnyNull() {
		t.unmatch(b, t.strict)
	}
	if t.left.Time >= 0 && b.Col(t.left.Time).Valid() != nil {
		t.unmatch(b, []int{t.left.Time})
	}
	follows := t.follows
	if !t.versions.find(t.slots, at, t.kept, follows) {
		follows = nil
	}
	matched := t.matched(follows)
	if t.pred != nil && len(matched) > 0 {
		var err error
		if matched, err = t.test(b, matched, follows); err != nil {
			return err
		}
	}
	if t.frozen != nil {
		return t.freeze(b, matched, follows, out)
	}
	if t.outer {
		return t.emit(b, nil, len(matched) == n, follows, out)
	}
	if len(matched) == 0 {
		return nil
	}
	if len(matched) == n {
		matched = nil
	}
	return t.emit(b, matched, true, follows, out)
}

// freeze emits the pairs of b, and keeps what was emitted for each row.
func (t *temporalPairs) freeze(b *vector.Batch, matched, follows []int32, out exec.Output) error {
	n := b.Len()
	t.what, t.all = resize(t.what, n), resize(t.all, n)
	alone := emittedNothing
	if t.outer {
		alone = emittedPadded
	}
	for i := range n {
		t.what[i], t.all[i] = alone, int32(i)
	}
	for _, r := range matched {
		t.what[r] = emittedPair
	}
	return t.frozen.add(b, t.all, t.what, func(of []int, pairs []int32) []*vector.Vector {
		cols := make([]temporalColumn, len(of))
		for i, c := range of {
			cols[i] = t.column(c)
		}
		return t.columns(b, cols, pairs, len(matched) == n, follows)
	}, out)
}

// unmatch takes their versions from rows that are NULL in one of the given columns.
func (t *temporalPairs) unmatch(b *vector.Batch, cols []int) {
	for _, c := range cols {
		v := b.Col(c)
		if v.Valid() == nil {
			continue
		}
		for i := range t.slots {
			if v.IsNull(i) {
				t.slots[i] = state.None
			}
		}
	}
}

// matched are the rows that have a version.
func (t *temporalPairs) matched(follows []int32) []int32 {
	t.rows = resize(t.rows, len(t.kept))
	n := 0
	if follows == nil {
		for i, s := range t.kept {
			t.rows[n] = int32(i)
			n += int(uint32(^s) >> 31)
		}
		return t.rows[:n]
	}
	for i, s := range t.kept {
		t.rows[n] = int32(i)
		n += int(uint32(^s|^follows[i]) >> 31)
	}
	return t.rows[:n]
}

// test takes their versions from the given rows on which the condition is not TRUE, and
// returns the others.
func (t *temporalPairs) test(b *vector.Batch, rows []int32, follows []int32) ([]int32, error) {
	p := t.rt.Pool
	pairs := vector.NewBatch(len(rows), t.columns(b, t.reads, rows, true, follows), nil)
	defer pairs.Release()
	t.pred.SetNow(t.rt.Now())
	sel, err := t.pred.Select(p, pairs)
	if err != nil {
		return nil, err
	}
	defer sel.Release()
	pass := vector.Values[int32](sel)
	if len(pass) == len(rows) {
		return rows, nil
	}
	next := 0
	for i, r := range rows {
		if next < len(pass) && int(pass[next]) == i {
			next++
			continue
		}
		t.kept[r] = state.None
		if follows != nil {
			follows[r] = -1
		}
	}
	t.pass = gather(t.pass, rows, pass)
	return t.pass, nil
}

// columns are columns of the pairs of the given rows, nil for all; whole says that all of
// them have a version.
func (t *temporalPairs) columns(b *vector.Batch, of []temporalColumn, rows []int32, whole bool, follows []int32) []*vector.Vector {
	p := t.rt.Pool
	kept := t.kept
	if rows != nil {
		t.keptRows = gather(t.keptRows, t.kept, rows)
		if kept = t.keptRows; follows != nil {
			t.followRows = gather(t.followRows, follows, rows)
			follows = t.followRows
		}
	}
	out := make([]*vector.Vector, len(of))
	left := func(c int) *vector.Vector {
		if rows == nil {
			return b.Col(c).Retain()
		}
		return b.Col(c).Take(p, rows)
	}
	for i, c := range of {
		switch {
		case !c.right:
			out[i] = left(c.col)
		case c.key >= 0 && whole:
			out[i] = left(c.key)
		case c.key >= 0:
			out[i] = padded(p, b.Col(c.key), rows, kept, follows)
		default:
			out[i] = t.versions.column(p, c.col, kept, follows, whole)
		}
	}
	return out
}

// padded is a column of the given rows, which is NULL where there is no version.
func padded(p *vector.Pool, v *vector.Vector, rows []int32, kept []state.Slot, follows []int32) *vector.Vector {
	if rows == nil {
		rows = make([]int32, len(kept))
		for i := range rows {
			rows[i] = int32(i)
		}
	}
	out := v.Take(p, rows)
	valid := out.Valid()
	if valid == nil {
		valid = out.NewValid(true)
	}
	for i, s := range kept {
		if s < 0 && (follows == nil || follows[i] < 0) {
			valid.Clear(i)
		}
	}
	return out
}

// emit emits the given rows, nil for all, with their versions.
func (t *temporalPairs) emit(b *vector.Batch, rows []int32, whole bool, follows []int32, out exec.Output) error {
	n := b.Len()
	if rows != nil {
		n = len(rows)
	}
	var kinds *vector.Vector
	if k := b.KindVector(); k != nil {
		if kinds = k.Retain(); rows != nil {
			kinds.Release()
			kinds = k.Take(t.rt.Pool, rows)
		}
	}
	pairs := vector.NewBatch(n, t.columns(b, t.output, rows, whole, follows), kinds)
	defer pairs.Release()
	return out.Emit(pairs)
}
