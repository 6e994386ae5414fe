package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
)

const (
	// together is the number of queries of a process, each a job.
	together = 5
	// patience is how long the last process may take.
	patience = 2 * time.Minute
)

// TestKills kills processes: 30 times in all, or with WEIR_SOAK 500 times.
func TestKills(t *testing.T) {
	kills := 30
	if os.Getenv("WEIR_SOAK") != "" {
		kills = 500
	}
	if testing.Short() {
		kills = 4
	}
	groups := (len(queries) + together - 1) / together
	for seed := 0; kills > 0; seed++ {
		n := min(kills, max(3, (kills+groups-1)/groups))
		if n > 8 {
			n = 8
		}
		kills -= n
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			// Every query has its turn, in company that changes.
			order := rand.New(rand.NewPCG(uint64(seed/groups), 3)).Perm(len(queries))
			var some []query
			for _, i := range order[seed%groups*together : min(len(queries), (seed%groups+1)*together)] {
				some = append(some, queries[i])
			}
			newScenario(t, uint64(seed), some).run(n)
		})
	}
}

// scenario is a few jobs over the same tables that are killed again and again. What it
// does is drawn from the seed; the instants at which processes die are not the same each
// time.
type scenario struct {
	t       *testing.T
	rand    *rand.Rand
	dir     string
	state   string
	queries []query
	inputs  map[string]*input
	results map[string]string // the columns of each query's result
	ddl     string
	kills   int
}

func newScenario(t *testing.T, seed uint64, some []query) *scenario {
	t.Helper()
	dir := t.TempDir()
	s := &scenario{t: t, rand: rand.New(rand.NewPCG(seed, 1)), dir: dir, state: filepath.Join(dir, "state"), queries: some, results: map[string]string{}}
	var err error
	s.inputs, err = newInputs(s.rand, dir)
	s.must(err)
	for _, in := range s.inputs {
		s.ddl += in.ddl()
	}
	for _, q := range some {
		s.ddl += q.definition()
	}
	// What the results consist of is asked of an engine.
	e, _, err := life{DDL: s.ddl}.start(t.Context())
	s.must(err)
	defer e.Close()
	for _, q := range some {
		for _, table := range q.tables() {
			s.ddl += sinkDDL(q.witness(table), columns[table], s.sink(q.witness(table)), updating(table), "")
		}
		selected, err := e.ExecuteSQL(t.Context(), q.sql)
		s.must(err)
		selected.Cancel()
		s.results[q.name] = strings.TrimSuffix(strings.TrimPrefix(selected.Schema().String(), "("), ")")
		s.ddl += sinkDDL(q.result(), s.results[q.name], s.sink(q.result()), !selected.Mode().InsertOnly(), q.key)
	}
	return s
}

func (s *scenario) must(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatalf("after %d kills: %v", s.kills, err)
	}
}

func (s *scenario) sink(name string) string { return filepath.Join(s.dir, "out", name) }

// run kills n processes and lets the last one come to the end.
func (s *scenario) run(n int) {
	for s.kills = 0; s.kills < n; s.kills++ {
		if s.rand.IntN(4) == 0 && s.begun() {
			for _, t := range names {
				s.must(s.inputs[t].turn())
			}
		}
		s.live(float64(s.kills+1) / float64(n+1))
		if s.rand.IntN(3) == 0 {
			s.recover()
			s.check(false)
		}
	}
	for _, in := range s.inputs {
		s.must(in.grow(in.size()))
	}
	s.end()
	s.check(true)
}

// begun reports whether every job has a checkpoint: else it would begin with the files
// that have the names of its tables then.
func (s *scenario) begun() bool {
	jobs, err := engine.InspectState(s.state)
	if errs.CodeOf(err) == errs.NotFound {
		return false
	}
	s.must(err)
	begun := 0
	for _, j := range jobs {
		if j.Epoch > 0 {
			begun++
		}
	}
	return begun == len(s.queries)
}

// newLife draws how the next process works.
func (s *scenario) newLife() life {
	l := life{State: s.state, DDL: s.ddl}
	pick := func(of ...string) string { return of[s.rand.IntN(len(of))] }
	for _, q := range s.queries {
		set := map[string]string{
			"pipeline.name":       q.job(),
			"parallelism.default": pick("1", "2", "3", "4"),
			"exec.batch-size":     pick("1", "3", "20", "100", "1000"),
			"exec.flush-rows":     pick("10", "100", "10000"),
			"exec.flush-interval": pick("1 ms", "5 ms", "20 ms"),
			"checkpoint.interval": pick("1 ms", "5 ms", "30 ms", "100 ms"),
			"state.memory":        pick("0", "0", "1", "10000"),
		}
		j := lifeJob{SQL: q.statement()}
		for _, k := range []string{"pipeline.name", "parallelism.default", "exec.batch-size", "exec.flush-rows", "exec.flush-interval", "checkpoint.interval", "state.memory"} {
			j.Set += fmt.Sprintf("SET '%s' = '%s';\n", k, set[k])
		}
		l.Jobs = append(l.Jobs, j)
	}
	return l
}

// process is a life that runs.
type process struct {
	*exec.Cmd
	stdin   io.Closer
	started chan struct{} // closed when all jobs run, or it has ended
	stderr  bytes.Buffer
}

func (s *scenario) begin(l life) *process {
	text, err := json.Marshal(l)
	s.must(err)
	file := filepath.Join(s.dir, "life.json")
	s.must(os.WriteFile(file, text, 0o666))
	p := &process{Cmd: exec.Command(os.Args[0]), started: make(chan struct{})}
	p.Env = append(os.Environ(), childEnv+"="+file)
	p.Stderr = &p.stderr
	out, err := p.StdoutPipe()
	s.must(err)
	p.stdin, err = p.StdinPipe()
	s.must(err)
	s.must(p.Start())
	go func() {
		defer close(p.started)
		_, _ = bufio.NewReader(out).ReadString('\n') // or it has ended
	}()
	return p
}

// live lets a process work and kills it. Meanwhile inputs grow until there is so much of
// them.
func (s *scenario) live(share float64) {
	l := s.newLife()
	p := s.begin(l)
	delay := time.Duration(s.rand.ExpFloat64() * float64(60*time.Millisecond))
	if s.rand.IntN(5) > 0 { // else it may die while it starts
		select {
		case <-p.started:
		case <-time.After(patience):
			s.stuck(p, "start")
		}
	}
	for deadline := time.Now().Add(delay); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		for _, t := range names {
			in := s.inputs[t]
			s.must(in.grow(max(0, min(s.rand.IntN(400), int(share*float64(in.size()))-in.at))))
		}
	}
	s.must(p.Process.Kill())
	err := p.Wait()
	if status, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() && p.ProcessState.ExitCode() != 0 {
		s.t.Fatalf("after %d kills a process ended: %v\n%s", s.kills, err, &p.stderr)
	}
	for _, t := range names { // what was not written while it lived comes while nobody does
		in := s.inputs[t]
		s.must(in.grow(max(0, int(share*float64(in.size()))-in.at)))
	}
}

// end lets a process come to the end.
func (s *scenario) end() {
	l := s.newLife()
	l.Drain = true
	p := s.begin(l)
	ended := make(chan error, 1)
	go func() {
		<-p.started
		ended <- p.Wait()
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	all := false
	for deadline := time.After(patience); ; {
		select {
		case err := <-ended:
			if err != nil || !all {
				s.t.Fatalf("after %d kills the last process ended: %v\n%s", s.kills, err, &p.stderr)
			}
			return
		case <-tick.C:
			if !all && s.all() {
				all = true
				s.must(p.stdin.Close())
			}
		case <-deadline:
			s.stuck(p, "come to an end")
		}
	}
}

// all reports whether all rows were read.
func (s *scenario) all() bool {
	for _, q := range s.queries {
		for _, table := range q.tables() {
			lines, err := shown(s.sink(q.witness(table)))
			if errors.Is(err, fs.ErrNotExist) {
				return false // a file that was renamed meanwhile
			}
			s.must(err)
			if s.inputs[table].missing(lines) != nil {
				return false
			}
		}
	}
	return true
}

func (s *scenario) stuck(p *process, what string) {
	_ = p.Process.Signal(syscall.SIGQUIT) // which shows what it does
	_ = p.Wait()
	s.t.Fatalf("after %d kills a process does not %s\n%s", s.kills, what, &p.stderr)
}

// recover starts all jobs so that they commit what their last checkpoint has, and nothing
// else.
func (s *scenario) recover() {
	l := s.newLife()
	for i := range l.Jobs {
		l.Jobs[i].Set += "SET 'checkpoint.interval' = '1 h';\n"
	}
	e, running, err := l.start(s.t.Context())
	s.must(err)
	for _, q := range running {
		q.Cancel()
	}
	s.must(e.Close())
}

// check compares what is committed with the result over what the witnesses show.
func (s *scenario) check(final bool) {
	for _, q := range s.queries {
		if err := s.checkQuery(q, final); err != nil {
			s.t.Errorf("after %d kills, %s: %v\n%s", s.kills, q.name, err, q.sql)
		}
	}
	if s.t.Failed() {
		s.t.FailNow()
	}
}

func (s *scenario) checkQuery(q query, final bool) error {
	rows := map[string][]string{}
	for _, table := range q.tables() {
		in := s.inputs[table]
		lines, err := witnessed(in, s.sink(q.witness(table)))
		if err != nil {
			return err
		}
		if rows[table] = lines; !final {
			continue
		}
		if err := in.missing(lines); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(s.dir, "over")
	if err != nil {
		return err
	}
	want, err := q.over(s.t.Context(), dir, rows, s.results[q.name])
	if err != nil {
		return err
	}
	lines, err := shown(s.sink(q.result()))
	if err != nil {
		return err
	}
	got, err := fold(lines, q.key)
	if err != nil {
		return err
	}
	if want, err = fold(want, ""); err != nil {
		return err
	}
	read := 0
	for _, lines := range rows {
		read += len(lines)
	}
	switch {
	case read+len(lines) == 0: // there was no checkpoint
	case q.waits && !final && len(minus(got, want)) == 0:
	case !slices.Equal(got, want):
		var counts []string
		for table, lines := range rows {
			counts = append(counts, fmt.Sprintf("%d of %s", len(lines), table))
		}
		return fmt.Errorf("over %s, it shows %s too many, and lacks %s", strings.Join(counts, ", "), few(minus(got, want)), few(minus(want, got)))
	}
	return nil
}
