package udf

import (
	"fmt"
	"unsafe"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// form says how values of a type lie in the guest's buffers, beside their validity.
type form uint8

const (
	formFixed form = iota // data, as in a vector
	formBits              // data is a bitmap; a vector has a byte
	formTime              // data is an int32; a vector has an int64
	formText              // offsets into data
	formList              // offsets into the children: element, or key and value
	formRow               // the children, each as long as the parent
)

// column is an argument or result of a layout, or a child of one, and what the call at
// hand has put there.
type column struct {
	typ      sqltype.Type
	word     abi.Type
	kind     vector.Kind
	form     form
	width    int // bytes of a value in data, of formFixed and formTime
	at       int // of its abi.Column in the arena
	children []column
	kidsAt   int // of the children's

	rows, nulls, bytes int // inputs: in the buffers; results: rows that there is room for, bytes in data
	perRow             float64
	limited            bool // the type has fewer values than its buffers can hold: checkValues
}

// layout is how the calls of one part of a function look: the head of the arena, which
// never changes but for its addresses, and what the buffers hold.
type layout struct {
	in, out       []column
	inAt, outAt   int
	head          int  // bytes of the call and all columns
	flat          bool // all columns are of fixed width
	widthIn       int  // of the arguments of a row, when flat
	inPlace       bool // pieces of the only result can be written where they belong
	atOnce        int  // rows of a call that is in the caches
	last          laid
	textIn, lists int // what the inputs at hand hold, a first guess of what the results will
}

// laid is the largest call of a flat layout that had neither NULL nor a constant: one with
// as many rows or fewer needs no more than this copied, and its values.
type laid struct {
	head    []byte // the call and all columns
	base    uint32 // address of the arena
	room    int    // rows
	outFrom int
	in, out []laidColumn
}

// laidColumn is where the buffers of a column are in the arena.
type laidColumn struct{ valid, data int }

// firstText and firstList are the guess of bytes of a text and of elements of a list
// before the first call.
const (
	firstText = 16
	firstList = 2
)

func newLayout(in, out []sqltype.Type) *layout {
	l := &layout{head: abi.CallBytes}
	place := func(types []sqltype.Type) ([]column, int) {
		cols := make([]column, len(types))
		for k, t := range types {
			cols[k] = newColumn(t)
		}
		at := l.head
		for k := range cols {
			cols[k].at = l.head
			l.head += abi.ColumnBytes
		}
		return cols, at
	}
	l.in, l.inAt = place(in)
	l.out, l.outAt = place(out)
	l.flat = true
	width := func(cols []column) int {
		n := 0
		for k := range cols {
			l.flat = l.flat && cols[k].form == formFixed
			n += cols[k].width
		}
		return n
	}
	l.widthIn = width(l.in)
	widthOut := width(l.out)
	l.inPlace = l.flat && len(l.out) == 1 && !l.out[0].limited
	l.atOnce = abi.MaxRows
	if l.inPlace {
		l.atOnce = min(max(cached/(l.widthIn+widthOut)&^63, 64), abi.MaxRows)
	}
	for _, cols := range [][]column{l.in, l.out} {
		for k := range cols {
			cols[k].placeChildren(&l.head)
		}
	}
	return l
}

func (c *column) placeChildren(head *int) {
	c.kidsAt = *head
	for k := range c.children {
		c.children[k].at = *head
		*head += abi.ColumnBytes
	}
	for k := range c.children {
		c.children[k].placeChildren(head)
	}
}

func newColumn(t sqltype.Type) column {
	c := column{typ: t, word: wordOf(t), kind: t.Kind(), width: wordOf(t).Width()}
	switch id := c.word.ID(); {
	case id == abi.Boolean:
		c.form = formBits
	case id == abi.Time && c.width == 4:
		c.form = formTime
	case id == abi.String || id == abi.Binary:
		c.form, c.perRow = formText, firstText
	case id == abi.Array || id == abi.Map:
		c.form, c.perRow = formList, firstList
	case id == abi.Row:
		c.form = formRow
	}
	switch t.ID {
	case sqltype.Decimal, sqltype.Time:
		c.limited = true
	case sqltype.Char, sqltype.Varchar, sqltype.Binary, sqltype.Varbinary:
		c.limited = t.Precision != sqltype.MaxLength
	}
	for _, child := range t.Children() {
		c.children = append(c.children, newColumn(child))
	}
	return c
}

// cached is how many bytes of values a call of a flat layout has at most. They are written,
// read by the guest and read back, while the columns that they come from and go to are in
// the caches of the processor, too, of which the second has 256 KiB to 2 MiB.
const cached = 128 << 10

// rowsOfPiece is how many of so many rows a call has, if it has the memory for them: as
// many in each, and a multiple of 64.
func (l *layout) rowsOfPiece(rows int) int {
	if rows <= l.atOnce {
		return rows
	}
	calls := (rows-1)/l.atOnce + 1
	return ((rows-1)/calls + 64) &^ 63
}

// wordOf is the type word of columns of t.
func wordOf(t sqltype.Type) abi.Type {
	switch t.ID {
	case sqltype.Boolean:
		return abi.TypeOf(abi.Boolean)
	case sqltype.TinyInt:
		return abi.TypeOf(abi.TinyInt)
	case sqltype.SmallInt:
		return abi.TypeOf(abi.SmallInt)
	case sqltype.Integer:
		return abi.TypeOf(abi.Integer)
	case sqltype.BigInt:
		return abi.TypeOf(abi.BigInt)
	case sqltype.Float:
		return abi.TypeOf(abi.Float)
	case sqltype.Double:
		return abi.TypeOf(abi.Double)
	case sqltype.Decimal:
		return abi.DecimalType(t.Precision, t.Scale)
	case sqltype.Char, sqltype.Varchar:
		return abi.TypeOf(abi.String)
	case sqltype.Binary, sqltype.Varbinary:
		return abi.TypeOf(abi.Binary)
	case sqltype.Date:
		return abi.TypeOf(abi.Date)
	case sqltype.Time:
		return abi.TimeType(unitOf(t))
	case sqltype.Timestamp:
		return abi.TimestampType(unitOf(t), false)
	case sqltype.TimestampLTZ:
		return abi.TimestampType(unitOf(t), true)
	case sqltype.IntervalDay:
		return abi.TypeOf(abi.IntervalDay)
	case sqltype.IntervalMonth:
		return abi.TypeOf(abi.IntervalMonth)
	case sqltype.Array:
		return abi.TypeOf(abi.Array)
	case sqltype.Map, sqltype.Multiset:
		return abi.TypeOf(abi.Map)
	case sqltype.Row:
		return abi.TypeOf(abi.Row)
	}
	panic(fmt.Sprintf("udf: type %v does not cross: it should have been refused", t))
}

func unitOf(t sqltype.Type) abi.Unit { return abi.Unit(t.UnitDigits() / 3) }

// crosses reports why values of t cannot be passed to a guest or back.
func crosses(t sqltype.Type) error {
	if id := findType(t, func(id sqltype.ID) bool { return id == sqltype.Null || id == sqltype.Unknown }); id {
		return fmt.Errorf("%v cannot be passed", t)
	}
	return shapeOf(t).Validate()
}

func findType(t sqltype.Type, is func(sqltype.ID) bool) bool {
	if is(t.ID) {
		return true
	}
	for _, c := range t.Children() {
		if findType(c, is) {
			return true
		}
	}
	return false
}

func shapeOf(t sqltype.Type) abi.Shape {
	s := abi.Shape{Type: wordOf(t)}
	for _, c := range t.Children() {
		s.Children = append(s.Children, shapeOf(c))
	}
	return s
}

// pad rounds a size up to what the arena is laid out in.
func pad(n int) int { return (n + abi.Align - 1) &^ (abi.Align - 1) }

// bitmapBytes is the size of a bitmap of n bits in whole words.
func bitmapBytes(n int) int { return vector.BitmapWords(n) * 8 }

// view is memory as n values of T, which it is aligned for.
func view[T any](b []byte, n int) []T {
	if n == 0 {
		return nil
	}
	var zero T
	_ = b[:n*int(unsafe.Sizeof(zero))]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// arena is the part of the guest's memory that the host fills for a call. Buffers are cut
// off from its front, in the order in which they were measured.
type arena struct {
	mem   []byte // the arena
	base  uint32 // its address
	used  int
	phase int // where in a page values begin
}

// Values that take a page or more begin at certain places in a page. A processor tells by the low bits of
// addresses whether a load must wait for stores before it, so that a copy is a quarter
// slower when what it writes lies a little further on in its page than what it reads.
// Large vectors begin where a page does, arguments a quarter after that, and results a
// half, which is far enough from both.
const (
	page     = 4096
	phaseIn  = page / 4
	phaseOut = page / 2
)

// valueRoom is the most that cutValues takes for n bytes.
func valueRoom(n int) int {
	if n < page {
		return pad(n)
	}
	return pad(n) + page
}

// cutValues is cut for the values of a column.
func (a *arena) cutValues(n int) ([]byte, abi.Ptr) {
	if n >= page {
		a.used += (a.phase - int(a.base) - a.used) & (page - 1)
	}
	return a.cut(n)
}

// cut returns the next n bytes, of which those up to the next multiple of 64 belong to it.
func (a *arena) cut(n int) ([]byte, abi.Ptr) {
	at := a.used
	a.used += pad(n)
	return a.mem[at:a.used], abi.Ptr(a.base) + abi.Ptr(at)
}

func (a *arena) column(at int) *abi.Column {
	return (*abi.Column)(unsafe.Pointer(&a.mem[at : at+abi.ColumnBytes][0]))
}

func (a *arena) address(at int) abi.Ptr { return abi.Ptr(a.base) + abi.Ptr(at) }
