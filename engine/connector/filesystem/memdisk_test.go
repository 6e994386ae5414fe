package filesystem

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
)

// errKilled is what every step returns after the process has died.
var errKilled = errors.New("killed")

// memDisk is a file system in memory that kills its process before a step, and loses
// with the power what was not made durable, or some of it.
type memDisk struct {
	steps  int // done so far
	killAt int // the step that is not done any more; 0: none
	dead   bool

	files   map[string]*memFile // as the process sees them
	stored  map[string]*memFile // the names that are durable
	pending []nameChange        // those that are not, in their order
	folder  map[string]bool
}

// nameChange takes a name away from a file, gives it one, or does both at once.
type nameChange struct {
	from, to string
	file     *memFile
}

type memFile struct {
	disk   *memDisk
	data   []byte
	synced int
}

func newMemDisk() *memDisk {
	return &memDisk{files: map[string]*memFile{}, stored: map[string]*memFile{}, folder: map[string]bool{}}
}

// step counts one change of the disk.
func (d *memDisk) step() error {
	if d.steps++; d.killAt != 0 && d.steps >= d.killAt {
		d.dead = true
	}
	return d.alive()
}

func (d *memDisk) alive() error {
	if d.dead {
		return errKilled
	}
	return nil
}

// restart begins a process after one that was killed.
func (d *memDisk) restart() { d.dead, d.killAt, d.steps = false, 0, 0 }

// powerLoss leaves what is durable and, drawn by r, some of the rest: changes of names
// may be stored or not, content that was not synced may be cut anywhere.
func (d *memDisk) powerLoss(r *rand.Rand) {
	for _, c := range d.pending {
		if r.IntN(2) == 0 {
			d.store(c)
		}
	}
	d.pending = nil
	d.files = map[string]*memFile{}
	for _, n := range slices.Sorted(maps.Keys(d.stored)) {
		f := d.stored[n]
		keep := f.synced + r.IntN(len(f.data)-f.synced+1)
		d.files[n] = &memFile{disk: d, data: f.data[:keep:keep], synced: keep}
	}
	d.stored = maps.Clone(d.files)
}

// change does a change of names.
func (d *memDisk) change(c nameChange) {
	delete(d.files, c.from)
	if c.to != "" {
		d.files[c.to] = c.file
	}
	d.pending = append(d.pending, c)
}

func (d *memDisk) store(c nameChange) {
	if d.stored[c.from] == c.file {
		delete(d.stored, c.from)
	}
	if c.to != "" {
		d.stored[c.to] = c.file
	}
}

func missing(path string) error { return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist} }

func (d *memDisk) MakeFolder(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.folder[path] = true
	return nil
}

func (d *memDisk) Create(path string) (diskFile, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	if d.files[path] != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	f := &memFile{disk: d}
	d.change(nameChange{to: path, file: f})
	return f, nil
}

func (f *memFile) Write(b []byte) (int, error) {
	// Half of it may be there.
	if err := f.disk.step(); err != nil {
		f.data = append(f.data, b[:len(b)/2]...)
		return 0, err
	}
	f.data = append(f.data, b...)
	return len(b), nil
}

func (f *memFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	f.synced = len(f.data)
	return nil
}

func (f *memFile) Close() error { return f.disk.alive() }

func (d *memDisk) Open(path string) (io.ReadSeekCloser, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	f, ok := d.files[path]
	if !ok {
		return nil, missing(path)
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{bytes.NewReader(f.data), io.NopCloser(nil)}, nil
}

func (d *memDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	f, ok := d.files[from]
	if !ok {
		return missing(from)
	}
	d.change(nameChange{from, to, f})
	return nil
}

func (d *memDisk) Remove(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	f := d.files[path]
	if f == nil {
		return missing(path)
	}
	d.change(nameChange{from: path, file: f})
	return nil
}

func (d *memDisk) SyncFolder(string) error {
	if err := d.step(); err != nil {
		return err
	}
	for _, c := range d.pending { // there is one folder
		d.store(c)
	}
	d.pending = nil
	return nil
}

func (d *memDisk) Names(folder string) ([]string, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	var names []string
	for n := range d.files {
		if filepath.Dir(n) == folder {
			names = append(names, filepath.Base(n))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (d *memDisk) Exists(path string) (bool, error) {
	if err := d.alive(); err != nil {
		return false, err
	}
	return d.files[path] != nil || d.folder[path], nil
}

// shown is the content of the files that are not hidden, and the names of the others.
func (d *memDisk) shown() (lines []string, hidden []string) {
	for _, n := range slices.Sorted(maps.Keys(d.files)) {
		if strings.HasPrefix(filepath.Base(n), ".") {
			hidden = append(hidden, n)
			continue
		}
		for _, l := range strings.SplitAfter(string(d.files[n].data), "\n") {
			if l = strings.TrimSuffix(l, "\n"); l != "" && l != "id,name" {
				lines = append(lines, l)
			}
		}
	}
	return lines, hidden
}

func (d *memDisk) String() string {
	var b strings.Builder
	for _, n := range slices.Sorted(maps.Keys(d.files)) {
		fmt.Fprintf(&b, "%s: %q\n", n, d.files[n].data)
	}
	return b.String()
}
