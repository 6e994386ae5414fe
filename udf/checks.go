package udf

import (
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// checkValues reports the first value that type t cannot have, among the rows that count
// and are not NULL.
func checkValues(t *sqltype.Type, v *vector.Vector, counts vector.Bitmap) error {
	bad := -1
	switch t.ID {
	case sqltype.Decimal:
		bad = firstWide(t.Precision, vector.Values[vector.Dec](v), v, counts)
	case sqltype.Time:
		day := int64(24 * time.Hour / t.Unit())
		for r, x := range vector.Values[int64](v) {
			if (x < 0 || x >= day) && matters(v, counts, r) {
				bad = r
				break
			}
		}
	case sqltype.Char, sqltype.Varchar:
		for r := range v.Len() {
			if b := v.Bytes(r); len(b) > t.Precision && utf8.RuneCount(b) > t.Precision && matters(v, counts, r) {
				bad = r
				break
			}
		}
	case sqltype.Binary, sqltype.Varbinary:
		for r := range v.Len() {
			if len(v.Bytes(r)) > t.Precision && matters(v, counts, r) {
				bad = r
				break
			}
		}
	}
	if bad >= 0 {
		return broken("row %d is no %v", bad, t.Optional())
	}
	return nil
}

func matters(v *vector.Vector, counts vector.Bitmap, r int) bool {
	return !v.IsNull(r) && (counts == nil || counts.Get(r))
}

// firstWide is the first row that counts and has more digits than precision, or -1.
func firstWide(precision int, values []vector.Dec, v *vector.Vector, counts vector.Bitmap) int {
	small := int64(1<<63 - 1) // of precision 19 and more every int64 is one
	if precision < 19 {
		small = 1
		for range precision {
			small *= 10
		}
		small--
	}
	for r, d := range values {
		if lo := int64(d.LowBits()); d.HighBits() == lo>>63 && lo <= small && lo >= -small {
			continue
		}
		if !d.FitsInPrecision(int32(precision)) && matters(v, counts, r) {
			return r
		}
	}
	return -1
}

func boolBytes(b []bool) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func int64Bytes(w []int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)
}
