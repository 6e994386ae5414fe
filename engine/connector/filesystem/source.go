package filesystem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// source reads the files of a location.
type source struct {
	location
	decoding connector.Decoding
	table    *connector.Table // with what is told about files
	pos      errs.Position    // of 'path'
	stdin    io.Reader
	interval time.Duration // 'source.monitor-interval'; 0: what is there is all
	after    func(time.Duration) <-chan time.Time
}

// splitData is a split's own data.
type splitData struct {
	path    string
	part    connector.Part
	monitor bool // what comes later is read, too
}

func (s *source) Mode() sqltype.ChangelogMode { return s.decoding.Mode() }

// Bounded is true of streams, too: they end when their writer does.
func (s *source) Bounded() bool { return s.interval == 0 }

func (s *source) Replayable() bool {
	if s.kind == stdPath {
		return false
	}
	info, err := os.Stat(s.path)
	return err != nil || info.Mode().IsRegular() || info.IsDir()
}

func (s *source) Splits(context.Context) ([]connector.Split, error) {
	if s.kind == stdPath {
		return []connector.Split{{ID: "-", Data: splitData{path: "-"}}}, nil
	}
	if s.interval > 0 {
		return []connector.Split{{ID: s.path, Data: splitData{path: s.path, monitor: true}}}, nil
	}
	paths, err := s.paths()
	if err != nil {
		return nil, err
	}
	var out []connector.Split
	for _, path := range paths {
		splits, err := s.splits(path)
		if err != nil {
			return nil, err
		}
		out = append(out, splits...)
	}
	return out, nil
}

func (s *source) splits(path string) ([]connector.Split, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, s.failed(path, err)
	}
	if !info.Mode().IsRegular() { // opening a pipe twice would lose its writer
		return []connector.Split{{ID: path, Data: splitData{path: path}}}, nil
	}
	f, err := s.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	parts, err := s.decoding.Splits(f)
	if err != nil {
		return nil, err
	}
	if parts == nil {
		return []connector.Split{{ID: path, Size: f.Size(), Data: splitData{path: path}}}, nil
	}
	out := make([]connector.Split, len(parts))
	for i, p := range parts {
		out[i] = connector.Split{ID: fmt.Sprintf("%s#%d-%d", path, p.From, p.To), Size: p.Size, Data: splitData{path: path, part: p}}
	}
	return out, nil
}

// paths lists the files in order of their names. Names that begin with a dot or an
// underscore are not read: they are files that are being written, or notes.
func (s *source) paths() ([]string, error) {
	if s.kind == globPath {
		found, err := filepath.Glob(s.path)
		if err != nil {
			return nil, s.failed(s.path, err)
		}
		found = slices.DeleteFunc(found, func(p string) bool {
			info, err := os.Stat(p)
			return hidden(filepath.Base(p)) || err == nil && info.IsDir()
		})
		if len(found) == 0 && s.interval == 0 {
			return nil, errs.New(errs.NotFound, s.pos, "no file matches '%s'", s.path)
		}
		return found, nil
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return nil, s.failed(s.path, err)
	}
	if !info.IsDir() {
		return []string{s.path}, nil
	}
	var out []string
	err = filepath.WalkDir(s.path, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != s.path && hidden(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir():
			if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() { // a link may lead to a folder
				out = append(out, path)
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.failed(s.path, err)
	}
	return out, nil
}

func hidden(name string) bool { return name[0] == '.' || name[0] == '_' }

func (s *source) Open(ctx context.Context, split connector.Split, scan connector.Scan, position []byte) (connector.Reader, error) {
	d := split.Data.(splitData)
	if d.monitor {
		return s.openMonitored(ctx, scan, position)
	}
	var f connector.File
	if d.path == "-" {
		f = newStream("standard input", s.stdin)
	} else {
		var err error
		if f, err = s.open(d.path); err != nil {
			return nil, err
		}
	}
	r, err := s.decode(ctx, f, d.path, d.part, scan, position)
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// openMonitored opens the reader of what grows: a file, or a set of files.
func (s *source) openMonitored(ctx context.Context, scan connector.Scan, position []byte) (connector.Reader, error) {
	info, err := os.Stat(s.path)
	switch {
	case s.kind == globPath || err == nil && info.IsDir():
		return s.monitor(ctx, scan, position)
	case err != nil && position == nil:
		return nil, s.failed(s.path, err)
	case err == nil && !info.Mode().IsRegular():
		return nil, errs.New(errs.Option, s.pos, "%q is no file and no folder: it cannot be monitored", s.path).
			WithHint("remove 'source.monitor-interval'; a pipe is read until its writer ends")
	case !s.decoding.Grows():
		return nil, errs.New(errs.Unsupported, s.pos, "%q cannot be read while it grows: files of this format are complete", s.path).
			WithHint("name a folder or a pattern, which get new files, or remove 'source.monitor-interval'")
	}
	if len(s.table.Metadata) == 0 {
		return s.follow(ctx, scan, position)
	}
	inner, t := s.telling(s.path, scan)
	if t.Reader, err = s.follow(ctx, inner, position); err != nil {
		return nil, err
	}
	t.look(s.path)
	return t, nil
}

func (s *source) open(path string) (connector.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, s.failed(path, err)
	}
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		err = errors.New("it is a folder")
	case err == nil && info.Mode().IsRegular():
		return &file{File: f, size: info.Size()}, nil
	case err == nil:
		return newStream(path, f), nil
	}
	f.Close()
	return nil, s.failed(path, err)
}

// failed is the error that a path cannot be read.
func (s *source) failed(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return errs.New(errs.Input, s.pos, "%q cannot be read: %w", path, err)
	}
	e := errs.New(errs.NotFound, s.pos, "the file %q does not exist", path)
	e.Err = err
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return e.WithHint("there is no folder %q either", filepath.Clean(dir))
	}
	var names []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	if near := errs.Suggest(name, names); near != "" {
		return e.WithHint("did you mean %q?", dir+near)
	}
	if dir == "" {
		if wd, err := os.Getwd(); err == nil {
			return e.WithHint("the working folder is %q", wd)
		}
	}
	return e
}
