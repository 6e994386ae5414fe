package engine

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/job"
)

// JobState is what the directory of a job, or a savepoint, has.
type JobState struct {
	Dir       string `json:"dir"`
	Job       string `json:"job"`
	Statement string `json:"statement,omitempty"`
	// FormatVersion is that of the state on disk.
	FormatVersion int `json:"formatVersion"`
	// Epoch is that of the last checkpoint; 0: there is none yet. Taken is when it was
	// written, by the clock of the machine, Now what the job's own clock showed.
	Epoch uint64    `json:"epoch"`
	Taken time.Time `json:"taken,omitzero"`
	Now   time.Time `json:"now,omitzero"`
	// Complete says that the job has ended, and starting it does nothing.
	Complete  bool `json:"complete"`
	Savepoint bool `json:"savepoint"` // it is one
	// DiskBytes is the size of all files.
	DiskBytes int64           `json:"diskBytes"`
	Sources   []SourceState   `json:"sources,omitempty"`
	Operators []OperatorState `json:"operators,omitempty"`
	// Err is why nothing more is known of the directory, or "".
	Err string `json:"error,omitempty"`
}

// SourceState says how far a source was read: how many of its splits were begun or
// finished.
type SourceState struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Begun    int    `json:"begun"`
	Finished int    `json:"finished"`
}

// OperatorState is what an operator keeps.
type OperatorState struct {
	ID     string       `json:"id"`
	Name   string       `json:"name"`
	Tables []TableState `json:"tables"`
}

// TableState is a table of an operator: the number of keys, and the bytes that its
// entries have on disk before compression.
type TableState struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Keys        int64  `json:"keys"`
	Bytes       int64  `json:"bytes"`
}

// InspectState says what a state directory, the directory of one job, or a savepoint
// has. Nothing in it is changed; jobs must not be running, but may have crashed. A job
// that cannot be looked at has its Err set, unless it was asked for by itself.
func InspectState(dir string) ([]JobState, error) {
	if s, err := job.InspectSavepoint(dir, nil); errs.CodeOf(err) != errs.NotFound || err == nil {
		if err != nil {
			return nil, err
		}
		state := jobState(dir, s)
		state.Savepoint = true
		return []JobState{state}, nil
	}
	folder := filepath.Join(dir, jobsFolder)
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s, err := job.Inspect(dir, nil)
		if err != nil {
			return nil, err
		}
		return []JobState{jobState(dir, s)}, nil
	case err != nil:
		return nil, errs.New(errs.State, errs.Position{}, "the state directory cannot be read: %w", err)
	}
	all := []JobState{}
	for _, entry := range entries {
		if !entry.IsDir() || entry.Name()[0] == '.' {
			continue
		}
		at := filepath.Join(folder, entry.Name())
		s, err := job.Inspect(at, nil)
		state := jobState(at, s)
		if name, unescaped := url.PathUnescape(entry.Name()); unescaped == nil && state.Job == "" {
			state.Job = name
		}
		switch {
		case errs.CodeOf(err) == errs.NotFound || err == nil && state.Epoch == 0:
			state.Err = "there is no checkpoint yet: the job was killed before its first one, and begins anew when it is started"
		case err != nil:
			state.Err = err.Error()
		}
		all = append(all, state)
	}
	return all, nil
}

func jobState(dir string, s job.Status) JobState {
	out := JobState{
		Dir: dir, Job: s.Job, Statement: s.Statement, FormatVersion: s.Version, Epoch: s.Epoch, Taken: s.Taken, Now: s.Now,
		Complete: s.Complete, DiskBytes: s.DiskBytes,
	}
	for _, src := range s.Sources {
		out.Sources = append(out.Sources, SourceState{src.ID, src.Name, src.Begun, src.Finished})
	}
	for _, o := range s.Operators {
		op := OperatorState{ID: o.ID, Name: o.Name}
		for _, t := range o.Tables {
			op.Tables = append(op.Tables, TableState{t.Name, t.Description, t.Keys, t.Bytes})
		}
		out.Operators = append(out.Operators, op)
	}
	return out
}
