package parquet

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// encoding is the connector.Encoding of one table.
type encoding struct {
	schema      sqltype.Schema
	compression string
}

func (*encoding) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }

func (*encoding) Extension() string { return ".parquet" }

// groupRows is the number of rows of a row group: what is held in memory, and what
// one reader reads at least.
const groupRows = 256 << 10

func (e *encoding) writer(w io.Writer) (*pqarrow.FileWriter, error) {
	codec := map[string]compress.Compression{
		"ZSTD": compress.Codecs.Zstd, "SNAPPY": compress.Codecs.Snappy, "GZIP": compress.Codecs.Gzip,
		"LZ4_RAW": compress.Codecs.Lz4Raw, "UNCOMPRESSED": compress.Codecs.Uncompressed,
	}[e.compression]
	props := pq.NewWriterProperties(pq.WithCompression(codec), pq.WithMaxRowGroupLength(groupRows))
	return pqarrow.NewFileWriter(e.schema.Arrow(), onlyWriter{w}, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
}

// onlyWriter hides Close, which the file writer would call.
type onlyWriter struct{ io.Writer }

func (e *encoding) Encoder(w io.Writer) (connector.Encoder, error) {
	fw, err := e.writer(w)
	if err != nil {
		return nil, err
	}
	return &encoder{w: fw, schema: e.schema.Arrow(), pool: vector.NewPool()}, nil
}

// Accepts compares the columns.
func (e *encoding) Accepts(part io.ReadSeeker) error {
	f, err := newPart(part)
	if err != nil {
		return err
	}
	r, err := open(f)
	if err != nil {
		return err
	}
	have, err := columns(f.Name(), r)
	if err != nil {
		return err
	}
	same := len(have) == len(e.schema)
	for i := 0; same && i < len(have); i++ {
		h, w := have[i], e.schema[i]
		same = h.why == nil && h.name == w.Name && connector.CanAdapt(h.natural, w.Type) && (h.natural.NotNull || !w.Type.NotNull)
	}
	if !same {
		return errors.New("it has other columns")
	}
	return nil
}

// Join writes the rows of the parts anew.
func (e *encoding) Join(w io.Writer, parts []io.ReadSeeker) error {
	out, err := e.Encoder(w)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := e.copy(out, p); err != nil {
			return err
		}
	}
	return out.Close()
}

func (e *encoding) copy(out connector.Encoder, part io.ReadSeeker) error {
	f, err := newPart(part)
	if err != nil {
		return err
	}
	ctx, p := context.Background(), vector.NewPool()
	r, err := (&decoding{schema: e.schema}).Open(ctx, f, connector.Part{}, connector.Scan{}, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Read(ctx, p, vector.Target)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = out.Write(b)
		b.Release()
		if err != nil {
			return err
		}
	}
}

// part is a file of Join as a connector.File: only its size and ReadAt are asked for.
type part struct {
	io.ReaderAt
	size int64
}

func newPart(r io.ReadSeeker) (*part, error) {
	at, ok := r.(io.ReaderAt)
	if !ok {
		return nil, errors.New("a Parquet file must be read anywhere in it")
	}
	size, err := r.Seek(0, io.SeekEnd)
	return &part{ReaderAt: at, size: size}, err
}

func (*part) Name() string                              { return "" }
func (p *part) Size() int64                             { return p.size }
func (*part) Close() error                              { return nil }
func (*part) Skip(context.Context, int64) error         { return errors.ErrUnsupported }
func (*part) Next(context.Context, []byte) (int, error) { return 0, errors.ErrUnsupported }

// encoder is the connector.Encoder of one file.
type encoder struct {
	w      *pqarrow.FileWriter
	schema *arrow.Schema
	pool   *vector.Pool
}

func (c *encoder) Write(b *vector.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	rec := b.Arrow(c.pool, c.schema)
	defer rec.Release()
	return c.w.WriteBuffered(rec)
}

// Flush does nothing: a row group is written when it is full.
func (c *encoder) Flush() error { return nil }

func (c *encoder) Close() error { return c.w.Close() }
