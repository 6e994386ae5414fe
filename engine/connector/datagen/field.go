package datagen

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// field says how the values of a column are made.
type field struct {
	t        sqltype.Type
	key      uint64 // of the column's random numbers
	nullRate float64

	sequence   bool
	start      int64 // first value; unscaled for decimals
	step       int64
	low        int64  // smallest random value
	span       uint64 // number of random values; 0: all of int64
	rate       int64  // of a time that goes on with the rows, in rows a second; 0: it stands
	flow, fmax float64
	length     int
}

// checkFields finds options of columns that are not there.
func checkFields(t *connector.Table, opt connector.Options) error {
	for _, key := range opt.Keys() {
		rest, ok := strings.CutPrefix(key, "fields.")
		if !ok {
			continue
		}
		name := rest[:strings.LastIndexByte(rest, '.')]
		if t.Schema.Index(name) >= 0 {
			continue
		}
		e := opt.Errorf(key, "option '%s': table %q has no column %q", key, t.Name, name)
		if hint := errs.DidYouMean(name, t.Schema.Names()); hint != "" {
			e.WithHint("%s", hint)
		}
		return e
	}
	return nil
}

// newField reads the options of a column of a table whose rows come at a rate (0:
// at once). length is that of a sequence with an end, else -1.
func newField(col sqltype.Column, opt connector.Options, now time.Time, rate int64) (f field, length int64, err error) {
	prefix := "fields." + col.Name + "."
	f = field{t: col.Type, step: 1, key: mix(uint64(opt.Int("seed")) ^ hashName(col.Name))}
	if f.nullRate = opt.Float(prefix + "null-rate"); f.nullRate < 0 || f.nullRate > 1 {
		return f, 0, opt.Errorf(prefix+"null-rate", "'%snull-rate' is not between 0 and 1", prefix)
	}
	if f.nullRate > 0 && col.Type.NotNull {
		return f, 0, opt.Errorf(prefix+"null-rate", "column %q is NOT NULL: it has no rate of NULLs", col.Name)
	}
	f.sequence = opt.Text(prefix+"kind") == "sequence"
	o := fieldOptions{opt: opt, prefix: prefix, t: col.Type}
	if f.sequence {
		length = o.sequenceOf(&f)
	} else {
		length = -1
		o.randomOf(&f, now, rate)
	}
	return f, length, o.err
}

// fieldOptions reads the options of one column and keeps the first error.
type fieldOptions struct {
	opt    connector.Options
	prefix string
	t      sqltype.Type
	err    error
}

func (o *fieldOptions) fail(key, format string, args ...any) {
	if o.err == nil {
		o.err = o.opt.Errorf(o.prefix+key, "option '%s%s': %s", o.prefix, key, fmt.Sprintf(format, args...))
	}
}

// value reads an option as a value of the column's type.
func (o *fieldOptions) value(key string, otherwise int64) int64 {
	if !o.opt.Given(o.prefix + key) {
		return otherwise
	}
	text := []byte(o.opt.Text(o.prefix + key))
	v, ok := int64(0), false
	switch o.t.ID {
	case sqltype.Date:
		var d int32
		d, ok = sqltype.ParseDate(text)
		v = int64(d)
	case sqltype.Time:
		v, ok = sqltype.ParseTime(text, o.t.UnitDigits())
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		v, ok = sqltype.ParseTimestamp(text, o.t.UnitDigits())
	case sqltype.Decimal:
		var d vector.Dec
		d, ok = sqltype.ParseDecimal(text, min(o.t.Precision, 18), o.t.Scale)
		v = int64(d.LowBits())
	case sqltype.Char, sqltype.Varchar:
		v, ok = sqltype.ParseInt(text)
	default:
		v, ok = sqltype.ParseInt(text)
		ok = ok && v >= o.least() && v <= o.most()
	}
	if !ok {
		o.fail(key, "'%s' is not a value for type %v", text, o.t.Optional())
	}
	return v
}

// least and most bound the values of the column's type.
func (o *fieldOptions) least() int64 { return -o.most() - 1 }

func (o *fieldOptions) most() int64 {
	switch o.t.Kind() {
	case vector.Int8:
		return math.MaxInt8
	case vector.Int16:
		return math.MaxInt16
	case vector.Int32:
		return math.MaxInt32
	}
	return math.MaxInt64
}

func (o *fieldOptions) sequenceOf(f *field) (length int64) {
	switch {
	case f.t.IsInteger(), f.t.ID == sqltype.Decimal, f.t.IsString(), f.t.ID == sqltype.Date, f.t.IsTimestamp():
	default:
		o.fail("kind", "a column of type %v cannot be a sequence", f.t.Optional())
		return 0
	}
	if !o.opt.Given(o.prefix + "start") {
		o.fail("kind", "a sequence needs '%sstart'", o.prefix)
		return 0
	}
	f.start = o.value("start", 0)
	unit := int64(1)
	switch {
	case f.t.IsTimestamp():
		unit = int64(math.Pow10(f.t.UnitDigits() - 3))
		f.step = unit
		if o.opt.Given(o.prefix + "step") {
			d, err := connector.ParseDuration(o.opt.Text(o.prefix + "step"))
			if f.step = d.Microseconds() * unit / 1000; err != nil || f.step == 0 {
				o.fail("step", "'%s' is not a duration", o.opt.Text(o.prefix+"step"))
			}
		}
	case f.t.ID == sqltype.Decimal:
		f.step = o.value("step", int64(math.Pow10(f.t.Scale)))
	case o.opt.Given(o.prefix + "step"):
		var ok bool
		if f.step, ok = sqltype.ParseInt([]byte(o.opt.Text(o.prefix + "step"))); !ok {
			o.fail("step", "'%s' is not a whole number", o.opt.Text(o.prefix+"step"))
		}
	}
	if f.step <= 0 {
		o.fail("step", "it must be positive")
		f.step = 1
	}
	// Without an end it is where the type ends.
	last := o.most()
	if f.t.ID == sqltype.Decimal {
		last = int64(math.Pow10(min(f.t.Precision, 18))) - 1
	}
	end := o.value("end", last)
	if end < f.start {
		o.fail("end", "the end is before the start")
		return 0
	}
	n := uint64(end-f.start) / uint64(f.step)
	if !o.opt.Given(o.prefix+"end") && o.most() == math.MaxInt64 && f.t.ID != sqltype.Decimal || n >= math.MaxInt64 {
		return -1
	}
	return int64(n) + 1
}

func (o *fieldOptions) randomOf(f *field, now time.Time, rate int64) {
	switch {
	case f.t.IsInteger(), f.t.ID == sqltype.Date, f.t.ID == sqltype.Time, f.t.ID == sqltype.Decimal, f.t.IsTimestamp():
		o.integers(f, now, rate)
	case f.t.IsApprox():
		f.flow, f.fmax = o.float("min", 0), o.float("max", 1)
		if f.fmax < f.flow {
			o.fail("max", "the largest value is less than the smallest")
		}
	case f.t.IsString(), f.t.IsBinary():
		f.length = min(100, f.t.Precision)
		if f.t.IsBinary() {
			f.length = min(20, f.t.Precision)
		}
		if o.opt.Given(o.prefix + "length") {
			n := o.opt.Int(o.prefix + "length")
			if n < 0 || n > int64(min(f.t.Precision, 1<<20)) {
				o.fail("length", "%d is no length for type %v", n, f.t.Optional())
				return
			}
			f.length = int(n)
		}
	case f.t.ID == sqltype.Boolean:
	default:
		o.fail("kind", "a column of type %v cannot be made up", f.t.Optional())
	}
}

func (o *fieldOptions) integers(f *field, now time.Time, rate int64) {
	low, high := o.least(), o.most()
	switch f.t.ID {
	case sqltype.Decimal:
		low, high = 0, int64(math.Pow10(min(f.t.Precision, 18)))-1
	case sqltype.Date:
		high = now.Unix() / 86400
		low = high - int64(o.opt.Duration(o.prefix+"max-past")/(24*time.Hour))
	case sqltype.Time:
		low, high = 0, 86400*int64(math.Pow10(f.t.UnitDigits()))-1
	case sqltype.Timestamp, sqltype.TimestampLTZ:
		per := int64(math.Pow10(9 - f.t.UnitDigits()))
		high = now.UnixNano() / per
		low = high - int64(o.opt.Duration(o.prefix+"max-past"))/per
	}
	if f.t.IsTimestamp() && !o.opt.Given(o.prefix+"min") && !o.opt.Given(o.prefix+"max") {
		f.rate = rate
	}
	low, high = o.value("min", low), o.value("max", high)
	if high < low {
		o.fail("max", "the largest value is less than the smallest")
		return
	}
	f.low, f.span = low, uint64(high-low)+1
}

func (o *fieldOptions) float(key string, otherwise float64) float64 {
	if !o.opt.Given(o.prefix + key) {
		return otherwise
	}
	v, ok := sqltype.ParseFloat([]byte(o.opt.Text(o.prefix+key)), 64)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		o.fail(key, "'%s' is not a number", o.opt.Text(o.prefix+key))
	}
	return v
}
