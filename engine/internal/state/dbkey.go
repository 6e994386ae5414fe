package state

import (
	"bytes"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
)

// A key of the database is
//
//	operator  2 bytes, 0 for what belongs to none
//	table     1 byte: number<<2 | class
//	group     1 byte, the key group
//	key       canonical bytes, none a prefix of another; before them the time, for
//	          tables in the order of time
//	suffix    what tells apart the rows of one key; its length follows from the class
//
// Numbers are big-endian, so entries lie in this order.
const keyHead = 4

// class is how a table's entries are spread over keys of the database.
type class uint8

const (
	single   class = iota // one for each key, without suffix
	appended              // one for each row: its number among those of the key
	indexed               // one for each row: its content's hash and a number among equal hashes
	timed                 // one for each key and time, the time first; without suffix
)

// suffix is the length of the suffix.
func (c class) suffix() int { return 0x00_09_04_00 >> (8 * c) & 0xff }

const (
	timeBytes  = 8
	maxTables  = 1<<6 - 1 // in an operator; the last number would end no span
	keyGroups  = 1 << groupBits
	comparerID = "weir.state.1"
)

// appendHead appends the head of a key.
func appendHead(buf []byte, operator uint16, table byte, group uint8) []byte {
	return append(binary.BigEndian.AppendUint16(buf, operator), table, group)
}

// appendTime appends a time so that bytes sort as times do.
func appendTime(buf []byte, at int64) []byte {
	return binary.BigEndian.AppendUint64(buf, uint64(at)^1<<63)
}

func timeOf(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ 1<<63) }

// groupSpan is the span of keys of some groups of a table.
func groupSpan(operator uint16, table byte, from, to int) span {
	s := span{start: appendHead(nil, operator, table, uint8(from))}
	if to < keyGroups {
		s.end = appendHead(nil, operator, table, uint8(to))
	} else {
		s.end = append(binary.BigEndian.AppendUint16(nil, operator), table+1)
	}
	return s
}

// span is the keys from start to before end.
type span struct{ start, end []byte }

// splitKey is where the suffix of a key begins. Bounds, which have none, are all
// prefix.
func splitKey(key []byte) int {
	if len(key) < keyHead || key[0] == 0 && key[1] == 0 {
		return len(key)
	}
	return max(len(key)-class(key[2]&3).suffix(), min(len(key), keyHead))
}

// newComparer orders keys by their bytes. It knows the suffixes, so that filters
// answer whether a key has any row.
func newComparer() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = comparerID
	c.Split = splitKey
	c.ComparePointSuffixes = bytes.Compare
	// No key is shortened: what is left might be split elsewhere.
	c.Separator = func(dst, a, _ []byte) []byte { return append(dst, a...) }
	c.Successor = func(dst, a []byte) []byte { return append(dst, a...) }
	return &c
}
