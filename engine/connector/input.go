package connector

import (
	"context"
	"errors"
	"io"

	"github.com/weirdb/weir/engine/errs"
)

// Input is a moving window on a File: what readers of text formats find records
// in. The window grows until a record fits, up to a limit, so that a file without
// line ends costs bounded memory.
type Input struct {
	file  File
	buf   []byte
	pos   int   // buf[pos:end] is the window
	end   int   //
	base  int64 // offset in the file of buf[0]
	limit int
	eof   bool
}

const inputSize = 1 << 20

// NewInput returns a window at the beginning of f, for records of at most limit
// bytes.
func NewInput(f File, limit int64) *Input {
	limit = min(max(limit, 64), 1<<30)
	return &Input{file: f, limit: int(limit)}
}

// Bytes is the window: what was read and not passed yet. It is valid until Fill.
func (in *Input) Bytes() []byte { return in.buf[in.pos:in.end] }

// Offset is the place of the window in the file.
func (in *Input) Offset() int64 { return in.base + int64(in.pos) }

// Advance passes n bytes of the window.
func (in *Input) Advance(n int) { in.pos += n }

// EOF reports whether the window reaches to the end of the file.
func (in *Input) EOF() bool { return in.eof }

// SkipTo moves the window to a place in the file that lies at or behind it.
func (in *Input) SkipTo(ctx context.Context, offset int64) error {
	if read := in.base + int64(in.end); offset > read {
		if err := in.file.Skip(ctx, offset-read); err != nil {
			return errs.New(errs.Input, errs.Position{}, "cannot go on at byte %d: %w", offset, err).In(in.Name())
		}
		in.base, in.pos, in.end = offset, 0, 0
		return nil
	}
	in.pos = int(offset - in.base)
	return nil
}

// FillUp fills the window with as much as a batch needs, when that is at hand: it
// does nothing for a stream, whose next bytes may be long in coming.
func (in *Input) FillUp(ctx context.Context) error {
	for !in.eof && in.file.Size() >= 0 && in.end-in.pos < inputSize/2 {
		if more, err := in.Fill(ctx); !more || err != nil {
			return err
		}
	}
	return nil
}

// Fill reads more bytes behind the window. It reports whether there are any: false
// without an error is the end of the file, or that there are none for now. The caller has seen to it
// that the window is not beyond the limit.
func (in *Input) Fill(ctx context.Context) (bool, error) {
	if in.eof {
		return false, nil
	}
	if in.end == len(in.buf) || in.end-in.pos == 0 {
		in.room()
	}
	if ctx.Err() != nil {
		return false, nil
	}
	n, err := in.file.Next(ctx, in.buf[in.end:])
	in.end += n
	switch {
	case errors.Is(err, io.EOF):
		in.eof = true
	case err != nil:
		var e *errs.Error
		if errors.As(err, &e) {
			return n > 0, err
		}
		return n > 0, errs.New(errs.Input, errs.Position{}, "reading failed at byte %d: %w", in.base+int64(in.end), err).In(in.file.Name())
	}
	return n > 0, nil
}

// Limit is the largest size of a record.
func (in *Input) Limit() int { return in.limit }

// TooLong is the error that the record at the given place is beyond the limit.
func (in *Input) TooLong(at errs.Position) error {
	return errs.New(errs.Limit, at, "the record that begins at byte %d has more than %d bytes", at.Offset, in.limit).
		In(in.file.Name()).WithHint("is a line end or a closing quote missing? 'max-line-bytes' raises the limit")
}

// room makes place behind the window, by moving it or by growing the buffer.
func (in *Input) room() {
	n := in.end - in.pos
	if n > in.limit+inputSize {
		panic("connector: the window of an input was filled beyond its limit")
	}
	to := in.buf
	if n > len(in.buf)/2 || in.buf == nil {
		to = make([]byte, max(inputSize, min(2*len(in.buf), in.limit+2*inputSize)))
	}
	copy(to, in.buf[in.pos:in.end])
	in.base += int64(in.pos)
	in.buf, in.pos, in.end = to, 0, n
}

// Close ends the file.
func (in *Input) Close() error { return in.file.Close() }

// Name is how errors call the file.
func (in *Input) Name() string { return in.file.Name() }
