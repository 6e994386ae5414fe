package filesystem

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// sink writes a file, or files in a folder. While they are written files have
// hidden names in the same folder; a commit gives them their names.
//
// A folder gets a file per shard and checkpoint, shown at its commit. A single
// file is shown at the final commit: until then each checkpoint leaves a hidden
// segment, so that a query can go on after a crash; they are joined at the end.
//
// A hidden name says whose the file is: a query's that can go on after a crash, and
// that clears what its earlier runs left, or that of one run.
type sink struct {
	encoding connector.Encoding
	disk     disk
	folder   string
	file     string // "" : part files
	exists   string // 'sink.exists'
	run      string // one life of the query
	owner    string // of hidden files
	named    bool   // the owner is a query, not a run
	pos      errs.Position
}

const (
	runOwner   = "run-"
	queryOwner = "query-"
)

// Resume makes the query the owner of what is written.
func (s *sink) Resume(query string) {
	sum := sha256.Sum256([]byte(query))
	s.owner, s.named = queryOwner+hex.EncodeToString(sum[:8]), true
}

func (s *sink) Mode() sqltype.ChangelogMode { return s.encoding.Mode() }

func (s *sink) Guarantee() connector.Guarantee { return connector.ExactlyOnce }

// MaxWriters is one when there is one file.
func (s *sink) MaxWriters() int {
	if s.file != "" {
		return 1
	}
	return 0
}

func (s *sink) Writer(_ context.Context, shard, _ int) (connector.Writer, error) {
	if err := s.disk.MakeFolder(s.folder); err != nil {
		return nil, s.failed(err)
	}
	if err := s.checkExisting(); err != nil {
		return nil, err
	}
	w := &writer{sink: s, shard: shard}
	if err := w.begin(); err != nil {
		return nil, err
	}
	return w, nil
}

// checkExisting finds out before any row flows whether rows can be added.
func (s *sink) checkExisting() error {
	if s.file == "" || s.exists == "replace" {
		return nil
	}
	name := s.path(s.file)
	f, err := s.disk.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return s.failed(err)
	}
	defer f.Close()
	if s.exists == "error" {
		return errs.New(errs.Exists, s.pos, "the file %q exists already", name).WithHint("'sink.exists' = 'append' or 'replace' writes to it")
	}
	if err := s.encoding.Accepts(f); err != nil {
		return errs.New(errs.Output, s.pos, "rows cannot be added to the file %q: %w", name, err).
			WithHint("name another file, or set 'sink.exists' = 'replace'")
	}
	return nil
}

func (s *sink) Committer(context.Context) (connector.Committer, error) {
	return &committer{sink: s}, nil
}

// failed is the error that the target cannot be written.
func (s *sink) failed(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return errs.New(errs.Output, s.pos, "%q cannot be written: %w", s.path(s.file), err)
}

// hidden is the hidden name of a file in the making or kept for later.
func (s *sink) hidden(stage string) string { return "." + cmp.Or(s.file, "part") + "." + stage }

// writer is the connector.Writer of one shard.
type writer struct {
	*sink
	shard int
	files int   // begun so far
	err   error // what failed: rows may be lost, so nothing goes on

	name    string   // of the open file
	f       diskFile // nil: none is open
	rows    int64    // in it
	buf     *bufio.Writer
	encoder connector.Encoder
}

func (w *writer) begin() error {
	name := w.hidden(fmt.Sprintf("inprogress-%s-%s-%d-%d", w.owner, w.run, w.shard, w.files))
	f, err := w.disk.Create(w.path(name))
	if err != nil {
		return w.failed(err)
	}
	w.f, w.name, w.rows, w.buf = f, name, 0, bufio.NewWriterSize(f, 256<<10)
	w.files++
	if w.encoder, err = w.encoding.Encoder(w.buf); err != nil {
		return w.failed(err)
	}
	return nil
}

func (w *writer) Write(b *vector.Batch) error {
	if w.err != nil || b.Len() == 0 {
		return w.err
	}
	if w.f == nil {
		if err := w.begin(); err != nil {
			w.err = err
			return err
		}
	}
	if err := w.encoder.Write(b); err != nil {
		w.err = w.outputError(err)
		return w.err
	}
	w.rows += int64(b.Len())
	return nil
}

// outputError leaves errors about rows as they are.
func (w *writer) outputError(err error) error {
	var e *errs.Error
	if errors.As(err, &e) {
		return err
	}
	return w.failed(err)
}

func (w *writer) EndEpoch() error { return nil }

// Prepare makes a file durable, its name included. A writer of part files that has no
// row leaves its file open, until the end; one of a single file says at every checkpoint
// how far it is.
func (w *writer) Prepare(checkpoint uint64) ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	final, single := checkpoint == connector.Final, w.file != ""
	h := handle{Checkpoint: checkpoint, Single: single, Target: w.file, Owner: w.owner, Run: w.run}
	if w.f != nil && (w.rows > 0 || final) {
		h.Hidden = w.name
		if err := w.finish(); err != nil {
			w.err = w.outputError(err)
			return nil, w.err
		}
	}
	switch {
	case single:
		h.Segment = w.hidden(fmt.Sprintf("segment-%s-%020d-%s-%d", w.owner, checkpoint, w.run, w.files-1))
	case h.Hidden == "":
		return nil, nil
	default:
		h.Target = fmt.Sprintf("part-%s-%d-%d%s", w.run, w.shard, w.files-1, w.encoding.Extension())
	}
	return json.Marshal(h)
}

// finish completes the open file.
func (w *writer) finish() error {
	err := w.encoder.Close()
	if err == nil {
		err = w.buf.Flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	if err != nil {
		return err // Close discards it
	}
	err = w.f.Close()
	w.f = nil
	if err != nil {
		return err
	}
	return w.disk.SyncFolder(w.folder)
}

func (w *writer) Close() error {
	if w.f == nil {
		return nil
	}
	err := w.f.Close()
	w.f = nil
	return errors.Join(err, w.disk.Remove(w.path(w.name)))
}

// stdSink writes standard output.
type stdSink struct {
	encoding connector.Encoding
	w        io.Writer
}

func (s *stdSink) Mode() sqltype.ChangelogMode { return s.encoding.Mode() }

func (s *stdSink) Guarantee() connector.Guarantee { return connector.AtLeastOnce }

func (s *stdSink) MaxWriters() int { return 1 }

func (s *stdSink) Committer(context.Context) (connector.Committer, error) {
	return connector.NopCommitter{}, nil
}

func (s *stdSink) Writer(context.Context, int, int) (connector.Writer, error) {
	buf := bufio.NewWriterSize(s.w, 64<<10)
	e, err := s.encoding.Encoder(buf)
	if err != nil {
		return nil, err
	}
	return &stdWriter{encoder: e, buf: buf}, nil
}

// stdWriter shows its rows at every epoch's end.
type stdWriter struct {
	encoder connector.Encoder
	buf     *bufio.Writer
}

func (w *stdWriter) Write(b *vector.Batch) error { return stdError(w.encoder.Write(b)) }

func stdError(err error) error {
	var e *errs.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return errs.New(errs.Output, errs.Position{}, "standard output cannot be written: %w", err)
}

func (w *stdWriter) EndEpoch() error {
	if err := w.encoder.Flush(); err != nil {
		return stdError(err)
	}
	return stdError(w.buf.Flush())
}

func (w *stdWriter) Prepare(checkpoint uint64) ([]byte, error) {
	if checkpoint == connector.Final {
		if err := w.encoder.Close(); err != nil {
			return nil, stdError(err)
		}
		return nil, stdError(w.buf.Flush())
	}
	return nil, w.EndEpoch()
}

func (w *stdWriter) Close() error { return nil }
