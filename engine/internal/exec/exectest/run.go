package exectest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// Case is an operator with an input for it.
type Case struct {
	// New makes a new operator, which has seen nothing.
	New func() (exec.Operator, error)
	// Kinds are the columns of each port.
	Kinds [][]vector.Kind
	// Events are the input, in order. A mark is added after the last.
	Events []Event
	// NotNull lists the columns of each port that are never NULL, besides those of
	// ports it does not reach.
	NotNull [][]int
	// KeepNulls leaves out the runs in which values are replaced by NULL.
	KeepNulls bool
}

// Event is a part of a Case's input.
type Event struct {
	port      int
	rows      []string
	watermark exec.Watermark
	what      int
	now       int64
}

const (
	rowsEvent = iota
	watermarkEvent
	endEvent
	markEvent
)

// Rows are rows of a port, as text.
func Rows(port int, rows ...string) Event { return Event{what: rowsEvent, port: port, rows: rows} }

// Watermark is the event time of a port at the next mark.
func Watermark(port int, w exec.Watermark) Event {
	return Event{what: watermarkEvent, port: port, watermark: w}
}

// End ends a port at the next mark.
func End(port int) Event { return Event{what: endEvent, port: port} }

// Mark ends the epoch.
func Mark() Event { return Event{what: markEvent} }

// MarkAt ends the epoch and sets processing time, which is 0 before.
func MarkAt(now int64) Event { return Event{what: markEvent, now: now} }

// Epoch is what an operator made of an epoch.
type Epoch struct {
	Changes   []string // in order
	Net       Table    // what they add up to
	Table     Table    // what all changes so far add up to
	Sides     map[string]Table
	Watermark exec.Watermark
}

// Result is what an operator made of a Case.
type Result struct {
	Epochs       []Epoch
	Inconsistent int64
}

// Last is the last epoch.
func (r *Result) Last() Epoch { return r.Epochs[len(r.Epochs)-1] }

// Changes are the changes of all epochs in order.
func (r *Result) Changes() []string {
	var out []string
	for _, e := range r.Epochs {
		out = append(out, e.Changes...)
	}
	return out
}

// variant is one way to run a case.
type variant struct {
	nulls   bool // some values are replaced by NULL
	batch   int
	holes   bool // batches have a selection, and rows that are not live
	evict   bool
	restart bool // at every mark
	lazy    bool // the store evicts what a database has, and not all
}

func (v variant) String() string {
	return fmt.Sprintf("batch %d, nulls %t, selection %t, evicting %t, restart %t, lazy %t", v.batch, v.nulls, v.holes, v.evict, v.restart, v.lazy)
}

// Run runs the operator in all ways: with batches of 1, 7 and 8192 rows, with and
// without a selection, with and without NULLs put in, on a store that evicts what
// is not pinned, restarted from a checkpoint at every mark or not, with memory
// that is overwritten when released and arbitrary where NULLs are. In every way the operator must make the same
// net change of every epoch, or the test fails, as it does when memory is leaked.
// Run returns what it made of whole batches of the input as it is.
func Run(t testing.TB, c Case) *Result {
	t.Helper()
	if len(c.Events) == 0 || c.Events[len(c.Events)-1].what != markEvent {
		c.Events = append(slices.Clone(c.Events), Mark())
	}
	var first *Result
	for _, nulls := range []bool{false, true} {
		if nulls && c.KeepNulls {
			break
		}
		base := variant{nulls: nulls, batch: vector.Target}
		want := c.run(t, base)
		if first == nil {
			first = want
		}
		for _, v := range variants(nulls) {
			got := c.run(t, v)
			if diff := got.diff(want); diff != "" {
				t.Fatalf("%v:\n%s\nunlike with %v", v, diff, base)
			}
		}
	}
	return first
}

func variants(nulls bool) []variant {
	var out []variant
	for _, batch := range []int{1, 7, vector.Target} {
		for _, holes := range []bool{false, true} {
			for _, restart := range []bool{false, true} {
				out = append(out, variant{nulls: nulls, batch: batch, holes: holes, evict: true, restart: restart, lazy: restart && holes})
			}
		}
	}
	return out
}

func (r *Result) diff(want *Result) string {
	for i, w := range want.Epochs {
		g := r.Epochs[i]
		if diff := g.Net.Diff(w.Net); diff != "" {
			return fmt.Sprintf("the changes of epoch %d differ by%s", i+1, diff)
		}
		for _, name := range slices.Sorted(maps.Keys(w.Sides)) {
			if diff := g.Sides[name].Diff(w.Sides[name]); diff != "" {
				return fmt.Sprintf("output %s of epoch %d differs by%s", name, i+1, diff)
			}
		}
		if len(g.Sides) != len(w.Sides) {
			return fmt.Sprintf("epoch %d has %d side outputs, not %d", i+1, len(g.Sides), len(w.Sides))
		}
		if g.Watermark != w.Watermark {
			return fmt.Sprintf("the watermark of epoch %d is %v, not %v", i+1, g.Watermark, w.Watermark)
		}
	}
	if r.Inconsistent != want.Inconsistent {
		return fmt.Sprintf("%d inconsistencies, not %d", r.Inconsistent, want.Inconsistent)
	}
	return ""
}

// runner runs a case in one way.
type runner struct {
	c      Case
	v      variant
	t      testing.TB
	rand   *rand.Rand
	op     exec.Operator
	db     *state.DB // for restarts
	store  *state.Store
	pool   *vector.Pool // the operator's
	input  *vector.Pool // of its input: foreign memory, overwritten after the call
	now    int64
	result Result
	epoch  Epoch
	table  Table

	inputs []input
	lent   []*vector.Batch // to be released in the end
}

// input is what happened at a port.
type input struct {
	watermark, told exec.Watermark
	ended, toldEnd  bool
}

func (c Case) run(t testing.TB, v variant) *Result {
	t.Helper()
	r := &runner{
		c: c, v: v, t: t, rand: rand.New(rand.NewPCG(1, uint64(v.batch))),
		pool: vector.NewCheckedPool(), input: vector.NewCheckedPool(), table: Table{},
		inputs: make([]input, len(c.Kinds)),
	}
	for i := range r.inputs {
		r.inputs[i] = input{watermark: exec.NoWatermark, told: exec.NoWatermark}
	}
	r.begin()
	if v.restart {
		db, err := state.OpenDB("state", state.DBOptions{FS: state.NewMemFS()})
		r.must("OpenDB", err)
		defer func() { r.must("Close", db.Close()) }()
		r.db = db
	}
	r.open()
	for i, e := range c.Events {
		r.event(e, i == len(c.Events)-1)
	}
	r.must("Close", r.op.Close())
	for _, b := range r.lent {
		b.Release()
	}
	r.must("leaks of the operator", r.pool.Leaks())
	r.must("leaks of the test", r.input.Leaks())
	return &r.result
}

func (r *runner) must(what string, err error) {
	if err != nil {
		r.t.Helper()
		r.t.Fatalf("%v: %s: %v", r.v, what, err)
	}
}

func (r *runner) begin() {
	r.epoch = Epoch{Net: Table{}, Sides: map[string]Table{}, Watermark: r.epoch.Watermark}
	if len(r.result.Epochs) == 0 {
		r.epoch.Watermark = exec.NoWatermark
	}
}

// open makes an operator, with the state of the last checkpoint.
func (r *runner) open() {
	op, err := r.c.New()
	r.must("New", err)
	r.op = op
	opt := state.Options{EvictAll: r.v.evict, DB: r.db, Operator: "operator"}
	if r.v.lazy {
		opt.EvictAll, opt.Memory = false, 1
	}
	r.store = state.NewStore(opt)
	rt := exec.NewRuntime(r.pool, r.store, func() int64 { return r.now }, r.side, func(n int64) { r.result.Inconsistent += n })
	r.must("Open", r.op.Open(context.Background(), rt))
	r.must("EndCall", r.store.EndCall())
}

func (r *runner) event(e Event, last bool) {
	switch e.what {
	case rowsEvent:
		for rows := range slices.Chunk(e.rows, r.v.batch) {
			b := r.batch(e.port, rows)
			err := r.op.Process(e.port, b, mainOutput{r})
			r.release(b)
			r.must("Process", err)
			r.must("EndCall", r.store.EndCall())
		}
	case watermarkEvent:
		r.inputs[e.port].watermark = e.watermark
	case endEvent:
		r.inputs[e.port].watermark, r.inputs[e.port].ended = exec.EndWatermark, true
	case markEvent:
		r.mark(e, last)
	}
}

// release gives back a batch that was lent. In the run that the others are compared
// with, it is kept until the end: who reads it too late finds it there, and only
// there.
func (r *runner) release(b *vector.Batch) {
	if r.v.evict {
		b.Release()
		return
	}
	r.lent = append(r.lent, b)
}

func (r *runner) mark(e Event, last bool) {
	r.now = max(r.now, e.now)
	for i := range r.inputs {
		if in := &r.inputs[i]; in.watermark > in.told {
			in.told = in.watermark
			r.must("Advance", r.op.Advance(i, in.watermark, mainOutput{r}))
			r.must("EndCall", r.store.EndCall())
		}
	}
	for i := range r.inputs {
		if in := &r.inputs[i]; in.ended && !in.toldEnd {
			in.toldEnd = true
			r.must("End", r.op.End(i, mainOutput{r}))
			r.must("EndCall", r.store.EndCall())
		}
	}
	r.must("Flush", r.op.Flush(mainOutput{r}))
	r.must("EndEpoch", r.store.EndEpoch())

	r.table.AddTable(r.epoch.Net)
	r.epoch.Table = maps.Clone(r.table)
	r.result.Epochs = append(r.result.Epochs, r.epoch)
	r.begin()
	if r.v.restart && !last {
		r.restart()
	}
}

// restart goes on with a new operator from a checkpoint. The new one is told at the
// next mark where its inputs are.
func (r *runner) restart() {
	epoch := uint64(len(r.result.Epochs))
	part, err := r.store.Copy(epoch)
	r.must("Copy", err)
	r.must("Commit", r.db.Commit(state.Checkpoint{Epoch: epoch}, []*state.Part{part}))
	r.must("Close", r.op.Close())
	r.must("leaks at a restart", r.pool.Leaks())
	for i := range r.inputs {
		r.inputs[i].told, r.inputs[i].toldEnd = exec.NoWatermark, false
	}
	r.open()
}

// batch makes a batch of rows, with holes and NULLs as the variant says.
func (r *runner) batch(port int, rows []string) *vector.Batch {
	kinds := r.c.Kinds[port]
	if r.v.nulls {
		rows = r.withNulls(port, rows)
	}
	if !r.v.holes {
		b := NewBatch(r.input, kinds, rows...)
		r.scribble(b)
		return b
	}
	b := vector.NewBuilder(r.input, kinds)
	var live []int32
	for _, row := range rows {
		for r.rand.IntN(3) == 0 {
			r.hole(b, rows)
		}
		live = append(live, int32(b.Len()))
		Append(b, row)
	}
	for r.rand.IntN(3) == 0 {
		r.hole(b, rows)
	}
	all := b.Finish()
	defer all.Release()
	r.scribble(all)
	return all.Select(vector.Of(r.input, live...))
}

// scribble writes arbitrary values where NULLs are, except in the run that the
// others are compared with: nobody should look there.
func (r *runner) scribble(b *vector.Batch) {
	if !r.v.evict {
		return
	}
	for i := range b.Cols() {
		c := b.Col(i)
		if c.Valid() == nil {
			continue
		}
		switch c.Kind() {
		case vector.Bool:
			scribble(r.rand, c, func(x uint64) bool { return x&1 != 0 })
		case vector.Int8:
			scribble(r.rand, c, func(x uint64) int8 { return int8(x) })
		case vector.Int16:
			scribble(r.rand, c, func(x uint64) int16 { return int16(x) })
		case vector.Int32:
			scribble(r.rand, c, func(x uint64) int32 { return int32(x) })
		case vector.Int64:
			scribble(r.rand, c, func(x uint64) int64 { return int64(x) })
		case vector.Float32:
			scribble(r.rand, c, func(x uint64) float32 { return float32(x) })
		case vector.Float64:
			scribble(r.rand, c, func(x uint64) float64 { return float64(x) })
		case vector.Decimal:
			scribble(r.rand, c, func(x uint64) vector.Dec { return vector.DecFromInt64(int64(x)) })
		}
	}
}

func scribble[T vector.Fixed](r *rand.Rand, c *vector.Vector, value func(uint64) T) {
	vals := vector.Values[T](c)
	for i := range vals {
		if c.IsNull(i) {
			vals[i] = value(r.Uint64())
		}
	}
}

// hole adds a row that is not live: another row under some kind.
func (r *runner) hole(b *vector.Builder, rows []string) {
	row := rows[r.rand.IntN(len(rows))]
	if kind, rest, ok := strings.Cut(row, " "); ok {
		if _, is := vector.ParseRowKind(kind); is {
			row = rest
		}
	}
	Append(b, vector.RowKind(r.rand.IntN(4)).String()+" "+row)
}

// withNulls replaces one value in four by NULL, the same ones in equal rows.
func (r *runner) withNulls(port int, rows []string) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		vals := fields(row)
		first := 0
		if _, ok := vector.ParseRowKind(vals[0]); ok {
			first = 1
		}
		key := strings.Join(vals[first:], " ")
		for c := first; c < len(vals); c++ {
			if r.nullable(port, c-first) && textHash(fmt.Sprint(port, c-first, key))%4 == 0 {
				vals[c] = "NULL"
			}
		}
		out[i] = strings.Join(vals, " ")
	}
	return out
}

func (r *runner) nullable(port, col int) bool {
	return port >= len(r.c.NotNull) || !slices.Contains(r.c.NotNull[port], col)
}

// textHash is FNV-1a: the same in every run.
func textHash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h >> 32
}

// mainOutput is the operator's output.
type mainOutput struct{ r *runner }

func (o mainOutput) Emit(b *vector.Batch) error {
	changes := Text(b)
	o.r.epoch.Changes = append(o.r.epoch.Changes, changes...)
	o.r.epoch.Net.Add(changes...)
	return nil
}

func (o mainOutput) Advance(w exec.Watermark) error {
	o.r.epoch.Watermark = max(o.r.epoch.Watermark, w)
	return nil
}

func (r *runner) side(name string) exec.Output { return sideOutput{r, name} }

type sideOutput struct {
	r    *runner
	name string
}

func (o sideOutput) Emit(b *vector.Batch) error {
	t := o.r.epoch.Sides[o.name]
	if t == nil {
		t = Table{}
		o.r.epoch.Sides[o.name] = t
	}
	t.Add(Text(b)...)
	return nil
}

func (sideOutput) Advance(exec.Watermark) error { return nil }
