package state

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weirdb/weir/engine/errs"
)

func (d *DB) corrupt(err error) error {
	return errs.New(errs.State, errs.Position{}, "the state in %s is corrupt: %w", d.dir, firstLine{err}).
		WithHint("start from a savepoint, or remove the folder to begin without state; sinks may then get rows again")
}

// firstLine is an error without what Pebble's errors carry for programs, which stands on
// lines of its own.
type firstLine struct{ error }

func (e firstLine) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), "\n")
	return text
}

func (e firstLine) Unwrap() error { return e.error }

// newer refuses what a later version of this program wrote.
func (d *DB) newer(what any) error {
	return errs.New(errs.State, errs.Position{}, "the state in %s has version %v, this program knows versions up to %d", d.dir, what, FormatVersion).
		WithHint("use the program that wrote it, or a later one; nothing was changed")
}

// openError says why a database cannot be opened, and what can be done.
func (d *DB) openError(err error) error {
	var known *errs.Error
	text := err.Error()
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EWOULDBLOCK), strings.Contains(text, "lock held by current process"):
		return errs.New(errs.State, errs.Position{}, "the state in %s is in use by another query or process", d.dir).
			WithHint("stop that one first, or give this one another 'pipeline.name' or state directory")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return errs.New(errs.State, errs.Position{}, "the state directory %s cannot be written: %w", d.dir, err).
			WithHint("checkpoints are written there; make it writable, or give another directory")
	case strings.Contains(text, "comparer name from file"), strings.Contains(text, "unknown to this version of Pebble"), strings.Contains(text, "written in unknown format"):
		return d.newer("another")
	case pebble.IsCorruptionError(err), errors.Is(err, fs.ErrNotExist):
		// A file that the database names is missing or damaged: a copy that was not
		// finished looks like that.
		return d.corrupt(err)
	}
	if e := d.worldError("opened", err); !errors.As(e, &known) || known.Hint != "" {
		return e
	}
	return known.WithHint("if its files are damaged, start from a savepoint, or remove the folder to begin without state")
}

// worldError says what could not be done. It leaves errors that say so as they are.
func (d *DB) worldError(what string, err error) error {
	var known *errs.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case pebble.IsCorruptionError(err):
		return d.corrupt(err)
	case errors.Is(err, syscall.ENOSPC):
		return d.diskFull(err)
	}
	return errs.New(errs.State, errs.Position{}, "the state in %s cannot be %s: %w", d.dir, what, err)
}

func (d *DB) diskFull(err error) error {
	return errs.New(errs.State, errs.Position{}, "the state in %s cannot be written: %w", d.dir, err).
		WithHint("the disk is full: the last checkpoint is kept; free some space")
}
