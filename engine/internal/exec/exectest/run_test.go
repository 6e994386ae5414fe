package exectest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

var keyAndText = []vector.Kind{vector.Int64, vector.String}

// counter counts rows by key and publishes the net change of every key. It can be
// made wrong.
type counter struct {
	exec.Stateless
	bug string

	rt     *exec.Runtime
	keys   *rowkey.Encoder
	counts *state.Values
	slots  []state.Slot
	fresh  []int32
	before []int64

	kept  [][]int64
	stale []state.Slot
	total int64
}

func (c *counter) Open(_ context.Context, rt *exec.Runtime) error {
	c.rt = rt
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	c.keys = rowkey.NewEncoder(layout)
	c.counts = rt.State.Values("counts", layout, []vector.Kind{vector.Int64})
	return nil
}

func (c *counter) Process(_ int, b *vector.Batch, _ exec.Output) error {
	switch c.bug {
	case "reads a released batch":
		c.kept = append(c.kept, vector.Values[int64](b.Col(0)))
	case "ignores the selection":
		if _, some := b.Sel(); some {
			all := make([]int32, b.Rows())
			for i := range all {
				all[i] = int32(i)
			}
			b = b.Select(vector.Of(c.rt.Pool, all...))
			defer b.Release()
		}
	case "leaks":
		b.Keep(c.rt.Pool)
	case "reads below NULL":
		v := b.Col(0).Slice(c.rt.Pool, 0, b.Rows())
		v.DropValid()
		all := vector.NewBatch(b.Rows(), []*vector.Vector{v, b.Col(1).Retain()}, nil)
		defer all.Release()
		b = all.Select(vector.Of(c.rt.Pool, live(b)...))
		defer b.Release()
	}
	keys := c.keys.Encode(b, []int{0})
	c.slots = slices.Grow(c.slots[:0], keys.Len())[:keys.Len()]
	if err := c.counts.Resolve(keys, true, c.slots); err != nil {
		return err
	}
	if c.bug == "keeps slots" {
		c.stale = append(c.stale, c.slots...)
	} else {
		c.fresh = c.counts.Hold(c.slots, c.fresh[:0])
	}
	if c.bug != "does not mark" {
		c.counts.Dirty(c.slots)
	}
	counts := state.Col[int64](c.counts, 0)
	for _, i := range c.fresh {
		c.before = append(c.before, counts[c.slots[i]])
	}
	for i, s := range c.slots {
		counts[s] += b.Kind(b.Row(i)).Sign()
	}
	c.total += int64(b.Len())
	return nil
}

func live(b *vector.Batch) []int32 {
	out := make([]int32, b.Len())
	for i := range out {
		out[i] = int32(b.Row(i))
	}
	return out
}

func (c *counter) Flush(out exec.Output) error {
	held := c.counts.Held()
	if c.bug == "keeps slots" {
		slices.Sort(c.stale)
		held = slices.Compact(c.stale)
		c.before = make([]int64, len(held))
		c.stale = nil
	}
	if len(held) > 0 {
		keys, err := c.counts.Keys(c.rt.Pool, held)
		if err != nil {
			return err
		}
		defer keys[0].Release()
		b := vector.NewBuilder(c.rt.Pool, []vector.Kind{vector.Int64, vector.Int64})
		counts := state.Col[int64](c.counts, 0)
		for i, s := range held {
			for _, change := range []struct {
				kind vector.RowKind
				n    int64
			}{{vector.UpdateBefore, c.before[i]}, {vector.UpdateAfter, counts[s]}} {
				if change.n != 0 {
					b.Col(0).AppendFrom(keys[0], i)
					vector.Append(b.Col(1), change.n)
					b.EndRow(change.kind)
				}
			}
		}
		batch := b.Finish()
		defer batch.Release()
		if err := out.Emit(batch); err != nil {
			return err
		}
	}
	c.before = c.before[:0]
	return c.sayTotal(out)
}

// sayTotal shows what the bugs with memory of their own remember.
func (c *counter) sayTotal(out exec.Output) error {
	var n int64
	switch c.bug {
	case "remembers beyond a mark":
		n = c.total
	case "reads a released batch":
		for _, keys := range c.kept {
			for _, k := range keys {
				n += k
			}
		}
		c.kept = nil
	default:
		return nil
	}
	b := exectest.NewBatch(c.rt.Pool, []vector.Kind{vector.Int64, vector.Int64}, fmt.Sprintf("-1 %d", n))
	defer b.Release()
	return out.Emit(b)
}

func counting(bug string) exectest.Case {
	var rows []string
	for i := range 30 {
		rows = append(rows, fmt.Sprintf("%d row%d", i%7, i))
	}
	return exectest.Case{
		New:   func() (exec.Operator, error) { return &counter{bug: bug}, nil },
		Kinds: [][]vector.Kind{keyAndText},
		Events: []exectest.Event{
			exectest.Rows(0, rows...),
			exectest.Mark(),
			exectest.Rows(0, "-D 1 row1", "-D 1 row8", "8 'a new one'", "-D 2 row2", "+U 2 row2"),
			exectest.Watermark(0, 5),
			exectest.MarkAt(1000),
			exectest.Mark(),
			exectest.Rows(0, "1 x"),
			exectest.End(0),
		},
	}
}

func TestRun(t *testing.T) {
	r := exectest.Run(t, counting(""))
	if len(r.Epochs) != 4 {
		t.Fatalf("%d epochs", len(r.Epochs))
	}
	want := []string{"0 5", "1 4", "2 4", "3 4", "4 4", "5 4", "6 4", "8 1"}
	if got := r.Last().Table.Rows(); !slices.Equal(got, want) {
		t.Errorf("result %q", got)
	}
	if got := r.Epochs[1].Changes; !slices.Equal(got, []string{"-U 1 5", "+U 1 3", "+U 8 1", "-U 2 4", "+U 2 4"}) {
		t.Errorf("changes %q", got)
	}
	var marks []exec.Watermark
	for _, e := range r.Epochs {
		marks = append(marks, e.Watermark)
	}
	if !slices.Equal(marks, []exec.Watermark{exec.NoWatermark, 5, 5, exec.EndWatermark}) {
		t.Errorf("watermarks %v", marks)
	}
}

// failed is a test that notes its failure and ends.
type failed struct {
	testing.TB
	why string
}

func (f *failed) Helper() {}

func (f *failed) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
	panic(f)
}

// Run notices every kind of bug that it is there for.
func TestRunNotices(t *testing.T) {
	for bug, want := range map[string]string{
		"reads a released batch":  "differ",
		"ignores the selection":   "differ",
		"leaks":                   "not released",
		"reads below NULL":        "differ",
		"keeps slots":             "",
		"does not mark":           "",
		"remembers beyond a mark": "differ",
	} {
		f := &failed{TB: t}
		func() {
			defer func() {
				if r := recover(); r != nil && r != any(f) {
					f.why = fmt.Sprint(r) // the store found it out
				}
			}()
			exectest.Run(f, counting(bug))
		}()
		if f.why == "" || !strings.Contains(f.why, want) {
			t.Errorf("an operator that %s: %q", bug, f.why)
		}
	}
}

func TestRows(t *testing.T) {
	kinds := []vector.Kind{
		vector.Bool, vector.Int8, vector.Int16, vector.Int32, vector.Int64, vector.Float32, vector.Float64,
		vector.Decimal, vector.String, vector.Bytes,
	}
	rows := []string{
		"+I true -8 16 -32 64 1.5 -2.25 123456789012345678901234567890 text 'two words'",
		"-U NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL",
		"-D false 0 0 0 0 0 0 0 '' 'it''s NULL'",
		"+U false 0 0 0 0 0 0 -7 'NULL' ''''",
	}
	p := vector.NewCheckedPool()
	b := exectest.NewBatch(p, kinds, rows...)
	if got := exectest.Text(b); !slices.Equal(got, rows) {
		t.Errorf("rows\n%q, want\n%q", got, rows)
	}
	b.Release()
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestTable(t *testing.T) {
	a := exectest.NewTable("1 x", "+I 1 x", "+U 2 y", "-D 3 z")
	if got := a.Rows(); !slices.Equal(got, []string{"1 x", "1 x", "2 y", "-3 z"}) {
		t.Errorf("rows %q", got)
	}
	b := exectest.NewTable("1 x")
	if got := a.Diff(b); got != "\n\t+1  1 x\n\t+1  2 y\n\t-1  3 z" {
		t.Errorf("diff %q", got)
	}
	b.Add("1 x", "2 y", "-D 3 z")
	if diff := a.Diff(b); diff != "" || !a.Equal(b) {
		t.Errorf("equal tables differ by %s", diff)
	}
}
