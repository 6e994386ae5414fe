package function

import (
	"math"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// watermarkFunctions are those of event time.
func watermarkFunctions() []*Scalar {
	return []*Scalar{{
		Name: "CURRENT_WATERMARK", Doc: "how far event time was before the row; NULL while nothing is known",
		Signatures: []string{"(ROWTIME)"}, Deterministic: true, MayNull: true,
		// The planner gives it, in the place of the column of event time, that of watermarks.
		Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
			if len(args) != 1 || !args[0].Type.IsTimestamp() {
				return nil, sqltype.Type{}, ErrMismatch
			}
			return []sqltype.Type{args[0].Type}, sqltype.Type{ID: args[0].Type.ID, Precision: 3}, nil
		},
		Bind: bindCurrentWatermark,
	}}
}

// bindCurrentWatermark reads milliseconds, of which the least stands for none.
func bindCurrentWatermark(Binding) (Kernel, error) {
	return func(c *Call) (*vector.Vector, error) {
		out := c.Pool.New(vector.Int64, c.N)
		copy(vector.Values[int64](out), vector.Values[int64](c.Args[0]))
		var valid vector.Bitmap
		for i, w := range vector.Values[int64](out) {
			if w == math.MinInt64 {
				if valid == nil {
					valid = out.NewValid(true)
				}
				valid.Clear(i)
			}
		}
		return out, nil
	}, nil
}
