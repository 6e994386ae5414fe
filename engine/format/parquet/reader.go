package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// decoding is the connector.Decoding of one table.
type decoding struct {
	schema sqltype.Schema
}

func (*decoding) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }

// maxParts bounds the number of splits of a file with many row groups.
const maxParts = 64

// Splits are ranges of row groups.
func (d *decoding) Splits(f connector.File) ([]connector.Part, error) {
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	cols, err := columns(f.Name(), r)
	if err != nil {
		return nil, err
	}
	for _, c := range d.schema {
		if _, err := find(f.Name(), cols, c); err != nil {
			return nil, err
		}
	}
	groups := r.NumRowGroups()
	parts := make([]connector.Part, 0, min(groups, maxParts))
	per := (groups + maxParts - 1) / maxParts
	for from := 0; from < groups; from += per {
		p := connector.Part{From: int64(from), To: int64(min(from+per, groups))}
		for g := p.From; g < p.To; g++ {
			p.Size += r.MetaData().RowGroup(int(g)).NumRows()
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// Grows is false: what says where rows are is written last.
func (*decoding) Grows() bool { return false }

func (d *decoding) Open(_ context.Context, f connector.File, part connector.Part, scan connector.Scan, position []byte) (connector.Reader, error) {
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	cols, err := columns(f.Name(), r)
	if err != nil {
		return nil, err
	}
	out := &reader{file: f, pq: r, group: int(part.From), to: int(part.To)}
	if part == (connector.Part{}) {
		out.to = r.NumRowGroups()
	}
	out.to = min(out.to, r.NumRowGroups())
	for _, i := range scan.Of(len(d.schema)) {
		c, err := find(f.Name(), cols, d.schema[i])
		if err != nil {
			return nil, err
		}
		out.cols = append(out.cols, readColumn{column: c, want: d.schema[i].Type})
	}
	for g := range out.group {
		out.before += r.MetaData().RowGroup(g).NumRows()
	}
	if position != nil {
		if err := out.resume(position); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// reader is the connector.Reader of some row groups of a file.
type reader struct {
	file   connector.File
	pq     *file.Reader
	cols   []readColumn
	group  int   // the current row group
	to     int   // the row group after the last
	begun  bool  // the current row group is open
	row    int64 // rows read of the current group
	rows   int64 // in the current group
	before int64 // rows of the file before the current group
}

// readColumn is a column of the scan in the current row group.
type readColumn struct {
	column
	want  sqltype.Type
	chunk chunk
}

func (r *reader) resume(position []byte) error {
	group, n := binary.Uvarint(position)
	row, m := binary.Uvarint(position[max(n, 0):])
	if n <= 0 || m <= 0 || int(group) < r.group || int(group) > r.to {
		return errs.New(errs.State, errs.Position{}, "a position stored for %s cannot be read", r.file.Name())
	}
	for ; r.group < int(group); r.group++ {
		r.before += r.pq.MetaData().RowGroup(r.group).NumRows()
	}
	r.row = int64(row)
	return nil
}

// begin opens the current row group, at the current row.
func (r *reader) begin() error {
	rg := r.pq.RowGroup(r.group)
	r.rows = rg.NumRows()
	for i := range r.cols {
		c := &r.cols[i]
		meta, err := rg.MetaData().ColumnChunk(c.leaf)
		if err != nil {
			return err
		}
		if n := meta.TotalCompressedSize(); n < 0 || n > r.file.Size() { // it is allocated
			return fmt.Errorf("column %q has %d bytes in a file of %d", c.name, n, r.file.Size())
		}
		reader, err := rg.Column(c.leaf)
		if err != nil {
			return err
		}
		if c.chunk, err = newChunk(reader, c.natural); err != nil {
			return err
		}
		if r.row > 0 {
			if err := c.chunk.skip(r.row); err != nil {
				return err
			}
		}
	}
	r.begun = true
	return nil
}

func (r *reader) Read(_ context.Context, p *vector.Pool, limit int) (b *vector.Batch, err error) {
	defer guard(r.file.Name(), "the file", &err)
	for {
		if r.group >= r.to {
			return nil, io.EOF
		}
		if !r.begun {
			if err := r.begin(); err != nil {
				return nil, broken(r.file.Name(), fmt.Sprintf("row group %d", r.group), err)
			}
		}
		if r.row < r.rows {
			break
		}
		r.closeChunks()
		r.before += r.rows
		r.group, r.row, r.begun = r.group+1, 0, false
	}
	n := int(min(int64(limit), r.rows-r.row))
	out := make([]*vector.Vector, 0, len(r.cols))
	defer func() {
		if b == nil { // an error, or a panic
			for _, c := range out {
				c.Release()
			}
		}
	}()
	for i := range r.cols {
		v, err := r.read(p, &r.cols[i], n)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	r.row += int64(n)
	return vector.NewBatch(n, out, nil), nil
}

func (r *reader) read(p *vector.Pool, c *readColumn, n int) (*vector.Vector, error) {
	v, err := c.chunk.read(p, n)
	if err == nil {
		if v, err = connector.Adapt(p, v, c.natural, c.want); err != nil {
			return nil, errs.New(errs.Data, errs.Position{}, "column %q, rows from %d on: %w", c.name, r.before+r.row+1, err).In(r.file.Name())
		}
	}
	var re *rowError
	if errors.As(err, &re) {
		return nil, errs.New(errs.Data, errs.Position{}, "column %q, row %d: %w", c.name, r.before+r.row+int64(re.row)+1, err).In(r.file.Name())
	}
	if err != nil {
		return nil, broken(r.file.Name(), fmt.Sprintf("column %q, rows from %d on,", c.name, r.before+r.row+1), err)
	}
	if c.want.NotNull && v.Valid() != nil {
		for i := range n {
			if v.IsNull(i) {
				v.Release()
				return nil, errs.New(errs.Data, errs.Position{}, "column %q, row %d: NULL in a column that is NOT NULL", c.name, r.before+r.row+int64(i)+1).In(r.file.Name())
			}
		}
	}
	return v, nil
}

// Position is the row group and the row in it.
func (r *reader) Position() []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(r.group)), uint64(r.row))
}

func (r *reader) closeChunks() {
	for i := range r.cols {
		if c := r.cols[i].chunk; c != nil {
			c.close()
			r.cols[i].chunk = nil
		}
	}
}

func (r *reader) Close() error {
	r.closeChunks()
	return r.file.Close()
}
