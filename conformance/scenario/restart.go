package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weirdb/weir/engine/errs"
)

// RestartKind is a way to end queries so that they can go on.
type RestartKind uint8

// The ways. After a crash queries go on from their last checkpoint, whenever that was;
// those whose rows go to the test are stopped instead, since it would see rows again.
const (
	Stop RestartKind = iota
	Savepoint
	Crash
)

func (k RestartKind) String() string { return [...]string{"stop", "savepoint", "crash"}[k] }

// Restart says how queries end and go on.
type Restart struct {
	Kind        RestartKind
	Parallelism int // from then on
	// ForgetWatermarks lets event time begin anew.
	ForgetWatermarks bool
}

// stateDir is the engine's state directory.
func (s *Session) stateDir() string {
	if s.cfg.StateDir == "" {
		return ""
	}
	return filepath.Join(s.cfg.StateDir, "state")
}

// keep waits until no restart brings again what queries have read. Rows that came before
// time passed would else come after it.
func (s *Session) keep(ctx context.Context) error {
	if s.cfg.StateDir == "" {
		return nil
	}
	dir := filepath.Join(s.cfg.StateDir, "kept")
	for _, r := range s.runs {
		err := r.q.Savepoint(ctx, dir)
		if errs.CodeOf(err) == errs.Invalid && r.q.Wait(ctx) == nil {
			err = nil // it has ended by itself
		}
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return err
		}
	}
	return nil
}

// Restart ends the engine with all queries, and lets them go on in another one, which
// has been told the same statements.
func (s *Session) Restart(ctx context.Context, how Restart) error {
	from := make([]string, len(s.runs)) // the savepoint of each
	for i, r := range s.runs {
		var err error
		switch {
		case how.Kind == Crash && r.sink != nil:
			r.q.Cancel()
			if err = r.q.Wait(ctx); errs.CodeOf(err) == errs.Canceled {
				err = nil
			}
		case how.Kind == Savepoint:
			dir := filepath.Join(s.cfg.StateDir, fmt.Sprintf("savepoint-%d-%d", s.lives, i))
			if err = r.q.StopWithSavepoint(ctx, dir); err == nil {
				from[i] = dir
			} else if errs.CodeOf(err) == errs.Invalid && r.q.Wait(ctx) == nil {
				err = nil // it has ended by itself
			}
		default:
			err = r.q.Stop(ctx)
		}
		if err != nil {
			return err
		}
		<-r.drained
		if r.err != nil {
			return r.err
		}
	}
	if err := s.eng.Close(); err != nil {
		return err
	}
	// The catalog begins anew, like one that is in the statements of a script.
	kept, err := os.ReadDir(s.stateDir())
	if err != nil {
		return err
	}
	for _, e := range kept {
		if e.Name() == "jobs" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.stateDir(), e.Name())); err != nil {
			return err
		}
	}
	s.lives++
	s.cfg.Parallelism = how.Parallelism
	if err := s.open(ctx); err != nil {
		return err
	}
	for _, sql := range s.done {
		if err := s.execute(ctx, sql); err != nil {
			return err
		}
	}
	for _, make := range s.made {
		if err := make(); err != nil {
			return err
		}
	}
	watermarks := "keep"
	if how.ForgetWatermarks {
		watermarks = "forget"
	}
	if err := s.execute(ctx, "SET 'restore.watermark' = '"+watermarks+"'"); err != nil {
		return err
	}
	for i, r := range s.runs {
		if from[i] != "" {
			if err := os.RemoveAll(filepath.Join(s.stateDir(), "jobs", r.name)); err != nil {
				return err
			}
		}
		if err := s.execute(ctx, "SET 'execution.savepoint.path' = '"+from[i]+"'"); err != nil {
			return err
		}
		if err := r.begin(ctx); err != nil {
			return err
		}
	}
	if s.cfg.Stepwise {
		return s.Sync(ctx)
	}
	return nil
}
