package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// chunk reads the values of a column in one row group.
type chunk interface {
	// read returns the next n rows, which are there if the file is sound.
	read(p *vector.Pool, n int) (*vector.Vector, error)
	skip(n int64) error
	close()
}

// newChunk chooses how the physical values become those of type t.
func newChunk(r file.ColumnChunkReader, t sqltype.Type) (chunk, error) {
	levels := levels{max: r.Descriptor().MaxDefinitionLevel()}
	switch r := r.(type) {
	case *file.BooleanColumnChunkReader:
		return &same[bool]{r: r, levels: levels}, nil
	case *file.Int32ColumnChunkReader:
		switch t.Kind() {
		case vector.Int32:
			return &same[int32]{r: r, levels: levels}, nil
		case vector.Int8:
			return converted(r, levels, func(x int32) int8 { return int8(x) }), nil
		case vector.Int16:
			return converted(r, levels, func(x int32) int16 { return int16(x) }), nil
		case vector.Int64:
			if t.ID == sqltype.BigInt { // unsigned
				return converted(r, levels, func(x int32) int64 { return int64(uint32(x)) }), nil
			}
			return converted(r, levels, func(x int32) int64 { return int64(x) }), nil
		case vector.Decimal:
			return converted(r, levels, func(x int32) vector.Dec { return decimal128.FromI64(int64(x)) }), nil
		}
	case *file.Int64ColumnChunkReader:
		switch {
		case t.Kind() == vector.Int64:
			return &same[int64]{r: r, levels: levels}, nil
		case t.Equal(sqltype.DecimalOf(20, 0)): // unsigned
			return converted(r, levels, func(x int64) vector.Dec { return decimal128.FromU64(uint64(x)) }), nil
		case t.Kind() == vector.Decimal:
			return converted(r, levels, func(x int64) vector.Dec { return decimal128.FromI64(x) }), nil
		}
	case *file.Int96ColumnChunkReader:
		return converted(r, levels, func(x parquet.Int96) int64 { return x.ToTime().UnixNano() }), nil
	case *file.Float32ColumnChunkReader:
		return &same[float32]{r: r, levels: levels}, nil
	case *file.Float64ColumnChunkReader:
		return &same[float64]{r: r, levels: levels}, nil
	case *file.ByteArrayColumnChunkReader:
		if t.Kind() == vector.Decimal {
			return converted(r, levels, func(x parquet.ByteArray) vector.Dec { return bigEndian(x) }), nil
		}
		return &byteChunk[parquet.ByteArray]{r: r, levels: levels, kind: t.Kind()}, nil
	case *file.FixedLenByteArrayColumnChunkReader:
		switch t.Kind() {
		case vector.Decimal:
			return converted(r, levels, func(x parquet.FixedLenByteArray) vector.Dec { return bigEndian(x) }), nil
		case vector.Float32:
			return converted(r, levels, func(x parquet.FixedLenByteArray) float32 {
				return float16.FromLEBytes(x).Float32()
			}), nil
		}
		return &byteChunk[parquet.FixedLenByteArray]{r: r, levels: levels, kind: t.Kind()}, nil
	}
	return nil, fmt.Errorf("physical type %v cannot be read as %v", r.Type(), t)
}

// bigEndian is a decimal as Parquet stores it in bytes.
func bigEndian(b []byte) vector.Dec {
	if len(b) <= 8 {
		var buf [8]byte
		if len(b) > 0 && b[0]&0x80 != 0 {
			buf = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
		}
		copy(buf[8-len(b):], b)
		return decimal128.FromI64(int64(binary.BigEndian.Uint64(buf[:])))
	}
	x := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
	}
	return decimal128.FromBigInt(x)
}

// valueReader is what the readers of the physical types have in common.
type valueReader[T any] interface {
	file.ColumnChunkReader
	ReadBatch(n int64, values []T, def, rep []int16) (total int64, read int, err error)
	ReadBatchInPage(n int64, values []T, def, rep []int16) (total int64, read int, err error)
	Skip(n int64) (int64, error)
}

// levels are the definition levels of a column that is not nested: max is a value.
type levels struct {
	max int16
	buf []int16
}

// of returns a buffer for n levels, or nil for a column without NULLs.
func (l *levels) of(n int) []int16 {
	if l.max == 0 {
		return nil
	}
	l.buf = slices.Grow(l.buf[:0], n)[:n]
	return l.buf
}

// fill reads the next n rows: the values that are not NULL to the front of values.
func fill[T any](r valueReader[T], n int, values []T, def []int16) (read int, err error) {
	total, read, err := r.ReadBatch(int64(n), values, def, nil)
	switch {
	case err != nil:
	case r.Err() != nil:
		err = r.Err()
	case total != int64(n):
		err = fmt.Errorf("%d of %d rows are there: %w", total, n, io.ErrUnexpectedEOF)
	}
	return read, err
}

// same reads values that a vector holds as they are.
type same[T vector.Fixed] struct {
	r valueReader[T]
	levels
}

func (c *same[T]) read(p *vector.Pool, n int) (*vector.Vector, error) {
	v := p.New(vector.KindOf[T](), n)
	sound := false
	defer func() {
		if !sound { // the decoder panics on some damage
			v.Release()
		}
	}()
	dst := vector.Values[T](v)
	def := c.of(n)
	read, err := fill(c.r, n, dst, def)
	if err != nil {
		return nil, err
	}
	if read < n {
		spread(v, dst, read, def, c.max)
	}
	sound = true
	return v, nil
}

// spread moves the values at the front to the rows that are not NULL.
func spread[T any](v *vector.Vector, dst []T, read int, def []int16, most int16) {
	valid := v.NewValid(false)
	var zero T
	for i := len(def) - 1; i >= 0; i-- {
		if def[i] == most && read > 0 {
			read--
			dst[i] = dst[read]
			valid.Set(i)
		} else {
			dst[i] = zero
		}
	}
}

func (c *same[T]) skip(n int64) error { _, err := c.r.Skip(n); return err }
func (c *same[T]) close()             { _ = c.r.Close() } // nothing was written

// conversion reads values that must be turned into others.
type conversion[S any, T vector.Fixed] struct {
	r valueReader[S]
	levels
	to  func(S) T
	src []S
}

func converted[S any, T vector.Fixed](r valueReader[S], l levels, to func(S) T) chunk {
	return &conversion[S, T]{r: r, levels: l, to: to}
}

func (c *conversion[S, T]) read(p *vector.Pool, n int) (*vector.Vector, error) {
	c.src = slices.Grow(c.src[:0], n)[:n]
	def := c.of(n)
	read, err := fill(c.r, n, c.src, def)
	if err != nil {
		return nil, err
	}
	v := p.New(vector.KindOf[T](), n)
	dst := vector.Values[T](v)
	for i, x := range c.src[:read] {
		dst[i] = c.to(x)
	}
	if read < n {
		spread(v, dst, read, def, c.max)
	}
	return v, nil
}

func (c *conversion[S, T]) skip(n int64) error { _, err := c.r.Skip(n); return err }
func (c *conversion[S, T]) close()             { _ = c.r.Close() }

// byteChunk reads text and bytes. The reader lends them page by page, so they are
// gathered in data first.
type byteChunk[T ~[]byte] struct {
	r valueReader[T]
	levels
	kind vector.Kind
	vals []T
	ends []int32
	data []byte
}

func (c *byteChunk[T]) read(p *vector.Pool, n int) (*vector.Vector, error) {
	c.vals = slices.Grow(c.vals[:0], n)[:n]
	c.ends = slices.Grow(c.ends[:0], n)[:n]
	c.data = c.data[:0]
	def := c.of(n)
	nulls := 0
	for at := 0; at < n; {
		var pageDef []int16
		if def != nil {
			pageDef = def[at:]
		}
		total, read, err := c.r.ReadBatchInPage(int64(n-at), c.vals, pageDef, nil)
		switch {
		case err != nil:
			return nil, err
		case c.r.Err() != nil:
			return nil, c.r.Err()
		case total == 0:
			return nil, fmt.Errorf("%d of %d rows are there: %w", at, n, io.ErrUnexpectedEOF)
		}
		if err := c.gather(c.vals[:read], at, int(total), pageDef); err != nil {
			return nil, err
		}
		nulls += int(total) - read
		at += int(total)
	}
	if c.kind == vector.String {
		if row := c.invalidUTF8(); row >= 0 {
			return nil, &rowError{row: row, msg: "the text is not valid UTF-8"}
		}
	}
	v := p.NewVariable(c.kind, n, len(c.data))
	copy(v.Data(), c.data)
	copy(v.Offsets()[1:], c.ends)
	if nulls > 0 {
		valid := v.NewValid(false)
		for i, d := range def {
			if d == c.max {
				valid.Set(i)
			}
		}
	}
	return v, nil
}

// rowError is about a value of a file that is sound otherwise.
type rowError struct {
	row int // in the batch
	msg string
}

func (e *rowError) Error() string { return e.msg }

// gather copies the values of total rows from row at on.
func (c *byteChunk[T]) gather(vals []T, at, total int, def []int16) error {
	size := 0
	for _, b := range vals {
		size += len(b)
	}
	end := len(c.data)
	if end+size > 1<<31-1 {
		return fmt.Errorf("the values of a batch take %d bytes: more than a batch can hold", end+size)
	}
	c.data = slices.Grow(c.data, size)[:end+size]
	data, ends := c.data, c.ends[at:at+total]
	if len(vals) == total {
		for i, b := range vals {
			end += copy(data[end:], b)
			ends[i] = int32(end)
		}
		return nil
	}
	k := 0
	for i := range ends {
		if def[i] == c.max {
			end += copy(data[end:], vals[k])
			k++
		}
		ends[i] = int32(end)
	}
	return nil
}

// invalidUTF8 is the first row that is not valid, or -1.
func (c *byteChunk[T]) invalidUTF8() int {
	if ascii(c.data) {
		return -1
	}
	begin := int32(0)
	for i, end := range c.ends {
		if !utf8.Valid(c.data[begin:end]) {
			return i
		}
		begin = end
	}
	return -1
}

func ascii(b []byte) bool {
	var or uint64
	for len(b) >= 8 {
		or |= binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	for _, c := range b {
		or |= uint64(c)
	}
	return or&0x8080808080808080 == 0
}

func (c *byteChunk[T]) skip(n int64) error { _, err := c.r.Skip(n); return err }
func (c *byteChunk[T]) close()             { _ = c.r.Close() }
