package function

import (
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

func inferDateFormat(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	if len(args) != 2 || !args[1].Type.IsString() && args[1].Type.ID != sqltype.Null {
		return nil, sqltype.StringType, ErrMismatch
	}
	t := args[0].Type
	switch {
	case t.ID == sqltype.Null, t.IsString(), t.ID == sqltype.Date:
		t = sqltype.TimestampOf(3)
	case !t.IsTimestamp():
		return nil, t, ErrMismatch
	}
	return []sqltype.Type{t, sqltype.StringType}, sqltype.StringType, nil
}

// formatCache compiles the pattern of a row.
type formatCache struct {
	constant bool
	last     cached[timeFormat]
}

// newFormatCache is for argument i, or the given pattern when there is none.
func newFormatCache(b Binding, i int, otherwise string) (*formatCache, error) {
	f := &formatCache{}
	text, constant := otherwise, i >= len(b.Args)
	if !constant && b.Args[i].Const && b.Args[i].Value != nil {
		text, constant = b.Args[i].Value.(string), true
	}
	if constant {
		p, err := compileTimeFormat(text)
		if err != nil {
			return nil, err
		}
		f.constant, f.last.value = true, p
	}
	return f, nil
}

func (f *formatCache) of(pattern []byte) (*timeFormat, error) {
	if !f.constant && (!f.last.known || string(pattern) != f.last.text) {
		p, err := compileTimeFormat(string(pattern))
		if err != nil {
			return nil, err
		}
		f.last = cached[timeFormat]{text: string(pattern), known: true, value: p}
	}
	return &f.last.value, nil
}

// row is the pattern of row i, given as argument k if at all.
func (f *formatCache) row(c *Call, k, i int) (*timeFormat, error) {
	if f.constant {
		return &f.last.value, nil
	}
	return f.of(textsOf(c.Args[k]).at(i))
}

func bindDateFormat(b Binding) (Kernel, error) {
	cache, err := newFormatCache(b, 1, "")
	if err != nil {
		return nil, err
	}
	zone := kernel.NewZone(b.Zone)
	t := b.Args[0].Type
	var text kernel.TextBuffer
	return func(c *Call) (*vector.Vector, error) {
		src := localTimes(c, c.Args[0], t, zone)
		defer src.Release()
		text.Reset()
		x, digits := vector.Values[int64](src), t.UnitDigits()
		for i := range c.N {
			if c.Valid == nil || c.Valid.Get(i) {
				f, err := cache.row(c, 1, i)
				if err != nil {
					return nil, err
				}
				text.Data = f.append(text.Data, x[i*step(x)], digits)
			}
			text.End()
		}
		return text.Column(c.Pool, vector.String), nil
	}, nil
}

// bindToTime is TO_DATE and TO_TIMESTAMP: what cannot be read is NULL.
func bindToTime(b Binding) (Kernel, error) {
	cache, err := newFormatCache(b, 1, "")
	if err != nil {
		return nil, err
	}
	var missing kernel.Misfits
	digits := b.Ret.UnitDigits()
	return func(c *Call) (*vector.Vector, error) {
		missing.Reset()
		s := textsOf(c.Args[0])
		times := c.Pool.New(vector.Int64, c.N)
		dst := vector.Values[int64](times)
		for i := range dst {
			var t int64
			ok := c.Valid == nil || c.Valid.Get(i)
			switch {
			case !ok:
			case len(c.Args) == 1 && b.Ret.ID == sqltype.Date:
				var d int32
				d, ok = kernel.ParseDate(s.at(i))
				t = int64(d) * dayMillis
			case len(c.Args) == 1:
				t, ok = kernel.ParseTimestamp(s.at(i), digits)
			default:
				f, err := cache.row(c, 1, i)
				if err != nil {
					return checked(times, err)
				}
				t, ok = f.parse(s.at(i), digits)
			}
			dst[i] = t
			if !ok {
				missing.Rows = append(missing.Rows, int32(i))
			}
		}
		out := times
		if b.Ret.ID == sqltype.Date {
			out = c.Pool.New(vector.Int32, c.N)
			days := vector.Values[int32](out)
			for i, t := range dst {
				days[i] = int32(kernel.FloorDiv(t, dayMillis))
			}
			times.Release()
		}
		clearRows(out, c.Valid, missing.Rows)
		return out, nil
	}, nil
}

// clearRows makes rows NULL beside those that valid leaves out.
func clearRows(out *vector.Vector, valid vector.Bitmap, rows []int32) {
	if len(rows) == 0 {
		return
	}
	own := copyValid(out, valid)
	for _, r := range rows {
		own.Clear(int(r))
	}
}

func inferToInstant(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
	ret := sqltype.TimestampLTZOf(3)
	if len(args) > 0 && (args[0].Type.IsString() || args[0].Type.ID == sqltype.Null && len(args) == 1) {
		return inferStrings(1, 2, ret)(args)
	}
	if len(args) < 1 || len(args) > 2 || !args[0].Type.IsNumeric() && args[0].Type.ID != sqltype.Null {
		return nil, ret, ErrMismatch
	}
	coerced := []sqltype.Type{sqltype.BigIntType}
	if !args[0].Type.IsInteger() {
		coerced[0] = sqltype.DoubleType
	}
	if len(args) == 2 {
		if !args[1].Type.IsInteger() {
			return nil, ret, ErrMismatch
		}
		coerced = append(coerced, sqltype.IntType)
	}
	return coerced, ret, nil
}

func bindToInstant(b Binding) (Kernel, error) {
	if b.Args[0].Type.IsString() {
		return bindParseInstant(b, 3, false)
	}
	precision := int64(3)
	if len(b.Args) == 2 {
		v, ok := b.Args[1].Value.(int64)
		if !ok || v != 0 && v != 3 {
			return nil, errs.New(errs.Invalid, errs.Position{}, "the precision of TO_TIMESTAMP_LTZ is 0 (seconds) or 3 (milliseconds)")
		}
		precision = v
	}
	factor := int64(1)
	if precision == 0 {
		factor = 1000
	}
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		m.Reset()
		if c.Args[0].Kind() == vector.Float64 {
			out := c.Pool.New(vector.Int64, c.N)
			dst, x := vector.Values[int64](out), vector.Values[float64](c.Args[0])
			for i := range dst {
				v := x[i*step(x)] * float64(factor)
				if !(v > -9e18 && v < 9e18) {
					m.Rows = append(m.Rows, int32(i))
					continue
				}
				dst[i] = int64(v)
			}
			return checked(out, outOfRange(c, &m, "TO_TIMESTAMP_LTZ ", b.Args[:1], b.Ret))
		}
		out := kernel.ScaleInts(c.Pool, c.Args[0], factor, &m)
		return checked(out, outOfRange(c, &m, "TO_TIMESTAMP_LTZ ", b.Args[:1], b.Ret))
	}, nil
}

// bindParseInstant reads strings on the session's clock into units of digits digits.
// What cannot be read is NULL or, with seconds, the least BIGINT, as Flink has it.
func bindParseInstant(b Binding, digits int, seconds bool) (Kernel, error) {
	cache, err := newFormatCache(b, 1, "")
	if err != nil {
		return nil, err
	}
	zone, unit := kernel.NewZone(b.Zone), kernel.Units(digits)
	var missing kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		missing.Reset()
		s := textsOf(c.Args[0])
		out := c.Pool.New(vector.Int64, c.N)
		dst := vector.Values[int64](out)
		for i := range dst {
			var t int64
			ok := c.Valid == nil || c.Valid.Get(i)
			switch {
			case !ok:
			case len(c.Args) == 1:
				t, ok = kernel.ParseInstant(s.at(i), digits, zone)
			default:
				f, err := cache.row(c, 1, i)
				if err != nil {
					return checked(out, err)
				}
				if t, ok = f.parse(s.at(i), digits); ok {
					t = zone.Instant(t, unit)
				}
			}
			switch {
			case !seconds:
			case ok:
				t = kernel.FloorDiv(t, unit)
			default:
				t, ok = -1<<63, true
			}
			dst[i] = t
			if !ok {
				missing.Rows = append(missing.Rows, int32(i))
			}
		}
		clearRows(out, c.Valid, missing.Rows)
		return out, nil
	}, nil
}

func bindUnixTimestamp(b Binding) (Kernel, error) {
	if len(b.Args) > 0 {
		return bindParseInstant(b, 3, true)
	}
	return func(c *Call) (*vector.Vector, error) {
		one := vector.Of(c.Pool, kernel.FloorDiv(c.Now, 1000))
		defer one.Release()
		return kernel.Broadcast(c.Pool, one, c.N), nil
	}, nil
}

func bindFromUnixtime(b Binding) (Kernel, error) {
	cache, err := newFormatCache(b, 1, "yyyy-MM-dd HH:mm:ss")
	if err != nil {
		return nil, err
	}
	zone := kernel.NewZone(b.Zone)
	var text kernel.TextBuffer
	var m kernel.Misfits
	return func(c *Call) (*vector.Vector, error) {
		text.Reset()
		m.Reset()
		x := bigintsOf(c.Args[0])
		for i := range c.N {
			if c.Valid == nil || c.Valid.Get(i) {
				f, err := cache.row(c, 1, i)
				if err != nil {
					return nil, err
				}
				sec := x.at(i)
				if day := kernel.FloorDiv(sec, 86400); day != int64(int32(day)) {
					m.Rows, sec = append(m.Rows, int32(i)), 0
				}
				text.Data = f.append(text.Data, zone.Local(sec, 1)*1000, 3)
			}
			text.End()
		}
		d := *c
		d.Args = c.Args[:1]
		return checked(text.Column(c.Pool, vector.String), outOfRange(&d, &m, "FROM_UNIXTIME ", b.Args[:1], b.Ret))
	}, nil
}
