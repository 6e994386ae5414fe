package vector

import "fmt"

// RowKind says what a row does to the table that its changelog describes.
type RowKind uint8

// The row kinds, as Flink has them. Their numbers are stored and must not change.
const (
	Insert       RowKind = 0 // +I
	UpdateBefore RowKind = 1 // -U
	UpdateAfter  RowKind = 2 // +U
	Delete       RowKind = 3 // -D
)

func (k RowKind) String() string {
	if k > Delete {
		return fmt.Sprintf("rowkind(%d)", uint8(k))
	}
	return [...]string{"+I", "-U", "+U", "-D"}[k]
}

// Adds reports whether the row is added to the table (+I, +U), not taken from it.
func (k RowKind) Adds() bool { return k&1 == 0 }

// Sign is +1 for a row that is added and -1 for one that is taken away.
func (k RowKind) Sign() int64 { return 1 - 2*int64(k&1) }

// Invert swaps adding and taking away: +I and -D, +U and -U.
func (k RowKind) Invert() RowKind { return 3 - k }

// ParseRowKind reads +I, -U, +U or -D.
func ParseRowKind(s string) (RowKind, bool) {
	switch s {
	case "+I":
		return Insert, true
	case "-U":
		return UpdateBefore, true
	case "+U":
		return UpdateAfter, true
	case "-D":
		return Delete, true
	}
	return 0, false
}
