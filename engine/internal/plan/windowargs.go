package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
)

// read binds the arguments.
func (a *windowArgs) read() error {
	names, t := windowArgNames[a.kind], a.call
	required := len(names) - 1
	if a.kind == window.Session {
		required = len(names)
	}
	given := map[string]parse.Expr{}
	for i, arg := range t.Call.Args {
		if i >= len(names) {
			return errs.New(errs.Invalid, arg.Pos(), "%s takes %s", a.kind, list(names)).WithHint("%s", a.example())
		}
		which := names[i]
		if named, ok := arg.(*parse.NamedArg); ok {
			which, arg = strings.ToUpper(named.Name.Value), named.Value
			if !slices.Contains(names, which) {
				return hintNames(errs.New(errs.NotFound, named.At, "%s has no argument %q", a.kind, named.Name.Value), which, names, "the arguments are")
			}
		}
		if given[which] != nil {
			return errs.New(errs.Invalid, arg.Pos(), "%s is given %s twice", a.kind, which)
		}
		given[which] = arg
	}
	for _, which := range names[:required] {
		if given[which] == nil {
			return errs.New(errs.Invalid, t.At, "%s has no %s", a.kind, which).WithHint("%s", a.example())
		}
	}
	if err := a.table(given["DATA"]); err != nil {
		return err
	}
	if err := a.timeColumn(given["TIMECOL"]); err != nil {
		return err
	}
	lengths := windowLengths{kind: a.kind, at: t.At}
	for _, which := range names[2:] {
		if given[which] == nil {
			continue
		}
		e, err := a.b.constant(given[which], which+" of "+a.kind.String())
		if err != nil {
			return err
		}
		if err := lengths.set(which, e); err != nil {
			return err
		}
	}
	var err error
	a.windows.Assigner, err = lengths.assigner()
	return err
}

func (a *windowArgs) example() string {
	args := [...]string{"INTERVAL '1' MINUTE", "INTERVAL '10' SECOND, INTERVAL '1' MINUTE", "INTERVAL '1' MINUTE, INTERVAL '1' DAY", "INTERVAL '30' SECOND"}[a.kind]
	return "for example " + a.kind.String() + "(TABLE t, DESCRIPTOR(ts), " + args + ")"
}

// table binds the input.
func (a *windowArgs) table(arg parse.Expr) (err error) {
	if q, ok := arg.(*parse.Subquery); ok {
		arg = &parse.TableArg{Place: q.Place, Table: &parse.DerivedTable{Place: q.Place, Query: q.Query}}
	}
	t, ok := arg.(*parse.TableArg)
	if !ok {
		return errs.New(errs.Type, arg.Pos(), "the first argument of %s is not a table", a.kind).WithHint("write TABLE t")
	}
	if len(t.OrderBy) > 0 {
		return unsupported(t.At, "ORDER BY in the input of %s is", a.kind)
	}
	if len(t.PartitionBy) > 0 && a.kind != window.Session {
		return errs.New(errs.Invalid, t.PartitionBy[0].Pos(), "%s has no PARTITION BY: its windows are the same for all rows", a.kind).
			WithHint("GROUP BY window_start, window_end and the key")
	}
	if a.input, a.scope, err = a.b.from(t.Table); err != nil {
		return err
	}
	x := &exprBinder{b: a.b, scope: a.scope, clause: "PARTITION BY"}
	for _, p := range t.PartitionBy {
		e, err := x.bind(p)
		if err != nil {
			return err
		}
		c, ok := e.(*expr.Column)
		if !ok {
			return errs.New(errs.Invalid, p.Pos(), "%s partitions by columns, and %s is none", a.kind, parse.Format(p)).WithHint("compute it in a view or subquery")
		}
		a.partition = append(a.partition, c.Index)
	}
	return nil
}

// timeColumn binds DESCRIPTOR(ts).
func (a *windowArgs) timeColumn(arg parse.Expr) error {
	d, ok := arg.(*parse.Descriptor)
	if !ok || len(d.Columns) != 1 {
		return errs.New(errs.Type, arg.Pos(), "the time of %s is not one column", a.kind).WithHint("write DESCRIPTOR(ts)")
	}
	c, err := a.scope.unqualified(d.Columns[0])
	if err != nil {
		return err
	}
	a.time = c.Index
	if a.kind != window.Session && c.T.IsTimestamp() && timeAttribute(a.input, c.Index) == sqltype.NoTime {
		// Rows can be given windows by any time; what waits for the end of windows is refused.
		a.windows = a.b.newWindows(a.input, c.Index)
		return nil
	}
	a.windows, err = a.b.windowsOf(a.input, c.Index, a.kind.String(), d.At)
	return err
}

// windowsOf are windows of a column, which has to be a time attribute.
func (b *binder) windowsOf(n Node, col int, what string, at errs.Position) (Windows, error) {
	if err := needTime(n, col, what, at); err != nil {
		return Windows{}, err
	}
	return b.newWindows(n, col), nil
}

func (b *binder) newWindows(n Node, col int) Windows {
	return Windows{Attr: timeAttribute(n, col), Instant: n.Schema()[col].Type.ID == sqltype.TimestampLTZ, Zone: b.session.Options.TimeZone}
}

// windowLengths are the intervals that a window function was given.
type windowLengths struct {
	kind   window.Kind
	at     errs.Position
	size   int64
	step   int64
	offset int64
	stepAt errs.Position
	legacy bool // of GROUP BY HOP(..): windows that leave time out are allowed
}

// set takes one, which is a constant.
func (l *windowLengths) set(which string, e expr.Expr) error {
	lit, ok := expr.Fold(e).(*expr.Literal)
	if ok && lit.T.ID == sqltype.IntervalMonth {
		return errs.New(errs.Type, e.Pos(), "%s of %s is an interval of months, which are not of one length", which, l.kind).
			WithHint("give it in days: INTERVAL '30' DAY")
	}
	if !ok || lit.T.ID != sqltype.IntervalDay || lit.Value == nil {
		return errs.New(errs.Type, e.Pos(), "%s of %s is not an interval, but %s", which, l.kind, e.Type().Optional()).WithHint("write INTERVAL '10' SECOND")
	}
	n := lit.Value.(int64)
	if which == "OFFSET" {
		l.offset = n
		return nil
	}
	if n <= 0 {
		return errs.New(errs.Invalid, e.Pos(), "%s of %s must be positive", which, l.kind)
	}
	if which == "SLIDE" || which == "STEP" {
		l.step, l.stepAt = n, e.Pos()
	} else {
		l.size = n
	}
	return nil
}

// assigner checks that the lengths go together.
func (l *windowLengths) assigner() (window.Assigner, error) {
	a := window.Assigner{Kind: l.kind, Size: l.size, Step: l.step, Offset: l.offset}
	switch {
	case l.kind == window.Cumulate && l.size%l.step != 0:
		return a, errs.New(errs.Invalid, l.stepAt, "CUMULATE grows by steps that make up its size, and %s is no multiple of %s", window.Length(l.size), window.Length(l.step)).
			WithHint("the arguments are STEP, then SIZE")
	case l.kind == window.Hop && l.size%l.step != 0 && !l.legacy:
		return a, errs.New(errs.Invalid, l.stepAt, "the size of HOP is a multiple of its slide, and %s is none of %s", window.Length(l.size), window.Length(l.step)).
			WithHint("the arguments are SLIDE, then SIZE")
	case l.offset <= -l.longest() || l.offset >= l.longest():
		return a, errs.New(errs.Invalid, l.at, "the offset of %s is less than %s", l.kind, window.Length(l.longest())).
			WithHint("windows begin at multiples of it from the offset on")
	}
	return a, nil
}

func (l *windowLengths) longest() int64 {
	if l.kind == window.Session {
		return 1
	}
	return l.size
}
