package udf_test

import (
	"fmt"
	"unicode/utf8"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// invalid says what is wrong with a column of a type, "" when nothing is: what the engine
// relies on when it reads it.
func invalid(t sqltype.Type, v *vector.Vector) string { return invalidAmong(t, v, nil) }

// invalidAmong looks at the rows that are set; nil stands for all.
func invalidAmong(t sqltype.Type, v *vector.Vector, counts []bool) string {
	if v.Kind() != t.Kind() {
		return fmt.Sprintf("%v has the kind %v", t, v.Kind())
	}
	if v.Valid() != nil && len(v.Valid()) < vector.BitmapWords(v.Len()) {
		return "the bitmap is too short"
	}
	live := make([]bool, v.Len())
	for r := range live {
		live[r] = (counts == nil || counts[r]) && !v.IsNull(r)
		if t.NotNull && v.IsNull(r) && (counts == nil || counts[r]) {
			return fmt.Sprintf("row %d of %v is NULL", r, t)
		}
	}
	if t.IsString() || t.IsBinary() || t.IsNested() && t.ID != sqltype.Row {
		o := v.Offsets()
		if len(o) != v.Len()+1 || o[0] != 0 {
			return "offsets do not begin at 0"
		}
		for r := range live {
			if o[r+1] < o[r] {
				return "offsets do not ascend"
			}
		}
	}
	switch {
	case t.IsString():
		for r, ok := range live {
			if ok && (!utf8.Valid(v.Bytes(r)) || !t.Holds(v.Bytes(r))) {
				return fmt.Sprintf("row %d is no %v", r, t)
			}
		}
		if int(v.Offsets()[v.Len()]) > len(v.Data()) {
			return "the offsets end behind the data"
		}
	case t.IsBinary():
		for r, ok := range live {
			if ok && len(v.Bytes(r)) > t.Precision {
				return fmt.Sprintf("row %d is no %v", r, t)
			}
		}
	case t.ID == sqltype.Decimal:
		for r, d := range vector.Values[vector.Dec](v) {
			if live[r] && !d.FitsInPrecision(int32(t.Precision)) {
				return fmt.Sprintf("row %d is no %v", r, t)
			}
		}
	case t.ID == sqltype.Time:
		for r, x := range vector.Values[int64](v) {
			if live[r] && (x < 0 || x >= int64(24*3600*1e9)/int64(t.Unit())) {
				return fmt.Sprintf("row %d is no %v", r, t)
			}
		}
	case t.ID == sqltype.Row:
		for k, c := range t.Children() {
			if v.Child(k).Len() != v.Len() {
				return "a field has another length"
			}
			if problem := invalidAmong(c, v.Child(k), live); problem != "" {
				return problem
			}
		}
	case t.IsNested():
		inner := make([]bool, v.Child(0).Len())
		if int(v.Offsets()[v.Len()]) > len(inner) {
			return "the offsets end behind the elements"
		}
		for r, ok := range live {
			for e := v.Offsets()[r]; e < v.Offsets()[r+1]; e++ {
				inner[e] = ok
				if ok && t.ID != sqltype.Array && e > v.Offsets()[r] && vector.Compare(v.Child(0), int(e)-1, v.Child(0), int(e)) >= 0 {
					return fmt.Sprintf("the keys of row %d are not in order", r)
				}
			}
		}
		for k, c := range t.Children() {
			if v.Child(k).Len() != len(inner) {
				return "keys and values have different lengths"
			}
			if problem := invalidAmong(c, v.Child(k), inner); problem != "" {
				return problem
			}
		}
	}
	return ""
}
