package function

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Single is the name of what a subquery as a value comes to: the value of its row, an
// error when there are several.
const Single = "SINGLE VALUE"

func single() *Scalar {
	return &Scalar{
		Name: Single, Doc: "the value of the only row of a subquery", Signatures: []string{"(value, INT)"},
		Deterministic: true, NullCall: true, Infer: inferSingle, Bind: bindSingle,
	}
}

func inferSingle(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 2 || !args[1].Type.IsInteger() {
		return nil, sqltype.Type{}, ErrMismatch
	}
	return []sqltype.Type{args[0].Type, sqltype.BigIntType}, args[0].Type, nil
}

func bindSingle(Binding) (Kernel, error) {
	return func(c *Call) (*vector.Vector, error) {
		rows := full(c, 1)
		defer rows.Release()
		for i, n := range vector.Values[int64](rows) {
			if n > 1 && !rows.IsNull(i) {
				return nil, errs.New(errs.Data, errs.Position{}, "a subquery as a value has %d rows", n).
					WithHint("aggregate it, as in (SELECT MAX(..) FROM ..), or compare with = ANY")
			}
		}
		return full(c, 0), nil
	}, nil
}
