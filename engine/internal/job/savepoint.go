package job

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/state"
)

// A savepoint is a folder with a copy of a job's database in a folder of its own, and a
// file that is written last and says what the copy consists of. So a savepoint that was
// not taken, or copied, to its end is known.
const (
	savepointFile    = "savepoint.json"
	savepointState   = "state"
	savepointVersion = 1
)

// savepoint is what the file says.
type savepoint struct {
	Version   int              `json:"version"`
	ID        string           `json:"id"`
	Job       string           `json:"job"`
	Statement string           `json:"statement"`
	Epoch     uint64           `json:"epoch"`
	Taken     time.Time        `json:"taken"`
	Files     map[string]int64 `json:"files"` // and how many bytes each has
}

func savepointError(dir string, format string, args ...any) *errs.Error {
	return errs.New(errs.State, errs.Position{}, "savepoint %s: %w", dir, errs.New(errs.State, errs.Position{}, format, args...))
}

// checkSavepointTarget finds out whether a savepoint can be written to a folder.
func checkSavepointTarget(fsys state.FS, dir string) error {
	names, err := fsys.List(dir)
	if err == nil && len(names) > 0 {
		return errs.New(errs.Exists, errs.Position{}, "the folder %s, where a savepoint is to be written, is not empty", dir).
			WithHint("name a new folder: savepoints are never overwritten")
	}
	return nil
}

// writeSavepoint copies the last checkpoint of a database.
func writeSavepoint(fsys state.FS, dir string, db *state.DB, r *record) error {
	if err := checkSavepointTarget(fsys, dir); err != nil {
		return err
	}
	last, _ := db.Last()
	at := savepoint{
		Version: savepointVersion, ID: rand.Text(), Job: r.Job, Statement: r.Statement, Epoch: last.Epoch, Taken: time.UnixMilli(r.Taken).UTC(), Files: map[string]int64{},
	}
	err := fsys.MkdirAll(dir, 0o777)
	data := fsys.PathJoin(dir, savepointState)
	if err == nil {
		err = db.Savepoint(data)
	}
	if err == nil {
		at.Files, err = filesOf(fsys, data)
	}
	if err == nil {
		text, marshalled := json.MarshalIndent(at, "", "  ")
		if marshalled != nil {
			panic("job: " + marshalled.Error())
		}
		err = writeFile(fsys, fsys.PathJoin(dir, savepointFile), append(text, '\n'))
	}
	if err == nil {
		err = syncFolder(fsys, dir)
	}
	if err == nil {
		return syncFolder(fsys, fsys.PathDir(dir))
	}
	e := savepointError(dir, "it cannot be written: %w", err)
	if errors.Is(err, syscall.ENOSPC) {
		e = e.WithHint("the disk is full; the query goes on")
	}
	return e
}

func filesOf(fsys state.FS, dir string) (map[string]int64, error) {
	names, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]int64{}
	for _, n := range names {
		info, err := fsys.Stat(fsys.PathJoin(dir, n))
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files[n] = info.Size()
		}
	}
	return files, nil
}

// writeFile makes a file appear as a whole.
func writeFile(fsys state.FS, path string, text []byte) error {
	f, err := fsys.Create(path+".tmp", "")
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return fsys.Rename(path+".tmp", path)
}

func syncFolder(fsys state.FS, dir string) error {
	f, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// readSavepoint finds out whether a folder is a whole savepoint.
func readSavepoint(fsys state.FS, dir string) (savepoint, error) {
	var s savepoint
	f, err := fsys.Open(fsys.PathJoin(dir, savepointFile))
	if errors.Is(err, fs.ErrNotExist) {
		names, listed := fsys.List(dir)
		switch {
		case errors.Is(listed, fs.ErrNotExist):
			return s, errs.New(errs.NotFound, errs.Position{}, "there is no savepoint %s", dir)
		case isDatabase(names):
			return s, savepointError(dir, "it is the directory of a job").WithHint("start the query under that job's name and state directory, without a savepoint")
		}
		return s, savepointError(dir, "it is not complete: it has no file %s, which is written last", savepointFile).
			WithHint("copy it again, or take another savepoint")
	}
	if err != nil {
		return s, savepointError(dir, "it cannot be read: %w", err)
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, savepointError(dir, "its file %s cannot be read: %w", savepointFile, err).WithHint("copy it again, or use another savepoint")
	}
	if s.Version > savepointVersion {
		return s, savepointError(dir, "it has version %d, this program knows versions up to %d", s.Version, savepointVersion).
			WithHint("use the program that wrote it, or a later one")
	}
	there, err := filesOf(fsys, fsys.PathJoin(dir, savepointState))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, savepointError(dir, "it cannot be read: %w", err)
	}
	for name, size := range s.Files {
		if n, ok := there[name]; !ok {
			return s, savepointError(dir, "it is not complete: the file %s is missing", name).WithHint("copy it again")
		} else if n != size {
			return s, savepointError(dir, "it is not complete: the file %s has %d bytes of %d", name, n, size).WithHint("copy it again")
		}
	}
	return s, nil
}

// isDatabase tells by the names of its files whether a folder has a job's database.
func isDatabase(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == "CURRENT" || strings.HasPrefix(n, "MANIFEST") })
}

// beginWith makes a savepoint the state of a job that has none yet. The savepoint
// stays as it is.
func beginWith(d Durable) error {
	s, err := readSavepoint(d.FS, d.Savepoint)
	if err != nil {
		return err
	}
	switch has, err := state.Inspect(d.Dir, d.FS); {
	case errs.CodeOf(err) == errs.NotFound:
	case err != nil:
		return err
	case has.Some:
		r, err := decodeRecord(has.Checkpoint.Meta)
		if err == nil && r.Savepoint != s.ID {
			err = errs.New(errs.Exists, errs.Position{}, "job %s is to begin with savepoint %s, but has state of its own", d.Name, d.Savepoint).
				WithHint("give it another 'pipeline.name'; or remove %s, or RESET 'execution.savepoint.path' to go on with that state", d.Dir)
		}
		return err
	}
	if err := copySavepoint(d, s); err != nil {
		return savepointError(d.Savepoint, "it cannot be copied to %s: %w", d.Dir, err)
	}
	return nil
}

// copySavepoint copies under another name first, so that a job's directory has all of
// it or nothing.
func copySavepoint(d Durable, s savepoint) (err error) {
	fsys := d.FS
	parent := fsys.PathDir(d.Dir)
	making := fsys.PathJoin(parent, "."+fsys.PathBase(d.Dir)+".restoring")
	if err := errors.Join(fsys.RemoveAll(making), fsys.RemoveAll(d.Dir), fsys.MkdirAll(making, 0o777)); err != nil {
		return err
	}
	for name := range s.Files {
		from, to := fsys.PathJoin(d.Savepoint, savepointState, name), fsys.PathJoin(making, name)
		// Tables are never changed: a link does, where it is possible.
		if strings.HasSuffix(name, ".sst") && fsys.Link(from, to) == nil {
			continue
		}
		if err := copyFile(fsys, from, to); err != nil {
			return err
		}
	}
	db, err := state.OpenDB(making, state.DBOptions{FS: fsys})
	if err != nil {
		return err
	}
	last, _ := db.Last()
	if last.Epoch != s.Epoch { // the end of a log that is damaged is not missed otherwise
		err := errs.New(errs.State, errs.Position{}, "it has the checkpoint of epoch %d, and should have that of %d", last.Epoch, s.Epoch)
		return errors.Join(err.WithHint("copy it again, or use another savepoint"), db.Close())
	}
	r, err := decodeRecord(last.Meta)
	if err == nil {
		// What sinks had prepared was committed before the savepoint was taken.
		r.Job, r.Savepoint = d.Name, s.ID
		for i := range r.Sinks {
			r.Sinks[i].Handles = nil
		}
		last.Meta = r.encode()
		err = db.Commit(last, nil)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := errors.Join(syncFolder(fsys, making), fsys.Rename(making, d.Dir)); err != nil {
		return err
	}
	return syncFolder(fsys, parent)
}

func copyFile(fsys state.FS, from, to string) error {
	in, err := fsys.Open(from)
	if err != nil {
		return err
	}
	out, err := fsys.Create(to, "")
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close(), in.Close())
}
