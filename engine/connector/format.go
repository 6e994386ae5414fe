package connector

import (
	"context"
	"io"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Format is a way to write rows as bytes. Connectors that carry bytes are given
// the formats they may use; 'format' chooses. A Format is a value without state.
type Format interface {
	// Name is the value of 'format' that chooses it, and the prefix of its options.
	Name() string
	// Doc says in a sentence what the format is.
	Doc() string
	// Options are its options under their full names, as "csv.field-delimiter".
	Options() []Option
	// Decoding checks the table's columns and options for reading.
	Decoding(t *Table, opt Options) (Decoding, error)
	// Encoding checks them for writing.
	Encoding(t *Table, opt Options) (Encoding, error)
	// Infer finds the columns from a file's content.
	Infer(ctx context.Context, f File, opt Options) (sqltype.Schema, error)
}

// File is an open input of bytes.
type File interface {
	// Name is how errors call the file.
	Name() string
	// Size is the length in bytes, or -1 when the input is a stream.
	Size() int64
	// Next reads the next bytes of the file in order, as io.Reader does, and waits
	// for them until ctx ends: then it returns (0, nil). A file that is followed does
	// so when there is nothing for now.
	Next(ctx context.Context, b []byte) (int, error)
	// Skip moves Next forward by n bytes.
	Skip(ctx context.Context, n int64) error
	// ReadAt reads anywhere in a file that is no stream.
	io.ReaderAt
	// Close ends the file.
	Close() error
}

// Decoding reads the rows of files for one table.
type Decoding interface {
	// Mode is the set of row kinds that rows may have.
	Mode() sqltype.ChangelogMode
	// Splits cuts a file into parts that can be read independently, in file order.
	// A nil result means that the file is read as a whole.
	Splits(f File) ([]Part, error)
	// Grows reports whether readers are GrowingReaders.
	Grows() bool
	// Open reads the rows of a part from a position, as Source.Open does. The
	// reader closes f.
	Open(ctx context.Context, f File, part Part, scan Scan, position []byte) (Reader, error)
}

// GrowingReader is the Reader of a format whose files may be read while they grow.
// It asks a file again that had nothing for now, and waits for a record's end.
type GrowingReader interface {
	Reader
	// Offset is the place in the file where Position stands.
	Offset() int64
}

// Part is a part of a file: the meaning of the numbers is the format's. The zero
// Part is the whole file.
type Part struct {
	From, To int64
	Size     int64 // in bytes or rows
}

// Encoding writes rows of one table.
type Encoding interface {
	// Mode is the set of row kinds that can be written.
	Mode() sqltype.ChangelogMode
	// Extension is the usual end of file names, as ".csv".
	Extension() string
	// Encoder begins a file.
	Encoder(w io.Writer) (Encoder, error)
	// Accepts returns an error when rows cannot be added to a file that is there,
	// because it has other columns or another form.
	Accepts(file io.ReadSeeker) error
	// Join writes to w one file that has the rows of several files of the format,
	// which Accepts has taken.
	Join(w io.Writer, parts []io.ReadSeeker) error
}

// Encoder writes the rows of one file. It is used by one goroutine.
type Encoder interface {
	// Write adds the live rows of b, which is borrowed.
	Write(b *vector.Batch) error
	// Flush hands to the writer what is buffered, where the format can.
	Flush() error
	// Close writes the end of the file. It does not close the writer.
	Close() error
}

// JoinLines copies the rest of the parts to w, ending the last line of each. It is
// the Join of formats whose records are lines.
func JoinLines(w io.Writer, parts []io.ReadSeeker) error {
	end := &lineEnd{w: w, last: '\n'}
	for _, p := range parts {
		if _, err := io.Copy(end, p); err != nil {
			return err
		}
		if end.last != '\n' {
			if _, err := end.Write([]byte{'\n'}); err != nil {
				return err
			}
		}
	}
	return nil
}

// lineEnd remembers the last byte.
type lineEnd struct {
	w    io.Writer
	last byte
}

func (e *lineEnd) Write(b []byte) (int, error) {
	if len(b) > 0 {
		e.last = b[len(b)-1]
	}
	return e.w.Write(b)
}
