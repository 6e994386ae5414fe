package plan

import (
	"math"
	"strconv"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// frame binds the frame of a window. Without one it is all rows up to the peers of the
// current one; that is the whole partition when there is no order.
func (x *exprBinder) frame(f *parse.Frame, c *overCall) (Frame, error) {
	out := Frame{Start: FrameBound{Kind: parse.UnboundedPreceding}, End: FrameBound{Kind: parse.CurrentRow}}
	if f == nil {
		return out, nil
	}
	switch f.Unit {
	case parse.Groups:
		return out, unsupported(f.At, "a frame of GROUPS is").WithHint("ROWS counts rows, RANGE measures the distance in the order")
	case parse.Rows:
		out.Rows = true
	}
	start, end := f.Start, f.End
	switch {
	case start.Kind == parse.UnboundedFollowing:
		return out, errs.New(errs.Invalid, f.At, "a frame cannot begin at UNBOUNDED FOLLOWING")
	case end.Kind == parse.UnboundedPreceding:
		return out, errs.New(errs.Invalid, f.At, "a frame cannot end at UNBOUNDED PRECEDING")
	case start.Kind > end.Kind:
		return out, errs.New(errs.Invalid, f.At, "the frame begins at %s, behind its end at %s", start.Kind, end.Kind).WithHint("the earlier bound goes first")
	}
	var err error
	if out.Start, err = x.frameBound(start, c, out.Rows); err != nil {
		return out, err
	}
	if out.End, err = x.frameBound(end, c, out.Rows); err != nil {
		return out, err
	}
	before := compareDistances(out.Start, out.End)
	if start.Kind == end.Kind && (start.Kind == parse.Preceding && before < 0 || start.Kind == parse.Following && before > 0) {
		return out, errs.New(errs.Invalid, f.At, "the frame begins at %s, behind its end at %s", out.Start, out.End).WithHint("the earlier bound goes first")
	}
	out.Start, out.End = out.Start.plain(), out.End.plain()
	return out, nil
}

// plain is the bound, or CURRENT ROW if there is no distance from it.
func (b FrameBound) plain() FrameBound {
	if (b.Kind == parse.Preceding || b.Kind == parse.Following) && b.Rows == 0 && b.Float == 0 && b.Dec == (vector.Dec{}) {
		return FrameBound{Kind: parse.CurrentRow}
	}
	return b
}

func compareDistances(a, b FrameBound) int {
	switch {
	case a.Rows != b.Rows:
		return btoi(a.Rows > b.Rows) - btoi(a.Rows < b.Rows)
	case a.Float != b.Float:
		return btoi(a.Float > b.Float) - btoi(a.Float < b.Float)
	}
	return kernel.CmpDec(a.Dec, b.Dec)
}

func (x *exprBinder) frameBound(b parse.Bound, c *overCall, rows bool) (FrameBound, error) {
	out := FrameBound{Kind: b.Kind}
	if b.Offset == nil {
		return out, nil
	}
	out.Text = parse.Format(b.Offset)
	at := b.Offset.Pos()
	e, err := x.bind(b.Offset)
	if err != nil {
		return out, err
	}
	lit, ok := e.(*expr.Literal)
	if !ok {
		return out, errs.New(errs.Invalid, at, "the bound of a frame is a constant")
	}
	if rows {
		n, ok := wholeNumber(lit)
		if !ok || n < 0 || n > mostRows {
			return out, errs.New(errs.Invalid, at, "%s is no number of ROWS", out.Text).WithHint("it is a whole number, not negative and not above %d", mostRows)
		}
		out.Rows = n
		return out, nil
	}
	if len(c.order) != 1 {
		return out, errs.New(errs.Invalid, at, "a RANGE with a distance needs one key in ORDER BY to measure it in, and there are %d", len(c.order)).
			WithHint("use ROWS to count rows")
	}
	return out, out.distance(lit, c.order[0].expr, at)
}

// wholeNumber is the value of an integer literal.
func wholeNumber(l *expr.Literal) (int64, bool) {
	if n, ok := l.Value.(int64); ok && l.T.IsInteger() {
		return n, true
	}
	return 0, false
}

// distance takes the distance of a RANGE, in units of the order.
func (b *FrameBound) distance(l *expr.Literal, key expr.Expr, at errs.Position) error {
	t := key.Type()
	wrong := func(hint string) error {
		return errs.New(errs.Type, at, "%s is no distance between values of %s, which is %s", b.Text, key, t.Optional()).WithHint("%s", hint)
	}
	negative := func() error {
		return errs.New(errs.Invalid, at, "the distance %s is negative", b.Text).WithHint("PRECEDING is before, FOLLOWING behind")
	}
	if l.Value == nil {
		return wrong("give a constant")
	}
	switch {
	case t.IsTimestamp(), t.ID == sqltype.Time, t.ID == sqltype.Date:
		if l.T.ID == sqltype.IntervalMonth {
			return unsupported(at, "a RANGE of months is").WithHint("give it in days")
		}
		if l.T.ID != sqltype.IntervalDay {
			return wrong("write INTERVAL '10' SECOND")
		}
		ms := l.Value.(int64)
		if t.ID == sqltype.Date {
			if ms%86400_000 != 0 {
				return wrong("a DATE takes whole days")
			}
			b.Rows = ms / 86400_000
		} else {
			scale := [...]int64{3: 1, 6: 1000, 9: 1000_000}[t.UnitDigits()]
			if ms > math.MaxInt64/scale || ms < math.MinInt64/scale {
				return wrong("it is too long")
			}
			b.Rows = ms * scale
		}
		if b.Rows < 0 {
			return negative()
		}
	case t.IsInteger():
		n, ok := wholeNumber(l)
		if !ok {
			return wrong("give a whole number")
		}
		if b.Rows = n; n < 0 {
			return negative()
		}
	case t.IsApprox():
		f, err := strconv.ParseFloat(b.Text, 64)
		if err != nil || !l.T.IsNumeric() {
			return wrong("give a number")
		}
		if b.Float = f; f < 0 {
			return negative()
		}
	case t.ID == sqltype.Decimal:
		var d vector.Dec
		scale := l.T.Scale
		switch v := l.Value.(type) {
		case vector.Dec:
			d = v
		case int64:
			d, scale = vector.DecFromInt64(v), 0
		default:
			return wrong("give a number")
		}
		exact, ok := kernel.RescaleDec(d, scale, t.Scale, sqltype.MaxPrecision)
		if !ok || kernel.CmpDecScaled(exact, d, t.Scale, scale) != 0 {
			return wrong("it has more digits behind the point than the values")
		}
		if b.Dec = exact; exact.Sign() < 0 {
			return negative()
		}
	default:
		return errs.New(errs.Type, at, "a RANGE with a distance needs an order by a number or a time, and %s is %s", key, t.Optional()).
			WithHint("use ROWS to count rows")
	}
	return nil
}
