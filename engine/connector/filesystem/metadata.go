package filesystem

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Metadata is what can be told of the file that a row was read from.
func (Connector) Metadata(*connector.Table, connector.Options) []connector.MetadataKey {
	text := sqltype.StringType.Required()
	return []connector.MetadataKey{
		{Key: "file.path", Type: text, Doc: "the whole path of the file"},
		{Key: "file.name", Type: text, Doc: "the file's name, without folders"},
		{Key: "file.size", Type: sqltype.BigIntType.Required(), Doc: "the size of the file in bytes, when it was opened"},
		{Key: "file.modification-time", Type: sqltype.TimestampLTZOf(3).Required(), Doc: "when the file was changed for the last time, when it was opened"},
	}
}

// content is the table that the files hold: t without what is told about them.
func content(t *connector.Table) *connector.Table {
	if len(t.Metadata) == 0 {
		return t
	}
	out := *t
	out.Schema, out.PrimaryKey, out.Metadata = nil, nil, nil
	place := make([]int, len(t.Schema))
	for i, c := range t.Schema {
		if place[i] = -1; metadataAt(t, i) == nil {
			place[i] = len(out.Schema)
			out.Schema = append(out.Schema, c)
		}
	}
	for _, k := range t.PrimaryKey {
		if place[k] < 0 {
			return &out // of a key that is not in the files they know nothing
		}
	}
	for _, k := range t.PrimaryKey {
		out.PrimaryKey = append(out.PrimaryKey, place[k])
	}
	return &out
}

func metadataAt(t *connector.Table, column int) *connector.MetadataColumn {
	for i := range t.Metadata {
		if t.Metadata[i].Column == column {
			return &t.Metadata[i]
		}
	}
	return nil
}

// decode opens the reader of a file with the columns that are wanted, of which the format
// reads those that are in the file.
func (s *source) decode(ctx context.Context, f connector.File, path string, part connector.Part, scan connector.Scan, position []byte) (connector.Reader, error) {
	if len(s.table.Metadata) == 0 {
		return s.decoding.Open(ctx, f, part, scan, position)
	}
	inner, t := s.telling(path, scan)
	r, err := s.decoding.Open(ctx, f, part, inner, position)
	if err != nil {
		return nil, err
	}
	t.Reader = r
	t.look(path)
	return t, nil
}

// telling parts the columns of a scan into those of the file and those about it.
func (s *source) telling(path string, scan connector.Scan) (connector.Scan, *teller) {
	t := &teller{table: s.table, path: path}
	inner := connector.Scan{Columns: []int{}}
	below := make([]int, len(s.table.Schema))
	n := 0
	for i := range s.table.Schema {
		if metadataAt(s.table, i) == nil {
			below[i] = n
			n++
		}
	}
	for _, c := range scan.Of(len(s.table.Schema)) {
		m := metadataAt(s.table, c)
		t.columns = append(t.columns, toldColumn{about: m, from: len(inner.Columns)})
		if m == nil {
			inner.Columns = append(inner.Columns, below[c])
		}
	}
	return inner, t
}

// teller is a reader that adds what is told about the file.
type teller struct {
	connector.Reader
	table   *connector.Table
	path    string
	columns []toldColumn
	info    os.FileInfo // nil: of a stream
}

// toldColumn is a column about the file, or else column from of the reader.
type toldColumn struct {
	about *connector.MetadataColumn
	from  int
}

// look finds out about the file.
func (t *teller) look(path string) {
	info, err := os.Stat(path)
	if err == nil {
		t.info = info
	}
}

// Read adds the columns.
func (t *teller) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	b, err := t.Reader.Read(ctx, p, limit)
	if err != nil || b == nil {
		return b, err
	}
	defer b.Release()
	cols := make([]*vector.Vector, len(t.columns))
	for i, c := range t.columns {
		if c.about == nil {
			cols[i] = b.Col(c.from).Retain()
			continue
		}
		if cols[i], err = t.column(p, c.about, b.Rows()); err != nil {
			for _, v := range cols[:i] {
				v.Release()
			}
			return nil, err
		}
	}
	kinds := b.KindVector()
	if kinds != nil {
		kinds = kinds.Retain()
	}
	return vector.NewBatch(b.Rows(), cols, kinds), nil
}

// column has n times what is told.
func (t *teller) column(p *vector.Pool, m *connector.MetadataColumn, n int) (*vector.Vector, error) {
	typ := t.table.Schema[m.Column].Type
	value := t.value(m.Key)
	c := vector.NewColumnBuilder(p, typ.Kind())
	for range n {
		if !sqltype.AppendGo(c, typ, value) {
			c.Finish().Release()
			return nil, errs.New(errs.Data, m.Pos, "the metadata '%s' of %q is %v, which is no %v", m.Key, t.path, value, typ.Optional())
		}
	}
	return c.Finish(), nil
}

func (t *teller) value(key string) any {
	switch key {
	case "file.path":
		if path, err := filepath.Abs(t.path); err == nil {
			return path
		}
		return t.path
	case "file.name":
		return filepath.Base(t.path)
	case "file.size":
		if t.info == nil {
			return int64(0)
		}
		return t.info.Size()
	}
	if t.info == nil {
		return time.Unix(0, 0)
	}
	return t.info.ModTime()
}
