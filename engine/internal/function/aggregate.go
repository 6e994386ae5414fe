package function

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// aggregates types them as Flink does: SUM and AVG of integers keep their type, so
// AVG truncates.
func aggregates() []*Aggregate {
	value := []string{"(value)"}
	number := []string{"(number)"}
	return []*Aggregate{
		{
			Name: "COUNT", Doc: "the number of rows, or of values that are not NULL", Signatures: []string{"(*)", "(value)"}, Kind: Count,
			Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
				ret := sqltype.BigIntType.Required()
				switch len(args) {
				case 0:
					return nil, ret, nil
				case 1:
					return []sqltype.Type{args[0].Type}, ret, nil
				}
				return nil, ret, ErrMismatch
			},
		},
		{Name: "SUM", Doc: "the sum of the values", Signatures: number, Kind: Sum, Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
			return inferTotal(args, func(t sqltype.Type) sqltype.Type { return sqltype.DecimalOf(maxDecimal, t.Scale) })
		}},
		{Name: "AVG", Doc: "the mean of the values; of integers it is an integer, truncated", Signatures: number, Kind: Avg, Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
			return inferTotal(args, func(t sqltype.Type) sqltype.Type {
				return sqltype.DecimalOf(maxDecimal, max(minQuotient, t.Scale))
			})
		}},
		{Name: "VAR_POP", Doc: "the variance of the values", Signatures: number, Kind: VarPop, Infer: inferSpread},
		{Name: "VAR_SAMP", Doc: "the variance of what the values are a sample of; of one value it is NULL", Signatures: number, Kind: VarSamp, Infer: inferSpread},
		{Name: "STDDEV_POP", Doc: "the standard deviation of the values", Signatures: number, Kind: StddevPop, Infer: inferSpread},
		{Name: "STDDEV_SAMP", Doc: "the standard deviation of what the values are a sample of; of one value it is NULL", Signatures: number, Kind: StddevSamp, Infer: inferSpread},
		{Name: "FIRST_VALUE", Doc: "the value that came first; NULL is passed over", Signatures: value, Kind: FirstValue, Infer: inferBest},
		{Name: "LAST_VALUE", Doc: "the value that came last; NULL is passed over", Signatures: value, Kind: LastValue, Infer: inferBest},
		{
			Name: "LISTAGG", Doc: "the values one after the other as they came, with a separator between them, a comma when it is left out",
			Signatures: []string{"(STRING)", "(STRING, 'separator')"}, Kind: ListAgg, Infer: inferList,
		},
		{Name: "MIN", Doc: "the least value", Signatures: value, Kind: Min, Infer: inferBest},
		{Name: "MAX", Doc: "the greatest value", Signatures: value, Kind: Max, Infer: inferBest},
	}
}

func inferTotal(args []Arg, decimal func(sqltype.Type) sqltype.Type) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	t := args[0].Type
	switch {
	case t.ID == sqltype.Null:
		t = sqltype.IntType
	case !t.IsNumeric():
		return nil, t, ErrMismatch
	}
	ret := t.Optional()
	if t.ID == sqltype.Decimal {
		ret = decimal(t)
	}
	return []sqltype.Type{t}, ret, nil
}

func inferBest(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 || args[0].Type.ID >= sqltype.Array {
		return nil, sqltype.Type{}, ErrMismatch
	}
	return []sqltype.Type{args[0].Type}, args[0].Type.Optional(), nil
}

// inferSpread: deviations are DOUBLE whatever the values are.
func inferSpread(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 1 || !args[0].Type.IsNumeric() && args[0].Type.ID != sqltype.Null {
		return nil, sqltype.Type{}, ErrMismatch
	}
	return []sqltype.Type{sqltype.DoubleType}, sqltype.DoubleType, nil
}

// inferList: the separator is constant, since one is for all rows.
func inferList(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) < 1 || len(args) > 2 {
		return nil, sqltype.Type{}, ErrMismatch
	}
	coerced := make([]sqltype.Type, len(args))
	for i, a := range args {
		if !a.Type.IsString() && a.Type.ID != sqltype.Null {
			return nil, sqltype.Type{}, ErrMismatch
		}
		coerced[i] = a.Type
		if a.Type.ID == sqltype.Null {
			coerced[i] = sqltype.StringType
		}
	}
	if len(args) == 2 && (!args[1].Const || args[1].Value == nil) {
		return nil, sqltype.Type{}, errs.New(errs.Type, errs.Position{}, "the separator of LISTAGG is a constant string").WithHint("write it as LISTAGG(value, ', ')")
	}
	return coerced, sqltype.StringType, nil
}

// aggregateAliases are second names of aggregates.
func aggregateAliases() map[string]string {
	return map[string]string{"STDDEV": "STDDEV_SAMP", "VARIANCE": "VAR_SAMP"}
}
