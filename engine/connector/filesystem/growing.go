package filesystem

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"

	"github.com/weirdb/weir/engine/errs"
)

// growing is a file that is read while it is written. It shows whole lines only, and
// says that there is nothing for now at the end of the last one. Once it is complete
// it ends where the file does.
type growing struct {
	*os.File
	offset   int64  // of Next
	shown    int64  // the end of what may be read
	complete bool   // nothing more is written
	before   []byte // the last bytes before offset, as they were read
}

// beforeBytes is how much growing remembers in order to see that a file was rewritten.
const beforeBytes = 64

// Size is what the file has now.
func (g *growing) Size() int64 {
	info, err := g.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// Next never waits.
func (g *growing) Next(_ context.Context, b []byte) (int, error) {
	if g.offset >= g.shown {
		if err := g.look(); err != nil {
			return 0, err
		}
	}
	n := min(int64(len(b)), g.shown-g.offset)
	if n == 0 {
		if g.complete {
			return 0, io.EOF
		}
		return 0, nil
	}
	read, err := g.ReadAt(b[:n], g.offset)
	if errors.Is(err, io.EOF) && int64(read) < n {
		return 0, g.truncated()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	g.pass(b[:read])
	return read, nil
}

func (g *growing) pass(b []byte) {
	g.offset += int64(len(b))
	g.before = append(g.before, b[max(0, len(b)-beforeBytes):]...)
	g.before = g.before[max(0, len(g.before)-beforeBytes):]
}

// Skip moves forward, over what was read at an earlier time.
func (g *growing) Skip(_ context.Context, n int64) error {
	g.offset += n
	g.before = make([]byte, min(beforeBytes, g.offset))
	if _, err := g.ReadAt(g.before, g.offset-int64(len(g.before))); err != nil {
		return g.truncated()
	}
	return nil
}

// look finds out how much may be read.
func (g *growing) look() error {
	info, err := g.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size < g.offset {
		return g.truncated()
	}
	if size == g.shown {
		return nil
	}
	now := make([]byte, len(g.before))
	if _, err := g.ReadAt(now, g.offset-int64(len(now))); err != nil || !bytes.Equal(now, g.before) {
		return g.truncated()
	}
	if g.complete {
		g.shown = size
		return nil
	}
	var block [32 << 10]byte
	for end := size; end > g.shown; {
		from := max(g.shown, end-int64(len(block)))
		part := block[:end-from]
		if _, err := g.ReadAt(part, from); err != nil {
			return g.truncated()
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			g.shown = from + int64(i) + 1
			return nil
		}
		end = from
	}
	return nil
}

func (g *growing) truncated() error {
	return errs.New(errs.Input, errs.Position{}, "the file was truncated or written anew: it does not have the %d bytes any more that were read", g.offset).
		In(g.Name()).WithHint("when a log is rotated, rename the file and begin a new one")
}

// mark tells a file from others: by its number, and by what it has before an offset.
type mark struct {
	inode      uint64 // 0: not known
	offset     int64
	head, tail []byte // hashes of the first and the last bytes before offset
}

const markBytes = 1024

// markOf is the mark of a file at an offset. Without the bytes before it matches none.
func markOf(f *os.File, offset int64) mark {
	m := mark{offset: offset}
	if info, err := f.Stat(); err == nil {
		m.inode = inode(info)
	}
	n := min(offset, markBytes)
	m.head, m.tail = hashAt(f, 0, n), hashAt(f, offset-n, n)
	return m
}

func hashAt(f io.ReaderAt, from, n int64) []byte {
	buf := make([]byte, n)
	if read, err := f.ReadAt(buf, from); int64(read) < n && err != nil {
		return nil
	}
	sum := sha256.Sum256(buf)
	return sum[:16]
}

// in reports whether f begins with what the mark was made of, and whether it is surely
// the same file.
func (m mark) in(f *os.File) (has, same bool) {
	is := markOf(f, m.offset)
	has = len(m.head) > 0 && bytes.Equal(is.head, m.head) && bytes.Equal(is.tail, m.tail)
	return has, has && is.inode == m.inode && m.inode != 0
}
