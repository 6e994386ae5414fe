package plan

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// The row kinds by short names.
const (
	insert       = vector.Insert
	updateBefore = vector.UpdateBefore
	updateAfter  = vector.UpdateAfter
	remove       = vector.Delete
)

// typeOf is the type that a declaration or CAST names, with defaults filled in.
func typeOf(d *parse.DataType) (sqltype.Type, error) {
	t, err := baseType(d)
	t.NotNull = d.NotNull
	return t, err
}

func baseType(d *parse.DataType) (sqltype.Type, error) {
	simple := map[string]sqltype.Type{
		"BOOLEAN": sqltype.BoolType, "TINYINT": sqltype.TinyType, "SMALLINT": sqltype.SmallType, "INT": sqltype.IntType,
		"BIGINT": sqltype.BigIntType, "FLOAT": sqltype.FloatType, "DOUBLE": sqltype.DoubleType, "DATE": sqltype.DateType,
		"STRING": sqltype.StringType, "BYTES": sqltype.BytesType, "NULL": sqltype.NullType,
	}
	if t, ok := simple[d.Name]; ok {
		return t, nil
	}
	// param is the n-th parameter, between low and high.
	param := func(n, otherwise, low, high int) (int, error) {
		if n >= len(d.Params) {
			return otherwise, nil
		}
		if p := d.Params[n]; p < low || p > high {
			return 0, errs.New(errs.Invalid, d.At, "%s(%d) does not exist", d.Name, p).WithHint("the number is from %d to %d", low, high)
		}
		return d.Params[n], nil
	}
	sized := func(id sqltype.ID, otherwise, low, high int) (sqltype.Type, error) {
		p, err := param(0, otherwise, low, high)
		return sqltype.Type{ID: id, Precision: p}, err
	}
	switch d.Name {
	case "ARRAY", "MULTISET", "MAP", "ROW":
		return nestedType(d)
	case "DECIMAL":
		p, err := param(0, 10, 1, sqltype.MaxPrecision)
		if err != nil {
			return sqltype.Type{}, err
		}
		s, err := param(1, 0, 0, p)
		return sqltype.DecimalOf(p, s), err
	case "CHAR":
		return sized(sqltype.Char, 1, 1, sqltype.MaxLength)
	case "VARCHAR":
		return sized(sqltype.Varchar, 1, 1, sqltype.MaxLength)
	case "BINARY":
		return sized(sqltype.Binary, 1, 1, sqltype.MaxLength)
	case "VARBINARY":
		return sized(sqltype.Varbinary, 1, 1, sqltype.MaxLength)
	case "TIME":
		return sized(sqltype.Time, 0, 0, 9)
	case "TIMESTAMP":
		return sized(sqltype.Timestamp, 6, 0, 9)
	case "TIMESTAMP_LTZ":
		return sized(sqltype.TimestampLTZ, 6, 0, 9)
	case "INTERVAL":
		switch d.From {
		case parse.Year, parse.Quarter, parse.Month:
			return sqltype.Type{ID: sqltype.IntervalMonth}, nil
		}
		return sqltype.Type{ID: sqltype.IntervalDay}, nil
	}
	return sqltype.Type{}, unsupported(d.At, "the type %s is", d.Name)
}
