package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// The proof that an epoch is the unit of progress: rows move between join keys and
// between groups, the result goes to a sink with yet another key, and whatever is
// visible at a mark must be the result of the rows that were read until then.

const proofTables = `
CREATE TABLE items (id BIGINT, k BIGINT, v BIGINT) WITH ('connector' = 'script');
CREATE TABLE sides (k BIGINT, g BIGINT) WITH ('connector' = 'script');
CREATE TABLE sink (top BIGINT, g BIGINT, n BIGINT, total BIGINT, PRIMARY KEY (top) NOT ENFORCED)
  WITH ('connector' = 'script', 'upsert-materialize' = 'auto');`

// An item has one k and a k has one g, so an item is in one group: its greatest id
// is a key of the result, which the planner cannot know.
const proofQuery = `INSERT INTO sink
SELECT MAX(i.id), s.g, COUNT(*), SUM(i.v) FROM items AS i JOIN sides AS s ON i.k = s.k GROUP BY s.g`

// change is a row of a table in the script, with its kind.
type change struct {
	kind vector.RowKind
	row  [4]int64
}

// history draws changes of a table with the key in column 0 and the other columns
// below the given bounds: rows come, go, and change all columns but the key.
func history(r *rand.Rand, n, keys int, bounds ...int64) []change {
	live := map[int64][4]int64{}
	var out []change
	draw := func(key int64) (row [4]int64) {
		row[0] = key
		for i, b := range bounds {
			row[i+1] = r.Int64N(b)
		}
		return row
	}
	for len(out) < n {
		key := r.Int64N(int64(keys))
		old, ok := live[key]
		switch {
		case !ok:
			live[key] = draw(key)
			out = append(out, change{vector.Insert, live[key]})
		case r.IntN(5) == 0:
			delete(live, key)
			out = append(out, change{vector.Delete, old})
		default:
			live[key] = draw(key)
			out = append(out, change{vector.UpdateBefore, old}, change{vector.UpdateAfter, live[key]})
		}
	}
	return out
}

// script is the connector of the tables: it has their changes, and keeps what the
// sink was given by epoch.
type script struct {
	items, sides []change
	deal         func([]change) [][]change // into splits

	read   map[string][]*tap // by table and shard
	sink   map[int64][4]int64
	epochs [][][]change // what the sink was given, by shard and epoch; the last is not over
}

func (s *script) Name() string                { return "script" }
func (s *script) Doc() string                 { return "a scripted table" }
func (s *script) Options() []connector.Option { return nil }

func (s *script) Source(t *connector.Table, _ connector.Options) (connector.Source, error) {
	rows := s.items
	if t.Name == "sides" {
		rows = s.sides
	}
	return &scripted{s: s, table: t, splits: s.deal(rows)}, nil
}

func (s *script) Sink(*connector.Table, connector.Options) (connector.Sink, error) {
	return scriptSink{s}, nil
}

func (s *script) Infer(context.Context, *connector.Table, connector.Options) (sqltype.Schema, error) {
	return nil, errors.New("declare the columns")
}

type scripted struct {
	s      *script
	table  *connector.Table
	splits [][]change
}

func (t *scripted) Mode() sqltype.ChangelogMode { return sqltype.RetractMode }
func (t *scripted) Bounded() bool               { return true }
func (t *scripted) Replayable() bool            { return true }
func (t *scripted) Splits(context.Context) ([]connector.Split, error) {
	var out []connector.Split
	for i := range t.splits {
		out = append(out, connector.Split{ID: fmt.Sprint(t.table.Name, i), Data: i})
	}
	return out, nil
}

func (t *scripted) Open(_ context.Context, split connector.Split, scan connector.Scan, _ []byte) (connector.Reader, error) {
	return &scriptReader{t, scan.Of(len(t.table.Schema)), t.splits[split.Data.(int)]}, nil
}

type scriptReader struct {
	t    *scripted
	cols []int
	rest []change
}

func (r *scriptReader) Position() []byte { return nil }
func (r *scriptReader) Close() error     { return nil }

func (r *scriptReader) Read(_ context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if len(r.rest) == 0 {
		return nil, io.EOF
	}
	b := vector.NewBuilder(p, r.t.table.Schema.Project(r.cols).Kinds())
	for b.Len() < limit && len(r.rest) > 0 {
		for i, c := range r.cols {
			vector.Append(b.Col(i), r.rest[0].row[c])
		}
		b.EndRow(r.rest[0].kind)
		r.rest = r.rest[1:]
	}
	return b.Finish(), nil
}

type scriptSink struct{ s *script }

func (scriptSink) Mode() sqltype.ChangelogMode    { return sqltype.UpsertMode }
func (scriptSink) Guarantee() connector.Guarantee { return connector.AtLeastOnce }
func (scriptSink) MaxWriters() int                { return 0 }

func (k scriptSink) Committer(context.Context) (connector.Committer, error) {
	return connector.NopCommitter{}, nil
}

func (k scriptSink) Writer(_ context.Context, shard, shards int) (connector.Writer, error) {
	if k.s.epochs == nil {
		k.s.epochs = make([][][]change, shards)
	}
	k.s.epochs[shard] = [][]change{nil}
	return scriptWriter{k.s, shard}, nil
}

type scriptWriter struct {
	s     *script
	shard int
}

func (w scriptWriter) Write(b *vector.Batch) error {
	for i := range b.Len() {
		r := b.Row(i)
		c := change{kind: b.Kind(r)}
		for col := range c.row {
			c.row[col] = vector.Values[int64](b.Col(col))[r]
		}
		epochs := w.s.epochs[w.shard]
		epochs[len(epochs)-1] = append(epochs[len(epochs)-1], c)
	}
	return nil
}

func (w scriptWriter) EndEpoch() error {
	w.s.epochs[w.shard] = append(w.s.epochs[w.shard], nil)
	return nil
}

// show applies what the shards were given in an epoch, as an upsert sink does: by key.
func (s *script) show(epoch uint64) {
	for _, shard := range s.epochs {
		for _, c := range shard[epoch-1] {
			if c.kind.Adds() {
				s.sink[c.row[0]] = c.row
			} else {
				delete(s.sink, c.row[0])
			}
		}
	}
}

func (w scriptWriter) Prepare(uint64) ([]byte, error) { return nil, nil }
func (w scriptWriter) Close() error                   { return nil }

// tap counts the rows that leave a source, by epoch.
type tap struct {
	exec.Stateless
	rows  int
	until []int // rows until the end of each epoch
}

func (c *tap) Process(_ int, b *vector.Batch, out exec.Output) error {
	c.rows += b.Len()
	return out.Emit(b)
}

func (c *tap) Flush(exec.Output) error {
	c.until = append(c.until, c.rows)
	return nil
}

// tap puts a tap behind every source of the graph.
func (s *script) tap(g *exec.Graph) {
	nodes := g.Nodes
	g.Nodes = nil
	behind := map[*exec.Node]*exec.Node{}
	for _, n := range nodes {
		for i, in := range n.Inputs {
			if t, ok := behind[in.From]; ok {
				n.Inputs[i].From = t
			}
		}
		g.Nodes = append(g.Nodes, n)
		if src, ok := n.Source.(*scripted); ok {
			t := &exec.Node{ID: n.ID + "/tap", Name: "tap", Inputs: []exec.Edge{{From: n}}, New: func(int) (exec.Operator, error) {
				c := &tap{}
				s.read[src.table.Name] = append(s.read[src.table.Name], c)
				return c, nil
			}}
			behind[n] = t
			g.Nodes = append(g.Nodes, t)
		}
	}
}

// prefix is the number of a table's changes that an epoch's result stands for.
func (s *script) prefix(table string, epoch uint64) (n int) {
	for _, c := range s.read[table] {
		n += c.until[epoch-1]
	}
	return n
}

// atOnce reports whether one epoch had all changes of both tables.
func (s *script) atOnce() bool {
	for table, all := range map[string]int{"items": len(s.items), "sides": len(s.sides)} {
		for epoch := range s.read[table][0].until {
			if n := s.prefix(table, uint64(epoch+1)); n != 0 && n != all {
				return false
			}
		}
	}
	return true
}

var errSeveralEpochs = errors.New("several epochs saw the changes")

// want computes the query over prefixes of the histories, in the plainest way.
func want(items, sides []change) map[int64][4]int64 {
	now := func(h []change) map[[4]int64]int {
		rows := map[[4]int64]int{}
		for _, c := range h {
			rows[c.row] += int(c.kind.Sign())
		}
		return rows
	}
	type group struct{ top, n, total int64 }
	groups := map[int64]*group{}
	for i, ni := range now(items) {
		for s, ns := range now(sides) {
			if n := int64(ni * ns); n != 0 && i[1] == s[0] {
				g := groups[s[1]]
				if g == nil {
					g = &group{}
					groups[s[1]] = g
				}
				// A prefix may end between -U and +U, never before a removal's addition.
				g.top, g.n, g.total = max(g.top, i[0]), g.n+n, g.total+n*i[2]
			}
		}
	}
	out := map[int64][4]int64{}
	for g, x := range groups {
		out[x.top] = [4]int64{x.top, g, x.n, x.total}
	}
	return out
}

// proof is one run of the query.
type proof struct {
	enginetest.Schedule
	// deal spreads a table's changes over splits; nil: there is one. Several splits
	// have no common prefix, so only runs count in which one epoch saw everything.
	deal     func(*rand.Rand, []change) [][]change
	sabotage func(*exec.Graph) // alters the graph; may be nil
}

// run compares the sink with the direct computation at every mark and in the end.
func (p proof) run(t testing.TB) error {
	t.Helper()
	r := rand.New(rand.NewPCG(p.Seed, 1))
	sc := &script{
		items: history(r, 80, 12, 6, 100),
		sides: history(r, 40, 6, 4),
		deal:  func(h []change) [][]change { return [][]change{h} },
		read:  map[string][]*tap{},
		sink:  map[int64][4]int64{},
	}
	if p.deal != nil {
		sc.deal = func(h []change) [][]change { return p.deal(r, h) }
	}
	ctx := t.Context()
	e, err := engine.Open(ctx, engine.Config{Connectors: []connector.Connector{sc}})
	if err != nil {
		return err
	}
	defer e.Close()
	if err := e.ExecuteScript(ctx, proofTables, func(*engine.Query) error { return nil }); err != nil {
		return err
	}
	var wrong error
	check := func(when string, items, sides []change) {
		if w := want(items, sides); wrong == nil && !maps.Equal(w, sc.sink) {
			wrong = fmt.Errorf("%s, after %d items and %d sides, the sink has\n%v\nwant\n%v", when, len(items), len(sides), sorted(sc.sink), sorted(w))
		}
	}
	p.Hooks.Epoch = func(m exec.Mark) {
		sc.show(m.Epoch)
		if p.deal == nil {
			check(fmt.Sprint("epoch ", m.Epoch), sc.items[:sc.prefix("items", m.Epoch)], sc.sides[:sc.prefix("sides", m.Epoch)])
		}
	}
	if p.Graph, err = e.Graph(ctx, proofQuery, nil); err != nil {
		return err
	}
	sc.tap(p.Graph)
	if p.sabotage != nil {
		p.sabotage(p.Graph)
	}
	if err := p.Run(); err != nil {
		return err
	}
	if p.deal != nil && !sc.atOnce() {
		return errSeveralEpochs
	}
	check("in the end", sc.items, sc.sides)
	return wrong
}

func sorted(m map[int64][4]int64) [][4]int64 {
	return slices.SortedFunc(maps.Values(m), func(a, b [4]int64) int { return slices.Compare(a[:], b[:]) })
}

func TestEveryMarkShowsAPrefixOfTheInput(t *testing.T) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 20
	}
	for _, parallelism := range []int{1, 2, 4} {
		for _, batch := range []int{1, 7, 8192} {
			t.Run(fmt.Sprintf("parallel=%d/batch=%d", parallelism, batch), func(t *testing.T) {
				t.Parallel()
				for seed := range seeds {
					p := proof{Schedule: enginetest.Schedule{Seed: seed, Parallelism: parallelism, BatchSize: batch}}
					if err := p.run(t); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			})
		}
	}
}

// dealt puts every change into one of two splits by chance, so that a removal may
// be read before the addition of the same row.
func dealt(r *rand.Rand, h []change) [][]change {
	out := make([][]change, 2)
	for _, c := range h {
		i := r.IntN(2)
		out[i] = append(out[i], c)
	}
	return out
}

func TestRemovalsMayComeBeforeAdditions(t *testing.T) {
	ran := 0
	for seed := range uint64(100) {
		p := proof{Schedule: enginetest.Schedule{Seed: seed, BatchSize: 8192}, deal: dealt}
		switch err := p.run(t); err {
		case nil:
			ran++
		case errSeveralEpochs: // a count that is negative at a mark is an error of the input
		default:
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if ran < 10 {
		t.Errorf("only %d of 100 seeds had everything in one epoch", ran)
	}
}

// Each of these takes away one thing that the proof rests on. If the proof went
// through all the same it would prove nothing.
func TestSabotageIsCaught(t *testing.T) {
	for _, s := range []struct {
		name  string
		proof proof
	}{
		{"no alignment of marks", proof{Schedule: enginetest.Schedule{Faults: enginetest.Faults{Unaligned: true}}}},
		{"key groups by a seeded hash", proof{Schedule: enginetest.Schedule{Faults: enginetest.Faults{Misroute: true}}}},
		{"no negative counts", proof{Schedule: enginetest.Schedule{BatchSize: 8192}, deal: dealt, sabotage: before("Join", func() exec.Operator { return &clamp{} })}},
		{"a pin forgotten", proof{sabotage: around("Aggregate", func(o exec.Operator) exec.Operator { return &unpinned{Operator: o} })}},
	} {
		t.Run(s.name, func(t *testing.T) {
			for seed := range uint64(50) {
				s.proof.Seed = seed
				if err := s.proof.run(t); err != nil && err != errSeveralEpochs {
					t.Logf("caught at seed %d: %.300v", seed, err)
					return
				}
			}
			t.Error("not caught in 50 seeds")
		})
	}
}

// before puts an operator in front of every input of the nodes of a name.
func before(name string, make func() exec.Operator) func(*exec.Graph) {
	return func(g *exec.Graph) {
		nodes := g.Nodes
		g.Nodes = nil
		for _, n := range nodes {
			if strings.HasPrefix(n.Name, name) {
				for i, in := range n.Inputs {
					step := &exec.Node{ID: fmt.Sprint(n.ID, "/before", i), Name: "before", Inputs: []exec.Edge{in}, New: func(int) (exec.Operator, error) { return make(), nil }}
					g.Nodes = append(g.Nodes, step)
					n.Inputs[i] = exec.Edge{From: step}
				}
			}
			g.Nodes = append(g.Nodes, n)
		}
	}
}

// around wraps the operators of the nodes of a name.
func around(name string, wrap func(exec.Operator) exec.Operator) func(*exec.Graph) {
	return func(g *exec.Graph) {
		for _, n := range g.Nodes {
			if inner := n.New; strings.HasPrefix(n.Name, name) {
				n.New = func(shard int) (exec.Operator, error) {
					o, err := inner(shard)
					return wrap(o), err
				}
			}
		}
	}
}

// clamp drops removals of rows that are not there, as an operator does that lets no
// count go below zero.
type clamp struct {
	exec.Stateless
	pool  *vector.Pool
	count map[string]int
}

func (c *clamp) Open(_ context.Context, rt *exec.Runtime) error {
	c.pool, c.count = rt.Pool, map[string]int{}
	return nil
}

func (c *clamp) Process(_ int, b *vector.Batch, out exec.Output) error {
	var keep []int32
	for i := range b.Len() {
		r := b.Row(i)
		row := ""
		for col := range b.Cols() {
			row += fmt.Sprint(vector.Values[int64](b.Col(col))[r], " ")
		}
		sign := int(b.Kind(r).Sign())
		if c.count[row]+sign < 0 {
			continue
		}
		c.count[row] += sign
		keep = append(keep, int32(r))
	}
	part := b.Select(vector.Of(c.pool, keep...))
	defer part.Release()
	return out.Emit(part)
}

// unpinned lets go of what its operator holds until the Flush, as if it had not
// asked for it.
type unpinned struct {
	exec.Operator
	rt *exec.Runtime
}

func (u *unpinned) Open(ctx context.Context, rt *exec.Runtime) error {
	u.rt = rt
	return u.Operator.Open(ctx, rt)
}

func (u *unpinned) Process(port int, b *vector.Batch, out exec.Output) error {
	if err := u.Operator.Process(port, b, out); err != nil {
		return err
	}
	return u.rt.State.EndEpoch()
}
