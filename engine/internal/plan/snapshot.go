package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/internal/window"
	"github.com/weirdb/weir/engine/sqltype"
)

// Snapshot makes a Join one with a table as it is: each left row is joined once, with what
// the right side has at that moment, and its result is never revised. Until the right side
// has loaded, left rows wait.
//
// It has loaded when its event time reaches Until, when nothing was heard of it for Idle, and
// in any case when it ends.
type Snapshot struct {
	// Until is in milliseconds, as the event time of the right side; math.MaxInt64 waits
	// for the end. AtStart waits for the time at which the query begins, on the clock of
	// Zone.
	Until   int64
	AtStart bool
	Zone    window.Zone
	// Idle is the time after which it has loaded too, when nothing new is heard of the right
	// side; 0: it is waited for.
	Idle time.Duration
}

const snapshotName = "SNAPSHOT"

// isSnapshot reports whether a table in FROM is SNAPSHOT(..).
func isSnapshot(t parse.TableExpr) (*parse.TableFunction, bool) {
	f, ok := t.(*parse.TableFunction)
	return f, ok && strings.EqualFold(f.Call.Name.String(), snapshotName)
}

// snapshotJoin binds a join with LATERAL TABLE(SNAPSHOT(input => TABLE t, ..)).
func (b *binder) snapshotJoin(left Node, ls *scope, j *parse.Join, t *parse.TableFunction) (Node, *scope, error) {
	if j.Kind == parse.RightJoin || j.Kind == parse.FullJoin {
		return nil, nil, errs.New(errs.Invalid, j.At, "%s with %s would have rows of the right side that no left row asks for", j.Kind, snapshotName).
			WithHint("write JOIN or LEFT JOIN")
	}
	if !t.Lateral {
		return nil, nil, errs.New(errs.Invalid, t.At, "%s depends on when the rows of the left side come", snapshotName).
			WithHint("write JOIN LATERAL TABLE(%s(..)) AS s ON ..", snapshotName)
	}
	a := &snapshotArgs{b: b, call: t, condition: "compile_time"}
	if err := a.read(); err != nil {
		return nil, nil, err
	}
	s, err := a.snapshot()
	if err != nil {
		return nil, nil, err
	}
	right, rs, err := b.named(a.input, tableRef{pos: t.At}, t.Alias)
	if err != nil {
		return nil, nil, err
	}
	n, both, err := b.pair(left, right, ls, rs, j)
	if err != nil {
		return nil, nil, err
	}
	join := joinBelow(n)
	join.Snapshot, join.Interval = s, nil
	if a.keep != nil {
		join.keep.hinted(1, *a.keep)
	}
	return n, both, nil
}

// snapshotArgs are the arguments of SNAPSHOT.
type snapshotArgs struct {
	b         *binder
	call      *parse.TableFunction
	input     Node
	condition string
	at        errs.Position // of the condition
	time      *int64        // in milliseconds since 1970
	timeAt    errs.Position
	idle      time.Duration
	keep      *Retention // of the input's rows
}

var snapshotArgNames = [...]string{"input", "load_completed_condition", "load_completed_time", "load_completed_idle_timeout", "state_ttl"}

func (a *snapshotArgs) read() error {
	a.at = a.call.At
	given := map[string]bool{}
	for i, arg := range a.call.Call.Args {
		if i >= len(snapshotArgNames) {
			return errs.New(errs.Invalid, arg.Pos(), "%s takes %s", snapshotName, list(snapshotArgNames[:]))
		}
		which := snapshotArgNames[i]
		if named, ok := arg.(*parse.NamedArg); ok {
			which, arg = strings.ToLower(named.Name.Value), named.Value
			if !slices.Contains(snapshotArgNames[:], which) {
				return hintNames(errs.New(errs.NotFound, named.At, "%s has no argument %q", snapshotName, named.Name.Value), which, snapshotArgNames[:], "the arguments are")
			}
		}
		if given[which] {
			return errs.New(errs.Invalid, arg.Pos(), "%s is given %s twice", snapshotName, which)
		}
		given[which] = true
		if err := a.set(which, arg); err != nil {
			return err
		}
	}
	if a.input == nil {
		return errs.New(errs.Invalid, a.call.At, "%s has no input", snapshotName).WithHint("write %s(input => TABLE t)", snapshotName)
	}
	return nil
}

func (a *snapshotArgs) set(which string, arg parse.Expr) (err error) {
	if which == "input" {
		if q, ok := arg.(*parse.Subquery); ok {
			arg = &parse.TableArg{Place: q.Place, Table: &parse.DerivedTable{Place: q.Place, Query: q.Query}}
		}
		t, ok := arg.(*parse.TableArg)
		if !ok || len(t.PartitionBy)+len(t.OrderBy) > 0 {
			return errs.New(errs.Type, arg.Pos(), "the input of %s is not a table alone", snapshotName).WithHint("write input => TABLE t")
		}
		a.input, _, err = a.b.from(t.Table)
		return err
	}
	e, err := a.b.constant(arg, which)
	if err != nil {
		return err
	}
	lit, ok := simplifier{a.b.session.Options.TimeZone}.expr(e).(*expr.Literal)
	switch {
	case which == "load_completed_idle_timeout":
		a.idle, err = a.duration(which, e, lit)
		return err
	case which == "state_ttl":
		d, err := a.duration(which, e, lit)
		if err == nil && lit.Value != nil {
			a.keep = &Retention{d, d + d/2}
		}
		return err
	case which == "load_completed_condition":
		a.condition = ""
		if ok {
			a.condition, _ = lit.Value.(string)
		}
		a.at = arg.Pos()
		if a.condition = strings.ToLower(a.condition); a.condition != "compile_time" && a.condition != "user_time" {
			return errs.New(errs.Invalid, arg.Pos(), "load_completed_condition is 'compile_time' or 'user_time'")
		}
	case !ok || lit.T.ID != sqltype.TimestampLTZ || lit.Value == nil:
		return errs.New(errs.Type, arg.Pos(), "load_completed_time is not a constant TIMESTAMP_LTZ, but %s", e.Type().Optional()).
			WithHint("write CAST(TIMESTAMP '2020-01-01 00:00:00' AS TIMESTAMP_LTZ(3))")
	default:
		ms := milliseconds(lit)
		a.time, a.timeAt = &ms, arg.Pos()
	}
	return nil
}

// duration is an argument that is an interval of days, hours, minutes and seconds, or NULL,
// which is as if it were left out.
func (a *snapshotArgs) duration(which string, e expr.Expr, lit *expr.Literal) (time.Duration, error) {
	switch {
	case lit == nil || lit.Value != nil && lit.T.ID != sqltype.IntervalDay:
		return 0, errs.New(errs.Type, e.Pos(), "%s is not an interval of one length, but %s", which, e.Type().Optional()).WithHint("write INTERVAL '10' MINUTE")
	case lit.Value == nil:
		return 0, nil
	case lit.Value.(int64) < 0:
		return 0, errs.New(errs.Invalid, e.Pos(), "%s is negative", which)
	}
	return time.Duration(lit.Value.(int64)) * time.Millisecond, nil
}

// milliseconds is the time that a literal is, down to the millisecond.
func milliseconds(lit *expr.Literal) int64 {
	per := int64(time.Millisecond / lit.T.Unit())
	v := lit.Value.(int64)
	ms := v / per
	if v%per < 0 {
		ms--
	}
	return ms
}

// snapshot is what the arguments say of when the input has loaded.
func (a *snapshotArgs) snapshot() (*Snapshot, error) {
	user := a.condition == "user_time"
	switch {
	case user && a.time == nil:
		return nil, errs.New(errs.Invalid, a.at, "load_completed_condition => 'user_time' needs load_completed_time")
	case !user && a.time != nil:
		return nil, errs.New(errs.Invalid, a.timeAt, "load_completed_time is for load_completed_condition => 'user_time'")
	}
	col := slices.IndexFunc(upTo(len(a.input.Schema())), func(c int) bool { return timeAttribute(a.input, c) == sqltype.Rowtime })
	var zone window.Zone // of a TIMESTAMP
	if col >= 0 && a.input.Schema()[col].Type.ID == sqltype.Timestamp {
		zone = window.NewZone(a.b.session.Options.TimeZone)
	}
	switch {
	case col >= 0 && user:
		return &Snapshot{Until: zone.Local(*a.time), Idle: a.idle}, nil
	case col >= 0:
		return &Snapshot{Until: math.MaxInt64, AtStart: true, Zone: zone, Idle: a.idle}, nil
	case !bounded(a.input) && a.idle == 0:
		return nil, errs.New(errs.Invalid, a.call.At, "%s does not know when its input has loaded, which has no event time and no end", snapshotName).
			WithHint("declare WATERMARK FOR a column of the table, or say load_completed_idle_timeout => INTERVAL '10' SECOND")
	}
	return &Snapshot{Until: math.MaxInt64, Idle: a.idle}, nil
}

// text says when the right side has loaded.
func (s *Snapshot) text() string {
	or := "or ends"
	if s.Idle > 0 {
		or = "has nothing new for " + shortDuration(s.Idle) + ", " + or
	}
	switch {
	case s.AtStart:
		return "it is as far as the time at which the query starts, " + or
	case s.Until == math.MaxInt64 && s.Idle > 0:
		return "it " + or
	case s.Until == math.MaxInt64:
		return "it ends"
	}
	return fmt.Sprintf("it is as far as %s, %s", time.UnixMilli(s.Until).UTC().Format("2006-01-02 15:04:05.999"), or)
}

// equal reports whether two joins wait for the same.
func (s *Snapshot) equal(t *Snapshot) bool { return s == t || s != nil && t != nil && *s == *t }

// once reports whether each left row is joined once, so that its result stays.
func (n *Join) once() bool { return n.Lookup != nil || n.Snapshot != nil }

// snapshotMode says which changes leave a join of rows that are joined once: only the left
// side's.
func (n *Join) snapshotMode() sqltype.ChangelogMode {
	m := sqltype.AppendMode
	if !n.Left.Traits().Mode.InsertOnly() {
		m = m.With(remove)
	}
	return m
}

// snapshotBound says what the state of the join is bounded by.
func (n *Join) snapshotBound() string {
	what := []string{liveRows(n.Right) + " of the right"}
	grows := !finite(n.Right)
	waits := "those of the left that wait for it to load"
	if !n.Left.Traits().Mode.InsertOnly() {
		waits, grows = "what was emitted for "+liveRows(n.Left)+" of the left", grows || !finite(n.Left)
	}
	what = append(what, waits)
	if grows {
		return "grows with " + list(what)
	}
	return bounds(what)
}
