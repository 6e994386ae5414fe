package filesystem

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

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
type sink struct {
	encoding connector.Encoding
	folder   string
	file     string // "" : part files
	exists   string // 'sink.exists'
	id       string // of this run
	pos      errs.Position
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
	if err := os.MkdirAll(s.folder, 0o777); err != nil {
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
	if s.file == "" || s.exists != "append" {
		return nil
	}
	f, err := os.Open(filepath.Join(s.folder, s.file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return s.failed(err)
	}
	defer f.Close()
	if err := s.encoding.Accepts(f); err != nil {
		return errs.New(errs.Output, s.pos, "rows cannot be added to the file %q: %w", f.Name(), err).
			WithHint("name another file, or set 'sink.exists' = 'replace'")
	}
	return nil
}

func (s *sink) Committer(context.Context) (connector.Committer, error) {
	return &committer{s}, nil
}

// failed is the error that the target cannot be written.
func (s *sink) failed(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return errs.New(errs.Output, s.pos, "%q cannot be written: %w", filepath.Join(s.folder, s.file), err)
}

// hiddenName is the hidden name of a file in the making or kept for later.
func (s *sink) hiddenName(stage string) string {
	name := s.file
	if name == "" {
		name = "part"
	}
	return filepath.Join(s.folder, "."+name+"."+stage)
}

// handle is what Prepare hands to Commit.
type handle struct {
	Hidden     string `json:"hidden,omitempty"`  // what was written; "": nothing since the last checkpoint
	Target     string `json:"target"`            // the name it gets
	Segment    string `json:"segment,omitempty"` // the name it has until the query ends
	Checkpoint uint64 `json:"checkpoint"`
	Single     bool   `json:"single,omitempty"` // Target is the whole result, made of all checkpoints' files
}

// writer is the connector.Writer of one shard.
type writer struct {
	*sink
	shard int
	files int // begun so far

	f       *os.File // nil: none is open
	buf     *bufio.Writer
	encoder connector.Encoder
}

func (w *writer) begin() error {
	name := w.hiddenName(fmt.Sprintf("inprogress-%s-%d-%d", w.id, w.shard, w.files))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return w.failed(err)
	}
	w.f, w.buf = f, bufio.NewWriterSize(f, 256<<10)
	w.files++
	if w.encoder, err = w.encoding.Encoder(w.buf); err != nil {
		return w.failed(err)
	}
	return nil
}

func (w *writer) Write(b *vector.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if w.f == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := w.encoder.Write(b); err != nil {
		return w.outputError(err)
	}
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

func (w *writer) Prepare(checkpoint uint64) ([]byte, error) {
	h := handle{Checkpoint: checkpoint, Single: w.file != "", Target: filepath.Join(w.folder, w.file)}
	if w.f != nil {
		h.Hidden = w.f.Name()
		if err := w.finish(); err != nil {
			return nil, w.outputError(err)
		}
	}
	switch {
	case h.Hidden == "" && (w.file == "" || checkpoint != connector.Final):
		return nil, nil
	case w.file != "":
		h.Segment = w.hiddenName(fmt.Sprintf("segment-%020d-%s", checkpoint, w.id))
	default:
		h.Target = filepath.Join(w.folder, fmt.Sprintf("part-%s-%d-%d%s", w.id, w.shard, w.files-1, w.encoding.Extension()))
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
	return err
}

func (w *writer) Close() error {
	if w.f == nil {
		return nil
	}
	name := w.f.Name()
	err := w.f.Close()
	w.f = nil
	return errors.Join(err, os.Remove(name))
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
