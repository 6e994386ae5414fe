package filesystem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/connectortest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/format/csv"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/job"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// A whole job, with its state and its files on one disk, loses its power before any
// step that it does to the disk, again and again, at any parallelism. What is committed
// is at any time what it is for the first rows of each split, and in the end for all.
func TestPowerLossOfJobs(t *testing.T) {
	seeds, losses := uint64(30), 7
	if os.Getenv("WEIR_SOAK") != "" {
		seeds, losses = 60, 9
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 11))
			j := &poweredJob{t: t, rand: r, disk: vfs.NewCrashableMem()}
			for s := range 1 + r.IntN(4) {
				j.splits = append(j.splits, nil)
				for i := range 50 + r.IntN(300) {
					j.splits[s] = append(j.splits[s], fmt.Sprint(10*s+r.IntN(4), " ", i))
				}
			}
			for n := 0; !j.live(1 + r.Int64N(40+60*int64(n))); n++ {
				if n == losses {
					j.live(1 << 40)
					break
				}
			}
			if got := j.committed(); got != len(slices.Concat(j.splits...)) {
				t.Errorf("%d rows of %d", got, len(slices.Concat(j.splits...)))
			}
		})
	}
}

// poweredJob numbers the rows of each key.
type poweredJob struct {
	t      *testing.T
	rand   *rand.Rand
	disk   *vfs.MemFS
	splits [][]string // rows of a key, which has its split, and a number
}

// live runs the job until its power is lost before a step. What that leaves is the disk
// of the next one. It reports whether the job ended before.
func (j *poweredJob) live(steps int64) (ended bool) {
	ctx, cancel := context.WithCancel(j.t.Context())
	defer cancel()
	seed, left := j.rand.Uint64(), atomic.Pointer[vfs.MemFS]{}
	p := &power{FS: j.disk}
	p.left.Store(steps)
	p.lost = func() {
		r := rand.New(rand.NewPCG(seed, 1))
		left.Store(j.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[r.IntN(3)], RNG: r}))
		cancel()
	}
	err := j.run(ctx, p, time.Millisecond)
	if disk := left.Load(); disk != nil {
		j.disk = disk
		j.recover()
		return false
	}
	if err != nil {
		j.t.Fatal(err)
	}
	return true
}

// recover lets the job commit what its last checkpoint has, and looks at that.
func (j *poweredJob) recover() {
	j.t.Helper()
	ctx, cancel := context.WithCancel(j.t.Context())
	cancel()
	if err := j.run(ctx, j.disk, time.Hour); err != nil && errs.CodeOf(err) != errs.Canceled {
		j.t.Fatal(err)
	}
	j.committed()
}

func (j *poweredJob) run(ctx context.Context, disk vfs.FS, every time.Duration) error {
	c := New(csv.Format{})
	c.disk = vfsDisk{disk}
	schema := sqltype.Schema{{Name: "k", Type: sqltype.BigIntType}, {Name: "n", Type: sqltype.BigIntType}, {Name: "nth", Type: sqltype.BigIntType}}
	table := connectortest.Table(schema, "path", "out/", "format", "csv", "csv.header", "false")
	sink, err := c.Sink(table, connectortest.Options(j.t, table, c.Options()))
	if err != nil {
		return err
	}
	scan := &exec.Node{ID: "scan", Name: "Scan", What: "rows", Source: twoLongs{splits: j.splits}}
	number := &exec.Node{ID: "number", Name: "Number", What: "rows by key", New: newNumbering, Inputs: []exec.Edge{{From: scan, Exchange: exec.Exchange{Kind: exec.Hash, Keys: []int{0}}}}}
	write := &exec.Node{ID: "write", Name: "Write", Sink: sink, Inputs: []exec.Edge{{From: number}}}
	running, err := job.Start(ctx, &exec.Graph{Nodes: []*exec.Node{scan, number, write}}, job.Config{
		Parallelism: 1 + j.rand.IntN(4), BatchSize: 1 + j.rand.IntN(9), FlushRows: 1 + j.rand.IntN(30), FlushInterval: time.Millisecond,
		CheckpointInterval: every, NewPool: vector.NewPool,
		Durable: job.Durable{Dir: "jobs/numbers", FS: disk, Name: "numbers", Memory: int64(j.rand.IntN(2))},
	})
	if err != nil {
		return err
	}
	return running.Wait()
}

// committed checks what the files show, and counts the rows.
func (j *poweredJob) committed() int {
	j.t.Helper()
	names, err := j.disk.List("out")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		j.t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			continue
		}
		f, err := j.disk.Open("out/" + name)
		if err != nil {
			j.t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			j.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if shown[line] {
				j.t.Fatalf("%q is there twice", line)
			}
			shown[line] = true
		}
	}
	found := 0
	for _, rows := range j.splits {
		counts := map[string]int{}
		for _, row := range rows {
			k, n, _ := strings.Cut(row, " ")
			counts[k]++
			if !shown[fmt.Sprintf("%s,%s,%d\n", k, n, counts[k])] {
				break
			}
			found++
		}
	}
	if found != len(shown) {
		j.t.Fatalf("%d rows are there, of which %d are the first of their splits", len(shown), found)
	}
	return found
}

// twoLongs is a source of rows that can be read again.
type twoLongs struct {
	connector.Source
	splits [][]string
}

func (twoLongs) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }
func (twoLongs) Bounded() bool               { return true }
func (twoLongs) Replayable() bool            { return true }

func (s twoLongs) rows(split int, from int) connector.Source {
	return (&exectest.Source{Kinds: []vector.Kind{vector.Int64, vector.Int64}, Splits: [][]string{s.splits[split][from:]}}).Connect()
}

func (s twoLongs) Splits(context.Context) (all []connector.Split, err error) {
	for i := range s.splits {
		all = append(all, connector.Split{ID: fmt.Sprint(i), Data: i})
	}
	return all, nil
}

func (s twoLongs) Open(ctx context.Context, split connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	from, _ := strconv.Atoi(string(position))
	r, err := s.rows(split.Data.(int), from).Open(ctx, connector.Split{ID: split.ID, Data: 0}, scan, nil)
	return longsFrom{r, from}, err
}

type longsFrom struct {
	connector.Reader
	from int
}

func (r longsFrom) Position() []byte {
	n, _ := strconv.Atoi(string(r.Reader.Position()))
	return strconv.AppendInt(nil, int64(r.from+n), 10)
}

// numbering adds to each row which one of its key it is.
type numbering struct {
	exec.Operator
	rt    *exec.Runtime
	enc   *rowkey.Encoder
	table *state.Values
}

func newNumbering(int) (exec.Operator, error) { return &numbering{}, nil }

func (o *numbering) Open(_ context.Context, rt *exec.Runtime) error {
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	o.rt, o.enc = rt, rowkey.NewEncoder(layout)
	o.table = rt.State.Values("numbers", layout, []vector.Kind{vector.Int64})
	return nil
}

func (o *numbering) Process(_ int, b *vector.Batch, out exec.Output) error {
	slots := make([]state.Slot, b.Len())
	if err := o.table.Resolve(o.enc.Encode(b, []int{0}), true, slots); err != nil {
		return err
	}
	o.table.Dirty(slots)
	numbers := state.Col[int64](o.table, 0)
	rows := vector.NewBuilder(o.rt.Pool, []vector.Kind{vector.Int64, vector.Int64, vector.Int64})
	for i, s := range slots {
		r := b.Row(i)
		numbers[s]++
		for c := range 2 {
			vector.Append(rows.Col(c), vector.Values[int64](b.Col(c))[r])
		}
		vector.Append(rows.Col(2), numbers[s])
		rows.EndRow(vector.Insert)
	}
	numbered := rows.Finish()
	defer numbered.Release()
	return out.Emit(numbered)
}

func (o *numbering) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }
func (o *numbering) End(int, exec.Output) error                             { return nil }
func (o *numbering) Flush(exec.Output) error                                { return nil }
func (o *numbering) Close() error                                           { return nil }

// power is a disk whose power is lost before one of the steps that change it. What is
// done after that is lost, too.
type power struct {
	vfs.FS
	left atomic.Int64
	lost func()
	// A Link of vfs.MemFS reads the lock of clones twice, and waits for ever if a clone asks
	// for it in between.
	links sync.Mutex
}

func (p *power) step() {
	if p.left.Add(-1) == 0 {
		p.links.Lock()
		defer p.links.Unlock()
		p.lost()
	}
}

func (p *power) Link(from, to string) error {
	p.step()
	p.links.Lock()
	defer p.links.Unlock()
	return p.FS.Link(from, to)
}

func (p *power) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	p.step()
	f, err := p.FS.Create(name, c)
	return poweredFile{f, p}, err
}

func (p *power) Rename(from, to string) error {
	p.step()
	return p.FS.Rename(from, to)
}

func (p *power) Remove(name string) error {
	p.step()
	return p.FS.Remove(name)
}

func (p *power) MkdirAll(name string, perm os.FileMode) error {
	p.step()
	return p.FS.MkdirAll(name, perm)
}

func (p *power) OpenDir(name string) (vfs.File, error) {
	f, err := p.FS.OpenDir(name)
	return poweredFile{f, p}, err
}

type poweredFile struct {
	vfs.File
	power *power
}

func (f poweredFile) Write(b []byte) (int, error) {
	f.power.step()
	return f.File.Write(b)
}

func (f poweredFile) Sync() error {
	f.power.step()
	return f.File.Sync()
}

func (f poweredFile) SyncData() error {
	f.power.step()
	return f.File.SyncData()
}

func (f poweredFile) SyncTo(length int64) (bool, error) {
	f.power.step()
	return f.File.SyncTo(length)
}

// vfsDisk is the disk of a sink on a file system that can lose its power.
type vfsDisk struct{ vfs.FS }

func (d vfsDisk) MakeFolder(path string) error {
	if err := d.MkdirAll(path, 0o777); err != nil {
		return err
	}
	for ; path != "" && path != "."; path = filepath.Dir(path) {
		if err := d.SyncFolder(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return nil
}

func (d vfsDisk) Create(path string) (diskFile, error) {
	if there, err := d.Exists(path); there || err != nil {
		return nil, errors.Join(err, fs.ErrExist)
	}
	return d.FS.Create(path, "")
}

func (d vfsDisk) Open(path string) (io.ReadSeekCloser, error) {
	return nil, errors.New("part files are not read")
}

func (d vfsDisk) SyncFolder(path string) error {
	f, err := d.OpenDir(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d vfsDisk) Names(folder string) ([]string, error) {
	names, err := d.List(folder)
	slices.Sort(names)
	return names, err
}

func (d vfsDisk) Exists(path string) (bool, error) {
	_, err := d.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
