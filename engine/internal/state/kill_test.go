package state

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// killedIn has the directory that the process writes to which TestOpenAfterKill kills.
const killedIn = "WEIR_STATE_KILLED_IN"

// A large state is there at once after a kill. A process writes it, to tables of four
// forms, with values that cannot be compressed; it is killed while it writes, and that
// again and again. With WEIR_SOAK the state has more than a gigabyte.
func TestOpenAfterKill(t *testing.T) {
	if dir := os.Getenv(killedIn); dir != "" {
		for j := openLargeJob(t, dir); ; {
			j.change()
			j.commit(j.copy())
			fmt.Println("committed", j.epoch)
		}
	}
	megabytes, kills, later := int64(4), 3, 300*time.Millisecond
	if os.Getenv("WEIR_SOAK") != "" {
		megabytes, kills, later = 1200, 6, 4*time.Second
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	for range kills {
		committed := killWriter(t, dir, megabytes<<20, time.Duration(r.Int64N(int64(later))))
		size := diskSize(t, dir)
		start := time.Now()
		j := openLargeJob(t, dir)
		opened := time.Since(start)
		m := j.db.pebble.Metrics()
		if j.epoch < committed {
			t.Fatalf("epoch %d, after the commit of %d", j.epoch, committed)
		}
		if got, want := j.store.Keys(), 3*largeKeys(j.epoch)+logKeys; got != want {
			t.Fatalf("%d keys at epoch %d, want %d", got, j.epoch, want)
		}
		start = time.Now()
		j.read(r)
		t.Logf("%d MB, %d keys, %d sublevels: opened in %v, then a batch read in %v",
			size>>20, j.store.Keys(), m.Levels[0].Sublevels, opened.Round(time.Millisecond), time.Since(start).Round(time.Millisecond))
		j.ok(j.db.Close())
	}
}

// killWriter runs a process that writes until the state has a size, kills it a little
// later, and returns the last epoch that the process said to have committed.
func killWriter(t *testing.T, dir string, size int64, later time.Duration) (committed uint64) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOpenAfterKill$")
	cmd.Env = append(os.Environ(), killedIn+"="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	armed := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "committed %d", &committed); err != nil {
			t.Error(lines.Text())
		}
		if !armed && diskSize(t, dir) >= size {
			armed = true
			time.AfterFunc(later, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatal(err)
	}
	return committed
}

// largeJob is a store that keeps nothing in memory.
type largeJob struct {
	*benchJob
	log *Rows   // not indexed
	s   *Slices // of ten epochs each
}

func openLargeJob(t *testing.T, dir string) *largeJob {
	db, err := OpenDB(dir, DBOptions{})
	if err != nil {
		t.Fatal(err)
	}
	layout := rowkey.Layout{Kinds: []vector.Kind{vector.Int64}}
	j := &largeJob{benchJob: &benchJob{b: t, dir: dir, db: db, enc: rowkey.NewEncoder(layout), pool: vector.NewPool()}}
	last, _ := db.Last()
	j.epoch = last.Epoch
	j.store = NewStore(Options{DB: db, Operator: "op", Name: "Op", Memory: 1})
	values := []vector.Kind{vector.Int64, vector.Bytes}
	j.v = j.store.Values("values", layout, values)
	j.rows = j.store.Rows("rows", layout, RowsOptions{Cols: values, Indexed: true})
	j.log = j.store.Rows("log", layout, RowsOptions{Cols: values})
	j.s = j.store.Slices("slices", layout, values)
	return j
}

// logKeys is the number of keys of the log, which has a row more of each in every epoch.
const logKeys = 100

// largeKeys is the number of keys that tables have at an epoch. Some commits are one
// batch, others several tables.
func largeKeys(epoch uint64) int64 { return int64(epoch/4*36_000 + min(epoch%4, 3)*4_000) }

// scattered are keys from the given one on that lie anywhere.
func (j *largeJob) scattered(from, n int64, use func(k *rowkey.Keys, slots []Slot)) {
	for at := int64(0); at < n; at += vector.Target {
		c := int(min(vector.Target, n-at))
		v := j.pool.New(vector.Int64, c)
		for i := range vector.Values[int64](v) {
			vector.Values[int64](v)[i] = (from + at + int64(i)) * 0x5851F42D4C957F2D
		}
		b := vector.NewBatch(c, []*vector.Vector{v}, nil)
		j.slots = resize(j.slots, c)
		use(j.enc.Encode(b, []int{0}), j.slots)
		b.Release()
	}
}

// change adds keys to each table, of the log but the rows, and ends the epoch.
func (j *largeJob) change() {
	r := rand.New(rand.NewPCG(j.epoch, 0))
	value := make([]byte, 160)
	fill := func() []byte {
		for i := range value {
			value[i] = byte(r.Uint32())
		}
		return value
	}
	set := func(v *Values, k *rowkey.Keys, slots []Slot) {
		j.ok(v.Resolve(k, true, slots))
		for _, s := range slots {
			Col[int64](v, 0)[s] = r.Int64()
			v.SetBytes(1, s, fill())
		}
		v.Dirty(slots)
	}
	add := func(t *Rows, k *rowkey.Keys, slots []Slot) {
		j.ok(t.Resolve(k, true, slots))
		b := vector.NewBuilder(j.pool, t.opt.Cols)
		for range slots {
			vector.Append(b.Col(0), r.Int64())
			b.Col(1).AppendBytes(fill())
			b.EndRow(vector.Insert)
		}
		rows := b.Finish()
		j.ok(t.Add(slots, rows))
		rows.Release()
	}
	slice, err := j.s.Slice(int64(j.epoch/10), true)
	j.ok(err)
	from := largeKeys(j.epoch)
	n := largeKeys(j.epoch+1) - from
	j.scattered(from, n, func(k *rowkey.Keys, slots []Slot) {
		set(j.v, k, slots)
		set(slice, k, slots)
		add(j.rows, k, slots)
	})
	j.scattered(0, logKeys, func(k *rowkey.Keys, slots []Slot) { add(j.log, k, slots) })
	j.ok(j.store.EndEpoch())
}

// read looks for keys of all epochs.
func (j *largeJob) read(r *rand.Rand) {
	n := largeKeys(j.epoch)
	var m Matches
	j.scattered(r.Int64N(n-n/8), min(n/8, vector.Target), func(k *rowkey.Keys, slots []Slot) {
		j.ok(j.v.Resolve(k, false, slots))
		for _, s := range slots {
			if s == None || len(j.v.Bytes(1, s)) != 160 {
				j.b.Fatal("an entry is missing")
			}
		}
		j.ok(j.rows.Resolve(k, false, slots))
		j.rows.Match(slots, &Cursor{}, 1<<20, &m)
		if len(m.Row) != len(slots) {
			j.b.Fatalf("%d rows under %d keys", len(m.Row), len(slots))
		}
	})
	j.ok(j.store.EndCall())
}
