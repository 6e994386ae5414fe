// Package parquet is the format of Apache Parquet files.
//
// Columns are matched by name and decoded straight into vectors, only those that a
// query wants. Nested columns cannot be read yet.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	pq "github.com/apache/arrow-go/v18/parquet"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Format is the connector.Format "parquet".
type Format struct{}

// Name is "parquet".
func (Format) Name() string { return "parquet" }

// Doc describes the format.
func (Format) Doc() string { return "Apache Parquet: columns, compressed" }

// Options are named as in Flink.
func (Format) Options() []connector.Option {
	return []connector.Option{
		{Name: "parquet.compression", Default: "ZSTD", Choices: []string{"ZSTD", "SNAPPY", "GZIP", "LZ4_RAW", "UNCOMPRESSED"}, Doc: "how files are compressed when writing"},
	}
}

// Decoding checks the table for reading.
func (Format) Decoding(t *connector.Table, _ connector.Options) (connector.Decoding, error) {
	return &decoding{schema: t.Schema}, nil
}

// Encoding checks the table for writing.
func (Format) Encoding(t *connector.Table, opt connector.Options) (connector.Encoding, error) {
	for _, c := range t.Schema {
		switch c.Type.ID {
		case sqltype.Null, sqltype.IntervalDay, sqltype.IntervalMonth, sqltype.Array, sqltype.Map, sqltype.Multiset, sqltype.Row:
			return nil, errs.New(errs.Unsupported, t.Pos, "format parquet cannot hold column %q of type %v", c.Name, c.Type)
		}
	}
	return &encoding{schema: t.Schema, compression: opt.Text("parquet.compression")}, nil
}

// Infer takes the columns that are in the file, without those that are nested.
func (Format) Infer(_ context.Context, f connector.File, _ connector.Options) (sqltype.Schema, error) {
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	cols, err := columns(f.Name(), r)
	if err != nil {
		return nil, err
	}
	var out sqltype.Schema
	for _, c := range cols {
		if c.why == nil {
			out = append(out, sqltype.Column{Name: c.name, Type: c.natural})
		}
	}
	if len(out) == 0 {
		return nil, errs.New(errs.Unsupported, errs.Position{}, "the file has no column that can be read").In(f.Name())
	}
	return out, nil
}

// open reads the file's metadata.
func open(f connector.File) (r *file.Reader, err error) {
	if f.Size() < 0 {
		return nil, errs.New(errs.Unsupported, errs.Position{}, "a Parquet file cannot be read from a stream").In(f.Name()).WithHint("store it in a file first")
	}
	defer guard(f.Name(), "the metadata", &err)
	if f.Size() == 0 {
		return nil, errs.New(errs.Data, errs.Position{}, "the file is empty, which no Parquet file is").In(f.Name())
	}
	r, err = file.NewParquetReader(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		return nil, broken(f.Name(), "the metadata", err)
	}
	return r, nil
}

// broken is the error about a file that is not what it should be.
func broken(name, what string, err error) error {
	var e *errs.Error
	if errors.As(err, &e) {
		return err
	}
	return errs.New(errs.Data, errs.Position{}, "%s cannot be read: %w", what, err).
		In(name).WithHint("the file is not a Parquet file, or it is damaged or cut short")
}

// guard turns a panic of the decoder on damaged input into an error.
func guard(name, what string, err *error) {
	if p := recover(); p != nil {
		*err = broken(name, what, fmt.Errorf("%v", p))
	}
}

// column is a column of a file.
type column struct {
	name    string
	leaf    int // -1: nested
	natural sqltype.Type
	why     error // it cannot be read, or nil
	desc    *schema.Column
}

// columns lists the top-level columns of a file.
func columns(name string, r *file.Reader) (out []column, err error) {
	defer guard(name, "the schema", &err)
	meta := r.MetaData()
	// Without the Arrow schema that some writers store beside Parquet's own: it adds
	// little here, and a damaged one makes its decoder allocate any amount.
	manifest, err := pqarrow.NewSchemaManifest(meta.Schema, nil, &pqarrow.ArrowReadProperties{})
	if err != nil {
		return nil, broken(name, "the schema", err)
	}
	for _, f := range manifest.Fields {
		c := column{name: f.Field.Name, leaf: f.ColIndex}
		if !f.IsLeaf() {
			c.why = errors.New("it is nested")
			out = append(out, c)
			continue
		}
		c.desc = meta.Schema.Column(c.leaf)
		if c.desc.MaxRepetitionLevel() > 0 {
			c.why = errors.New("it is repeated")
		} else if c.natural, c.why = natural(c.desc, f); c.why == nil {
			c.natural.NotNull = c.desc.MaxDefinitionLevel() == 0
		}
		out = append(out, c)
	}
	return out, nil
}

// natural is the SQL type that holds a column's values as they are.
func natural(desc *schema.Column, f pqarrow.SchemaField) (sqltype.Type, error) {
	if desc.PhysicalType() == pq.Types.Int96 {
		return sqltype.TimestampOf(9), nil
	}
	switch l := desc.LogicalType().(type) {
	case schema.TimestampLogicalType:
		p := map[schema.TimeUnitType]int{schema.TimeUnitMillis: 3, schema.TimeUnitMicros: 6, schema.TimeUnitNanos: 9}[l.TimeUnit()]
		if p == 0 {
			break
		}
		if l.IsAdjustedToUTC() && !l.IsFromConvertedType() {
			return sqltype.TimestampLTZOf(p), nil
		}
		return sqltype.TimestampOf(p), nil
	case schema.TimeLogicalType:
		p := map[schema.TimeUnitType]int{schema.TimeUnitMillis: 3, schema.TimeUnitMicros: 6, schema.TimeUnitNanos: 9}[l.TimeUnit()]
		return sqltype.Type{ID: sqltype.Time, Precision: p}, nil
	}
	t, err := sqltype.FromArrow(f.Field.Type)
	if err == nil && t.ID == sqltype.IntervalDay || t.ID == sqltype.IntervalMonth {
		err = errors.New("intervals are not supported")
	}
	return t, err
}

// find matches a table's column to one of the file.
func find(name string, cols []column, want sqltype.Column) (column, error) {
	i := slices.IndexFunc(cols, func(c column) bool { return c.name == want.Name })
	if i < 0 {
		i = slices.IndexFunc(cols, func(c column) bool { return strings.EqualFold(c.name, want.Name) })
	}
	if i < 0 {
		names := make([]string, len(cols))
		for i, c := range cols {
			names[i] = c.name
		}
		e := errs.New(errs.NotFound, errs.Position{}, "the file has no column %q", want.Name).In(name)
		if hint := errs.DidYouMean(want.Name, names); hint != "" {
			return column{}, e.WithHint("%s", hint)
		}
		return column{}, e.WithHint("it has %s", strings.Join(names, ", "))
	}
	c := cols[i]
	if c.why != nil {
		return c, errs.New(errs.Unsupported, errs.Position{}, "column %q cannot be read: %w", c.name, c.why).In(name)
	}
	if !connector.CanAdapt(c.natural, want.Type) {
		return c, errs.New(errs.Type, errs.Position{}, "column %q is %v in the file, not %v", c.name, c.natural.Optional(), want.Type.Optional()).
			In(name).WithHint("declare it as %v and CAST it in the query", c.natural.Optional())
	}
	return c, nil
}
