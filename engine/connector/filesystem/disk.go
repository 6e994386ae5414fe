package filesystem

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is what a sink does to the file system: each method is a step after which a
// process may be killed. What Sync and SyncFolder have not seen may be lost with the
// power.
type disk interface {
	// MakeFolder makes a folder and those above it, durably.
	MakeFolder(path string) error
	// Create makes a new file.
	Create(path string) (diskFile, error)
	Open(path string) (io.ReadSeekCloser, error)
	Rename(from, to string) error
	Remove(path string) error
	// SyncFolder makes the names in a folder durable.
	SyncFolder(path string) error
	// Names lists a folder in order.
	Names(folder string) ([]string, error)
	Exists(path string) (bool, error)
}

type diskFile interface {
	io.Writer
	Sync() error
	Close() error
}

// osDisk is the file system.
type osDisk struct{}

func (d osDisk) MakeFolder(path string) error {
	var made []string // and the first that is there
	for at := path; ; at = filepath.Dir(at) {
		made = append(made, at)
		if ok, err := d.Exists(at); ok || err != nil || filepath.Dir(at) == at {
			break
		}
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	for _, at := range made[1:] {
		if err := d.SyncFolder(at); err != nil {
			return err
		}
	}
	return nil
}

func (osDisk) Create(path string) (diskFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Open(path string) (io.ReadSeekCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) Remove(path string) error { return os.Remove(path) }

// SyncFolder does nothing where the system has no such thing.
func (osDisk) SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func (osDisk) Names(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (osDisk) Exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
