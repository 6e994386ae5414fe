package filesystem

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"

	"github.com/weirdb/weir/engine/connector"
)

// committer gives files their names. Every step can be done again after a crash.
type committer struct{ *sink }

func (c *committer) Commit(handles [][]byte) error {
	for _, raw := range handles {
		if raw == nil {
			continue
		}
		h, err := parseHandle(raw)
		if err != nil {
			return err
		}
		switch {
		case !h.Single:
			err = move(h.Hidden, h.Target)
		case h.Checkpoint != connector.Final:
			err = move(h.Hidden, h.Segment)
		default:
			err = c.complete(h)
		}
		if err != nil {
			return c.failed(err)
		}
	}
	if err := syncFolder(c.folder); err != nil {
		return c.failed(err)
	}
	return nil
}

func parseHandle(raw []byte) (handle, error) {
	var h handle
	if err := json.Unmarshal(raw, &h); err != nil {
		return h, errs.New(errs.State, errs.Position{}, "a handle of a file sink cannot be read: %w", err)
	}
	return h, nil
}

// move renames, unless it was done before.
func move(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat(to); e == nil {
			return nil
		}
	}
	return err
}

// segments lists the files of earlier checkpoints, in order.
func (c *committer) segments() ([]string, error) {
	return c.hiddenFiles("segment-")
}

func (c *committer) hiddenFiles(stage string) ([]string, error) {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return nil, err
	}
	prefix := filepath.Base(c.hiddenName(stage))
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			out = append(out, filepath.Join(c.folder, e.Name()))
		}
	}
	return out, nil
}

// complete makes the single file of what the checkpoints left, and of the file
// that was there before. The whole is first made under a hidden name; once it has
// it, the pieces are removed, and only then it is shown: so doing all this again
// after a crash never adds a piece twice.
func (c *committer) complete(h handle) error {
	whole := c.hiddenName("complete")
	pieces, err := c.segments()
	if err != nil {
		return err
	}
	if _, err := os.Stat(whole); errors.Is(err, fs.ErrNotExist) {
		all := slices.Clone(pieces)
		if h.Hidden != "" {
			if _, err := os.Stat(h.Hidden); err == nil {
				all = append(all, h.Hidden)
			}
		}
		if len(all) == 0 {
			_, err := os.Stat(h.Target) // shown before
			return err
		}
		if _, err := os.Stat(h.Target); err == nil && c.exists == "append" {
			all = slices.Insert(all, 0, h.Target)
		}
		if len(all) == 1 {
			return os.Rename(all[0], h.Target)
		}
		if err := c.join(all, whole); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if h.Hidden != "" {
		pieces = append(pieces, h.Hidden)
	}
	for _, p := range pieces {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := syncFolder(c.folder); err != nil {
		return err
	}
	return os.Rename(whole, h.Target)
}

func (c *committer) join(pieces []string, whole string) error {
	readers := make([]io.ReadSeeker, len(pieces))
	for i, p := range pieces {
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		readers[i] = f
	}
	name := c.hiddenName("inprogress-" + c.id + "-join")
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	err = c.encoding.Join(out, readers)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return os.Rename(name, whole)
}

// Abort removes what this run began and, of a single file, what any run did. Part
// files of other runs in the same folder may belong to a query that still runs;
// they are hidden and stay.
func (c *committer) Abort(keep [][]byte) error {
	if _, err := os.Stat(c.folder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	kept := map[string]bool{}
	single := false
	for _, raw := range keep {
		if raw == nil {
			continue
		}
		h, err := parseHandle(raw)
		if err != nil {
			return err
		}
		kept[h.Hidden] = true
		single = true
	}
	stage := "inprogress-"
	if c.file == "" {
		stage += c.id
	}
	remove, err := c.hiddenFiles(stage)
	if err != nil {
		return c.failed(err)
	}
	if c.file != "" && !single {
		// Nothing of an earlier run counts: its segments go as well.
		for _, stage := range []string{"segment-", "complete"} {
			more, err := c.hiddenFiles(stage)
			if err != nil {
				return c.failed(err)
			}
			remove = append(remove, more...)
		}
	}
	for _, name := range remove {
		if kept[name] {
			continue
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c.failed(err)
		}
	}
	return nil
}

func (c *committer) Close() error { return nil }

// syncFolder makes renames durable where the system can.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}
