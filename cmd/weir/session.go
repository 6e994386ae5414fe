package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weirdb/weir/cmd/weir/internal/output"
	"github.com/weirdb/weir/engine"
)

// session runs scripts in one engine and shows their results.
type session struct {
	eng    *engine.Engine
	format output.Format
	std    streams
	stdout *pipe
	// stopInto is the folder for a savepoint of what a signal stops, or "".
	stopInto string
	// stopping is closed at the first signal.
	stopping chan struct{}
}

var (
	errStopped  = errors.New("stopped")
	errCanceled = errors.New("canceled")
)

// cancelGrace is how long a canceled query may take to end. It matters only where
// the query hangs in something that cannot be interrupted.
const cancelGrace = time.Second

// runScripts runs scripts one after the other and reports what fails.
func runScripts(ctx context.Context, set settings, format output.Format, std streams, signals <-chan os.Signal, scripts []script) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &session{format: format, std: std, stdout: &pipe{w: std.out}, stopInto: set.stopInto, stopping: make(chan struct{})}
	cfg := set.config(std)
	cfg.Stdin, cfg.Stdout = std.in, s.stdout
	eng, err := engine.Open(ctx, cfg)
	if err != nil {
		return s.fail(script{}, err)
	}
	s.eng = eng
	go s.watch(ctx, signals, cancel)
	done := make(chan error, 1)
	go func() {
		err := s.run(ctx, scripts)
		eng.Close() // sinks clean up before the program ends
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(cancelGrace):
			err = scriptError{err: context.Cause(ctx)}
		}
	}
	var failed scriptError
	switch {
	case err == nil, s.stdout.broken.Load(), errors.Is(err, errStopped):
		return nil
	case context.Cause(ctx) == errCanceled:
		return s.fail(script{}, errCanceled)
	case errors.As(err, &failed):
		return s.fail(failed.script, failed.err)
	}
	panic("weir: a script ended with an error of its own")
}

// scriptError is the error that ended a script.
type scriptError struct {
	script script
	err    error
}

func (e scriptError) Error() string { return e.err.Error() }
func (e scriptError) Unwrap() error { return e.err }

// run runs scripts until one fails.
func (s *session) run(ctx context.Context, scripts []script) error {
	for _, sc := range scripts {
		statements := 0
		err := s.eng.ExecuteScript(ctx, sc.text, func(q *engine.Query) error {
			statements++
			return s.show(ctx, q)
		})
		if err != nil {
			return scriptError{sc, err}
		}
		if statements == 0 {
			fmt.Fprintf(s.std.err, "weir: %s has no statements\n", cmp.Or(sc.name, "the text"))
		}
	}
	return nil
}

func (s *session) fail(sc script, err error) error {
	report(s.std.err, sc, err)
	return errFailed
}

// watch turns the first signal into a graceful stop and the second into a
// cancellation.
func (s *session) watch(ctx context.Context, signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
		return
	case <-signals:
		close(s.stopping)
	}
	select {
	case <-ctx.Done():
	case <-signals:
		cancel(errCanceled)
	}
}

func (s *session) stopped() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

// show waits for a query and shows its rows and counts.
func (s *session) show(ctx context.Context, q *engine.Query) error {
	for _, n := range q.Notices() {
		fmt.Fprintf(s.std.err, "weir: %s\n", n)
	}
	ended := make(chan struct{})
	stop := make(chan error, 1)
	go func() {
		select {
		case <-s.stopping:
			stop <- s.stop(ctx, q)
		case <-ended:
			stop <- nil
		}
	}()
	rows, err := s.consume(ctx, q)
	close(ended)
	if serr := <-stop; err == nil {
		err = serr
	}
	if err != nil {
		return err
	}
	if !s.stopped() {
		s.count(q, rows)
		return nil
	}
	m := q.Metrics()
	to := ""
	if q.Changelog() == nil {
		rows, to = m.SinkRows, " to "+strings.Join(q.Targets(), ", ")
	}
	fmt.Fprintf(s.std.err, "weir: stopped: %s read, %s written%s\n", countRows(m.SourceRows), countRows(rows), to)
	switch {
	case q.Durable() && s.stopInto != "":
		fmt.Fprintf(s.std.err, "weir: the savepoint of job %s is in %s\n", q.Job(), s.stopInto)
	case q.Durable():
		fmt.Fprintf(s.std.err, "weir: job %s goes on from here when it is started again\n", q.Job())
	}
	return errStopped
}

// stop ends a query in good order, with a savepoint if that is wanted.
func (s *session) stop(ctx context.Context, q *engine.Query) error {
	if s.stopInto != "" && q.Durable() {
		return q.StopWithSavepoint(ctx, s.stopInto)
	}
	return q.Stop(ctx)
}

// consume reads the query to its end and returns how many rows were shown.
func (s *session) consume(ctx context.Context, q *engine.Query) (int64, error) {
	log := q.Changelog()
	var bar io.Writer
	if s.std.errTTY && (log == nil || s.format == output.Table || !s.std.outTTY) {
		bar = s.std.err
	}
	p := startProgress(bar, q.Metrics)
	defer p.end()
	if log == nil {
		return 0, q.Wait(ctx)
	}
	defer log.Close()
	printer := s.printer(q)
	for {
		b, err := log.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return printer.Rows(), err
		}
		err = printer.Print(b)
		b.Release()
		if err != nil {
			return printer.Rows(), err
		}
	}
	if err := q.Wait(ctx); err != nil {
		return printer.Rows(), err
	}
	err := printer.Close()
	return printer.Rows(), err
}

func (s *session) printer(q *engine.Query) output.Printer {
	if kind := q.Statement(); (kind == "EXPLAIN" || kind == "SHOW CREATE") && s.format.ForPeople() {
		return output.NewText(s.stdout)
	}
	return output.New(s.format, s.stdout, q.Schema(), q.Mode())
}

// count says how many rows there were, where the output does not show it.
func (s *session) count(q *engine.Query, rows int64) {
	switch {
	case q.Complete(): // a notice has said so
	case q.Statement() == "INSERT":
		fmt.Fprintf(s.std.err, "%s written to %s\n", countRows(q.Metrics().SinkRows), strings.Join(q.Targets(), ", "))
	case q.Statement() == "SELECT" && s.format == output.Table:
		fmt.Fprintf(s.std.err, "%s\n", countRows(rows))
	}
}

// explainScripts shows the plans of the queries in scripts.
func explainScripts(ctx context.Context, f engine.ExplainFormat, state string, std streams, scripts []script) error {
	eng, err := engine.Open(ctx, engine.Config{UDF: modules("", std.err), StateDir: state})
	if err != nil {
		report(std.err, script{}, err)
		return errFailed
	}
	defer eng.Close()
	for _, sc := range scripts {
		text, err := eng.Explain(ctx, sc.text, f)
		if err != nil {
			report(std.err, sc, err)
			return errFailed
		}
		if _, err := io.WriteString(std.out, text); err != nil {
			if errors.Is(err, syscall.EPIPE) {
				return nil
			}
			report(std.err, script{}, err)
			return errFailed
		}
	}
	return nil
}

// pipe is standard output: it remembers that its reader has gone away, which is
// a wish to end and no failure.
type pipe struct {
	w      io.Writer
	broken atomic.Bool
}

func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.broken.Store(true)
	}
	return n, err
}
