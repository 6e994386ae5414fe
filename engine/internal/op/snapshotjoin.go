package op

import (
	"context"
	"math"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
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
	// AtStart puts the processing time at which the operator is opened in place of Until.
	AtStart bool
}

// SnapshotJoin joins each row of the probe side once, with what a table has at that moment.
// The table is kept in state, and its changes are never joined with rows that came before.
//
// Until the table has loaded, rows of the probe side wait; so does their event time.
type SnapshotJoin struct {
	probeJoin
	spec   SnapshotJoinSpec
	layout rowkey.Layout
	enc    [2]*rowkey.Encoder
	strict []int // keys in which NULL equals nothing

	table   *state.Rows
	waiting *state.Rows
	keys    *state.Times // of what waits
	loaded  firedEnd     // since when; nothing before

	watermark exec.Watermark // of the probe side
	passed    exec.Watermark // what was passed on of it
	ended     bool           // the probe side
	negative  int64
	rowsIn    int64 // of the table, since the start
	rowsKept  int64 // rows of the probe side that came and waited, since the start
	slots     []state.Slot
}

// NewSnapshotJoin returns a SnapshotJoin. It fails for a condition that cannot be compiled.
func NewSnapshotJoin(spec SnapshotJoinSpec) (*SnapshotJoin, error) {
	probe, err := newProbeJoin(spec.ProbeSpec)
	if err != nil {
		return nil, err
	}
	j := &SnapshotJoin{probeJoin: probe, spec: spec, watermark: exec.NoWatermark, passed: exec.NoWatermark}
	j.layout = keyLayout(spec.ProbeSpec.Table, spec.TableKeys, spec.TableSpread)
	j.enc[0], j.enc[1] = rowkey.NewEncoder(j.layout), rowkey.NewEncoder(j.layout)
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
	table := state.RowsOptions{Indexed: j.spec.TableUpdating}
	for _, t := range j.spec.ProbeSpec.Table {
		table.Cols = append(table.Cols, t.Kind())
	}
	j.table = rt.State.Rows("table", j.layout, table)
	waiting := state.RowsOptions{Indexed: j.frozen != nil}
	for _, t := range j.spec.Types {
		waiting.Cols = append(waiting.Cols, t.Kind())
	}
	j.waiting = rt.State.Rows("waiting", j.layout, waiting)
	j.keys = rt.State.Times("waiting keys", j.layout)
	j.negative = j.table.Negative()
	if j.spec.AtStart {
		j.spec.Until = rt.Now()
	}
	return j.loaded.open(rt)
}

func (j *SnapshotJoin) hasLoaded() bool { return j.loaded.end != math.MinInt64 }

// Process joins or keeps rows of the probe side, and keeps those of the table.
func (j *SnapshotJoin) Process(port int, b *vector.Batch, out exec.Output) error {
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
	if j.ended && j.hasLoaded() {
		return nil
	}
	slots, err := j.resolve(1, b, j.table, true)
	if err != nil {
		return err
	}
	return j.table.Add(slots, b)
}

// resolve finds the entries of b's rows in a table. Those with a NULL that equals nothing
// have none.
func (j *SnapshotJoin) resolve(port int, b *vector.Batch, in *state.Rows, create bool) ([]state.Slot, error) {
	cols := j.spec.Keys
	if port == 1 {
		cols = j.spec.TableKeys
	}
	j.slots = resize(j.slots, b.Len())
	keys := j.enc[port].Encode(b, cols)
	if err := in.Resolve(keys, create, j.slots); err != nil {
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
	keys := j.enc[0].Encode(b, j.spec.Keys)
	j.slots = resize(j.slots, b.Len())
	if err := j.waiting.Resolve(keys, true, j.slots); err != nil {
		return err
	}
	if err := j.waiting.Add(j.slots, b); err != nil {
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
	slots, err := j.resolve(0, b, j.table, false)
	if err != nil {
		return err
	}
	return j.join(b, partners{j.table, slots}, out)
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
	if err := j.waiting.Resolve(j.enc[0].Encode(keys, upTo(keys.Cols())), false, slots); err != nil {
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
	if j.frozen != nil {
		if err := j.frozen.begin(b); err != nil {
			return err
		}
	}
	return j.probeWith(b, out)
}

// Advance notes how far the probe side is, or lets it go when the table has loaded.
func (j *SnapshotJoin) Advance(port int, w exec.Watermark, out exec.Output) error {
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
	if j.ended && j.hasLoaded() {
		j.negative = 0
		return j.table.DropAll()
	}
	return nil
}

// Flush keeps that the table has loaded, and shows how far it is.
func (j *SnapshotJoin) Flush(out exec.Output) error {
	if err := j.loaded.flush(); err != nil {
		return err
	}
	if n := j.table.Negative(); n != j.negative {
		j.rt.Inconsistent(n - j.negative)
		j.negative = n
	}
	if j.hasLoaded() {
		j.rowsKept = 0
	}
	j.rt.Gauge("rows waiting", j.rowsKept)
	j.rt.Gauge("rows of the table read", j.rowsIn)
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
	return nil
}
