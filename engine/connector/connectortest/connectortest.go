// Package connectortest helps to test connectors and formats: files in memory, and
// reading and writing rows as text with a pool that finds leaks.
package connectortest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// File returns a file of the given content.
func File(name, content string) connector.File {
	return &memFile{name: name, Reader: strings.NewReader(content), size: int64(len(content))}
}

type memFile struct {
	name string
	*strings.Reader
	size int64
}

func (f *memFile) Name() string { return f.name }
func (f *memFile) Size() int64  { return f.size }
func (f *memFile) Close() error { return nil }

func (f *memFile) Next(_ context.Context, b []byte) (int, error) { return f.Read(b) }

func (f *memFile) Skip(_ context.Context, n int64) error {
	_, err := f.Seek(n, io.SeekCurrent)
	return err
}

// Stream returns a stream that gives one chunk at a time. An empty chunk stands for
// a wait in which the context ends.
func Stream(name string, chunks ...string) connector.File { return &stream{name: name, chunks: chunks} }

type stream struct {
	name   string
	chunks []string
}

func (s *stream) Name() string                      { return s.name }
func (s *stream) Size() int64                       { return -1 }
func (s *stream) Close() error                      { return nil }
func (s *stream) ReadAt([]byte, int64) (int, error) { return 0, errors.New("not a file") }
func (s *stream) Skip(context.Context, int64) error { return errors.New("not a file") }

func (s *stream) Next(ctx context.Context, b []byte) (int, error) {
	if len(s.chunks) == 0 {
		return 0, io.EOF
	}
	if s.chunks[0] == "" {
		if c, ok := ctx.(*endable); ok {
			c.ended = true
		}
		s.chunks = s.chunks[1:]
		return 0, nil
	}
	n := copy(b, s.chunks[0])
	if s.chunks[0] = s.chunks[0][n:]; s.chunks[0] == "" {
		s.chunks = s.chunks[1:]
	}
	return n, nil
}

// endable is a context that a stream can end.
type endable struct {
	context.Context
	ended bool
}

func (c *endable) Err() error {
	if c.ended {
		return context.DeadlineExceeded
	}
	return c.Context.Err()
}

// Table declares a table: its columns, and options as key, value, key, value.
func Table(schema sqltype.Schema, options ...string) *connector.Table {
	t := &connector.Table{Name: "t", Schema: schema, Options: map[string]string{}, Pos: errs.Position{Line: 1, Column: 14}}
	for i := 0; i < len(options); i += 2 {
		t.Options[options[i]] = options[i+1]
	}
	t.OptionPos = func(string) errs.Position { return errs.Position{Line: 2, Column: 3} }
	return t
}

// Options checks a table's options against those declared.
func Options(tb testing.TB, t *connector.Table, declared []connector.Option) connector.Options {
	tb.Helper()
	opt, err := connector.ParseOptions(t, declared)
	if err != nil {
		tb.Fatal(err)
	}
	return opt
}

// Row is physical row r as text: "+I[1, apple]".
func Row(schema sqltype.Schema, b *vector.Batch, r int) string {
	text := []byte(b.Kind(r).String() + "[")
	for i, c := range schema {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = sqltype.AppendText(text, c.Type, b.Col(i), r)
	}
	return string(append(text, ']'))
}

// ReadAll reads to the end, closes the reader and returns the rows as text. The
// rows that came before an error are returned with it. It fails the test when a
// buffer leaks or a batch breaks the reader's contract.
func ReadAll(tb testing.TB, r connector.Reader, schema sqltype.Schema, limit int) (rows []string, err error) {
	tb.Helper()
	p := vector.NewCheckedPool()
	defer func() {
		if e := p.Leaks(); e != nil {
			tb.Error(e)
		}
		if e := r.Close(); e != nil {
			tb.Error(e)
		}
	}()
	for idle := 0; ; {
		b, err := r.Read(&endable{Context: context.Background()}, p, limit)
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return rows, err
		case b == nil:
			if idle++; idle > 1000 {
				tb.Fatal("a reader returns nothing again and again")
			}
			continue
		}
		idle = 0
		if b.Len() > limit || b.Len() == 0 || b.Len() != b.Rows() || b.Cols() != len(schema) {
			tb.Errorf("a batch of %d rows and %d columns, for at most %d rows and %d columns", b.Len(), b.Cols(), limit, len(schema))
		}
		for i := range b.Len() {
			rows = append(rows, Row(schema, b, i))
		}
		b.Release()
	}
}

// ReadRestarting reads like ReadAll, but closes the reader after every batch and
// opens a new one at its position.
func ReadRestarting(tb testing.TB, open func(position []byte) (connector.Reader, error), schema sqltype.Schema, limit int) (rows []string, err error) {
	tb.Helper()
	p := vector.NewCheckedPool()
	var position []byte
	for {
		r, err := open(position)
		if err != nil {
			return rows, err
		}
		b, err := r.Read(context.Background(), p, limit)
		position = r.Position()
		if e := r.Close(); e != nil {
			tb.Error(e)
		}
		switch {
		case errors.Is(err, io.EOF):
			if e := p.Leaks(); e != nil {
				tb.Error(e)
			}
			return rows, nil
		case err != nil:
			return rows, err
		case b == nil:
			continue
		}
		for i := range b.Len() {
			rows = append(rows, Row(schema, b, i))
		}
		b.Release()
	}
}

// Batch makes a batch of rows given as text, one value a column, read as
// sqltype.AppendParsed does; "NULL" is NULL. A row may begin with its kind.
func Batch(tb testing.TB, p *vector.Pool, schema sqltype.Schema, rows ...[]string) *vector.Batch {
	tb.Helper()
	b := vector.NewBuilder(p, schema.Kinds())
	for _, row := range rows {
		kind := vector.Insert
		if len(row) == len(schema)+1 {
			kind, _ = vector.ParseRowKind(row[0])
			row = row[1:]
		}
		for i, v := range row {
			if v == "NULL" {
				b.Col(i).AppendNull()
			} else if !sqltype.AppendParsed(b.Col(i), schema[i].Type, []byte(v)) {
				tb.Fatalf("%q is not a value of type %v", v, schema[i].Type)
			}
		}
		b.EndRow(kind)
	}
	return b.Finish()
}
