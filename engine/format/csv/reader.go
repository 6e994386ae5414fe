package csv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// decoding is the connector.Decoding of one table.
type decoding struct {
	schema  sqltype.Schema
	dialect dialect
}

func (*decoding) Mode() sqltype.ChangelogMode { return sqltype.AppendMode }

// Splits is nil: where a record begins can only be known from the file's start.
func (*decoding) Splits(connector.File) ([]connector.Part, error) { return nil, nil }

// Grows is true: a record ends with its line.
func (*decoding) Grows() bool { return true }

func (d *decoding) Open(ctx context.Context, f connector.File, _ connector.Part, scan connector.Scan, position []byte) (connector.Reader, error) {
	r := &reader{
		dialect: d.dialect,
		schema:  d.schema,
		scan:    scan.Of(len(d.schema)),
		in:      connector.NewInput(f, d.dialect.maxLine),
		line:    1,
	}
	if position != nil {
		offset, n := binary.Uvarint(position)
		line, m := binary.Uvarint(position[max(n, 0):])
		if n <= 0 || m <= 0 {
			return nil, errs.New(errs.State, errs.Position{}, "a position stored for %s cannot be read", f.Name())
		}
		r.resume = &errs.Position{Line: int(line), Offset: int(offset)}
	}
	if f.Size() < 0 {
		return r, nil
	}
	if _, err := r.start(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// reader is the connector.Reader of one file. It finds the fields of as many rows
// as the window holds, then makes the columns one by one.
type reader struct {
	dialect
	schema sqltype.Schema
	scan   []int // columns of the schema
	in     *connector.Input
	line   int64 // of the window's beginning
	resume *errs.Position

	started bool
	byName  bool
	fields  int   // in a record; -1: not known
	slots   []int // field to position in scan, or -1

	rows    int
	starts  []int32 // of each row in the window
	found   []field // of each row the fields of scan, in that order
	escaped bool    // some field of found is
	drop    []int32 // rows that are broken and passed over
	scratch []byte
}

// field is where the text of a field is in the window: begin and end in 31 bits
// each, and two flags. A window is never larger than that.
type field uint64

const (
	quotedField  field = 1 << 62
	escapedField field = 1 << 63
	noField            = ^field(0) // the record is too short
)

func newField(begin, end int) field { return field(begin) | field(end)<<31 }

func (f field) begin() int { return int(f & (1<<31 - 1)) }
func (f field) end() int   { return int(f >> 31 & (1<<31 - 1)) }

// start reads what stands before the first record. It reports false when ctx
// ended before that.
func (r *reader) start(ctx context.Context) (bool, error) {
	if r.started {
		return true, nil
	}
	for mayBeMark(r.in.Bytes()) && !r.in.EOF() {
		if more, err := r.in.Fill(ctx); err != nil || !more && !r.in.EOF() {
			return false, err
		}
	}
	if r.in.Offset() == 0 && bytes.HasPrefix(r.in.Bytes(), []byte("\xef\xbb\xbf")) {
		r.in.Advance(3)
	}
	if b := r.in.Bytes(); len(b) >= 2 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff) {
		return false, errs.New(errs.Data, errs.Position{}, "the file is in UTF-16, not UTF-8").In(r.in.Name())
	}
	r.fields = len(r.schema)
	r.slots = slices.Repeat([]int{-1}, r.fields)
	for i, c := range r.scan {
		r.slots[c] = i
	}
	if r.header != "false" {
		if ok, err := r.readHeader(ctx); !ok || err != nil {
			return false, err
		}
	}
	if r.resume != nil && int64(r.resume.Offset) > r.in.Offset() {
		if err := r.in.SkipTo(ctx, int64(r.resume.Offset)); err != nil {
			return false, err
		}
		r.line = int64(r.resume.Line)
	}
	r.started = true
	return true, nil
}

// mayBeMark reports whether a file that begins with b may go on as a byte order mark.
func mayBeMark(b []byte) bool {
	return len(b) == 0 || len(b) < 3 && b[0] >= 0xef
}

func (r *reader) readHeader(ctx context.Context) (bool, error) {
	names, size, ok, err := r.first(ctx)
	if err != nil || !ok {
		return ok, err
	}
	switch {
	case names == nil: // an empty file
		return true, nil
	case r.header == "skip":
		r.pass(size)
		return true, nil
	case r.header == "auto" && !namesColumns(names, r.schema):
		return true, nil
	}
	at := r.in.Offset()
	slots := slices.Repeat([]int{-1}, len(names))
	for i, col := range r.scan {
		name := r.schema[col].Name
		f := slices.Index(names, name)
		if f < 0 {
			f = slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
		}
		if f < 0 {
			return false, errs.New(errs.NotFound, errs.Position{Line: int(r.line), Offset: int(at)}, "the header has no column %q", name).
				In(r.in.Name()).WithHint("%s", cmp.Or(errs.DidYouMean(name, names), "it has "+strings.Join(names, ", ")))
		}
		if slots[f] >= 0 {
			return false, errs.New(errs.Ambiguous, errs.Position{Line: int(r.line), Offset: int(at)}, "columns %q and %q are both the field %q of the header", r.schema[r.scan[slots[f]]].Name, name, names[f]).In(r.in.Name())
		}
		slots[f] = i
	}
	r.slots, r.fields, r.byName = slots, len(names), true
	r.pass(size)
	return true, nil
}

// namesColumns is the rule of 'csv.header' = 'auto'.
func namesColumns(fields []string, schema sqltype.Schema) bool {
	found := 0
	for _, c := range schema {
		if slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(f, c.Name) }) {
			found++
		}
	}
	return 2*found > len(schema) || found > 0 && 2*found == len(schema) && !isRow(fields, schema)
}

// isRow reports whether fields can be the values of a row.
func isRow(fields []string, schema sqltype.Schema) bool {
	if len(fields) != len(schema) {
		return false
	}
	p := vector.NewPool()
	for i, c := range schema {
		b := vector.NewColumnBuilder(p, c.Type.Kind())
		if fields[i] != "" && !sqltype.AppendParsed(b, c.Type, []byte(fields[i])) {
			return false
		}
	}
	return true
}

// first reads the fields of the first record without passing it, and its size. It
// passes blank and comment lines before it.
func (r *reader) first(ctx context.Context) (fields []string, size int, ok bool, err error) {
	for {
		w := r.in.Bytes()
		if n := r.blank(w, 0, r.in.EOF()); n > 0 {
			r.pass(n)
			continue
		}
		if len(w) == 0 && r.in.EOF() {
			return nil, 0, true, nil
		}
		s := scanner{dialect: &r.dialect, w: w, eof: r.in.EOF()}
		for s.next() {
			fields = append(fields, strings.TrimSpace(string(r.unescape(w, s.field))))
		}
		if s.bad != "" {
			return nil, 0, false, r.broken(s.bad, s.p)
		}
		if s.done && s.p <= r.in.Limit() {
			return fields, s.p, true, nil
		}
		fields = fields[:0]
		if len(w) > r.in.Limit() {
			return nil, 0, false, r.in.TooLong(r.at(nil))
		}
		if more, err := r.in.Fill(ctx); err != nil || !more && !r.in.EOF() {
			return nil, 0, false, err
		}
	}
}

// blank is the size of the blank or comment line at w[p:], or 0.
func (r *reader) blank(w []byte, p int, eof bool) int {
	i := p
	for i < len(w) && w[i] == '\r' {
		i++
	}
	switch {
	case i < len(w) && w[i] == '\n':
		return i + 1 - p
	case i == len(w) && eof:
		return i - p
	case i > p || !r.comments || i == len(w) || w[i] != '#':
		return 0
	}
	if n := bytes.IndexByte(w[i:], '\n'); n >= 0 {
		return i + n + 1 - p
	}
	if eof {
		return len(w) - p
	}
	return 0
}

// pass moves behind n bytes of the window.
func (r *reader) pass(n int) {
	r.line += int64(bytes.Count(r.in.Bytes()[:n], []byte{'\n'}))
	r.in.Advance(n)
}

// Read returns the rows that the window holds, reading on when it has none.
func (r *reader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	if ok, err := r.start(ctx); !ok || err != nil {
		return nil, err
	}
	for {
		if err := r.in.FillUp(ctx); err != nil {
			return nil, err
		}
		size, err := r.tokenize(limit)
		if err != nil && r.rows == 0 {
			return nil, err
		}
		if r.rows > 0 {
			b, err := r.convert(p)
			if err != nil {
				return nil, err
			}
			r.pass(size)
			if b.Len() > 0 {
				return b, nil
			}
			b.Release()
			continue
		}
		r.pass(size)
		if r.in.EOF() {
			return nil, io.EOF
		}
		if len(r.in.Bytes()) > r.in.Limit() {
			return nil, r.in.TooLong(r.at(nil))
		}
		more, err := r.in.Fill(ctx)
		if err != nil {
			return nil, err
		}
		if !more && !r.in.EOF() {
			return nil, nil
		}
	}
}

// tokenize finds the fields of at most limit rows and returns the size of what it
// saw. A broken record ends the rows; it is reported when it is the first.
func (r *reader) tokenize(limit int) (size int, err error) {
	w, eof := r.in.Bytes(), r.in.EOF()
	r.rows, r.starts, r.drop, r.escaped = 0, r.starts[:0], r.drop[:0], false
	s := scanner{dialect: &r.dialect, w: w, eof: eof}
	for r.rows < limit && size < len(w) {
		if n := r.blank(w, size, eof); n > 0 {
			size += n
			continue
		}
		if base := (r.rows + 1) * len(r.scan); base > len(r.found) {
			r.found = append(r.found, make([]field, max(base, 1024*len(r.scan)))...)
		}
		row := r.found[r.rows*len(r.scan):]
		fields, end := r.plain(w, size, row)
		if end < 0 {
			s.p, s.done, s.bad = size, false, ""
			fields = r.record(&s, row)
			switch {
			case s.bad != "" && r.ignore:
				n := bytes.IndexByte(w[size:], '\n') + 1
				if n == 0 && !eof {
					return size, nil
				}
				if n == 0 {
					n = len(w) - size
				}
				size += n
				continue
			case s.bad != "":
				return size, r.broken(s.bad, s.p)
			case !s.done: // the record goes on behind the window
				return size, nil
			}
			end = s.p
		}
		if end-size > r.in.Limit() {
			return size, r.in.TooLong(r.at(w[:size]))
		}
		if fields != r.fields {
			if !r.ignore {
				return size, r.wrongFields(w[:size], fields)
			}
			for f := fields; f < len(r.slots); f++ {
				if slot := r.slots[f]; slot >= 0 {
					row[slot] = noField
				}
			}
		}
		r.starts = append(r.starts, int32(size))
		r.rows++
		size = end
	}
	return size, nil
}

// record finds the fields of any record and counts them.
func (r *reader) record(s *scanner, row []field) (fields int) {
	for s.next() {
		if fields < len(r.slots) {
			if slot := r.slots[fields]; slot >= 0 {
				row[slot] = s.field
				r.escaped = r.escaped || s.field&escapedField != 0
			}
		}
		fields++
	}
	return fields
}

func (r *reader) broken(what string, p int) error {
	return errs.New(errs.Data, r.at(r.in.Bytes()[:p]), "%s", what).In(r.in.Name())
}

func (r *reader) wrongFields(before []byte, got int) error {
	e := errs.New(errs.Data, r.at(before), "the record has %d fields, not %d", got, r.fields).In(r.in.Name())
	if got == 1 {
		return e.WithHint("is '%c' the delimiter? see 'csv.field-delimiter'", r.delim)
	}
	return e.WithHint("'csv.ignore-parse-errors' = 'true' reads what is there")
}

// at is the position behind the given bytes of the window.
func (r *reader) at(before []byte) errs.Position {
	return errs.Position{Line: int(r.line) + bytes.Count(before, []byte{'\n'}), Offset: int(r.in.Offset()) + len(before)}
}

// Position is the place and line of the next record.
func (r *reader) Position() []byte {
	if !r.started {
		if r.resume != nil {
			return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(r.resume.Offset)), uint64(r.resume.Line))
		}
		return nil
	}
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(r.in.Offset())), uint64(r.line))
}

// Offset is the place of the next record.
func (r *reader) Offset() int64 {
	if !r.started && r.resume != nil {
		return int64(r.resume.Offset)
	}
	return r.in.Offset()
}

func (r *reader) Close() error { return r.in.Close() }

// badValue is the error about a field.
func (r *reader) badValue(slot, row int, text []byte, why string) error {
	col := r.schema[r.scan[slot]]
	e := errs.New(errs.Data, r.at(r.in.Bytes()[:r.starts[row]]), "column %q: %s", col.Name, why).In(r.in.Name())
	if r.line == 1 && row == 0 && !r.byName && r.header != "false" && text != nil {
		return e.WithHint("is the first line a header? name the columns as it does, or set 'csv.header' = 'true'")
	}
	return e
}

func quoteText(text []byte) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%q...", text[:most])
	}
	return fmt.Sprintf("%q", text)
}
