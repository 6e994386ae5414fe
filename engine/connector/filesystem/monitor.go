package filesystem

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
)

// monitor is the connector.Reader of a folder or a pattern that gets new files. It
// reads each once, when it is found, those first that changed first. A file has to be
// complete when it appears: it is moved in, or written under a name that begins with a
// dot or an underscore.
//
// It remembers the files that it has read as long as they are there. One that is taken
// away and comes again is a new one.
type monitor struct {
	*source
	scan connector.Scan

	finished map[string]bool
	queue    []string // found and not begun
	path     string   // being read
	reader   connector.Reader
	idle     idle

	names []byte // finished as it stands in positions; nil: it has changed
}

func (s *source) monitor(ctx context.Context, scan connector.Scan, position []byte) (connector.Reader, error) {
	m := &monitor{source: s, scan: scan, finished: map[string]bool{}, idle: idle{interval: s.interval, after: s.after}}
	if position == nil {
		return m, m.list()
	}
	r := newPlaceReader(position, monitoredPlace)
	path, inner := string(r.text()), r.text()
	name := ""
	for n := r.number(); n > 0 && !r.bad; n-- {
		shared := int(r.number())
		if shared > len(name) {
			r.bad = true
			break
		}
		name = name[:shared] + string(r.text())
		m.finished[name] = true
	}
	if err := r.end(); err != nil {
		return nil, s.unreadable()
	}
	if path != "" {
		if len(inner) == 0 {
			inner = nil
		}
		if err := m.begin(ctx, path, inner); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *monitor) begin(ctx context.Context, path string, position []byte) error {
	f, err := m.open(path)
	if err != nil {
		return err
	}
	m.path = path
	if m.reader, err = m.decode(ctx, f, path, connector.Part{}, m.scan, position); err != nil {
		f.Close()
	}
	return err
}

// list finds the files that are new, and forgets those that are gone.
func (m *monitor) list() error {
	paths, err := m.paths()
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(paths))
	changed := map[string]time.Time{}
	for _, path := range paths {
		there[path] = true
		if m.finished[path] || path == m.path {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			changed[path] = info.ModTime()
		}
	}
	n := len(m.finished)
	maps.DeleteFunc(m.finished, func(path string, _ bool) bool { return !there[path] })
	if len(m.finished) < n {
		m.names = nil
	}
	m.queue = slices.SortedFunc(maps.Keys(changed), func(a, b string) int {
		return cmp.Or(changed[a].Compare(changed[b]), strings.Compare(a, b))
	})
	return nil
}

func (m *monitor) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	for {
		if m.reader != nil {
			b, err := m.reader.Read(ctx, p, limit)
			if !errors.Is(err, io.EOF) {
				return b, err
			}
			if err := m.end(); err != nil {
				return nil, err
			}
		}
		if len(m.queue) == 0 {
			if !m.idle.wait(ctx) {
				return nil, nil
			}
			if err := m.list(); err != nil {
				return nil, err
			}
			if len(m.queue) == 0 {
				if m.idle.rest(); ctx.Err() != nil {
					return nil, nil
				}
				continue
			}
		}
		path := m.queue[0]
		m.queue = m.queue[1:]
		if err := m.begin(ctx, path, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// end closes the file that was read.
func (m *monitor) end() error {
	m.finished[m.path] = true
	m.path, m.names = "", nil
	r := m.reader
	m.reader = nil
	return r.Close()
}

// Position has the file that is being read, the place in it, and the names of those
// that have been: sorted, each without what it shares with the one before.
func (m *monitor) Position() []byte {
	w := placeWriter{monitoredPlace}
	w.text([]byte(m.path))
	if m.reader != nil {
		w.text(m.reader.Position())
	} else {
		w.text(nil)
	}
	if m.names == nil {
		names := placeWriter{}
		names.number(uint64(len(m.finished)))
		last := ""
		for _, name := range slices.Sorted(maps.Keys(m.finished)) {
			shared := 0
			for shared < min(len(name), len(last)) && name[shared] == last[shared] {
				shared++
			}
			names.number(uint64(shared))
			names.text([]byte(name[shared:]))
			last = name
		}
		m.names = names
	}
	return append(w, m.names...)
}

func (m *monitor) Close() error {
	if m.reader == nil {
		return nil
	}
	r := m.reader
	m.reader = nil
	return r.Close()
}

// unreadable is the error that a position is not one of this source.
func (s *source) unreadable() error {
	return errs.New(errs.State, s.pos, "the position stored for %q cannot be read", s.path).
		WithHint("was 'source.monitor-interval' set or removed, or the path changed from a file to a folder? then the query starts without its state")
}
