package ref

import (
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// clock is a DATE or TIMESTAMP as the calendar has it. It reports whether the
// reference knows the type: an instant needs a time zone.
func clock(v any, t sqltype.Type) (time.Time, bool) {
	switch t.ID {
	case sqltype.Date:
		return time.Unix(v.(int64)*86400, 0).UTC(), true
	case sqltype.Timestamp:
		return time.Unix(floorDiv(v.(int64), unit(t)), 0).UTC(), true
	}
	return time.Time{}, false
}

// applyToTime has the functions that read parts of a time.
func applyToTime(c *expr.Call, args []any) (any, bool) {
	name, last := c.Func.Name, len(args)-1
	if name == "EXTRACT" && last == 1 {
		name = strings.ToUpper(args[0].(string))
	} else if last != 0 {
		return nil, false
	}
	t, ok := clock(args[last], c.Args[last].Type())
	if !ok {
		return nil, false
	}
	part := 0
	switch name {
	case "YEAR":
		part = t.Year()
	case "QUARTER":
		part = (int(t.Month()) + 2) / 3
	case "MONTH":
		part = int(t.Month())
	case "DAY", "DAYOFMONTH":
		part = t.Day()
	case "DOY", "DAYOFYEAR":
		part = t.YearDay()
	case "HOUR":
		part = t.Hour()
	case "MINUTE":
		part = t.Minute()
	case "SECOND":
		part = t.Second()
	default:
		return nil, false
	}
	return int64(part), true
}

// moved is a TIMESTAMP and an INTERVAL of days and shorter units added, or the second
// taken from the first.
func moved(c *expr.Call, args []any) (any, error) {
	if len(args) == 2 && c.T.IsTimestamp() && (c.Func.Name == "+" || c.Func.Name == "-") {
		sum, ok := new(big.Rat), true
		for i, a := range c.Args {
			t, x := a.Type(), rational(args[i])
			switch {
			case t.ID == c.T.ID:
				x = new(big.Rat).Quo(x, rational(unit(t)))
			case t.ID == sqltype.IntervalDay:
				x = new(big.Rat).Quo(x, rational(int64(1000)))
			default:
				ok = false
			}
			if i == 1 && c.Func.Name == "-" {
				x = new(big.Rat).Neg(x)
			}
			sum.Add(sum, x)
		}
		ticks := sum.Mul(sum, rational(unit(c.T)))
		if f, _ := ticks.Float64(); ok && ticks.IsInt() && math.Abs(f) < 1<<60 {
			return ticks.Num().Int64(), nil
		}
	}
	return nil, unsupported(c, "function %s of %s", c.Func.Name, c.T)
}
