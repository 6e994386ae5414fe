package filesystem

import (
	"encoding/binary"
	"errors"
)

// The first byte of a position says what it is one of.
const (
	followedPlace  = 'f'
	monitoredPlace = 'm'
)

// placeWriter writes a position.
type placeWriter []byte

func (w *placeWriter) number(n uint64) { *w = binary.AppendUvarint(*w, n) }

func (w *placeWriter) text(b []byte) {
	w.number(uint64(len(b)))
	*w = append(*w, b...)
}

// placeReader reads a position. What it returns after the first problem means nothing;
// end reports it.
type placeReader struct {
	rest []byte
	bad  bool
}

func newPlaceReader(position []byte, kind byte) *placeReader {
	if len(position) == 0 || position[0] != kind {
		return &placeReader{bad: true}
	}
	return &placeReader{rest: position[1:]}
}

func (r *placeReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *placeReader) text() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *placeReader) end() error {
	if r.bad || len(r.rest) > 0 {
		return errors.New("the position is damaged")
	}
	return nil
}
