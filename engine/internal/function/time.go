package function

import (
	"strings"
	"time"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func timeFunctions() []*Scalar {
	str, ltz := sqltype.StringType, sqltype.TimestampLTZOf(3)
	list := []*Scalar{
		{
			Name: "EXTRACT", Doc: "a part of a time", Signatures: []string{"('unit', TIMESTAMP)", "('unit', DATE)", "('unit', TIME)", "('unit', INTERVAL)"},
			Infer: inferExtract, Bind: bindExtractUnit,
		},
		{
			Name: "DATE_FORMAT", Doc: "a time written by a pattern such as 'yyyy-MM-dd HH:mm'", Signatures: []string{"(TIMESTAMP, STRING)", "(DATE, STRING)", "(STRING, STRING)"},
			Infer: inferDateFormat, Bind: bindDateFormat,
		},
		{
			Name: "TO_DATE", Doc: "a string as a date, by a pattern if given; NULL when it is none", Signatures: []string{"(STRING)", "(STRING, STRING)"}, MayNull: true,
			Infer: inferStrings(1, 2, sqltype.DateType), Bind: bindToTime,
		},
		{
			Name: "TO_TIMESTAMP", Doc: "a string as a timestamp, by a pattern if given; NULL when it is none", Signatures: []string{"(STRING)", "(STRING, STRING)"}, MayNull: true,
			Infer: inferStrings(1, 2, sqltype.TimestampOf(3)), Bind: bindToTime,
		},
		{
			Name: "TO_TIMESTAMP_LTZ", Doc: "seconds (0) or milliseconds (3) since 1970, or a string, as an instant", MayNull: true,
			Signatures: []string{"(number)", "(number, INT precision)", "(STRING)", "(STRING, STRING)"}, Infer: inferToInstant, Bind: bindToInstant,
		},
		{
			Name: "UNIX_TIMESTAMP", Doc: "a string in the session's time zone as seconds since 1970; the present without one", Signatures: []string{"()", "(STRING)", "(STRING, STRING)"}, Clock: true,
			Infer: inferStrings(0, 2, sqltype.BigIntType), Bind: bindUnixTimestamp,
		},
		{
			Name: "FROM_UNIXTIME", Doc: "seconds since 1970 as text in the session's time zone", Signatures: []string{"(INT)", "(INT, STRING)"},
			Infer: inferPattern("i|is", str), Bind: bindFromUnixtime,
		},
		{Name: "TIMESTAMPADD", Doc: "a time moved by so many units", Signatures: []string{"('unit', INT, TIMESTAMP)", "('unit', INT, DATE)"}, Infer: inferTimestampAdd, Bind: bindTimestampAdd},
		{
			Name: "TIMESTAMPDIFF", Doc: "the number of whole units from the first time to the second", Signatures: []string{"('unit', TIMESTAMP, TIMESTAMP)", "('unit', DATE, DATE)"},
			Infer: inferTimestampDiff, Bind: bindTimestampDiff,
		},
	}
	for _, unit := range []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE", "SECOND"} {
		list = append(list, &Scalar{
			Name: unit, Doc: strings.ToLower(unit) + " of a time", Signatures: []string{"(TIMESTAMP)", "(DATE)", "(TIME)"},
			Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
				if len(args) != 1 || args[0].Type.IsNumeric() {
					return nil, sqltype.BigIntType, ErrMismatch
				}
				coerced, ret, err := inferExtract([]Arg{{Type: str, Const: true, Value: unit}, args[0]})
				return coerced[min(1, len(coerced)):], ret, err
			},
			Bind: func(b Binding) (Kernel, error) {
				return extractKernel(unit, b.Args[0].Type, b.Zone)
			},
		})
	}
	for _, s := range list {
		s.Deterministic = true
	}
	now := func(name, doc string, ret sqltype.Type) {
		list = append(list, &Scalar{Name: name, Doc: doc, Signatures: []string{"()"}, Clock: true, Infer: func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
			if len(args) != 0 {
				return nil, ret, ErrMismatch
			}
			return nil, ret.Required(), nil
		}, Bind: bindNow})
	}
	now("NOW", "the present", ltz)
	now("CURRENT_TIMESTAMP", "the present", ltz)
	now("CURRENT_ROW_TIMESTAMP", "the present", ltz)
	now("PROCTIME", "the present, as processing time", ltz)
	now("LOCALTIMESTAMP", "the present on the session's clock", sqltype.TimestampOf(3))
	now("LOCALTIME", "the time of day on the session's clock", sqltype.Type{ID: sqltype.Time})
	now("CURRENT_TIME", "the time of day on the session's clock", sqltype.Type{ID: sqltype.Time})
	now("CURRENT_DATE", "today on the session's clock", sqltype.DateType)
	return list
}

// bindNow reads the clock of the epoch.
func bindNow(b Binding) (Kernel, error) {
	zone := kernel.NewZone(b.Zone)
	return func(c *Call) (*vector.Vector, error) {
		t := c.Now
		if b.Ret.ID != sqltype.TimestampLTZ {
			t = zone.Local(t, 1000)
		}
		switch b.Ret.ID {
		case sqltype.Date:
			one := vector.Of(c.Pool, int32(kernel.FloorDiv(t, dayMillis)))
			defer one.Release()
			return kernel.Broadcast(c.Pool, one, c.N), nil
		case sqltype.Time:
			t = ((t % dayMillis) + dayMillis) % dayMillis / 1000 * 1000
		}
		one := vector.Of(c.Pool, t)
		defer one.Release()
		return kernel.Broadcast(c.Pool, one, c.N), nil
	}, nil
}

// timeUnit is the canonical name of a unit of time.
func timeUnit(name string) string {
	name = strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(name)), "SQL_TSI_")
	switch name {
	case "DAYOFMONTH":
		return "DAY"
	case "DAYOFYEAR":
		return "DOY"
	case "DAYOFWEEK":
		return "DOW"
	case "YEARS", "QUARTERS", "MONTHS", "WEEKS", "DAYS", "HOURS", "MINUTES", "SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS":
		return name[:len(name)-1]
	}
	return name
}

// monthsOf is the number of months in a unit, or 0 when it is shorter.
func monthsOf(unit string) int64 {
	switch unit {
	case "YEAR":
		return 12
	case "QUARTER":
		return 3
	case "MONTH":
		return 1
	}
	return 0
}

// fixedUnit is the length of a unit in nanoseconds, of DAY and shorter ones.
func fixedUnit(unit string) (int64, bool) {
	switch unit {
	case "WEEK":
		return int64(7 * 24 * time.Hour), true
	case "DAY":
		return int64(24 * time.Hour), true
	case "HOUR":
		return int64(time.Hour), true
	case "MINUTE":
		return int64(time.Minute), true
	case "SECOND":
		return int64(time.Second), true
	case "MILLISECOND":
		return int64(time.Millisecond), true
	case "MICROSECOND":
		return int64(time.Microsecond), true
	case "NANOSECOND":
		return 1, true
	}
	return 0, false
}
