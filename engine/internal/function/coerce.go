package function

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// integerDigits is the precision of the DECIMAL that an integer type becomes next
// to a DECIMAL.
func integerDigits(t sqltype.Type) int {
	switch t.ID {
	case sqltype.TinyInt:
		return 3
	case sqltype.SmallInt:
		return 5
	case sqltype.Integer:
		return 10
	}
	return 19
}

// asDecimal is the DECIMAL that holds every value of the exact type t.
func asDecimal(t sqltype.Type) sqltype.Type {
	if t.IsInteger() {
		d := sqltype.DecimalOf(integerDigits(t), 0)
		d.NotNull = t.NotNull
		return d
	}
	return t
}

// CommonType is the type that values of all the given types can take without an
// explicit cast: that of CASE, COALESCE, UNION, VALUES and IN. It is NOT NULL when
// all of them are. Rules are those of Flink's LogicalTypeMerging.
func CommonType(types ...sqltype.Type) (sqltype.Type, error) {
	if len(types) == 0 {
		panic("function: the common type of nothing")
	}
	t, notNull := types[0], types[0].NotNull
	for _, u := range types[1:] {
		c, ok := commonType(t, u)
		if !ok {
			return c, errs.New(errs.Type, errs.Position{}, "%s and %s have no common type", t.Optional(), u.Optional()).WithHint("CAST one of them")
		}
		t, notNull = c, notNull && u.NotNull
	}
	t.NotNull = notNull
	if len(types) > 1 {
		for _, u := range types {
			if u.Attr != types[0].Attr || !u.Equal(types[0]) {
				return t.Plain(), nil
			}
		}
	}
	return t, nil
}

func commonType(a, b sqltype.Type) (sqltype.Type, bool) {
	if a.Equal(b) && !a.IsNested() { // what is nested may differ in what can be NULL
		return a, true
	}
	if a.ID > b.ID {
		a, b = b, a
	}
	switch {
	case a.ID == sqltype.Null:
		return b, true
	case a.IsNumeric() && b.IsNumeric():
		return commonNumeric(a, b), true
	case a.IsString() && b.IsString(), a.IsBinary() && b.IsBinary():
		// CHARs of different length make a VARCHAR: nothing is padded behind the user's back.
		b.Precision = max(a.Precision, b.Precision)
		if b.ID == sqltype.Char {
			b.ID = sqltype.Varchar
		}
		if b.ID == sqltype.Binary {
			b.ID = sqltype.Varbinary
		}
		return b, true
	case a.ID == b.ID && (a.ID == sqltype.Time || a.IsTimestamp()), a.ID == sqltype.Timestamp && b.ID == sqltype.TimestampLTZ:
		b.Precision = max(a.Precision, b.Precision)
		return b, true
	case a.ID == sqltype.Date && b.IsTimestamp():
		return b, true
	case a.ID == b.ID && a.ID == sqltype.Row && len(a.Fields) == len(b.Fields):
		fields := make([]sqltype.Column, len(a.Fields))
		for i := range fields {
			t, ok := commonType(a.Fields[i].Type, b.Fields[i].Type)
			if !ok {
				return a, false
			}
			t.NotNull = a.Fields[i].Type.NotNull && b.Fields[i].Type.NotNull
			fields[i] = sqltype.Column{Name: a.Fields[i].Name, Type: t}
		}
		a.Fields = fields
		return a, true
	case a.ID == b.ID && (a.ID == sqltype.Array || a.ID == sqltype.Map || a.ID == sqltype.Multiset):
		elem, ok := CommonType(*a.Elem, *b.Elem)
		if ok != nil {
			return a, false
		}
		a.Elem = &elem
		if a.Key != nil {
			key, err := CommonType(*a.Key, *b.Key)
			if err != nil {
				return a, false
			}
			a.Key = &key
		}
		return a, true
	}
	return a, false
}

// commonNumeric is the common type of two numeric types, a.ID <= b.ID.
func commonNumeric(a, b sqltype.Type) sqltype.Type {
	switch {
	case a.IsApprox() && b.ID == sqltype.Decimal:
		return sqltype.DoubleType
	case b.IsApprox(), b.IsInteger():
		return b
	}
	a, b = asDecimal(a), asDecimal(b)
	scale := max(a.Scale, b.Scale)
	digits := max(a.Precision-a.Scale, b.Precision-b.Scale)
	if digits+scale > sqltype.MaxPrecision {
		scale = max(sqltype.MaxPrecision-digits, 0)
	}
	return sqltype.DecimalOf(min(digits+scale, sqltype.MaxPrecision), scale)
}

// CanCast reports whether a value of type from can be cast to type to. An implicit
// cast is one that INSERT and set operations make on their own: it never loses
// more than digits after the point.
func CanCast(from, to sqltype.Type, implicit bool) bool {
	if from.ID == sqltype.Null || from.Equal(to) {
		return true
	}
	if from.IsNested() && from.ID == to.ID {
		a, b := from.Children(), to.Children()
		for i := range a {
			if len(a) != len(b) || !CanCast(a[i], b[i], implicit) {
				return false
			}
		}
		return len(a) == len(b)
	}
	if implicit {
		return canCastImplicitly(from, to)
	}
	switch {
	case from.IsNested():
		return to.IsString()
	case to.IsNested():
		return false
	case from.ID == to.ID, from.IsString(), to.IsString():
		return true
	case from.IsNumeric():
		switch to.ID {
		case sqltype.Boolean:
			return true
		case sqltype.IntervalDay, sqltype.IntervalMonth:
			return from.IsInteger()
		}
		return to.IsNumeric()
	case from.ID == sqltype.Boolean:
		return to.IsNumeric()
	case from.IsBinary():
		return to.IsBinary()
	case from.ID == sqltype.Date:
		return to.IsTimestamp()
	case from.ID == sqltype.Time:
		return to.IsTimestamp()
	case from.IsTimestamp():
		return to.IsTimestamp() || to.ID == sqltype.Date || to.ID == sqltype.Time
	case from.ID == sqltype.IntervalDay, from.ID == sqltype.IntervalMonth:
		return to.IsInteger()
	}
	return false
}

func canCastImplicitly(from, to sqltype.Type) bool {
	switch {
	case from.IsNumeric() && to.IsNumeric():
		switch {
		case to.IsApprox():
			return from.IsApprox() && from.ID <= to.ID || !from.IsApprox()
		case to.IsInteger():
			return from.IsInteger() && from.ID <= to.ID
		}
		return !from.IsApprox()
	case from.IsString() && to.IsString(), from.IsBinary() && to.IsBinary(), from.IsTimestamp() && to.IsTimestamp():
		return true
	case from.ID == sqltype.Date && to.IsTimestamp(), from.ID == sqltype.Time && to.ID == sqltype.Time:
		return true
	}
	return false
}
