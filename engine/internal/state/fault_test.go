package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
)

// faultJob makes two checkpoints. It has state of several kinds whose content tells
// which of the two it is.
type faultJob struct {
	t     testing.TB
	store *Store
	db    *DB
	v     *Values
	rows  *Rows
	s     *Slices
	times *Times
}

const faultKeys = 60

func openFaultJob(t testing.TB, fsys FS, opt DBOptions) (*faultJob, error) {
	opt.FS = fsys
	db, err := OpenDB("state", opt)
	if err != nil {
		return nil, err
	}
	j := &faultJob{t: t, db: db, store: NewStore(Options{DB: db, Operator: "op", Name: "Op"})}
	layout := keyCases["text"].layout
	j.v = j.store.Values("values", layout, modelCols)
	j.rows = j.store.Rows("rows", layout, RowsOptions{Cols: testRowCols, Indexed: true})
	j.s = j.store.Slices("slices", layout, modelCols)
	j.times = j.store.Times("times", layout)
	return j, nil
}

func (j *faultJob) ok(err error) {
	j.t.Helper()
	if err != nil {
		j.t.Fatal(err)
	}
}

// keysFrom are keys from..from+n.
func keysFrom(from, n int) []int {
	ns := make([]int, n)
	for i := range ns {
		ns[i] = 2 * (from + i) // two numbers make a key
	}
	return ns
}

// change makes the state that of an epoch: keys epoch*20 and on have it as their value,
// those before are gone.
func (j *faultJob) change(epoch int) {
	j.t.Helper()
	p := vector.NewPool()
	set := func(v *Values, from, n, value int) []Slot {
		keys, _ := keyCases["text"].keysOf(p, keysFrom(from, n))
		slots := make([]Slot, n)
		j.ok(v.Resolve(keys, true, slots))
		for _, s := range slots {
			Col[int64](v, 0)[s] = int64(value)
		}
		v.Dirty(slots)
		return slots
	}
	v, err := j.s.Slice(int64(epoch), true)
	j.ok(err)
	set(v, 0, faultKeys, epoch)
	j.s.Drop(int64(epoch - 1))
	set(j.v, 20*epoch, faultKeys, epoch)
	if epoch > 0 {
		j.v.Drop(set(j.v, 20*(epoch-1), 20, epoch))
	}
	keys, _ := keyCases["text"].keysOf(p, keysFrom(0, faultKeys))
	slots := make([]Slot, faultKeys)
	j.ok(j.rows.Resolve(keys, true, slots))
	b := vector.NewBuilder(p, testRowCols)
	again := slices.Clone(slots)
	for range slots {
		testRow{n: int64(epoch)}.append(b, vector.Insert)
	}
	if epoch > 1 {
		for range slots {
			testRow{n: int64(epoch - 1)}.append(b, vector.Delete)
		}
		again = append(again, slots...)
	}
	j.ok(j.rows.Add(again, b.Finish()))
	j.ok(j.times.Due(int64(epoch), func(int64, []byte) bool { return true }))
	for i := range faultKeys {
		j.ok(j.times.Add(int64(epoch+1), keys, i))
	}
	j.ok(j.store.EndEpoch())
}

func (j *faultJob) copy(epoch int) *Part {
	p, err := j.store.Copy(uint64(epoch))
	j.ok(err)
	return p
}

func (j *faultJob) commit(epoch int, p *Part) error {
	return j.db.Commit(Checkpoint{Epoch: uint64(epoch), Now: int64(epoch), Meta: fmt.Append(nil, "meta ", epoch)}, []*Part{p})
}

// check compares the state with that of the epoch that the database says it has.
func (j *faultJob) check() (epoch int, err error) {
	j.t.Helper()
	last, some := j.db.Last()
	epoch = int(last.Epoch)
	if !some {
		return 0, nil
	}
	if string(last.Meta) != fmt.Sprint("meta ", epoch) {
		j.t.Fatalf("epoch %d has meta %q", epoch, last.Meta)
	}
	p := vector.NewPool()
	keys, _ := keyCases["text"].keysOf(p, keysFrom(0, 200))
	slots := make([]Slot, 200)
	if err := j.v.Resolve(keys, false, slots); err != nil {
		return epoch, err
	}
	for i, s := range slots {
		if in := i >= 20*epoch && i < 20*epoch+faultKeys; in != (s != None) || in && Col[int64](j.v, 0)[s] != int64(epoch) {
			j.t.Fatalf("epoch %d: key %d has slot %d", epoch, i, s)
		}
	}
	if times := j.s.Times(); len(times) != 1 || times[0] != int64(epoch) || j.s.Len() != faultKeys {
		j.t.Fatalf("epoch %d: slices of %v with %d entries", epoch, times, j.s.Len())
	}
	v, err := j.s.Slice(int64(epoch), false)
	if err == nil {
		err = v.Resolve(keys, false, slots)
	}
	if err != nil {
		return epoch, err
	}
	for i, s := range slots {
		if in := i < faultKeys; in != (s != None) || in && Col[int64](v, 0)[s] != int64(epoch) {
			j.t.Fatalf("epoch %d: slice: key %d has slot %d", epoch, i, s)
		}
	}
	if err := j.rows.Resolve(keys, false, slots); err != nil {
		return epoch, err
	}
	var m Matches
	j.rows.Match(slots, &Cursor{}, 1000, &m)
	if len(m.Row) != faultKeys {
		j.t.Fatalf("epoch %d: %d rows", epoch, len(m.Row))
	}
	for i, row := range rowsOf(p, j.rows, m.Row) {
		if row.n != int64(epoch) || m.Count[i] != 1 {
			j.t.Fatalf("epoch %d: row %v, %d times", epoch, row, m.Count[i])
		}
	}
	if err := j.times.Due(math.MinInt64, nil); err != nil {
		return epoch, err
	}
	if next, ok := j.times.Next(); !ok || next != int64(epoch+1) || j.times.Len() != faultKeys {
		j.t.Fatalf("epoch %d: %d timers, the next at %d", epoch, j.times.Len(), next)
	}
	return epoch, j.store.EndCall()
}

// paths are the two ways of a commit.
var commitPaths = map[string]DBOptions{"batch": {}, "tables": {ingestFrom: 1, stagedTable: 2000}}

// mutates reports whether an operation changes what is on disk.
func mutates(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsWrite }

// clonable is a file system that can be cloned while others use it: a Link reads the lock of
// clones twice, and waits for ever if a clone asks for it in between.
type clonable struct {
	*vfs.MemFS
	mu sync.Mutex // of links and clones
}

func (c *clonable) Link(from, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.MemFS.Link(from, to)
}

// Whenever the power fails, the database has the checkpoint that is being committed or
// the one before; and afterwards, that one.
func TestPowerLossAtEveryStep(t *testing.T) {
	for name, opt := range commitPaths {
		t.Run(name, func(t *testing.T) {
			mem := &clonable{MemFS: vfs.NewCrashableMem()}
			r := rand.New(rand.NewPCG(5, 5))
			var on atomic.Bool
			var clones []*vfs.MemFS
			hooked := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if !on.Load() || !mutates(op) {
					return nil
				}
				mem.mu.Lock()
				defer mem.mu.Unlock()
				for _, unsynced := range []int{0, r.IntN(100), 100} {
					clones = append(clones, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: r}))
				}
				return nil
			}))
			on.Store(true)
			j, err := openFaultJob(t, hooked, opt)
			if err != nil {
				t.Fatal(err)
			}
			for epoch := 1; epoch <= 2; epoch++ {
				j.change(epoch)
				j.ok(j.commit(epoch, j.copy(epoch)))
			}
			on.Store(false)
			after := mem.CrashClone(vfs.CrashCloneCfg{})
			j.ok(j.db.Close())
			found := [3]int{}
			for _, fsys := range append(clones, after) {
				again, err := openFaultJob(t, fsys, opt)
				if err != nil {
					t.Fatal(err)
				}
				epoch, err := again.check()
				j.ok(err)
				found[epoch]++
				if fsys == after && epoch != 2 {
					t.Errorf("epoch %d after the commit", epoch)
				}
				if names, err := fsys.List("state/staging"); err != nil || len(names) > 0 {
					t.Errorf("left in staging: %v, %v", names, err)
				}
				if epoch == 2 {
					again.change(3)
					j.ok(again.commit(3, again.copy(3)))
				}
				j.ok(again.db.Close())
			}
			if slices.Contains(found[:], 0) {
				t.Errorf("found %v", found)
			}
		})
	}
}

// Whatever fails while a checkpoint is committed, either the commit did not happen and
// the next has it all, or the database gives up, and it is one of the two that is found
// after.
func TestErrorAtEveryStep(t *testing.T) {
	for name, opt := range commitPaths {
		t.Run(name, func(t *testing.T) {
			gaveUp, went := 0, 0
			for step := 0; ; step++ {
				mem := vfs.NewCrashableMem()
				var left atomic.Int64
				left.Store(-1)
				failing := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
					if mutates(op) && left.Load() >= 0 && left.Add(-1) == -1 {
						return syscall.EIO
					}
					return nil
				}))
				failed := make(chan error, 1)
				opt.Failed = func(err error) { failed <- err }
				j, err := openFaultJob(t, failing, opt)
				if err != nil {
					t.Fatal(err)
				}
				j.change(1)
				j.ok(j.commit(1, j.copy(1)))
				j.change(2)
				part := j.copy(2)
				left.Store(int64(step))
				err = j.commit(2, part)
				never := left.Swap(-1) >= 0
				if err != nil && j.db.Stats().PendingBytes == 0 {
					failed <- <-failed // it gave up, and says so in a moment
				}
				select {
				case told := <-failed:
					gaveUp++
					wantError(t, told, errs.State, "input/output error")
					wantError(t, j.commit(3, nil), errs.State, "input/output error")
					wantError(t, j.db.Savepoint("elsewhere"), errs.State, "input/output error")
					j.ok(j.db.Close())
				default:
					if err == nil {
						went++
					} else {
						wantError(t, err, errs.State, "input/output error")
						if last, _ := j.db.Last(); last.Epoch != 1 || j.db.Stats().PendingBytes == 0 {
							t.Fatalf("step %d: epoch %d, %d bytes pending", step, last.Epoch, j.db.Stats().PendingBytes)
						}
					}
					j.ok(j.store.EndEpoch())
					j.change(3)
					j.ok(j.commit(3, j.copy(3)))
					j.ok(j.db.Close())
				}
				again, err := openFaultJob(t, mem.CrashClone(vfs.CrashCloneCfg{}), opt)
				if err != nil {
					t.Fatal(err)
				}
				epoch, err := again.check()
				j.ok(err)
				if epoch == 0 {
					t.Fatalf("step %d: no checkpoint", step)
				}
				j.ok(again.db.Close())
				if never {
					t.Logf("%d steps, at %d the database gave up, at %d the commit went through", step, gaveUp, went-1)
					return
				}
			}
		})
	}
}

// A full disk is noticed before anything is written.
func TestDiskFull(t *testing.T) {
	mem := vfs.NewMem()
	j, err := openFaultJob(t, mem, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 40})
	j.change(1)
	j.ok(j.commit(1, j.copy(1)))
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 20})
	j.change(2)
	err = j.commit(2, j.copy(2))
	wantError(t, err, errs.State, "no space left")
	wantHint(t, err, "disk is full")
	j.change(3)
	wantError(t, j.commit(3, j.copy(3)), errs.State, "no space left")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 40})
	j.ok(j.commit(4, nil))
	j.change(4)
	j.ok(j.commit(4, j.copy(4)))
	j.ok(j.db.Close())
	if j, err = openFaultJob(t, mem, DBOptions{}); err != nil {
		t.Fatal(err)
	}
	epoch, err := j.check()
	j.ok(err)
	if epoch != 4 {
		t.Errorf("epoch %d", epoch)
	}
	j.ok(j.db.Close())
}

// Parts of a checkpoint that did not come about are in the next.
func TestKeep(t *testing.T) {
	mem := vfs.NewMem()
	j, err := openFaultJob(t, mem, DBOptions{ingestFrom: 1})
	if err != nil {
		t.Fatal(err)
	}
	for epoch := 1; epoch < 4; epoch++ {
		j.change(epoch)
		j.db.Keep([]*Part{nil, j.copy(epoch)})
	}
	j.change(4)
	j.ok(j.commit(4, j.copy(4)))
	j.ok(j.db.Close())
	if j, err = openFaultJob(t, mem, DBOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = j.check()
	j.ok(err)
	j.ok(j.db.Close())
}

func TestReadOnlyDisk(t *testing.T) {
	for _, cause := range []error{syscall.EROFS, fs.ErrPermission} {
		failing := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if mutates(op) {
				return &fs.PathError{Op: "open", Path: op.Path, Err: cause}
			}
			return nil
		}))
		_, err := openFaultJob(t, failing, DBOptions{})
		wantError(t, err, errs.State, "cannot be written")
		wantHint(t, err, "writable")
	}
}

// committed returns the files of a database with two checkpoints.
func committed(t *testing.T, opt DBOptions) *vfs.MemFS {
	mem := vfs.NewCrashableMem()
	j, err := openFaultJob(t, mem, opt)
	if err != nil {
		t.Fatal(err)
	}
	for epoch := 1; epoch < 3; epoch++ {
		j.change(epoch)
		j.ok(j.commit(epoch, j.copy(epoch)))
	}
	j.ok(j.db.Close())
	return mem
}

// Damaged and missing files are errors that say what can be done, or do no harm.
func TestDamage(t *testing.T) {
	for name, opt := range commitPaths {
		mem := committed(t, opt)
		names, err := mem.List("state")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range names {
			path := mem.PathJoin("state", file)
			if info, err := mem.Stat(path); err != nil || info.IsDir() {
				continue
			}
			damages := map[string]func(FS) error{
				"missing":   func(f FS) error { return f.Remove(path) },
				"truncated": func(f FS) error { return rewrite(f, path, func(b []byte) []byte { return b[:len(b)/2] }) },
			}
			for i := range 6 {
				damages[fmt.Sprint("flipped ", i)] = func(f FS) error {
					return rewrite(f, path, func(b []byte) []byte {
						if len(b) > 0 {
							b[len(b)*i/6] ^= 0x41
						}
						return b
					})
				}
			}
			for damage, do := range damages {
				clone := mem.CrashClone(vfs.CrashCloneCfg{})
				if err := do(clone); err != nil {
					t.Fatal(err)
				}
				j, err := openFaultJob(t, clone, opt)
				if err == nil {
					var epoch int
					// What the end of a log has lost is not missed.
					log := strings.HasSuffix(file, ".log") || strings.HasPrefix(file, "MANIFEST")
					if epoch, err = j.check(); err == nil && epoch < 2 && !log {
						t.Errorf("%s: %s %s: epoch %d", name, file, damage, epoch)
					}
					if closed := j.db.Close(); err == nil {
						err = closed
					}
				}
				if err != nil {
					wantError(t, err, errs.State, "")
					wantHint(t, err, "")
				}
			}
		}
	}
}

func rewrite(f FS, path string, change func([]byte) []byte) error {
	file, err := f.Open(path)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	to, err := f.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, bytes.NewReader(change(b))); err != nil {
		return err
	}
	return to.Close()
}

// What a later version wrote is left alone.
func TestNewerVersion(t *testing.T) {
	mem := vfs.NewMem()
	d, err := OpenDB("state", DBOptions{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.pebble.Set(metaKey(metaFormat), []byte{FormatVersion + 1}, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.pebble.Set(metaKey(metaOperator, 0, 1), []byte("another format"), nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = OpenDB("state", DBOptions{FS: mem})
	wantError(t, err, errs.State, "version 2")
	wantHint(t, err, "program that wrote it")
}

// Who opens a database in vain takes nothing away from who has it.
func TestSecondOpenTouchesNothing(t *testing.T) {
	mem := vfs.NewMem()
	d, err := OpenDB("state", DBOptions{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	f, err := mem.Create("state/staging/000001.sst", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = OpenDB("state", DBOptions{FS: mem})
	wantError(t, err, errs.State, "in use")
	if names, _ := mem.List("state/staging"); len(names) != 1 {
		t.Errorf("staging has %v", names)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func wantHint(t *testing.T, err error, text string) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) || e.Hint == "" || !strings.Contains(e.Hint, text) {
		t.Errorf("%v has no hint with %q", err, text)
	}
}

// fullFS is a file system without room.
type fullFS struct{ FS }

func (fullFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 1 << 10, TotalBytes: 1 << 30, UsedBytes: 1 << 30}, nil
}

// A database is not opened on a disk that is full: what it has stays, and can be looked at.
func TestOpenOnFullDisk(t *testing.T) {
	fs := NewMemFS()
	d, err := OpenDB("state", DBOptions{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Commit(Checkpoint{Epoch: 3}, nil), d.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDB("state", DBOptions{FS: fullFS{fs}}); errs.CodeOf(err) != errs.State || !strings.Contains(fmt.Sprint(err), "the disk is full") {
		t.Errorf("%v", err)
	}
	for _, opt := range []DBOptions{{FS: fullFS{fs}, ReadOnly: true}, {FS: fs}} {
		if d, err = OpenDB("state", opt); err != nil {
			t.Fatal(err)
		}
		if last, ok := d.Last(); !ok || last.Epoch != 3 {
			t.Errorf("%+v, %t", last, ok)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What the power leaves of an opening is a marker of a manifest that did not come about,
// beside the one before.
func TestMarkerWithoutManifest(t *testing.T) {
	mem := vfs.NewMem()
	open := func() *DB {
		t.Helper()
		d, err := OpenDB("state", DBOptions{FS: mem})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open()
	if err := errors.Join(d.Commit(Checkpoint{Epoch: 7}, nil), d.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := mem.Create("state/marker.manifest.000099.MANIFEST-000099", vfs.WriteCategoryUnspecified)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	d = open()
	if last, ok := d.Last(); !ok || last.Epoch != 7 {
		t.Errorf("epoch %d, %v", last.Epoch, ok)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
