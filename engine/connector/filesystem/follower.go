package filesystem

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
)

// follower is the connector.Reader of a file that grows. When the file is renamed and
// another one has its name, it reads the old one to its end and goes on with the new;
// files that came and went in between are found beside it, by the beginning of their
// names and the time of their last change.
//
// It finds its place again by the bytes before it: a file that was renamed while
// nobody read is known, and one that was truncated is an error.
type follower struct {
	*source
	scan connector.Scan

	file    *growing                // being read; nil: none
	reader  connector.GrowingReader // of file
	last    os.FileInfo             // of the file that was read before, or nil
	rotated bool                    // at the last look another file had the path
	idle    idle

	at    int64 // the offset of the position that was made last
	place []byte
	done  []byte // the last position in a file that was read to its end, while the next one is not there
}

// idle paces the looks at what may have something new.
type idle struct {
	interval time.Duration
	after    func(time.Duration) <-chan time.Time
	timer    <-chan time.Time // when to look again; nil: now
}

// wait waits until it is time to look again, or ctx ends. One that has ended already
// asks for all that is at hand.
func (i *idle) wait(ctx context.Context) bool {
	if i.timer == nil || ctx.Err() != nil {
		return true
	}
	select {
	case <-i.timer:
		i.timer = nil
		return true
	case <-ctx.Done():
		return false
	}
}

// rest says that there is nothing for now.
func (i *idle) rest() {
	if i.timer == nil {
		i.timer = i.after(i.interval)
	}
}

func (s *source) follow(ctx context.Context, scan connector.Scan, position []byte) (connector.Reader, error) {
	f := &follower{source: s, scan: scan, idle: idle{interval: s.interval, after: s.after}}
	if position == nil {
		file, err := os.Open(s.path)
		if err != nil {
			return nil, s.failed(s.path, err)
		}
		return f, f.begin(ctx, file, nil)
	}
	m, inner, done, err := parseFollowed(position)
	if err != nil {
		return nil, s.unreadable()
	}
	file, err := f.find(m, done)
	if err != nil {
		return nil, err
	}
	if file == nil {
		f.done = position
		return f, nil
	}
	return f, f.begin(ctx, file, inner)
}

// begin reads a file from a position.
func (f *follower) begin(ctx context.Context, file *os.File, position []byte) error {
	f.file = &growing{File: file}
	f.rotated = false
	r, err := f.decoding.Open(context.WithoutCancel(ctx), f.file, connector.Part{}, f.scan, position)
	if err != nil {
		f.file = nil
		return errors.Join(err, file.Close())
	}
	f.reader = r.(connector.GrowingReader)
	return nil
}

// find opens the file that has a mark: that of the path, or one beside it that had the
// path before. It is nil when nothing of a file is still to be read.
func (f *follower) find(m mark, done bool) (*os.File, error) {
	old, err := f.siblings(time.Time{})
	if err != nil {
		return nil, err
	}
	var found *os.File
	for _, path := range append([]string{f.path}, old...) {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, errors.Join(f.failed(path, err), closeFile(found))
		}
		switch has, same := m.in(file); {
		case same:
			return file, closeFile(found)
		case has && found == nil: // a copy, if no better one follows
			found = file
		default:
			file.Close()
		}
	}
	if found != nil || m.offset == 0 || done {
		return found, nil
	}
	return nil, errs.New(errs.Input, f.pos, "the file %q does not have the %d bytes any more that were read: it was truncated or written anew, and no file beside it has them", f.path, m.offset).
		WithHint("put the file back that was read, or start the query without its state to read this one from its beginning")
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// siblings lists the files beside the path that had it before, as logs are rotated:
// path.1, path.2026-01-31, path-20260131. Those not changed after a time are left out.
// The oldest is first.
func (f *follower) siblings(after time.Time) ([]string, error) {
	dir, base := filepath.Split(f.path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil, f.failed(dir, err)
	}
	type sibling struct {
		path string
		at   time.Time
	}
	var found []sibling
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), base); !ok || rest == "" || rest[0] != '.' && rest[0] != '-' {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(after) {
			found = append(found, sibling{dir + e.Name(), info.ModTime()})
		}
	}
	slices.SortStableFunc(found, func(a, b sibling) int { return a.at.Compare(b.at) })
	paths := make([]string, len(found))
	for i, s := range found {
		paths[i] = s.path
	}
	return paths, nil
}

func (f *follower) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if !f.idle.wait(ctx) {
		return nil, nil
	}
	for {
		if f.reader == nil {
			if err := f.next(ctx); err != nil {
				return nil, err
			}
		}
		if f.reader != nil {
			b, err := f.reader.Read(context.WithoutCancel(ctx), p, limit)
			switch {
			case errors.Is(err, io.EOF):
				if err := f.end(); err != nil {
					return nil, err
				}
				continue
			case b != nil || err != nil:
				return b, err
			}
			if more, err := f.look(); more || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		if f.idle.rest(); ctx.Err() != nil || !f.idle.wait(ctx) {
			return nil, nil
		}
	}
}

// next begins the next file, if there is one: the first that had the path after the
// last one and was renamed, else the one that has it.
func (f *follower) next(ctx context.Context) error {
	file, err := os.Open(f.path) // first: if it is renamed from here on, it is still the one
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.failed(f.path, err)
	}
	if f.last != nil {
		old, err := f.later(file)
		if err != nil {
			return errors.Join(err, closeFile(file))
		}
		if old != nil {
			if err := closeFile(file); err != nil {
				return errors.Join(err, old.Close())
			}
			file = old
		}
	}
	if file == nil {
		return nil // it comes
	}
	return f.begin(ctx, file, nil)
}

// later opens the first file that was renamed after the last one, if there is one.
// now is the file that has the path, or nil.
func (f *follower) later(now *os.File) (*os.File, error) {
	paths, err := f.siblings(f.last.ModTime())
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || os.SameFile(info, f.last) {
			continue
		}
		if now != nil {
			if is, err := now.Stat(); err != nil || os.SameFile(info, is) {
				continue
			}
		}
		if slices.Contains([]string{".gz", ".bz2", ".xz", ".zst", ".zip"}, filepath.Ext(path)) {
			return nil, errs.New(errs.Input, f.pos, "the file %q was compressed before it was read", path).
				WithHint("let the log be compressed later, and unpack the file")
		}
		old, err := os.Open(path)
		if err != nil {
			return nil, f.failed(path, err)
		}
		return old, nil
	}
	return nil, nil
}

// look finds out whether another file has the path. Only at the second look the old
// file is complete: who renames a file may still write to it until the new one is
// there.
func (f *follower) look() (more bool, err error) {
	now, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, f.failed(f.path, err)
	}
	was, err := f.file.Stat()
	if err != nil {
		return false, f.failed(f.path, err)
	}
	if os.SameFile(now, was) {
		f.rotated = false
		return false, nil
	}
	if !f.rotated {
		f.rotated = true
		return false, nil
	}
	f.file.complete = true
	return true, nil
}

func (f *follower) end() error {
	if f.reader == nil {
		return nil
	}
	f.done = f.position(true)
	var err error
	if f.last, err = f.file.Stat(); err != nil {
		return f.failed(f.path, err)
	}
	err = f.reader.Close()
	f.reader, f.file, f.place = nil, nil, nil
	return err
}

// Position has the mark of the file at the place, and the place for the format.
func (f *follower) Position() []byte {
	if f.reader == nil {
		return f.done
	}
	if f.place == nil || f.at != f.reader.Offset() {
		f.place = f.position(false)
	}
	return f.place
}

func (f *follower) position(done bool) []byte {
	f.at = f.reader.Offset()
	m := markOf(f.file.File, f.at)
	w := placeWriter{followedPlace}
	w.number(m.inode)
	w.number(uint64(m.offset))
	w.text(m.head)
	w.text(m.tail)
	w.text(f.reader.Position())
	if done {
		w.number(1)
	} else {
		w.number(0)
	}
	return w
}

func parseFollowed(position []byte) (m mark, inner []byte, done bool, err error) {
	r := newPlaceReader(position, followedPlace)
	m.inode, m.offset = r.number(), int64(r.number())
	m.head, m.tail, inner = r.text(), r.text(), r.text()
	if len(inner) == 0 {
		inner = nil
	}
	return m, inner, r.number() != 0, r.end()
}

func (f *follower) Close() error {
	if f.reader == nil {
		return nil
	}
	r := f.reader
	f.reader = nil
	return r.Close()
}
