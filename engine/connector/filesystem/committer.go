package filesystem

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
)

// committer gives files their names. Every step can be done again after a crash.
type committer struct {
	*sink
	stored []handle // that were to be committed: they are in a checkpoint
}

// handle is what Prepare hands to Commit: names of files in the folder.
type handle struct {
	Hidden     string `json:"hidden,omitempty"`  // what was written; "": nothing since the last checkpoint
	Target     string `json:"target"`            // the name it gets
	Segment    string `json:"segment,omitempty"` // the name it has until the query ends
	Checkpoint uint64 `json:"checkpoint"`
	Single     bool   `json:"single,omitempty"` // Target is the whole result, made of all checkpoints' files
	Owner      string `json:"owner"`            // of the files of all checkpoints
	Run        string `json:"run"`              // that wrote it
}

func parseHandle(raw []byte) (handle, error) {
	var h handle
	if err := json.Unmarshal(raw, &h); err != nil {
		return h, errs.New(errs.State, errs.Position{}, "a handle of a file sink cannot be read: %w", err)
	}
	return h, nil
}

// handles reads handles. A query that was not told its name has it from those of an
// earlier run.
func (c *committer) handles(raw [][]byte) ([]handle, error) {
	var out []handle
	for _, r := range raw {
		if r == nil {
			continue
		}
		h, err := parseHandle(r)
		if err != nil {
			return nil, err
		}
		if !c.named && h.Owner != c.owner {
			c.owner, c.named = h.Owner, true
		}
		out = append(out, h)
	}
	return out, nil
}

func (c *committer) Commit(raw [][]byte) error {
	handles, err := c.handles(raw)
	if err != nil || len(handles) == 0 {
		return err
	}
	c.stored = append(c.stored[:0], handles...)
	for _, h := range handles {
		switch {
		case !h.Single:
			err = c.move(h, h.Target)
		case h.Checkpoint != connector.Final:
			err = c.move(h, h.Segment)
		default:
			err = c.complete(h)
		}
		if err != nil {
			return c.failed(err)
		}
	}
	if err := c.disk.SyncFolder(c.folder); err != nil {
		return c.failed(err)
	}
	return nil
}

// move gives a file its name, unless that was done before: then the file has it, or
// whoever reads the folder has taken it away. Only a file of this run must be there.
func (c *committer) move(h handle, to string) error {
	if h.Hidden == "" {
		return nil
	}
	err := c.disk.Rename(c.path(h.Hidden), c.path(to))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if there, e := c.disk.Exists(c.path(to)); there || e != nil || h.Run != c.run {
		return e
	}
	return err
}

// hiddenFiles lists the hidden files whose stage begins with some text, in order.
func (c *committer) hiddenFiles(stage string) ([]string, error) {
	names, err := c.disk.Names(c.folder)
	if err != nil {
		return nil, err
	}
	prefix := c.hidden(stage)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) }), nil
}

// complete makes the single file of what the checkpoints left, and of the file
// that was there before. The whole is first made under a hidden name; once it has
// it, the pieces are removed, and only then it is shown: so doing all this again
// after a crash never adds a piece twice.
func (c *committer) complete(h handle) error {
	whole := c.hidden("complete-" + c.owner)
	pieces, err := c.hiddenFiles("segment-" + c.owner + "-")
	if err != nil {
		return err
	}
	if h.Hidden != "" {
		pieces = append(pieces, h.Hidden)
	}
	made, err := c.disk.Exists(c.path(whole))
	if err != nil {
		return err
	}
	if !made {
		all, err := c.present(pieces)
		if err != nil {
			return err
		}
		before, err := c.disk.Exists(c.path(h.Target))
		switch {
		case err != nil:
			return err
		case len(all) == 0 && before: // shown already
			return nil
		case before && c.exists == "append":
			all = slices.Insert(all, 0, h.Target)
		}
		switch len(all) {
		case 0:
			return &fs.PathError{Op: "rename", Path: c.path(h.Hidden), Err: fs.ErrNotExist}
		case 1:
			return c.disk.Rename(c.path(all[0]), c.path(h.Target))
		}
		if err := c.join(all, whole); err != nil {
			return err
		}
	}
	for _, p := range pieces {
		if err := c.disk.Remove(c.path(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := c.disk.SyncFolder(c.folder); err != nil {
		return err
	}
	return c.disk.Rename(c.path(whole), c.path(h.Target))
}

func (c *committer) present(names []string) (present []string, err error) {
	for _, name := range names {
		there, err := c.disk.Exists(c.path(name))
		if err != nil {
			return nil, err
		}
		if there {
			present = append(present, name)
		}
	}
	return present, nil
}

// join makes one file of several. It is durable before a piece is removed.
func (c *committer) join(pieces []string, whole string) error {
	readers := make([]io.ReadSeeker, len(pieces))
	for i, p := range pieces {
		f, err := c.disk.Open(c.path(p))
		if err != nil {
			return err
		}
		defer f.Close()
		readers[i] = f
	}
	name := c.hidden("inprogress-" + c.owner + "-" + c.run + "-join")
	if err := c.disk.Remove(c.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a try that failed
		return err
	}
	out, err := c.disk.Create(c.path(name))
	if err != nil {
		return err
	}
	err = c.encoding.Join(out, readers)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, c.disk.Remove(c.path(name)))
	}
	if err := c.disk.Rename(c.path(name), c.path(whole)); err != nil {
		return err
	}
	return c.disk.SyncFolder(c.folder)
}

// Abort removes what runs of this query left, except what keep and the last Commit
// have. A query without a name has one run. Of a single file it clears what all runs
// without a name left, of which none can be gone on with. In a folder theirs may belong
// to a query that still runs: part files that nobody finished are hidden, and stay.
func (c *committer) Abort(keep [][]byte) error {
	handles, err := c.handles(keep)
	if err != nil {
		return err
	}
	if c.named {
		handles = append(handles, c.stored...)
	}
	if there, err := c.disk.Exists(c.folder); !there || err != nil {
		return err
	}
	owner := c.owner + "-"
	if c.file != "" && !c.named {
		owner = runOwner
	}
	kept, last, ended := map[string]bool{}, uint64(0), false
	for _, h := range handles {
		kept[h.Hidden] = true
		last = max(last, h.Checkpoint)
		ended = ended || h.Checkpoint == connector.Final
	}
	remove, err := c.hiddenFiles("inprogress-" + owner)
	if err != nil {
		return c.failed(err)
	}
	if c.file != "" {
		segments, err := c.hiddenFiles("segment-" + owner)
		if err != nil {
			return c.failed(err)
		}
		for _, name := range segments {
			if len(handles) == 0 || c.checkpointOf(name) > last {
				remove = append(remove, name)
			}
		}
		if !ended {
			whole, err := c.hiddenFiles("complete-" + strings.TrimSuffix(owner, "-"))
			if err != nil {
				return c.failed(err)
			}
			remove = append(remove, whole...)
		}
	}
	for _, name := range remove {
		if kept[name] {
			continue
		}
		if err := c.disk.Remove(c.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c.failed(err)
		}
	}
	return nil
}

// checkpointOf is the number in the name of a segment.
func (c *committer) checkpointOf(segment string) uint64 {
	rest := strings.TrimPrefix(segment, c.hidden("segment-"+c.owner+"-"))
	number, _, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return connector.Final // not one that is known
	}
	return n
}

func (c *committer) Close() error { return nil }

// path is where a file of the folder is.
func (s *sink) path(name string) string { return filepath.Join(s.folder, name) }
