package parquet

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
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

// Join writes the rows of the parts anew.
func (e *encoding) Join(w io.Writer, parts []io.ReadSeeker) error {
	fw, err := e.writer(w)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := e.copy(fw, p); err != nil {
			return err
		}
	}
	return fw.Close()
}

// Accepts compares the columns.
func (e *encoding) Accepts(part io.ReadSeeker) error {
	_, err := e.open(part)
	return err
}

// open returns the reader of a file that has the table's columns.
func (e *encoding) open(part io.ReadSeeker) (fr *pqarrow.FileReader, err error) {
	defer guard("", "the file", &err)
	src, ok := part.(pq.ReaderAtSeeker)
	if !ok {
		all, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		src = bytes.NewReader(all)
	}
	r, err := file.NewParquetReader(src)
	if err != nil {
		return nil, err
	}
	fr, err = pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: vector.Target}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	have, err := fr.Schema()
	if err != nil {
		return nil, err
	}
	want := e.schema.Arrow()
	same := have.NumFields() == want.NumFields()
	for i := 0; same && i < want.NumFields(); i++ {
		h, w := have.Field(i), want.Field(i)
		same = h.Name == w.Name && arrow.TypeEqual(h.Type, w.Type) && (w.Nullable || !h.Nullable)
	}
	if !same {
		return nil, fmt.Errorf("it has other columns: %v", have)
	}
	return fr, nil
}

func (e *encoding) copy(fw *pqarrow.FileWriter, part io.ReadSeeker) error {
	fr, err := e.open(part)
	if err != nil {
		return err
	}
	r, want := fr.ParquetReader(), e.schema.Arrow()
	for g := range r.NumRowGroups() {
		rr, err := fr.GetRecordReader(context.Background(), nil, []int{g})
		if err != nil {
			return err
		}
		for rr.Next() {
			// The fields read have notes of the file's own.
			rec := array.NewRecordBatch(want, rr.RecordBatch().Columns(), rr.RecordBatch().NumRows())
			err := fw.WriteBuffered(rec)
			rec.Release()
			if err != nil {
				rr.Release()
				return err
			}
		}
		err = rr.Err()
		rr.Release()
		if err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

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
