package function

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Overloaded is a function that stands for several of one name. Which of them a call
// means follows from the types of its arguments. Of one alone it is that one.
func Overloaded(name string, all []*Scalar) *Scalar {
	if len(all) == 1 {
		return all[0]
	}
	s := &Scalar{Name: name, Doc: all[0].Doc, Overloads: slices.Clone(all)}
	for _, o := range all {
		s.Signatures = append(s.Signatures, o.Signatures...)
	}
	return s
}

// Choose is the function that a call with such arguments means, and the arguments
// that the call leaves out. Of several it is the one that all arguments fit at least
// as well as any other: an argument of the very type fits best, then one that is
// widened, the less the better, then one that is cast in another way.
func (s *Scalar) Choose(args []Arg) (*Scalar, []Arg, error) {
	if s.Overloads == nil {
		return s, s.missing(len(args)), nil
	}
	var fits []*Scalar
	var costs [][]int
	for _, o := range s.Overloads {
		given := append(slices.Clone(args), o.missing(len(args))...)
		if coerced, _, err := o.Infer(given); err == nil {
			fits, costs = append(fits, o), append(costs, distances(args, coerced))
		}
	}
	if len(fits) == 0 {
		return nil, nil, mismatch(s.Name, s.Signatures, args)
	}
	best := slices.IndexFunc(costs, func(c []int) bool {
		return !slices.ContainsFunc(costs, func(other []int) bool { return !noFarther(c, other) })
	})
	if best < 0 {
		return nil, nil, s.ambiguous(fits, args)
	}
	for i, c := range costs {
		if i != best && noFarther(c, costs[best]) {
			return nil, nil, s.ambiguous([]*Scalar{fits[best], fits[i]}, args)
		}
	}
	return fits[best], fits[best].missing(len(args)), nil
}

// missing are the defaults of the arguments that a call with n of them leaves out.
func (s *Scalar) missing(n int) []Arg {
	if left := s.Arity - n; left > 0 && left <= len(s.Defaults) {
		return s.Defaults[len(s.Defaults)-left:]
	}
	return nil
}

func (s *Scalar) ambiguous(fits []*Scalar, args []Arg) error {
	types := make([]string, len(args))
	for i, a := range args {
		types[i] = a.Type.Optional().String()
	}
	var signatures []string
	for _, f := range fits {
		signatures = append(signatures, f.Signatures...)
	}
	return errs.New(errs.Ambiguous, errs.Position{}, "%s(%s) may be %s%s", s.Name, strings.Join(types, ", "), s.Name, strings.Join(signatures, " or "+s.Name)).
		WithHint("CAST the arguments to the types of one of them")
}

// noFarther reports whether no argument is farther from a than from b.
func noFarther(a, b []int) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}

// distances says for every argument how far its type is from the one it is cast to.
func distances(args []Arg, to []sqltype.Type) []int {
	out := make([]int, len(args))
	for i, a := range args {
		out[i] = distance(a.Type, to[i])
	}
	return out
}

// distance is 0 for the same type. Numeric types widen to the integers by size, then
// to DECIMAL, DOUBLE and FLOAT, which loses most.
func distance(from, to sqltype.Type) int {
	const otherwise = 100
	switch {
	case from.ID == sqltype.Null:
		return 0
	case from.ID == to.ID:
		if from.Optional().Equal(to.Optional()) {
			return 0
		}
		return 1
	case from.IsNumeric() && to.IsNumeric():
		order := []sqltype.ID{sqltype.TinyInt, sqltype.SmallInt, sqltype.Integer, sqltype.BigInt, sqltype.Decimal, sqltype.Double, sqltype.Float}
		return max(slices.Index(order, to.ID)-slices.Index(order, from.ID), 1)
	case from.IsString() && to.IsString(), from.IsBinary() && to.IsBinary():
		return 1
	}
	return otherwise
}
