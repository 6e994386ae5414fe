package op

import (
	"context"
	"math"
	"slices"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// IntervalJoinSpec says which rows an IntervalJoin joins.
type IntervalJoinSpec struct {
	JoinSpec     // of inputs that only add rows
	Kind         JoinKind
	Lower, Upper int64       // the time of the left less that of the right is between
	Sides        [2]TimeSide // the left and the right
	Processing   bool        // the times are those of the clock
}

// TimeSide says where the times of an input are.
type TimeSide struct {
	Time      int // column with the time, in milliseconds
	Watermark int // column with the watermark before the row, or -1
}

// IntervalJoin joins rows of two inputs whose times are not far apart. A pair leaves when
// the second of its rows comes, and a row that has found no partner, if it leaves alone,
// when none can come any more: when the watermark of the other input has passed all times
// that a partner may have. So nothing is taken back. Rows that the watermark of their own
// input had reached before they came are late and refused: partners of theirs may be gone.
//
// The rows of a side are kept in slices of time, by key, each as long as half the
// interval; the slices that an interval meets are looked through for partners. A
// slice goes as a whole, when none of its rows can find a partner.
//
// The watermark that is passed on is behind those of the inputs by what a row that is
// kept may be older than the partner which comes.
type IntervalJoin struct {
	joinPairs
	kind       JoinKind
	lower      int64
	upper      int64
	processing bool
	width      int64 // of slices, in milliseconds
	probes     int64 // slices that an interval meets at most
	ins        [2]intervalSide
	passed     exec.Watermark

	key      []int // all columns of keys
	moments  []int64
	found    []bool // by row of a batch: it has a partner
	turned   []state.RowID
	refused  []int32
	hopeless []int32 // rows that equal nothing, because of a NULL
	kept     []int32
	slots    []state.Slot
	order    []uint64
}

// intervalSide is one input, beside what all joins have.
type intervalSide struct {
	TimeSide
	horizon int64 // how long after its time a row may find partners
	alone   bool  // rows leave without a partner
	noted   bool  // it is known of rows whether they have one
	reached exec.Watermark
	late    exec.Lateness
	dues    *state.Times // when rows have waited long enough, and when slices are over
}

// NewIntervalJoin returns an IntervalJoin. It fails for a condition that cannot be
// compiled.
func NewIntervalJoin(spec IntervalJoinSpec) (*IntervalJoin, error) {
	if !spec.Kind.pairs() && spec.Output == nil {
		for c := range spec.Left.Types {
			spec.Output = append(spec.Output, c)
		}
	}
	pairs, err := newJoinPairs(spec.JoinSpec)
	if err != nil {
		return nil, err
	}
	j := &IntervalJoin{
		joinPairs: pairs, kind: spec.Kind, lower: spec.Lower, upper: spec.Upper, processing: spec.Processing, passed: exec.NoWatermark,
	}
	size := max(spec.Upper-spec.Lower+1, 1)
	j.width = (size + 1) / 2
	j.probes = (size-1+j.width-1)/j.width + 1
	for i := range j.ins {
		in, s := &j.ins[i], &j.sides[i]
		*in = intervalSide{TimeSide: spec.Sides[i], reached: exec.NoWatermark, late: exec.NewLateness(spec.Sides[i].Watermark)}
		in.horizon = [...]int64{-spec.Lower, spec.Upper}[i]
		s.layout = s.layout.With(vector.Int64)
		s.enc = rowkey.NewEncoder(s.layout)
		s.keep(in.Time)
	}
	j.ins[0].alone = spec.Kind == LeftJoin || spec.Kind == FullJoin || spec.Kind == AntiJoin
	j.ins[1].alone = spec.Kind == RightJoin || spec.Kind == FullJoin
	for i := range j.ins {
		j.ins[i].noted = j.ins[i].alone || i == 0 && spec.Kind == SemiJoin
	}
	for c := range j.sides[0].layout.Kinds {
		j.key = append(j.key, c)
	}
	return j, nil
}

// keep lets a column be among those that are kept.
func (s *joinSide) keep(col int) {
	if !slices.Contains(s.stored, col) {
		s.place[col] = len(s.stored)
		s.stored = append(s.stored, col)
	}
}

// Open finds the tables.
func (j *IntervalJoin) Open(_ context.Context, rt *exec.Runtime) error {
	if err := j.open(rt); err != nil {
		return err
	}
	for i, name := range []string{"left", "right"} {
		s := &j.sides[i]
		s.open(rt, name, state.RowsOptions{Noted: j.ins[i].noted})
		j.ins[i].dues = rt.State.Times(name+" dues", s.layout)
	}
	return nil
}

// Process joins the rows of b with those of the other side, then keeps them as long as
// more partners may come.
func (j *IntervalJoin) Process(port int, b *vector.Batch, out exec.Output) error {
	p := j.rt.Pool
	if _, some := b.Sel(); some {
		b = b.Dense(p)
		defer b.Release()
	}
	j.choose(port, b)
	if len(j.refused) > 0 {
		if err := refuseLate(j.rt, exec.LateSide(port), b, j.ins[port].Watermark, j.refused, nil, nil); err != nil {
			return err
		}
	}
	if err := j.emitRows(port, b, j.hopeless, out); err != nil {
		return err
	}
	if len(j.kept) == 0 {
		return nil
	}
	if len(j.kept) < b.Len() {
		b = b.Take(p, j.kept)
		defer b.Release()
	}
	if err := j.find(port, b, out); err != nil {
		return err
	}
	return j.store(port, b, out)
}

// choose parts the rows of b that are late, and those that equal nothing, from the others.
func (j *IntervalJoin) choose(port int, b *vector.Batch) {
	j.refused, j.hopeless, j.kept = j.refused[:0], j.hopeless[:0], j.kept[:0]
	in, own := &j.ins[port], &j.sides[port]
	times := b.Col(in.Time)
	var marks []int64
	floor := int64(math.MinInt64)
	if !j.processing {
		marks, floor = in.late.Rows(b)
	}
	nulls := times.Nulls() > 0
	for _, k := range own.strict {
		nulls = nulls || b.Col(k).Nulls() > 0
	}
	for i, t := range vector.Values[int64](times)[:b.Len()] {
		at := floor
		if marks != nil {
			at = max(at, marks[i])
		}
		switch {
		case nulls && times.IsNull(i):
			j.hopeless = append(j.hopeless, int32(i))
		case t <= at && !j.processing:
			j.refused = append(j.refused, int32(i))
		case nulls && hasNull(b, own.strict, i):
			j.hopeless = append(j.hopeless, int32(i))
		default:
			j.kept = append(j.kept, int32(i))
		}
	}
}

func hasNull(b *vector.Batch, cols []int, row int) bool {
	for _, c := range cols {
		if b.Col(c).IsNull(row) {
			return true
		}
	}
	return false
}

// emitRows emits rows of b alone, if rows of the side leave so.
func (j *IntervalJoin) emitRows(port int, b *vector.Batch, rows []int32, out exec.Output) error {
	if len(rows) == 0 || !j.ins[port].alone {
		return nil
	}
	j.probe = append(j.probe[:0], rows...)
	return j.emitOwn(port, b, out)
}

// keys are the keys of the rows of b in the slices where the given times lie.
func (j *IntervalJoin) keys(port int, b *vector.Batch, moments []int64) *rowkey.Keys {
	own := &j.sides[port]
	slice := j.rt.Pool.New(vector.Int64, len(moments))
	for i, t := range moments {
		vector.Values[int64](slice)[i] = j.slice(t)
	}
	cols := make([]*vector.Vector, 0, len(j.key))
	for _, k := range own.Keys {
		cols = append(cols, b.Col(k).Retain())
	}
	k := vector.NewBatch(len(moments), append(cols, slice), nil)
	defer k.Release()
	return own.enc.Encode(k, j.key)
}

// slice is the number of the slice that a time is in.
func (j *IntervalJoin) slice(t int64) int64 {
	n := t / j.width
	if n*j.width > t {
		n--
	}
	return n
}

// last is the last time of a slice.
func (j *IntervalJoin) last(slice int64) int64 { return (slice+1)*j.width - 1 }

// find emits the pairs of the rows of b with those of the other side, and notes which
// rows have partners.
func (j *IntervalJoin) find(port int, b *vector.Batch, out exec.Output) error {
	other := &j.sides[1-port]
	j.found = resize(j.found, b.Len())
	clear(j.found)
	if other.rows.Len() == 0 || j.lower > j.upper {
		return nil
	}
	// Partners have times from t - upper or t + lower on.
	from := [...]int64{-j.upper, j.lower}[port]
	times := vector.Values[int64](b.Col(j.ins[port].Time))[:b.Len()]
	j.moments = resize(j.moments, len(times))
	for i, t := range times {
		j.moments[i] = t + from
	}
	j.slots = resize(j.slots, b.Len())
	for k := range j.probes {
		if k > 0 {
			for i := range j.moments {
				j.moments[i] += j.width
			}
		}
		if err := other.rows.Resolve(j.keys(port, b, j.moments), false, j.slots); err != nil {
			return err
		}
		if err := j.findIn(port, b, times, out); err != nil {
			return err
		}
	}
	return nil
}

// findIn is find for the entries of the other side in j.slots.
func (j *IntervalJoin) findIn(port int, b *vector.Batch, times []int64, out exec.Output) error {
	m, other := &j.matches, &j.sides[1-port]
	var cursor state.Cursor
	for done := false; !done; {
		m.Reset()
		done = other.rows.Match(j.slots, &cursor, vector.Target, m)
		j.inInterval(port, times)
		if err := j.meet(port, b); err != nil {
			return err
		}
		if len(m.Row) == 0 {
			continue
		}
		for _, i := range m.Probe {
			j.found[i] = true
		}
		if err := j.note(1-port, out); err != nil {
			return err
		}
		if !j.kind.pairs() {
			continue
		}
		j.locate(b)
		if err := j.emit(port, b, m.Row, nil, out); err != nil {
			return err
		}
	}
	return nil
}

// inInterval leaves those of the matches whose times are in the interval.
func (j *IntervalJoin) inInterval(port int, times []int64) {
	m, other := &j.matches, &j.sides[1-port]
	if len(m.Row) == 0 {
		return
	}
	col := other.rows.TakeColumn(j.rt.Pool, m.Row, other.place[j.ins[1-port].Time])
	defer col.Release()
	low, high := j.lower, j.upper
	if port == 1 { // the difference the other way round
		low, high = -high, -low
	}
	n := 0
	theirs := vector.Values[int64](col)[:len(m.Row)]
	for i, t := range theirs {
		if d := times[m.Probe[i]] - t; d < low || d > high {
			continue
		}
		m.Probe[n], m.Row[n], m.Count[n] = m.Probe[i], m.Row[i], m.Count[i]
		n++
	}
	m.Probe, m.Row, m.Count = m.Probe[:n], m.Row[:n], m.Count[:n]
}

// note notes that the rows of a side in j.matches have a partner. Those of a semi join
// leave with the first.
func (j *IntervalJoin) note(port int, out exec.Output) error {
	s := &j.sides[port]
	if !j.ins[port].noted {
		return nil
	}
	s.rows.Dirty(j.slots)
	notes := s.rows.Notes()
	j.turned = j.turned[:0]
	for _, id := range j.matches.Row {
		if notes[id] == 0 {
			notes[id] = noteDone
			j.turned = append(j.turned, id)
		}
	}
	if j.kind != SemiJoin {
		return nil
	}
	return j.emitTurned(port, out)
}

// noteDone is the note of a row that does not leave alone any more: it has a partner, or
// has left.
const noteDone = 1

// emitTurned emits the rows j.turned of a side alone.
func (j *IntervalJoin) emitTurned(port int, out exec.Output) error {
	if len(j.turned) == 0 {
		return nil
	}
	s := &j.sides[port]
	return j.emitAlone(port, len(j.turned), nil, func(c int) *vector.Vector {
		return s.rows.TakeColumn(j.rt.Pool, j.turned, s.place[c])
	}, out)
}

// store keeps the rows of b that may find partners still. Those that cannot, and have
// none, leave alone.
func (j *IntervalJoin) store(port int, b *vector.Batch, out exec.Output) error {
	in, own := &j.ins[port], &j.sides[port]
	until := int64(j.ins[1-port].reached)
	once := port == 0 && !j.kind.pairs() // one partner decides
	j.kept, j.hopeless, j.probe = j.kept[:0], j.hopeless[:0], j.probe[:0]
	for i, t := range vector.Values[int64](b.Col(in.Time))[:b.Len()] {
		switch {
		case once && j.found[i]:
			j.probe = append(j.probe, int32(i))
		case t+in.horizon > until && until < math.MaxInt64:
			j.kept = append(j.kept, int32(i))
		case !j.found[i]:
			j.hopeless = append(j.hopeless, int32(i))
		}
	}
	if j.kind == SemiJoin && len(j.probe) > 0 {
		if err := j.emitOwn(port, b, out); err != nil {
			return err
		}
	}
	if err := j.emitRows(port, b, j.hopeless, out); err != nil || len(j.kept) == 0 {
		return err
	}
	if len(j.kept) < b.Len() {
		b = b.Take(j.rt.Pool, j.kept)
		defer b.Release()
	}
	times := vector.Values[int64](b.Col(in.Time))[:b.Len()]
	keys := j.keys(port, b, times)
	j.slots = resize(j.slots, b.Len())
	if err := own.rows.Resolve(keys, true, j.slots); err != nil {
		return err
	}
	for i, s := range j.slots {
		if in.alone && !j.found[j.kept[i]] {
			if err := in.dues.Add(times[i]+in.horizon, keys, i); err != nil {
				return err
			}
		}
		if own.rows.Count(s) > 0 {
			continue
		}
		if err := in.dues.Add(j.last(j.slice(times[i]))+in.horizon, keys, i); err != nil {
			return err
		}
	}
	if err := own.add(b, j.slots); err != nil || !in.noted {
		return err
	}
	notes := own.rows.Notes()
	for i, id := range own.rows.Added() {
		if j.found[j.kept[i]] {
			notes[id] = noteDone
		}
	}
	return nil
}

// Advance lets the rows of the other side go that w says find no partner any more, and
// passes on how far the times of both sides are.
func (j *IntervalJoin) Advance(port int, w exec.Watermark, out exec.Output) error {
	if j.processing {
		return j.joinPairs.Advance(port, w, out)
	}
	if err := j.reach(port, w, out); err != nil {
		return err
	}
	j.ins[port].late.Advance(w)
	low := min(behind(j.ins[0].reached, j.upper), behind(j.ins[1].reached, -j.lower))
	if low <= j.passed {
		return nil
	}
	j.passed = low
	return out.Advance(low)
}

// behind is a watermark held back by a number of milliseconds, if that is more than none.
func behind(w exec.Watermark, by int64) exec.Watermark {
	if w == exec.NoWatermark || w == exec.EndWatermark || by <= 0 {
		return w
	}
	return w - exec.Watermark(by)
}

// End remembers that a side has ended.
func (j *IntervalJoin) End(port int, _ exec.Output) error {
	j.sides[port].ended = true
	return nil
}

// Flush lets rows go that the clock says find no partner any more.
func (j *IntervalJoin) Flush(out exec.Output) error {
	if !j.processing {
		return nil
	}
	for port := range j.ins {
		w := exec.Watermark(j.rt.Now() - 1) // rows of this moment may still come
		if j.sides[port].ended {
			w = exec.EndWatermark
		}
		if w <= j.ins[port].reached {
			continue
		}
		if err := j.reach(port, w, out); err != nil {
			return err
		}
	}
	return nil
}

// reach says that rows of an input that come are later than w.
func (j *IntervalJoin) reach(port int, w exec.Watermark, out exec.Output) error {
	j.ins[port].reached = w
	for more := true; more; {
		keys, err := j.due(1-port, w)
		if err != nil || keys == nil {
			return err
		}
		more = keys.Len() == vector.Target
		err = j.release(1-port, keys, w, out)
		keys.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// due takes keys of a side that are due, in the order of time, or nil when there are none.
func (j *IntervalJoin) due(port int, w exec.Watermark) (*vector.Batch, error) {
	s := &j.sides[port]
	if at, some := j.ins[port].dues.Next(); !some || at > int64(w) {
		return nil, nil
	}
	cols := make([]*vector.ColumnBuilder, len(j.key))
	for i, k := range s.layout.Kinds {
		cols[i] = vector.NewColumnBuilder(j.rt.Pool, k)
	}
	n := 0
	var bad error
	err := j.ins[port].dues.Due(int64(w), func(_ int64, key []byte) bool {
		n++
		bad = rowkey.Decode(s.layout, key, cols)
		return bad == nil && n < vector.Target
	})
	if err == nil {
		err = bad
	}
	vecs := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		vecs[i] = c.Finish()
	}
	b := vector.NewBatch(n, vecs, nil)
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// release lets the rows with the given keys, of a side, go as far as w has passed all
// times of partners.
func (j *IntervalJoin) release(port int, keys *vector.Batch, w exec.Watermark, out exec.Output) error {
	in, s := &j.ins[port], &j.sides[port]
	j.slots = resize(j.slots, keys.Len())
	if err := s.rows.Resolve(s.enc.Encode(keys, j.key), false, j.slots); err != nil {
		return err
	}
	slice := vector.Values[int64](keys.Col(len(j.key) - 1))
	j.unique()
	over := make([]state.Slot, 0, len(j.order))
	j.slots = j.slots[:0]
	for _, o := range j.order {
		slot := state.Slot(o >> 32)
		j.slots = append(j.slots, slot)
		if j.last(slice[uint32(o)])+in.horizon <= int64(w) {
			over = append(over, slot)
		}
	}
	if in.alone {
		if err := j.releaseAlone(port, w, out); err != nil {
			return err
		}
	}
	s.rows.Drop(over)
	return nil
}

// unique sets j.order to the entries in j.slots, each once, with a place in j.slots in the
// low half.
func (j *IntervalJoin) unique() {
	j.order = j.order[:0]
	for i, s := range j.slots {
		if s != state.None {
			j.order = append(j.order, uint64(s)<<32|uint64(i))
		}
	}
	slices.Sort(j.order)
	j.order = slices.CompactFunc(j.order, func(a, b uint64) bool { return a>>32 == b>>32 })
}

// releaseAlone emits the rows under j.slots that have waited long enough for a partner.
func (j *IntervalJoin) releaseAlone(port int, w exec.Watermark, out exec.Output) error {
	in, s, m := &j.ins[port], &j.sides[port], &j.matches
	s.rows.Dirty(j.slots)
	var cursor state.Cursor
	for done := false; !done; {
		m.Reset()
		done = s.rows.Match(j.slots, &cursor, vector.Target, m)
		notes := s.rows.Notes()
		col := s.rows.TakeColumn(j.rt.Pool, m.Row, s.place[in.Time])
		j.turned = j.turned[:0]
		for i, t := range vector.Values[int64](col)[:len(m.Row)] {
			if id := m.Row[i]; notes[id] == 0 && t+in.horizon <= int64(w) {
				notes[id] = noteDone
				j.turned = append(j.turned, id)
			}
		}
		col.Release()
		if err := j.emitTurned(port, out); err != nil {
			return err
		}
	}
	return nil
}
