package op

import (
	"context"
	"math"
	"time"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Figures of joins that read one side before they let the other go.
const (
	Loading     = "loading" // shards that do not have the table yet
	RowsLoaded  = "rows loaded"
	RowsWaiting = "rows waiting"
)

// SnapshotJoinSpec says what a SnapshotJoin computes: port 0 is the probe side, port 1 has
// the changes of the table.
type SnapshotJoinSpec struct {
	ProbeSpec
	Keys, TableKeys []int  // columns of the two that are equal
	NullSafe        []bool // by key: NULL equals NULL; nil: nowhere
	TableUpdating   bool   // the table may take rows away
	TableSpread     []int  // columns that its rows are spread by, of TableKeys
	// Until is the event time of the table at which it has loaded. It has, too, when it
	// ends: math.MaxInt64 waits for that.
	Until int64
	// AtStart puts the processing time at which the operator is opened in place of Until, on
	// the clock of Zone.
	AtStart bool
	Zone    window.Zone
	// Idle is the time after which the table has loaded when nothing new is heard of it,
	// neither rows nor event time; 0: it is waited for.
	Idle time.Duration
	// Retention says when rows of the table are forgotten.
	Retention Retention
}

// SnapshotJoin joins each row of the probe side once, with what a table has at that moment.
// The table is kept in state, and its changes are never joined with rows that came before.
//
// Until the table has loaded, rows of the probe side wait; so does their event time.
type SnapshotJoin struct {
	probeJoin
	spec   SnapshotJoinSpec
	layout rowkey.Layout
	enc    *rowkey.Encoder // of the probe side
	strict []int           // keys in which NULL equals nothing

	table   joinSide
	waiting *state.Rows
	// apart says that changes of the probe side wait one by one, with whether they add a row:
	// what is behind asks of each how far event time was.
	apart  bool
	keys   *state.Times // of what waits
	loaded firedEnd     // since when; nothing before

	watermark exec.Watermark // of the probe side
	passed    exec.Watermark // what was passed on of it
	ended     bool           // the probe side
	heard     int64          // when something new was heard of the table
	news      bool           // in this epoch
	rowsIn    int64          // of the table, since the start
	rowsKept  int64          // rows of the probe side that came and waited, since the start
	slots     []state.Slot
}

// NewSnapshotJoin returns a SnapshotJoin. It fails for a condition that cannot be compiled.
func NewSnapshotJoin(spec SnapshotJoinSpec) (*SnapshotJoin, error) {
	probe, err := newProbeJoin(spec.ProbeSpec)
	if err != nil {
		return nil, err
	}
	j := &SnapshotJoin{probeJoin: probe, spec: spec, watermark: exec.NoWatermark, passed: exec.NoWatermark}
	j.apart = spec.Updating && spec.Watermark > 0
	j.layout = keyLayout(spec.ProbeSpec.Table, spec.TableKeys, spec.TableSpread)
	j.enc = rowkey.NewEncoder(j.layout)
	j.table = newTableSide(JoinSide{
		Types: spec.ProbeSpec.Table, Keys: spec.TableKeys, Updating: spec.TableUpdating, Spread: spec.TableSpread, Retention: spec.Retention,
	})
	for i := range spec.Keys {
		if spec.NullSafe == nil || !spec.NullSafe[i] {
			j.strict = append(j.strict, i)
		}
	}
	return j, nil
}

// Open finds the tables.
func (j *SnapshotJoin) Open(_ context.Context, rt *exec.Runtime) error {
	if err := j.open(rt); err != nil {
		return err
	}
	j.table.open(rt, "table", state.RowsOptions{Indexed: j.spec.TableUpdating})
	waiting := state.RowsOptions{Indexed: j.frozen != nil && !j.apart}
	for _, t := range j.spec.Types {
		waiting.Cols = append(waiting.Cols, t.Kind())
	}
	if j.apart {
		waiting.Cols = append(waiting.Cols, vector.Bool)
	}
	j.waiting = rt.State.Rows("waiting", j.layout, waiting)
	j.keys = rt.State.Times("waiting keys", j.layout)
	j.heard = rt.Now()
	if j.spec.AtStart {
		j.spec.Until = j.spec.Zone.Local(rt.Now())
	}
	return j.loaded.open(rt)
}

func (j *SnapshotJoin) hasLoaded() bool { return j.loaded.end != math.MinInt64 }

// Process joins or keeps rows of the probe side, and keeps those of the table.
func (j *SnapshotJoin) Process(port int, b *vector.Batch, out exec.Output) error {
	if e := j.table.expiry; e.late() {
		if err := e.expire(); err != nil {
			return err
		}
	}
	b = b.Dense(j.rt.Pool)
	defer b.Release()
	switch {
	case port == 1:
		return j.change(b)
	case !j.hasLoaded():
		return j.wait(b)
	case j.frozen != nil:
		return j.frozen.process(b, out, func(part *vector.Batch) error { return j.probeWith(part, out) })
	}
	return j.probeWith(b, out)
}

// change keeps rows of the table, or takes them away.
func (j *SnapshotJoin) change(b *vector.Batch) error {
	j.rowsIn += int64(b.Len())
	j.news = true
	if j.ended && j.hasLoaded() {
		return nil
	}
	slots, err := j.resolve(b, j.table.enc, j.spec.TableKeys, true)
	if err != nil {
		return err
	}
	return j.table.add(b, slots)
}

// resolve finds the entries of the table for b's rows by their key columns. Those with a
// NULL that equals nothing have none.
func (j *SnapshotJoin) resolve(b *vector.Batch, enc *rowkey.Encoder, cols []int, create bool) ([]state.Slot, error) {
	j.slots = resize(j.slots, b.Len())
	keys := enc.Encode(b, cols)
	if err := j.table.rows.Resolve(keys, create, j.slots); err != nil {
		return nil, err
	}
	if keys.AnyNull() {
		j.strike(b, cols, j.slots)
	}
	return j.slots, nil
}

// strike makes None the slots of rows with a NULL that equals nothing.
func (j *SnapshotJoin) strike(b *vector.Batch, cols []int, slots []state.Slot) {
	for _, k := range j.strict {
		v := b.Col(cols[k])
		if v.Valid() == nil {
			continue
		}
		for i := range slots {
			if v.IsNull(i) {
				slots[i] = state.None
			}
		}
	}
}

// wait keeps rows of the probe side until the table has loaded.
func (j *SnapshotJoin) wait(b *vector.Batch) error {
	keys := j.enc.Encode(b, j.spec.Keys)
	j.slots = resize(j.slots, b.Len())
	if err := j.waiting.Resolve(keys, true, j.slots); err != nil {
		return err
	}
	rows := b
	if j.apart {
		rows = plain(withColumn(b, adds(j.rt.Pool, b)))
		defer rows.Release()
	}
	if err := j.waiting.Add(j.slots, rows); err != nil {
		return err
	}
	j.rowsKept += int64(b.Len())
	for i := range b.Len() {
		if err := j.keys.Add(0, keys, i); err != nil {
			return err
		}
	}
	return nil
}

// probeWith joins rows, which are additions, with the table.
func (j *SnapshotJoin) probeWith(b *vector.Batch, out exec.Output) error {
	slots, err := j.resolve(b, j.enc, j.spec.Keys, false)
	if err != nil {
		return err
	}
	return j.join(b, partners{j.table.rows, slots}, out)
}

// load joins what has waited.
func (j *SnapshotJoin) load(at int64, out exec.Output) error {
	j.loaded.advance(at)
	for {
		keys, err := dueKeys(j.rt.Pool, j.keys, j.layout, 0)
		if err != nil || keys == nil {
			return err
		}
		err = j.release(keys, out)
		keys.Release()
		if err != nil {
			return err
		}
	}
}

// release joins the rows that wait under keys, and drops them.
func (j *SnapshotJoin) release(keys *vector.Batch, out exec.Output) error {
	slots := make([]state.Slot, keys.Len())
	if err := j.waiting.Resolve(j.enc.Encode(keys, upTo(keys.Cols())), false, slots); err != nil {
		return err
	}
	var cursor state.Cursor
	var m state.Matches
	for done := false; !done; {
		m.Reset()
		done = j.waiting.Match(slots, &cursor, vector.Target, &m)
		var ids []state.RowID
		for i, id := range m.Row {
			if m.Count[i] < 0 {
				j.rt.Inconsistent(1)
			}
			for range m.Count[i] {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		if err := j.releaseRows(ids, out); err != nil {
			return err
		}
	}
	j.waiting.Drop(slots)
	return nil
}

func (j *SnapshotJoin) releaseRows(ids []state.RowID, out exec.Output) error {
	b := vector.NewBatch(len(ids), j.waiting.Take(j.rt.Pool, ids), nil)
	defer b.Release()
	if j.apart {
		return j.releaseApart(b, out)
	}
	if j.frozen != nil {
		if err := j.frozen.begin(b); err != nil {
			return err
		}
	}
	return j.probeWith(b, out)
}

// releaseApart joins the changes of b, whose last column says which of them add rows, and
// takes back what the others have taken away.
func (j *SnapshotJoin) releaseApart(b *vector.Batch, out exec.Output) error {
	p, last := j.rt.Pool, b.Cols()-1
	kinds, k := p.NewKinds(b.Len())
	for i, adds := range vector.Values[bool](b.Col(last))[:b.Len()] {
		if k[i] = vector.Insert; !adds {
			k[i] = vector.Delete
		}
	}
	rows := b.Project(upTo(last))
	changes := rows.WithKinds(kinds)
	rows.Release()
	defer changes.Release()
	return j.frozen.process(changes, out, func(part *vector.Batch) error { return j.probeWith(part, out) })
}

// adds says of each row of b whether it is added.
func adds(p *vector.Pool, b *vector.Batch) *vector.Vector {
	v := p.New(vector.Bool, b.Len())
	out := vector.Values[bool](v)
	for i := range b.Len() {
		out[i] = b.Kind(i).Adds()
	}
	return v
}

// Advance notes how far the probe side is, or lets it go when the table has loaded.
func (j *SnapshotJoin) Advance(port int, w exec.Watermark, out exec.Output) error {
	j.news = j.news || port == 1
	if port == 0 {
		j.watermark = w
	} else if !j.hasLoaded() && (int64(w) >= j.spec.Until || w == exec.EndWatermark) {
		if err := j.load(int64(w), out); err != nil {
			return err
		}
	}
	return j.pass(out)
}

// pass passes the probe side's watermark on when no row waits.
func (j *SnapshotJoin) pass(out exec.Output) error {
	if !j.hasLoaded() || j.watermark <= j.passed {
		return nil
	}
	j.passed = j.watermark
	return out.Advance(j.watermark)
}

// End lets the probe side go when the table has ended, and drops the table when no row
// asks for it any more.
func (j *SnapshotJoin) End(port int, out exec.Output) error {
	if port == 0 {
		j.ended = true
	} else if !j.hasLoaded() {
		if err := j.load(int64(exec.EndWatermark), out); err != nil {
			return err
		}
		if err := j.pass(out); err != nil {
			return err
		}
	}
	return j.dropTable()
}

// dropTable drops the table when no row asks for it any more.
func (j *SnapshotJoin) dropTable() error {
	if j.ended && j.hasLoaded() {
		return j.table.drop()
	}
	return nil
}

// idle lets the probe side go when nothing was heard of the table for long.
func (j *SnapshotJoin) idle(out exec.Output) error {
	if j.news {
		j.heard, j.news = j.rt.Now(), false
	}
	if j.hasLoaded() || j.spec.Idle == 0 || j.rt.Now()-j.heard < j.spec.Idle.Milliseconds() {
		return nil
	}
	if err := j.load(j.rt.Now(), out); err != nil {
		return err
	}
	if err := j.pass(out); err != nil {
		return err
	}
	return j.dropTable()
}

// Flush keeps that the table has loaded, forgets rows of it, and shows how far it is.
func (j *SnapshotJoin) Flush(out exec.Output) error {
	if err := j.idle(out); err != nil {
		return err
	}
	if err := j.loaded.flush(); err != nil {
		return err
	}
	if e := j.table.expiry; e != nil {
		if err := e.expire(); err != nil {
			return err
		}
	}
	if n := j.table.rows.Negative(); n != j.table.negative {
		j.rt.Inconsistent(n - j.table.negative)
		j.table.negative = n
	}
	loading := int64(1)
	if j.hasLoaded() {
		loading, j.rowsKept = 0, 0
	}
	j.rt.Gauge(Loading, loading)
	j.rt.Gauge(RowsWaiting, j.rowsKept)
	j.rt.Gauge(RowsLoaded, j.rowsIn)
	if j.frozen != nil {
		return j.frozen.flush(out)
	}
	return nil
}

// Close frees what is owed: state belongs to the task.
func (j *SnapshotJoin) Close() error {
	if j.frozen != nil {
		j.frozen.close()
	}
	if e := j.table.expiry; e != nil {
		e.expiry.close()
	}
	return nil
}
