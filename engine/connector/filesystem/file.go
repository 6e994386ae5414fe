package filesystem

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
)

// file is a regular file.
type file struct {
	*os.File
	size int64
}

func (f *file) Size() int64 { return f.size }

func (f *file) Next(_ context.Context, b []byte) (int, error) { return f.Read(b) }

func (f *file) Skip(_ context.Context, n int64) error {
	_, err := f.Seek(n, io.SeekCurrent)
	return err
}

// stream is an input that is not a regular file, such as a pipe. A goroutine reads
// it ahead, since reading cannot be given up when a context ends.
type stream struct {
	name   string
	r      io.Reader
	chunks chan chunk
	free   chan []byte // buffers to be filled; closed by Close
	cur    chunk
	rest   []byte
	closed atomic.Bool
}

type chunk struct {
	buf []byte
	n   int
	err error
}

const (
	streamChunk  = 64 << 10
	streamChunks = 4
)

func newStream(name string, r io.Reader) *stream {
	s := &stream{name: name, r: r, chunks: make(chan chunk, streamChunks), free: make(chan []byte, streamChunks)}
	for range streamChunks {
		s.free <- make([]byte, streamChunk)
	}
	go s.pump()
	return s
}

// pump ends with the input or after Close. A read that blocks for ever, as that of
// a terminal, can hold it: then it ends with the process.
func (s *stream) pump() {
	defer close(s.chunks)
	for buf := range s.free {
		if s.closed.Load() {
			return
		}
		n, err := s.r.Read(buf)
		s.chunks <- chunk{buf: buf, n: n, err: err} // never blocks: there are as many places as buffers
		if err != nil {
			return
		}
	}
}

func (s *stream) Name() string { return s.name }

func (s *stream) Size() int64 { return -1 }

func (s *stream) Next(ctx context.Context, b []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.cur.err != nil {
			return 0, s.cur.err
		}
		if s.cur.buf != nil {
			s.free <- s.cur.buf
			s.cur = chunk{}
		}
		select {
		case c := <-s.chunks:
			s.cur, s.rest = c, c.buf[:c.n]
		case <-ctx.Done():
			return 0, nil
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stream) Skip(ctx context.Context, n int64) error {
	var buf [4096]byte
	for n > 0 {
		m, err := s.Next(ctx, buf[:min(n, int64(len(buf)))])
		n -= int64(m)
		switch {
		case err != nil:
			return err
		case m == 0:
			return ctx.Err()
		}
	}
	return nil
}

func (s *stream) ReadAt([]byte, int64) (int, error) {
	return 0, errors.New("a stream can only be read in order")
}

// Close ends the pump. Standard input stays open.
func (s *stream) Close() error {
	s.closed.Store(true)
	close(s.free)
	if f, ok := s.r.(*os.File); ok && f != os.Stdin {
		return f.Close()
	}
	return nil
}
