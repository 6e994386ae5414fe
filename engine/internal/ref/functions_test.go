package ref

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// flavored is a type with a kind of values.
type flavored struct {
	typ    sqltype.Type
	flavor string // what kind of text, "" is any
}

var argumentTypes = func() (out []flavored) {
	for _, t := range []sqltype.Type{
		sqltype.BoolType, sqltype.TinyType, sqltype.SmallType, sqltype.IntType, sqltype.IntType, sqltype.BigIntType, sqltype.FloatType, sqltype.DoubleType,
		sqltype.DecimalOf(5, 2), sqltype.DecimalOf(38, 0), sqltype.DecimalOf(38, 18), sqltype.DecimalOf(38, 38), sqltype.DecimalOf(3, 3), sqltype.DecimalOf(20, 4), sqltype.DecimalOf(1, 0),
		{ID: sqltype.Char, Precision: 3},
		{ID: sqltype.Varchar, Precision: 3},
		sqltype.StringType,
		{ID: sqltype.Binary, Precision: 3},
		{ID: sqltype.Varbinary, Precision: 3},
		sqltype.BytesType,
		sqltype.DateType,
		{ID: sqltype.Time},
		{ID: sqltype.Time, Precision: 2},
		{ID: sqltype.Time, Precision: 6},
		sqltype.TimestampOf(0), sqltype.TimestampOf(3), sqltype.TimestampOf(6), sqltype.TimestampOf(9), sqltype.TimestampOf(7),
		sqltype.TimestampLTZOf(0), sqltype.TimestampLTZOf(3), sqltype.TimestampLTZOf(6), sqltype.TimestampLTZOf(9),
		{ID: sqltype.IntervalDay},
		{ID: sqltype.IntervalMonth},
		sqltype.ArrayOf(sqltype.IntType), sqltype.ArrayOf(sqltype.StringType), sqltype.ArrayOf(sqltype.DoubleType),
		sqltype.MapOf(sqltype.StringType.Required(), sqltype.IntType),
		sqltype.MapOf(sqltype.IntType.Required(), sqltype.TimestampOf(3)),
		sqltype.MultisetOf(sqltype.StringType.Required()),
		sqltype.RowOf(sqltype.Column{Name: "f", Type: sqltype.IntType}, sqltype.Column{Name: "g", Type: sqltype.StringType}),
	} {
		out = append(out, flavored{typ: t})
	}
	for _, f := range []string{"number", "time", "pattern", "escape", "regex", "similar", "format", "part", "truth"} {
		out = append(out, flavored{sqltype.StringType, f})
	}
	return out
}()

// trialCall draws an expression over columns of argumentTypes.
type trialCall struct {
	sampled
	schema sqltype.Schema
}

func newTrialCall(r *rand.Rand) trialCall {
	c := trialCall{sampled: sampled{r}}
	for i, f := range argumentTypes {
		c.schema = append(c.schema, sqltype.Column{Name: fmt.Sprintf("c%d", i), Type: f.typ})
	}
	return c
}

// of is a column or literal of a type that suits.
func (c trialCall) of(suits func(f flavored) bool) expr.Expr {
	var cols []int
	for i, f := range argumentTypes {
		if suits(f) {
			cols = append(cols, i)
		}
	}
	if len(cols) == 0 {
		panic("no column suits")
	}
	i := cols[c.IntN(len(cols))]
	f := argumentTypes[i]
	if c.IntN(3) > 0 || f.typ.IsNested() {
		return expr.NewColumn(c.schema, i, errs.Position{})
	}
	return c.literal(f.typ, c.value(f))
}

func (c trialCall) literal(t sqltype.Type, v any) *expr.Literal {
	if v == nil && c.IntN(2) == 0 {
		return expr.Null(sqltype.NullType, errs.Position{})
	}
	t.NotNull = v != nil
	if d, ok := v.(*big.Rat); ok {
		b := vector.NewColumnBuilder(vector.NewPool(), vector.Decimal)
		Append(b, t, d)
		v = vector.Values[vector.Dec](b.Finish())[0]
	}
	return &expr.Literal{Value: v, T: t}
}

func (c trialCall) string(flavor string) expr.Expr {
	return c.of(func(f flavored) bool { return f.typ.IsString() && f.flavor == flavor })
}

func (c trialCall) named(words ...string) expr.Expr {
	return c.literal(sqltype.StringType, c.pick(words...))
}

// argument draws what a word of a signature says. same is the type of the values.
func (c trialCall) argument(name, word string, same sqltype.ID) expr.Expr {
	is := func(ids ...sqltype.ID) expr.Expr {
		return c.of(func(f flavored) bool { return slices.Contains(ids, f.typ.ID) && f.flavor == "" })
	}
	flavor := ""
	switch word {
	case "number":
		return c.of(func(f flavored) bool { return f.typ.IsNumeric() })
	case "INT", "INT group":
		if name == "LPAD" || name == "RPAD" || name == "REPEAT" { // what is long takes long
			return c.of(func(f flavored) bool { return f.typ.ID == sqltype.TinyInt })
		}
		return c.of(func(f flavored) bool { return f.typ.IsInteger() })
	case "INT precision":
		return c.literal(sqltype.IntType, int64(c.IntN(4)))
	case "STRING":
		switch name {
		case "TO_DATE", "TO_TIMESTAMP", "TO_TIMESTAMP_LTZ", "UNIX_TIMESTAMP":
			flavor = c.pick("time", "part")
		case "DATE_FORMAT":
			flavor = "time"
		case "=", "<", "||", "CONCAT", "IN":
			flavor = c.pick("", "number", "time")
		}
		return c.string(flavor)
	case "STRING format":
		return c.string("format")
	case "STRING pattern":
		if flavor = "pattern"; name == "SIMILAR TO" {
			flavor = "similar"
		}
		return c.string(flavor)
	case "STRING regex":
		return c.string("regex")
	case "STRING escape":
		return c.string("escape")
	case "STRING separator":
		return c.named(",", "", "a", ", ")
	case "'unit'":
		return c.named("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND", "DECADE", "CENTURY", "MILLENNIUM", "EPOCH", "DOY", "DOW", "ISODOW", "ISOYEAR", "SQL_TSI_DAY", "hours", "PARSEC")
	case "'charset'":
		return c.named("UTF-8", "utf-16", "UTF-16LE", "UTF-16BE", "US-ASCII", "ISO-8859-1")
	case "BOOLEAN":
		return is(sqltype.Boolean)
	case "DATE":
		return is(sqltype.Date)
	case "TIME":
		return is(sqltype.Time)
	case "TIMESTAMP", "ROWTIME":
		return is(sqltype.Timestamp, sqltype.TimestampLTZ)
	case "INTERVAL":
		return is(sqltype.IntervalDay, sqltype.IntervalMonth)
	case "BYTES":
		return is(sqltype.Binary, sqltype.Varbinary)
	case "ARRAY":
		return is(sqltype.Array)
	case "MAP":
		return is(sqltype.Map)
	case "MULTISET":
		return is(sqltype.Multiset)
	case "ROW":
		return is(sqltype.Row)
	case "name":
		return c.literal(sqltype.IntType, int64(c.IntN(2)))
	case "element", "key":
		return is(sqltype.Integer, sqltype.Varchar)
	case "value":
		return is(same)
	}
	panic("a signature has " + word)
}

// arguments draws the arguments of one of the function's signatures.
func (c trialCall) arguments(f *function.Scalar) []expr.Expr {
	list := f.Signatures[c.IntN(len(f.Signatures))]
	if strings.Contains(list, "FROM") { // TRIM
		args := []expr.Expr{c.string("")}
		if c.IntN(2) == 0 {
			args = append([]expr.Expr{c.string("")}, args...)
		}
		if c.IntN(3) > 0 {
			args = append([]expr.Expr{c.literal(sqltype.StringType, c.pick("BOTH", "LEADING", "TRAILING"))}, args...)
		}
		return args
	}
	same := argumentTypes[c.IntN(len(argumentTypes))].typ.ID
	var words []string
	for _, w := range strings.Split(strings.Trim(list, "()"), ", ") {
		switch {
		case w == "...":
			step := 1
			if len(words) > 1 && words[0] == "key" {
				step = 2
			}
			for range c.IntN(3) * step {
				words = append(words, words[len(words)-step])
			}
		case w != "":
			words = append(words, w)
		}
	}
	var args []expr.Expr
	for i, w := range words {
		if w == "STRING" && i == 1 && slices.Contains([]string{"TO_DATE", "TO_TIMESTAMP", "TO_TIMESTAMP_LTZ", "UNIX_TIMESTAMP", "DATE_FORMAT", "FROM_UNIXTIME"}, f.Name) {
			w = "STRING format"
		}
		args = append(args, c.argument(f.Name, w, same))
	}
	return args
}

// rows draws values for the columns that e reads.
func (c trialCall) rows(n int, e expr.Expr) []Row {
	out := make([]Row, n)
	for i := range out {
		out[i] = make(Row, len(argumentTypes))
		for _, k := range expr.Columns(e) {
			out[i][k] = c.value(argumentTypes[k])
		}
	}
	return out
}

// outcome is a value or the code of an error.
type outcome struct {
	text string
	err  error
}

func (o outcome) code() errs.Code {
	var e *errs.Error
	if errors.As(o.err, &e) {
		return e.Code
	}
	return ""
}

func (o outcome) String() string {
	if o.err != nil {
		return "error " + o.err.Error()
	}
	return o.text
}

// byEngine evaluates an expression on rows at once.
func byEngine(p *vector.Pool, ev *expr.Evaluator, t sqltype.Type, schema sqltype.Schema, rows []Row) (out []string, err error) {
	b := vector.NewBuilder(p, schema.Kinds())
	for _, r := range rows {
		for i, c := range schema {
			Append(b.Col(i), c.Type, r[i])
		}
		b.EndRow(vector.Insert)
	}
	batch := b.Finish()
	defer batch.Release()
	v, err := ev.Eval(p, batch)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	for i := range rows {
		out = append(out, Key([]sqltype.Type{t}, Row{valueOf(t, v, i)}))
	}
	return out, nil
}

// check compares the reference with the engine: on each row, and on all at once. It
// reports whether any row has a result.
func (c trialCall) check(e expr.Expr, zone *time.Location, rows []Row) (bool, error) {
	now := time.UnixMilli(951_827_696_789)
	in := evaluator{in: Input{Now: now, Zone: zone}}
	wants := make([]outcome, len(rows))
	some, fails := false, map[errs.Code]bool{}
	for i, r := range rows {
		v, err := in.eval(e, r)
		if err != nil {
			wants[i].err = err
			fails[wants[i].code()] = true
			continue
		}
		wants[i].text = Key([]sqltype.Type{e.Type()}, Row{v})
		some = some || v != nil
	}
	// The engine gets the columns that are read.
	cols := expr.Columns(e)
	schema := c.schema.Project(cols)
	narrow := make([]Row, len(rows))
	for i, r := range rows {
		narrow[i] = project(r, cols)
	}
	pool := vector.NewCheckedPool()
	ev, err := expr.Compile(expr.InZone(expr.Remap(e, func(c int) int { return slices.Index(cols, c) }), zone))
	if err != nil {
		if some {
			return some, fmt.Errorf("it cannot be compiled: %w", err)
		}
		return some, nil
	}
	ev.SetNow(now.UnixMilli())
	for i, r := range rows {
		var got outcome
		all, err := byEngine(pool, ev, e.Type(), schema, narrow[i:i+1])
		if got.err = err; err == nil {
			got.text = all[0]
		}
		if got.text != wants[i].text || got.code() != wants[i].code() || (got.err == nil) != (wants[i].err == nil) {
			var args []string
			expr.Walk(e, func(x expr.Expr) bool {
				if col, ok := x.(*expr.Column); ok {
					args = append(args, fmt.Sprintf("%s %s = %s", col.Name, col.T, Text(col.T, r[col.Index])))
				}
				return true
			})
			return some, fmt.Errorf("the engine has %v, the reference %v\n\twith %s", got, wants[i], strings.Join(args, ", "))
		}
	}
	all, err := byEngine(pool, ev, e.Type(), schema, narrow)
	if (err != nil) != (len(fails) > 0) || err != nil && !fails[outcome{err: err}.code()] {
		return some, fmt.Errorf("all rows at once: %w, row by row there are errors %v", err, fails)
	}
	for i := range all {
		if all[i] != wants[i].text {
			return some, fmt.Errorf("row %d of all at once: the engine has %s, the reference %v", i, all[i], wants[i])
		}
	}
	return some, pool.Leaks()
}

var zones = []string{"UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin"}

func trials(n int) int {
	if os.Getenv("WEIR_SOAK") != "" {
		return 20 * n
	}
	return n
}

// Every function of the registry is one that the reference defines, and the two agree.
func TestFunctionsAgreeWithTheEngine(t *testing.T) {
	for _, f := range function.Scalars() {
		t.Run(f.Name, func(t *testing.T) {
			if !Defines(f) {
				t.Fatal("the reference has no definition")
			}
			c := newTrialCall(rand.New(rand.NewPCG(1, 5)))
			typed, some, failed := 0, 0, 0
			for i := range trials(300) {
				args := c.arguments(f)
				e, err := expr.NewCall(f, errs.Position{}, args...)
				if err != nil {
					continue
				}
				typed++
				zone, err := time.LoadLocation(zones[i%len(zones)])
				if err != nil {
					t.Fatal(err)
				}
				has, err := c.check(e, zone, c.rows(12, e))
				if has {
					some++
				}
				if err != nil {
					t.Errorf("trial %d, %s: %s, of type %s: %v", i, zone, e, e.Type(), err)
					if failed++; failed > 5 {
						return
					}
				}
			}
			if typed < 20 || some < typed/10 {
				t.Errorf("only %d calls have types that fit, and %d of them a value", typed, some)
			}
		})
	}
}

// Every aggregate of the registry is one that the reference computes.
func TestAggregatesAreDefined(t *testing.T) {
	schema := sqltype.Schema{{Name: "s", Type: sqltype.StringType}, {Name: "n", Type: sqltype.IntType}}
	rows := []Row{{"a", int64(1)}, {"b", int64(2)}}
	for _, name := range function.Names() {
		f, ok := function.LookupAggregate(name)
		if !ok {
			continue
		}
		var a *expr.Aggregate
		err := function.ErrMismatch
		for i := range schema {
			if err != nil {
				a, err = expr.NewAggregate(f, errs.Position{}, false, nil, expr.NewColumn(schema, i, errs.Position{}))
			}
		}
		if err == nil {
			_, _, err = evaluator{}.over(a, rows)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCastsAgreeWithTheEngine(t *testing.T) {
	c := newTrialCall(rand.New(rand.NewPCG(1, 6)))
	failed := 0
	for from := range argumentTypes {
		for _, to := range argumentTypes {
			if to.flavor != "" {
				continue
			}
			for i := range trials(4) {
				e, err := expr.NewCast(expr.NewColumn(c.schema, from, errs.Position{}), to.typ, i%2 == 1, errs.Position{})
				if err != nil {
					break
				}
				if _, err := function.BindCast(c.schema[from].Type, to.typ, false, time.UTC); err != nil {
					break // such as a text to an interval
				}
				zone, err := time.LoadLocation(zones[i/2%len(zones)])
				if err != nil {
					t.Fatal(err)
				}
				if _, err = c.check(e, zone, c.rows(12, e)); err != nil {
					t.Errorf("%s, to %s, trial %d, %s: %v", e, to.typ, i, zone, err)
					if failed++; failed > 40 {
						t.Fatal("and so on")
					}
				}
			}
		}
	}
}
