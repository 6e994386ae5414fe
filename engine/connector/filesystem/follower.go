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
	queue   []*os.File              // renamed files to be read before the next one of the path
	rotated bool                    // at the last look another file had the path
	idle    idle

	at    int64 // the offset of the position that was made last
	place []byte
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
	m, inner, err := parseFollowed(position)
	if err != nil {
		return nil, s.unreadable()
	}
	file, err := f.find(m)
	if err != nil || file == nil {
		return f, err
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
// path before. It is nil when nothing was read of any file and there is none now.
func (f *follower) find(m mark) (*os.File, error) {
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
	if found != nil || m.offset == 0 {
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

// next begins the next file, if there is one.
func (f *follower) next(ctx context.Context) error {
	if len(f.queue) > 0 {
		file := f.queue[0]
		f.queue = f.queue[1:]
		if err := f.begin(ctx, file, nil); err != nil {
			return err
		}
		f.file.complete = true
		return nil
	}
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it comes
	}
	if err != nil {
		return f.failed(f.path, err)
	}
	return f.begin(ctx, file, nil)
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
	later, err := f.siblings(was.ModTime())
	if err != nil {
		return false, err
	}
	for _, path := range later {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, was) {
			continue
		}
		if slices.Contains([]string{".gz", ".bz2", ".xz", ".zst", ".zip"}, filepath.Ext(path)) {
			return false, errs.New(errs.Input, f.pos, "the file %q was compressed before it was read", path).
				WithHint("let the log be compressed later, and unpack the file")
		}
		file, err := os.Open(path)
		if err != nil {
			return false, f.failed(path, err)
		}
		f.queue = append(f.queue, file)
	}
	f.file.complete = true
	return true, nil
}

func (f *follower) end() error {
	if f.reader == nil {
		return nil
	}
	err := f.reader.Close()
	f.reader, f.file, f.place = nil, nil, nil
	return err
}

// Position has the mark of the file at the place, and the place for the format.
func (f *follower) Position() []byte {
	m := mark{}
	var inner []byte
	if f.reader != nil {
		offset := f.reader.Offset()
		if f.place != nil && f.at == offset {
			return f.place
		}
		m, inner = markOf(f.file.File, offset), f.reader.Position()
	}
	w := placeWriter{followedPlace}
	w.number(m.inode)
	w.number(uint64(m.offset))
	w.text(m.head)
	w.text(m.tail)
	w.text(inner)
	f.at, f.place = m.offset, w
	return w
}

func parseFollowed(position []byte) (m mark, inner []byte, err error) {
	r := newPlaceReader(position, followedPlace)
	m.inode, m.offset = r.number(), int64(r.number())
	m.head, m.tail, inner = r.text(), r.text(), r.text()
	if len(inner) == 0 {
		inner = nil
	}
	return m, inner, r.end()
}

func (f *follower) Close() error {
	err := f.end()
	for _, file := range f.queue {
		err = errors.Join(err, file.Close())
	}
	return err
}
