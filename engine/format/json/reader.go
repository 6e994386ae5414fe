package json

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// decoding is the connector.Decoding of one table.
type decoding struct {
	schema   sqltype.Schema
	settings settings
}

func (d *decoding) Mode() sqltype.ChangelogMode { return d.settings.mode() }

// Splits is nil: whether the file is one array shows at its start.
func (*decoding) Splits(connector.File) ([]connector.Part, error) { return nil, nil }

// Grows is true: where an object ends can be seen.
func (*decoding) Grows() bool { return true }

func (d *decoding) Open(ctx context.Context, f connector.File, _ connector.Part, scan connector.Scan, position []byte) (connector.Reader, error) {
	r := newReader(d.settings, d.schema.Project(scan.Of(len(d.schema))), f)
	if position != nil {
		p, err := parsePosition(position)
		if err != nil {
			return nil, errs.New(errs.State, errs.Position{}, "a position stored for %s cannot be read", f.Name())
		}
		if err := r.in.SkipTo(ctx, p.offset); err != nil {
			return nil, err
		}
		r.line, r.col, r.shape = p.line, p.col, p.shape
	}
	return r, nil
}

// shape is how the objects of a file follow each other.
type shape uint8

const (
	unknownShape shape = iota // nothing was read yet
	lines                     // objects with white space between them
	arrayStart                // before the first element of an array
	array                     // after an element
	afterArray                // nothing may follow
)

type position struct {
	offset, line, col int64
	shape             shape
}

func parsePosition(b []byte) (position, error) {
	var v [4]uint64
	for i := range v {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return position{}, errors.New("cut short")
		}
		v[i], b = x, b[n:]
	}
	return position{offset: int64(v[0]), line: int64(v[1]), col: int64(v[2]), shape: shape(v[3])}, nil
}

// reader is the connector.Reader of one file. A decoder of package jsontext runs
// over the window of the input, so it sees whole objects only or is asked again.
type reader struct {
	settings
	schema sqltype.Schema // of the scan
	in     *connector.Input
	line   int64 // of the window's beginning
	col    int64 // in characters, from 1
	shape  shape

	dec     *jsontext.Decoder
	buf     bytes.Buffer // over the window
	from    int          // where in the window the decoder began
	careful bool         // the quick way is not taken
	quoted  []string     // the columns' names as JSON
	column  map[string]int
	scratch []byte
	inner   jsontext.Decoder // over a value of a nested type
}

func newReader(s settings, schema sqltype.Schema, f connector.File) *reader {
	r := &reader{settings: s, schema: schema, in: connector.NewInput(f, s.maxLine), line: 1, col: 1, dec: jsontext.NewDecoder(bytes.NewReader(nil)), column: map[string]int{}}
	for i, c := range schema {
		q, err := jsontext.AppendQuote(nil, c.Name)
		if err != nil { // no JSON text can name it
			q = []byte{0}
		} else {
			r.column[c.Name] = i
		}
		r.quoted = append(r.quoted, string(q))
	}
	return r
}

// Read returns the rows that the window holds, reading on when it has none.
func (r *reader) Read(ctx context.Context, p *vector.Pool, limit int) (*vector.Batch, error) {
	for {
		if err := r.in.FillUp(ctx); err != nil {
			return nil, err
		}
		b := vector.NewBuilder(p, r.schema.Kinds())
		size, err := r.decode(b, limit)
		if b.Len() > 0 {
			r.pass(size)
			return b.Finish(), nil
		}
		b.Discard()
		if err != nil {
			return nil, err
		}
		r.pass(size)
		if r.in.EOF() {
			if r.shape == array || r.shape == arrayStart {
				return nil, r.failed(len(r.in.Bytes()), "the array is not closed")
			}
			return nil, io.EOF
		}
		if len(r.in.Bytes()) > r.in.Limit() {
			return nil, r.in.TooLong(r.at(0))
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

// decode appends at most limit rows and returns the size of what it saw. A broken
// object ends the rows; it is reported when it is the first.
func (r *reader) decode(b *vector.Builder, limit int) (size int, err error) {
	w := r.in.Bytes()
	if r.in.Offset() == 0 {
		const mark = "\xef\xbb\xbf"
		switch {
		case bytes.HasPrefix(w, []byte(mark)):
			size = len(mark)
		case len(w) < len(mark) && strings.HasPrefix(mark, string(w)) && !r.in.EOF():
			return 0, nil
		}
	}
	ready := false // the decoder stands at size
	for b.Len() < limit {
		n, found, err := r.between(w, size)
		switch {
		case err != nil:
			return size, err
		case found == again:
			size += n
			continue
		case found == more:
			return size + n, nil
		}
		at := size + n
		if !r.careful {
			if end, ok := r.quick(b, w, at); ok {
				size, ready = end, false
				if r.shape == arrayStart {
					r.shape = array
				}
				continue
			}
			b.DropRow()
		}
		if !ready || r.shape != lines {
			r.seek(w, at)
			ready = true
		}
		err = r.row(b, at)
		end := r.offset()
		switch {
		case err == nil || errors.Is(err, errSkip): // read, but perhaps not wanted
			b.DropRow()
			size = end
			if r.shape == arrayStart {
				r.shape = array
			}
			continue
		}
		b.DropRow()
		if (errors.Is(err, io.ErrUnexpectedEOF) || end == len(w)) && !r.in.EOF() {
			return size, nil // what seems wrong may be a number that is cut
		}
		if !r.ignore || !isSyntax(err) {
			return size, r.explain(err, at)
		}
		// Go on with the next line: a broken object hides where it ends.
		switch n := bytes.IndexByte(w[at:], '\n'); {
		case n >= 0:
			size = at + n + 1
		case r.in.EOF():
			size = len(w)
		default:
			return size, nil
		}
		ready = false
	}
	return size, nil
}

// errSkip says that an object holds no row that can be used.
var errSkip = errors.New("skip")

func isSyntax(err error) bool {
	var e *jsontext.SyntacticError
	return errors.As(err, &e)
}

// ahead is what between found.
type ahead uint8

const (
	more   ahead = iota // the window ends first
	again               // a bracket was passed
	object              // something that should be an object
)

// between finds what comes after the place p where an object has ended, and how
// many bytes before it can be passed.
func (r *reader) between(w []byte, p int) (n int, found ahead, err error) {
	comma := -1
	for i := p; i < len(w); i++ {
		switch c := w[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '[' && r.shape == unknownShape:
			r.shape = arrayStart
			return i + 1 - p, again, nil
		case c == ',' && r.shape == array && comma < 0:
			comma = i
		case c == ']' && (r.shape == arrayStart || r.shape == array) && comma < 0:
			r.shape = afterArray
			return i + 1 - p, again, nil
		case r.shape == afterArray:
			return 0, more, r.failed(i, "text follows the array")
		case r.shape == array && comma < 0 && !r.ignore:
			return 0, more, r.failed(i, "a comma is missing before this element of the array")
		default:
			if r.shape == unknownShape {
				r.shape = lines
			}
			return i - p, object, nil
		}
	}
	if comma >= 0 { // it is passed with the object that follows
		return comma - p, more, nil
	}
	return len(w) - p, more, nil
}

func (r *reader) seek(w []byte, at int) {
	r.from = at
	r.buf = *bytes.NewBuffer(w[at:])
	r.dec.Reset(&r.buf, jsontext.AllowDuplicateNames(true))
}

// offset is how far in the window the decoder is.
func (r *reader) offset() int { return r.from + int(r.dec.InputOffset()) }

// row appends the values of the object that begins at the given place to every
// column.
func (r *reader) row(b *vector.Builder, at int) error {
	if k := r.dec.PeekKind(); k != '{' {
		if k == 0 {
			_, err := r.dec.ReadToken()
			return err
		}
		if err := r.dec.SkipValue(); err != nil {
			return err
		}
		if r.ignore {
			return errSkip
		}
		return r.failed(at, "a row must be an object, not "+kindName(k))
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	kind, skip := vector.Insert, error(nil)
	for next := 0; ; next++ {
		k := r.dec.PeekKind()
		if k == '}' {
			break
		}
		name, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		col := -1
		if next < len(r.quoted) && string(name) == r.quoted[next] {
			col = next
		} else if col, name, err = r.lookup(name); err != nil {
			return err
		} else if col >= 0 {
			next = col
		}
		switch {
		case col >= 0:
			err = r.value(b.Col(col), col, b.Len())
		case r.changelog && string(name) == opField:
			kind, err = r.op()
		default:
			err = r.dec.SkipValue()
		}
		switch {
		case errors.Is(err, errSkip):
			skip = err
		case err != nil:
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for i, c := range r.schema {
		if b.Col(i).Len() > b.Len() {
			continue
		}
		switch {
		case !c.Type.NotNull && !r.missing:
			b.Col(i).AppendNull()
		case r.ignore:
			skip = errSkip
		default:
			return r.failed(r.offset(), "the member "+jsonName(c.Name)+" is missing")
		}
	}
	if skip != nil {
		return skip
	}
	if r.offset()-at > r.in.Limit() {
		return r.in.TooLong(r.at(at))
	}
	b.EndRow(kind)
	return nil
}

// lookup finds the column of a member's name given as JSON; it returns the name
// without quotes.
func (r *reader) lookup(quoted []byte) (int, []byte, error) {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		var err error
		if name, err = jsontext.AppendUnquote(nil, quoted); err != nil {
			return 0, nil, err
		}
	}
	if col, ok := r.column[string(name)]; ok {
		return col, name, nil
	}
	return -1, name, nil
}

// op reads the row kind of a changelog.
func (r *reader) op() (vector.RowKind, error) {
	v, err := r.dec.ReadValue()
	if err != nil {
		return 0, err
	}
	if v.Kind() == '"' {
		if k, ok := vector.ParseRowKind(string(v[1 : len(v)-1])); ok {
			return k, nil
		}
	}
	if r.ignore {
		return 0, errSkip
	}
	return 0, r.failed(r.offset()-len(v), "\"op\" must be +I, -U, +U or -D, not "+cut(v))
}

// at is the position of a byte of the window.
func (r *reader) at(p int) errs.Position {
	w := r.in.Bytes()
	before := w[:min(p, len(w))]
	line, column := r.lineAfter(before)
	return errs.Position{Line: int(line), Column: int(column), Offset: int(r.in.Offset()) + p}
}

// lineAfter is the line and column that follow some bytes at the window's
// beginning.
func (r *reader) lineAfter(b []byte) (line, column int64) {
	n := int64(bytes.Count(b, []byte{'\n'}))
	if n == 0 {
		return r.line, r.col + int64(utf8.RuneCount(b))
	}
	return r.line + n, int64(utf8.RuneCount(b[bytes.LastIndexByte(b, '\n'):]))
}

func (r *reader) failed(p int, msg string) error {
	return errs.New(errs.Data, r.at(p), "%s", msg).In(r.in.Name())
}

// explain turns the decoder's errors into ours. at is where the object begins.
func (r *reader) explain(err error, at int) error {
	var se *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errs.New(errs.Data, r.at(at), "the file ends within the object that begins here").In(r.in.Name())
	case !errors.As(err, &se):
		return err
	}
	msg := strings.TrimPrefix(se.Err.Error(), "jsontext: ")
	e := errs.New(errs.Data, r.at(r.from+int(se.ByteOffset)), "not valid JSON: %s", msg).In(r.in.Name())
	if strings.Contains(msg, "UTF-8") {
		e.Msg += " at byte " + itoa(e.Pos.Offset) + " of the file"
	}
	if w := r.in.Bytes(); r.in.Offset()+int64(at) == 0 && len(w) > 0 && w[0] != '{' {
		e.WithHint("the format is JSON objects, one row each, or an array of them")
	}
	return e
}

// pass moves behind n bytes of the window.
func (r *reader) pass(n int) {
	r.line, r.col = r.lineAfter(r.in.Bytes()[:n])
	r.in.Advance(n)
}

// Position is the place and line of the next object, and the file's shape.
func (r *reader) Position() []byte {
	b := binary.AppendUvarint(nil, uint64(r.in.Offset()))
	b = binary.AppendUvarint(b, uint64(r.line))
	b = binary.AppendUvarint(b, uint64(r.col))
	return binary.AppendUvarint(b, uint64(r.shape))
}

// Offset is the place of the next object.
func (r *reader) Offset() int64 { return r.in.Offset() }

func (r *reader) Close() error { return r.in.Close() }
