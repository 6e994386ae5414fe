package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/weirdb/weir/engine/errs"
)

// Log keeps the statements that made a catalog what it is, in a file of a directory:
// a line that says its version, then a line for each change with a checksum. A line
// that was not written to its end, by a process that died, is dropped when the file is
// opened. One process at a time has the log of a directory open.
type Log struct {
	path string
	file *os.File
	lock *flock.Flock
	size int64 // of what is whole
	err  error // what an append left behind that could not be undone
}

// Record is a change of a catalog: statements, and the catalog and database in which
// their names without one are looked up.
type Record struct {
	Catalog  string `json:"catalog,omitempty"`
	Database string `json:"database,omitempty"`
	SQL      string `json:"sql"`
}

const (
	logName    = "catalog.log"
	logVersion = 1
	logHeader  = "weir catalog %d\n"
)

// OpenLog opens the log of a directory, which it makes if there is none, and returns
// the changes that it has.
func OpenLog(dir string) (*Log, []Record, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, writable(stateError("the state directory cannot be made: %w", err), err)
	}
	l := &Log{path: filepath.Join(dir, logName), lock: flock.New(filepath.Join(dir, "lock"))}
	switch locked, err := l.lock.TryLock(); {
	case err != nil:
		return nil, nil, writable(stateError("the state directory %s cannot be locked: %w", dir, err), err)
	case !locked:
		return nil, nil, stateError("the state directory %s is in use by another engine", dir).WithHint("one at a time can have it; give this one another directory")
	}
	records, err := l.read()
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return l, records, nil
}

func stateError(format string, args ...any) *errs.Error {
	return errs.New(errs.State, errs.Position{}, format, args...)
}

// writable adds what can be done about a directory that cannot be written.
func writable(e *errs.Error, err error) *errs.Error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return e.WithHint("tables and checkpoints are written there: make it writable, or give another directory; what is there can be looked at, as with weir state inspect")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return e.WithHint("the disk is full: free some space; what was kept before is still there")
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return e.WithHint("a file has that name: give another directory")
	}
	return e
}

// read opens the file and drops what is not whole of its last line.
func (l *Log) read() ([]Record, error) {
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, writable(stateError("the catalog cannot be opened: %w", err), err)
	}
	l.file = file
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, stateError("the catalog cannot be read: %w", err)
	}
	var records []Record
	for n := 1; len(text) > 0; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if n == 1 {
			if err := l.version(line, whole); err != nil {
				return nil, err
			}
		} else if r, ok := decodeRecord(line); ok && whole {
			records = append(records, r)
		} else if len(rest) > 0 {
			return nil, stateError("%s:%d: the line is damaged, and is not the last one", l.path, n).WithHint("restore the file from a copy")
		} else {
			break
		}
		if !whole {
			break
		}
		l.size += int64(len(line)) + 1
		text = rest
	}
	if l.size == 0 {
		if err := l.write(fmt.Appendf(nil, logHeader, logVersion)); err != nil {
			return nil, err
		}
		return nil, syncDir(filepath.Dir(l.path))
	}
	if err := l.undo(); err != nil {
		return nil, writable(stateError("the catalog cannot be written: %w", err), err)
	}
	return records, nil
}

// syncDir makes the name of a new file last, where the system can.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return stateError("the state directory cannot be opened: %w", err)
	}
	_ = dir.Sync() // not every system has it
	return dir.Close()
}

// version checks the first line. A process may have died while it wrote it.
func (l *Log) version(line []byte, whole bool) error {
	version := 0
	header := fmt.Sprintf(logHeader, logVersion)
	switch n, err := fmt.Sscanf(string(line)+"\n", logHeader, &version); {
	case !whole && bytes.HasPrefix([]byte(header), line):
		return nil
	case n != 1 || err != nil || !whole:
		return stateError("%s is no catalog", l.path).WithHint("give a directory of its own for the state")
	case version > logVersion:
		return stateError("%s has version %d, this program knows versions up to %d", l.path, version, logVersion).WithHint("use the newer program that wrote it")
	}
	return nil
}

// Append makes changes last: they are on disk, all of them, when it returns.
func (l *Log) Append(records ...Record) error {
	if l.err != nil {
		return stateError("the catalog cannot be changed since a write failed: %w", l.err)
	}
	var text []byte
	for _, r := range records {
		text = append(text, encodeRecord(r)...)
	}
	return l.write(text)
}

func (l *Log) write(text []byte) error {
	_, err := l.file.WriteAt(text, l.size)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.err = l.undo()
		return writable(stateError("the catalog cannot be written, and has not changed: %w", err), err)
	}
	l.size += int64(len(text))
	return nil
}

// undo takes away what is behind the last whole change.
func (l *Log) undo() error { return l.file.Truncate(l.size) }

// Close lets another process have the log.
func (l *Log) Close() error {
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	return errors.Join(err, l.lock.Unlock())
}

// encodeRecord is a line: the checksum of the rest, in eight hexadecimal digits, a
// blank, and JSON.
func encodeRecord(r Record) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic("catalog: " + err.Error())
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)), text)
}

func decodeRecord(line []byte) (r Record, ok bool) {
	sum, text, ok := bytes.Cut(line, []byte(" "))
	if !ok || string(sum) != fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))) {
		return r, false
	}
	return r, json.Unmarshal(text, &r) == nil
}
