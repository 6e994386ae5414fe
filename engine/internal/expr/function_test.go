package expr

import (
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// Types that the tests name often.
var (
	ts3  = sqltype.TimestampOf(3)
	ltz3 = sqltype.TimestampLTZOf(3)
	days = sqltype.Type{ID: sqltype.IntervalDay}
	mons = sqltype.Type{ID: sqltype.IntervalMonth}
)

func ts(s string) Expr   { return cast(str(s), ts3) }
func date(s string) Expr { return cast(str(s), sqltype.DateType) }
func clock3(s string) Expr {
	return cast(str(s), sqltype.Type{ID: sqltype.Time, Precision: 3})
}
func ms(v int64) Expr     { return lit(v, days) }
func months(v int64) Expr { return lit(v, mons) }
func bigint(v int64) Expr { return lit(v, sqltype.BigIntType) }
func dbl(v float64) Expr  { return lit(v, sqltype.DoubleType) }

// dec is a decimal literal as the parser types it: 12.50 is a DECIMAL(4, 2).
func dec(s string) Expr {
	digits := strings.TrimLeft(strings.TrimPrefix(strings.ReplaceAll(s, ".", ""), "-"), "")
	scale := 0
	if i := strings.IndexByte(s, '.'); i >= 0 {
		scale = len(s) - i - 1
	}
	v, ok := kernel.ParseDecimal([]byte(s), 38, scale)
	if !ok {
		panic(s)
	}
	return lit(v, sqltype.DecimalOf(len(digits), scale))
}

func boolean(v bool) Expr { return Bool(v) }

// eval is the value of e as text, on a batch of three rows so that it is no matter of
// folding, and its type.
func eval(t *testing.T, e Expr) (string, error) {
	t.Helper()
	p := vector.NewCheckedPool()
	c := newCompiler()
	n, err := c.compile(e) // not folded
	if err != nil {
		return "", err
	}
	ev := &Evaluator{root: n, clk: c.clk}
	b := vector.NewBatch(3, []*vector.Vector{vector.Of[int64](p, 1, 2, 3)}, nil)
	v, err := ev.Eval(p, b)
	b.Release()
	text := ""
	if err == nil {
		if v.Len() != 3 {
			t.Fatalf("%s: %d rows", e, v.Len())
		}
		text = show(v, e.Type(), 2)
		if first := show(v, e.Type(), 0); first != text {
			t.Fatalf("%s is %s and %s", e, first, text)
		}
		if e.Type().NotNull && text == "NULL" {
			t.Errorf("%s has the type %s and is NULL", e, e.Type())
		}
		v.Release()
	}
	if leak := p.Leaks(); leak != nil {
		t.Errorf("%s: %v", e, leak)
	}
	return text, err
}

func show(v *vector.Vector, t sqltype.Type, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	return string(function.AppendValue(nil, v, t, i, kernel.NewZone(time.UTC)))
}

// column makes e no constant: the batch of eval has the column id with 1, 2, 3.
func column(e Expr) Expr {
	id := &Column{Index: 0, Name: "id", T: sqltype.BigIntType.Required()}
	return caseOf(call(">", id, num(0)), e, e)
}

type example struct {
	e    Expr
	want string
	typ  string
}

func runExamples(t *testing.T, examples []example) {
	t.Helper()
	for _, x := range examples {
		check := func(e Expr, how string) {
			got, err := eval(t, e)
			if err != nil {
				got = "error: " + err.Error()
			}
			if x.want == "error" && err != nil {
				return
			}
			if got != x.want {
				t.Errorf("%s (%s) = %s, want %s", e, how, got, x.want)
			}
		}
		check(x.e, "constant")
		if x.typ != "" && x.e.Type().Optional().String() != x.typ {
			t.Errorf("%s has the type %s, want %s", x.e, x.e.Type(), x.typ)
		}
		folded := Fold(x.e)
		check(folded, "folded")
		if !folded.Type().Equal(x.e.Type()) {
			t.Errorf("%s folds from %s to %s", x.e, x.e.Type(), folded.Type())
		}
		// The same with arguments that are columns.
		if c, ok := x.e.(*Call); ok && c.Func.Lazy == function.Eager {
			for i := range c.Args {
				if c.Func.Name == "TRIM" && i == 0 && len(c.Args) > 1 {
					continue // BOTH and its like are words, not values
				}
				args := append([]Expr(nil), c.Args...)
				args[i] = column(args[i])
				if m := (&Call{Func: c.Func, Args: args, T: c.T, At: c.At, Zone: c.Zone}); compiles(m) {
					check(m, "column")
				}
			}
		}
		if c, ok := x.e.(*Cast); ok {
			check(&Cast{Arg: column(c.Arg), T: c.T, Try: c.Try, At: c.At, Zone: c.Zone}, "column")
		}
	}
}

// compiles leaves out functions that want a constant where there is none.
func compiles(e Expr) bool {
	_, err := newCompiler().compile(e)
	return err == nil
}

func TestArithmetic(t *testing.T) {
	tiny, small := sqltype.TinyType, sqltype.SmallType
	runExamples(t, []example{
		{call("+", num(1), num(2)), "3", "INT"},
		{call("+", num(1), bigint(2)), "3", "BIGINT"},
		{call("+", lit(int64(100), tiny), lit(int64(27), tiny)), "127", "TINYINT"},
		{call("+", lit(int64(100), tiny), lit(int64(28), tiny)), "error: line 1:1: TINYINT out of range: 100 + 28", ""},
		{call("*", lit(int64(300), small), lit(int64(300), small)), "error: line 1:1: SMALLINT out of range: 300 * 300", ""},
		{call("-", num(-2147483648), num(1)), "error: line 1:1: INT out of range: -2147483648 - 1", ""},
		{call("NEG", bigint(-9223372036854775808)), "error: line 1:1: BIGINT out of range: --9223372036854775808", ""},
		{call("/", num(7), num(-2)), "-3", "INT"},
		{call("/", num(7), num(0)), "error: line 1:1: division by zero: 7 / 0", ""},
		{call("MOD", num(7), num(0)), "error: line 1:1: division by zero: 7 % 0", ""},
		{call("/", num(7), null()), "NULL", "INT"},
		{call("/", null(), num(0)), "NULL", "INT"},
		{call("/", null(), null()), "NULL", "INT"},
		{call("MOD", bigint(-7), num(3)), "-1", "INT"},
		{call("%", num(7), bigint(-3)), "1", "BIGINT"},
		{call("+", num(1), dbl(0.5)), "1.5", "DOUBLE"},
		{call("/", dbl(1), dbl(0)), "Infinity", "DOUBLE"},
		{call("+", lit(0.5, sqltype.FloatType), num(1)), "1.5", "FLOAT"},
		{call("+", lit(0.5, sqltype.FloatType), dec("1.5")), "2.0", "DOUBLE"},
		{call("+", dec("1.25"), dec("10.5")), "11.75", "DECIMAL(5, 2)"},
		{call("-", dec("1.25"), num(3)), "-1.75", "DECIMAL(13, 2)"},
		{call("*", dec("0.908"), bigint(1000)), "908.000", "DECIMAL(24, 3)"},
		{call("/", dec("1.00"), dec("3.0")), "0.333333", "DECIMAL(8, 6)"},
		{call("/", dec("2.00"), dec("3.0")), "0.666667", "DECIMAL(8, 6)"},
		{call("/", dec("1.0"), dec("0.0")), "error: line 1:1: division by zero: 1.0 / 0.0", ""},
		{call("MOD", dec("7.5"), dec("2.00")), "1.50", "DECIMAL(3, 2)"},
		{call("*", lit(decOf(1), sqltype.DecimalOf(38, 10)), lit(decOf(1), sqltype.DecimalOf(38, 10))), "0.000000", "DECIMAL(38, 6)"},
		{call("*", lit(nines(38), sqltype.DecimalOf(38, 0)), lit(nines(38), sqltype.DecimalOf(38, 0))), "error", ""},
		{call("+", lit(nines(38), sqltype.DecimalOf(38, 0)), lit(nines(38), sqltype.DecimalOf(38, 0))), "error", ""},
		{call("NEG", dec("1.5")), "-1.5", "DECIMAL(2, 1)"},
		{call("ABS", num(-5)), "5", "INT"},
		{call("ABS", dec("-5.5")), "5.5", "DECIMAL(2, 1)"},
		{call("ABS", bigint(-9223372036854775808)), "error", ""},
		{call("SIGN", dec("-5.5")), "-1.0", "DECIMAL(2, 1)"},
		{call("SIGN", dbl(-0.1)), "-1.0", "DOUBLE"},
		{call("CEIL", dbl(1.2)), "2.0", "DOUBLE"},
		{call("CEILING", dec("1.2")), "2", "DECIMAL(2, 0)"},
		{call("FLOOR", dec("-1.2")), "-2", "DECIMAL(2, 0)"},
		{call("FLOOR", num(3)), "3", "INT"},
		{call("ROUND", dec("1.255"), num(2)), "1.26", "DECIMAL(4, 2)"},
		{call("ROUND", dec("-1.255"), num(2)), "-1.26", "DECIMAL(4, 2)"},
		{call("ROUND", dec("155.5"), call("NEG", num(1))), "160", "DECIMAL(4, 0)"},
		{call("ROUND", dec("99.9")), "100", "DECIMAL(3, 0)"},
		{call("ROUND", dbl(2.345), num(2)), "2.35", "DOUBLE"},
		{call("ROUND", dbl(-2.5)), "-3.0", "DOUBLE"},
		{call("ROUND", dbl(1e300), num(2)), "1.0E300", "DOUBLE"},
		{call("ROUND", dbl(0.05), num(1)), "0.1", "DOUBLE"},
		{call("ROUND", dbl(155), num(-1)), "160.0", "DOUBLE"},
		{call("ROUND", num(155), num(-1)), "160", "INT"},
		{call("POWER", num(2), num(10)), "1024.0", "DOUBLE"},
		{call("SQRT", num(16)), "4.0", "DOUBLE"},
		{call("LN", num(1)), "0.0", "DOUBLE"},
		{call("EXP", num(0)), "1.0", "DOUBLE"},
		{call("LOG10", num(1000)), "3.0", "DOUBLE"},
		{call("GREATEST", num(1), bigint(3), num(2)), "3", "BIGINT"},
		{call("LEAST", dec("1.5"), num(2)), "1.5", "DECIMAL(11, 1)"},
		{call("GREATEST", num(1), null()), "NULL", "INT"},
		{call("GREATEST", str("b"), str("abc")), "b", "STRING"},
	})
}

func nines(n int) vector.Dec {
	v, _ := kernel.ParseDecimal([]byte(strings.Repeat("9", n)), 38, 0)
	return v
}

func TestComparison(t *testing.T) {
	runExamples(t, []example{
		{call("=", num(1), bigint(1)), "TRUE", "BOOLEAN"},
		{call("<", num(1), dec("1.01")), "TRUE", ""},
		{call("=", lit(decOf(10), sqltype.DecimalOf(38, 1)), lit(decOf(1), sqltype.DecimalOf(38, 0))), "TRUE", ""},
		{call("=", str("1.0"), num(1)), "TRUE", ""},
		{call("=", num(1), str("1.5")), "FALSE", ""},
		{call("=", num(1), str(" 1 ")), "TRUE", ""},
		{call("=", num(1), str("x")), "error: 'x' is no DECIMAL(38, 18); TRY_CAST gives NULL instead", ""},
		{call(">", str("2020-01-02"), date("2020-01-01")), "TRUE", ""},
		{call("=", ts("2020-01-01 00:00:00"), date("2020-01-01")), "TRUE", ""},
		{call("=", str("a"), str("a ")), "FALSE", ""},
		{call("<>", boolean(true), boolean(false)), "TRUE", ""},
		{call("=", null(), num(1)), "NULL", ""},
		{call("=", null(), null()), "NULL", ""},
		{call("IS DISTINCT FROM", null(), num(1)), "TRUE", ""},
		{call("IS NOT DISTINCT FROM", null(), null()), "TRUE", ""},
		{call("IS NOT DISTINCT FROM", num(2), num(2)), "TRUE", ""},
		{call("IN", num(2), num(1), num(2)), "TRUE", ""},
		{call("IN", num(3), num(1), null()), "NULL", ""},
		{call("IN", num(1), num(1), null()), "TRUE", ""},
		{call("IN", null(), num(1), num(2)), "NULL", ""},
		{call("IN", str("b"), str("a"), str("b")), "TRUE", ""},
		{call("IN", bigint(2), num(1), dec("2.0")), "TRUE", ""},
		{call("IN", dec("2.50"), num(1), dec("2.5")), "TRUE", ""},
		{call("IN", num(12), num(1), num(2), num(3), num(4), num(5), num(6), num(7), num(8), num(9), num(12)), "TRUE", ""},
		{call("IN", date("2020-01-01"), date("2020-01-01"), date("2021-01-01")), "TRUE", ""},
		{call("IS NULL", null()), "TRUE", ""},
		{call("IS TRUE", null()), "FALSE", ""},
		{call("IS NOT FALSE", null()), "TRUE", ""},
		{call("IS UNKNOWN", null()), "TRUE", ""},
		{call("NOT", null()), "NULL", ""},
		{call("AND", boolean(false), null()), "FALSE", ""},
		{call("OR", null(), boolean(true)), "TRUE", ""},
		{call("OR", null(), boolean(false)), "NULL", ""},
		{call("AND", boolean(false), call("=", call("/", num(1), num(0)), num(1))), "FALSE", ""},
		{call("OR", boolean(true), call("=", call("/", num(1), num(0)), num(1))), "TRUE", ""},
		{call("IF", boolean(true), num(1), bigint(2)), "1", "BIGINT"},
		{call("IF", null(), num(1), num(2)), "2", "INT"},
		{call("IF", boolean(true), num(1), call("/", num(1), num(0))), "1", "INT"},
		{call("COALESCE", null(), null(), num(3)), "3", "INT"},
		{call("COALESCE", null(), null()), "NULL", ""},
		{call("COALESCE", num(1), call("/", num(1), num(0))), "1", "INT"},
		{call("IFNULL", null(), str("x")), "x", "STRING"},
		{call("NULLIF", num(1), num(1)), "NULL", "INT"},
		{call("NULLIF", num(1), null()), "1", "INT"},
		{call("NULLIF", str("a"), str("b")), "a", "STRING"},
		{caseOf(call("=", num(0), num(1)), num(1), dec("2.5")), "2.5", "DECIMAL(11, 1)"},
		{caseOf(null(), num(1), null()), "NULL", "INT"},
	})
}

func TestCasts(t *testing.T) {
	vc := func(n int) sqltype.Type { return sqltype.Type{ID: sqltype.Varchar, Precision: n} }
	char := sqltype.Type{ID: sqltype.Char, Precision: 4}
	time0 := sqltype.Type{ID: sqltype.Time}
	runExamples(t, []example{
		{cast(str("12"), sqltype.IntType), "12", "INT"},
		{cast(str("x"), sqltype.IntType), "error: line 1:1: 'x' is no INT; TRY_CAST gives NULL instead", ""},
		{cast(str("300"), sqltype.TinyType), "error: line 1:1: '300' is no TINYINT; TRY_CAST gives NULL instead", ""},
		{&Cast{Arg: str("x"), T: sqltype.IntType, Try: true}, "NULL", "INT"},
		{&Cast{Arg: str("7"), T: sqltype.IntType, Try: true}, "7", "INT"},
		{cast(num(300), sqltype.TinyType), "error", ""},
		{cast(dbl(1.9), sqltype.IntType), "1", "INT"},
		{cast(dbl(1e10), sqltype.IntType), "error", ""},
		{cast(dec("1.9"), sqltype.IntType), "1", "INT"},
		{cast(dec("1.95"), sqltype.DecimalOf(3, 1)), "2.0", "DECIMAL(3, 1)"},
		{cast(dec("100.5"), sqltype.DecimalOf(3, 1)), "error", ""},
		{cast(dbl(0.1), sqltype.DecimalOf(10, 3)), "0.100", ""},
		{cast(num(5), sqltype.DecimalOf(5, 2)), "5.00", ""},
		{cast(dec("1.5"), sqltype.DoubleType), "1.5", ""},
		{cast(num(5), sqltype.BoolType), "TRUE", ""},
		{cast(boolean(true), sqltype.IntType), "1", ""},
		{cast(boolean(true), sqltype.StringType), "TRUE", ""},
		{cast(str("yes"), sqltype.BoolType), "TRUE", ""},
		{cast(dbl(1e10), sqltype.StringType), "1.0E10", ""},
		{cast(dec("1.50"), sqltype.StringType), "1.50", ""},
		{cast(num(12345), vc(3)), "123", "VARCHAR(3)"},
		{cast(str("ab"), char), "ab  ", "CHAR(4)"},
		{cast(str("äöüßx"), char), "äöüß", "CHAR(4)"},
		{cast(str("2020-01-02"), sqltype.DateType), "2020-01-02", "DATE"},
		{cast(str("2020-02-30"), sqltype.DateType), "error", ""},
		{cast(str("2020-01-02 03:04:05.678"), ts3), "2020-01-02 03:04:05.678", "TIMESTAMP(3)"},
		{cast(str("2020-01-02 03:04:05.678"), sqltype.TimestampOf(0)), "2020-01-02 03:04:05", ""},
		{cast(str("2020-01-02 03:04:05.678901234"), sqltype.TimestampOf(9)), "2020-01-02 03:04:05.678901234", ""},
		{cast(ts("2020-01-02 03:04:05.678"), sqltype.TimestampOf(6)), "2020-01-02 03:04:05.678000", ""},
		{cast(cast(str("2020-01-02 03:04:05.678999"), sqltype.TimestampOf(6)), ts3), "2020-01-02 03:04:05.678", ""},
		{cast(cast(str("1969-12-31 23:59:59.9999"), sqltype.TimestampOf(6)), ts3), "1969-12-31 23:59:59.999", ""},
		{cast(ts("2020-01-02 03:04:05"), sqltype.DateType), "2020-01-02", ""},
		{cast(ts("1969-12-31 23:00:00"), sqltype.DateType), "1969-12-31", ""},
		{cast(ts("2020-01-02 03:04:05.678"), time0), "03:04:05", "TIME(0)"},
		{cast(date("2020-01-02"), ts3), "2020-01-02 00:00:00.000", ""},
		{cast(ts("2020-01-02 03:04:05"), sqltype.StringType), "2020-01-02 03:04:05.000", ""},
		{cast(clock3("03:04:05.678"), sqltype.StringType), "03:04:05.678", ""},
		{cast(str("abc"), sqltype.BytesType), "abc", "BYTES"},
		{cast(lit([]byte{0xff}, sqltype.BytesType), sqltype.StringType), "error", ""},
		{cast(lit([]byte("hé"), sqltype.BytesType), sqltype.StringType), "hé", ""},
		{cast(ms(90061005), sqltype.StringType), "+1 01:01:01.005", ""},
		{cast(months(-14), sqltype.StringType), "-1-02", ""},
		{cast(null(), sqltype.DecimalOf(4, 2)), "NULL", ""},
		{cast(null(), sqltype.StringType), "NULL", ""},
	})
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone data:", err)
	}
	in := func(e Expr) Expr { return InZone(e, berlin) }
	runExamples(t, []example{
		{in(cast(cast(str("2021-07-01 12:00:00"), ltz3), sqltype.StringType)), "2021-07-01 12:00:00.000", ""},
		{in(cast(str("2021-07-01 12:00:00"), ltz3)), "2021-07-01 10:00:00.000", ""},
		{in(cast(cast(str("2021-07-01 22:30:00Z"), ltz3), sqltype.DateType)), "2021-07-02", ""},
		{in(cast(cast(str("2021-07-01 22:30:00Z"), ltz3), ts3)), "2021-07-02 00:30:00.000", ""},
		{in(cast(ts("2021-01-01 00:00:00"), ltz3)), "2020-12-31 23:00:00.000", ""},
		{in(call("HOUR", cast(str("2021-07-01 10:00:00Z"), ltz3))), "12", ""},
		{in(call("FLOOR", cast(str("2021-07-01 22:30:00Z"), ltz3), str("DAY"))), "2021-07-01 22:00:00.000", ""},
		{in(call("DATE_FORMAT", cast(str("2021-07-01 22:30:00Z"), ltz3), str("yyyy-MM-dd HH"))), "2021-07-02 00", ""},
		{in(call("FROM_UNIXTIME", num(0))), "1970-01-01 01:00:00", ""},
		{in(call("UNIX_TIMESTAMP", str("1970-01-01 01:00:00"))), "0", ""},
		{in(call("+", cast(str("2021-03-27 12:00:00Z"), ltz3), months(1))), "2021-04-27 11:00:00.000", ""},
	})
}

func TestStrings(t *testing.T) {
	runExamples(t, []example{
		{call("UPPER", str("aé")), "AÉ", "STRING"},
		{call("LOWER", str("AÉb")), "aéb", ""},
		{call("INITCAP", str("hello wORLD")), "Hello World", ""},
		{call("REVERSE", str("aéb")), "béa", ""},
		{call("CHAR_LENGTH", str("aé")), "2", "INT"},
		{call("CHARACTER_LENGTH", null()), "NULL", "INT"},
		{call("TRIM", str("  a b ")), "a b", ""},
		{call("TRIM", str("xy"), str("xyaxyx")), "a", ""},
		{call("TRIM", str("BOTH"), str(" a ")), "a", ""},
		{call("TRIM", str("LEADING"), str("x"), str("xxaxx")), "axx", ""},
		{call("TRIM", str("TRAILING"), str("é"), str("aéé")), "a", ""},
		{call("LTRIM", str("xxaxx"), str("x")), "axx", ""},
		{call("RTRIM", str("xxaxx"), str("x")), "xxa", ""},
		{call("SUBSTRING", str("hällo"), num(2)), "ällo", ""},
		{call("SUBSTRING", str("hällo"), num(2), num(2)), "äl", ""},
		{call("SUBSTR", str("hello"), num(-3), num(2)), "ll", ""},
		{call("SUBSTRING", str("hello"), num(0), num(2)), "he", ""},
		{call("SUBSTRING", str("hello"), num(9)), "", ""},
		{call("SUBSTRING", str("hello"), num(-9)), "", ""},
		{call("SUBSTRING", str("hello"), num(1), num(-1)), "NULL", ""},
		{call("LEFT", str("hello"), num(2)), "he", ""},
		{call("RIGHT", str("hällo"), num(4)), "ällo", ""},
		{call("||", str("a"), num(1)), "a1", "STRING"},
		{call("||", str("a"), null()), "NULL", ""},
		{call("CONCAT", str("a"), str("b"), dec("1.5")), "ab1.5", ""},
		{call("CONCAT_WS", str("-"), str("a"), null(), str("b")), "a-b", ""},
		{call("CONCAT_WS", null(), str("a")), "NULL", ""},
		{call("REPLACE", str("abcabc"), str("bc"), str("x")), "axax", ""},
		{call("REPLACE", str("abc"), str(""), str("x")), "abc", ""},
		{call("POSITION", str("l"), str("hällo")), "3", "INT"},
		{call("LOCATE", str("l"), str("hällo"), num(4)), "4", ""},
		{call("LOCATE", str("x"), str("hällo")), "0", ""},
		{call("LOCATE", str("l"), str("hällo"), num(99)), "0", ""},
		{call("INSTR", str("hällo"), str("o")), "5", ""},
		{call("LPAD", str("ab"), num(5), str("xy")), "xyxab", ""},
		{call("RPAD", str("ab"), num(5), str("xy")), "abxyx", ""},
		{call("LPAD", str("abc"), num(2), str("x")), "ab", ""},
		{call("LPAD", str("abc"), num(-1), str("x")), "NULL", ""},
		{call("RPAD", str("abc"), num(5), str("")), "NULL", ""},
		{call("OVERLAY", str("häöllo"), str("XY"), num(2)), "hXYllo", ""},
		{call("OVERLAY", str("hello"), str("X"), num(2), num(3)), "hXo", ""},
		{call("OVERLAY", str("hello"), str("X"), num(5), num(9)), "hellX", ""},
		{call("OVERLAY", str("hello"), str("X"), num(9)), "hello", ""},
		{call("REPEAT", str("ab"), num(3)), "ababab", ""},
		{call("SPLIT_INDEX", str("a/b//c"), str("/"), num(1)), "b", "STRING"},
		{call("SPLIT_INDEX", str("a/b//c"), str("/"), num(2)), "", ""},
		{call("SPLIT_INDEX", str("a/b//c"), str("/"), num(4)), "NULL", ""},
		{call("SPLIT_INDEX", str("a/b//c"), str("//"), num(1)), "c", ""},
		{call("SPLIT_INDEX", str("a"), str("/"), num(-1)), "NULL", ""},
		{call("SPLIT_INDEX", str(""), str("/"), num(0)), "NULL", ""},
		{call("LIKE", str("hello"), str("h%o")), "TRUE", "BOOLEAN"},
		{call("LIKE", str("hello"), str("hel%")), "TRUE", ""},
		{call("LIKE", str("hello"), str("%llo")), "TRUE", ""},
		{call("LIKE", str("hello"), str("%ell%")), "TRUE", ""},
		{call("LIKE", str("hello"), str("h_llo")), "TRUE", ""},
		{call("LIKE", str("hällo"), str("h_llo")), "TRUE", ""},
		{call("LIKE", str("hello"), str("hello")), "TRUE", ""},
		{call("LIKE", str("hello"), str("h%x%o")), "FALSE", ""},
		{call("LIKE", str(""), str("%")), "TRUE", ""},
		{call("LIKE", str(""), str("_")), "FALSE", ""},
		{call("LIKE", str("aXbXc"), str("%X%X%")), "TRUE", ""},
		{call("LIKE", str("10%"), str("10#%"), str("#")), "TRUE", ""},
		{call("LIKE", str("10x"), str("10#%"), str("#")), "FALSE", ""},
		{call("LIKE", str("a\nb"), str("a%b")), "TRUE", ""},
		{call("LIKE", null(), str("a%b")), "NULL", ""},
		{call("ILIKE", str("HeLLo"), str("hEl%")), "TRUE", ""},
		{call("SIMILAR TO", str("abc"), str("(a|x)(b|c)+")), "TRUE", ""},
		{call("SIMILAR TO", str("abcd"), str("(a|x)(b|c)+")), "FALSE", ""},
		{call("SIMILAR TO", str("a.c"), str("a.c")), "TRUE", ""},
		{call("SIMILAR TO", str("abc"), str("a.c")), "FALSE", ""},
		{call("SIMILAR TO", str("a7"), str("a[[:digit:]]")), "TRUE", ""},
		{call("REGEXP", str("hello"), str("l+o$")), "TRUE", ""},
		{call("REGEXP_EXTRACT", str("foothebar"), str("foo(.*?)(bar)"), num(2)), "bar", ""},
		{call("REGEXP_EXTRACT", str("foothebar"), str("x")), "NULL", ""},
		{call("REGEXP_EXTRACT", str("https://x?a=1&channel_id=77&b"), str("(&|^)channel_id=([^&]*)"), num(2)), "77", ""},
		{call("REGEXP_REPLACE", str("foobar"), str("oo|ar"), str("x")), "fxbx", ""},
		{call("REGEXP_REPLACE", str("ab"), str("(a)(b)"), str("$2$1")), "ba", ""},
		{call("MD5", str("abc")), "900150983cd24fb0d6963f7d28e17f72", ""},
		{call("SHA256", str("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ""},
	})
}

func TestTimes(t *testing.T) {
	x := ts("2021-03-04 15:06:07.089")
	runExamples(t, []example{
		{call("+", x, ms(1000)), "2021-03-04 15:06:08.089", "TIMESTAMP(3)"},
		{call("-", x, ms(1000)), "2021-03-04 15:06:06.089", ""},
		{call("+", ms(1000), x), "2021-03-04 15:06:08.089", ""},
		{call("-", x, months(1)), "2021-02-04 15:06:07.089", ""},
		{call("+", ts("2020-01-31 01:02:03"), months(1)), "2020-02-29 01:02:03.000", ""},
		{call("+", cast(x, sqltype.TimestampOf(6)), ms(1)), "2021-03-04 15:06:07.090000", "TIMESTAMP(6)"},
		{call("-", x, ts("2021-03-03 15:06:07")), "+1 00:00:00.089", "INTERVAL DAY TO SECOND"},
		{call("-", date("2021-03-04"), date("2021-03-01")), "+3 00:00:00.000", ""},
		{call("+", date("2021-03-04"), ms(2*86400000)), "2021-03-06", "DATE"},
		{call("+", date("2021-01-31"), months(1)), "2021-02-28", "DATE"},
		{call("+", clock3("23:59:59.5"), ms(1000)), "00:00:00.500", ""},
		{call("-", clock3("00:00:00"), ms(1000)), "23:59:59.000", ""},
		{call("+", ms(1), ms(2)), "+0 00:00:00.003", ""},
		{call("*", ms(1500), num(2)), "+0 00:00:03.000", ""},
		{call("*", num(2), months(7)), "+1-02", ""},
		{call("NEG", months(7)), "-0-07", ""},
		{call("EXTRACT", str("YEAR"), x), "2021", "BIGINT"},
		{call("EXTRACT", str("QUARTER"), x), "1", ""},
		{call("EXTRACT", str("WEEK"), x), "9", ""},
		{call("EXTRACT", str("DOW"), x), "5", ""},
		{call("EXTRACT", str("ISODOW"), x), "4", ""},
		{call("EXTRACT", str("DOY"), x), "63", ""},
		{call("EXTRACT", str("EPOCH"), x), "1614870367", ""},
		{call("EXTRACT", str("MILLISECOND"), x), "7089", ""},
		{call("EXTRACT", str("HOUR"), ms(90061005)), "1", ""},
		{call("EXTRACT", str("MONTH"), months(14)), "2", ""},
		{call("YEAR", date("2021-03-04")), "2021", ""},
		{call("YEAR", ts("1969-12-31 23:59:59")), "1969", ""},
		{call("MONTH", x), "3", ""},
		{call("DAYOFMONTH", x), "4", ""},
		{call("DAYOFWEEK", date("2021-03-07")), "1", ""},
		{call("HOUR", x), "15", ""},
		{call("MINUTE", x), "6", ""},
		{call("SECOND", x), "7", ""},
		{call("SECOND", ts("1969-12-31 23:59:58.5")), "58", ""},
		{call("HOUR", clock3("23:59:59.5")), "23", ""},
		{call("WEEK", date("2021-01-03")), "53", ""},
		{call("FLOOR", x, str("HOUR")), "2021-03-04 15:00:00.000", "TIMESTAMP(3)"},
		{call("CEIL", x, str("HOUR")), "2021-03-04 16:00:00.000", ""},
		{call("CEIL", ts("2021-01-01 00:00:00"), str("MONTH")), "2021-01-01 00:00:00.000", ""},
		{call("CEIL", x, str("MONTH")), "2021-04-01 00:00:00.000", ""},
		{call("CEIL", ts("2021-01-31 10:00:00"), str("MONTH")), "2021-02-01 00:00:00.000", ""},
		{call("FLOOR", x, str("YEAR")), "2021-01-01 00:00:00.000", ""},
		{call("FLOOR", x, str("WEEK")), "2021-02-28 00:00:00.000", ""},
		{call("FLOOR", date("2021-03-04"), str("MONTH")), "2021-03-01", "DATE"},
		{call("FLOOR", ts("1969-12-31 23:59:58.5"), str("MINUTE")), "1969-12-31 23:59:00.000", ""},
		{call("DATE_FORMAT", x, str("yyyy-MM-dd HH:mm:ss.SSS")), "2021-03-04 15:06:07.089", "STRING"},
		{call("DATE_FORMAT", x, str("yy/M/d h a 'o''clock' EEE MMM")), "21/3/4 3 PM o'clock Thu Mar", ""},
		{call("DATE_FORMAT", str("2021-03-04 15:06:07"), str("HH")), "15", ""},
		{call("DATE_FORMAT", x, str("DDD")), "063", ""},
		{call("TO_DATE", str("2021-03-04")), "2021-03-04", "DATE"},
		{call("TO_DATE", str("04.03.2021"), str("dd.MM.yyyy")), "2021-03-04", ""},
		{call("TO_DATE", str("nonsense")), "NULL", ""},
		{call("TO_TIMESTAMP", str("2021-03-04 15:06:07")), "2021-03-04 15:06:07.000", "TIMESTAMP(3)"},
		{call("TO_TIMESTAMP", str("20210304T1506"), str("yyyyMMdd'T'HHmm")), "2021-03-04 15:06:00.000", ""},
		{call("TO_TIMESTAMP", str("Mar 4, 2021 3PM"), str("MMM d, yyyy ha")), "2021-03-04 15:00:00.000", ""},
		{call("TO_TIMESTAMP", str("x")), "NULL", ""},
		{call("TO_TIMESTAMP_LTZ", num(1614870367), num(0)), "2021-03-04 15:06:07.000", "TIMESTAMP_LTZ(3)"},
		{call("TO_TIMESTAMP_LTZ", bigint(1614870367089), num(3)), "2021-03-04 15:06:07.089", ""},
		{call("TO_TIMESTAMP_LTZ", str("2021-03-04 15:06:07")), "2021-03-04 15:06:07.000", ""},
		{call("UNIX_TIMESTAMP", str("2021-03-04 15:06:07")), "1614870367", "BIGINT"},
		{call("UNIX_TIMESTAMP", str("x")), "-9223372036854775808", "BIGINT"},
		{call("FROM_UNIXTIME", num(1614870367)), "2021-03-04 15:06:07", ""},
		{call("FROM_UNIXTIME", num(1614870367), str("yyyy")), "2021", ""},
		{call("TIMESTAMPADD", str("HOUR"), num(-1), x), "2021-03-04 14:06:07.089", ""},
		{call("TIMESTAMPADD", str("QUARTER"), num(1), date("2021-03-31")), "2021-06-30", "DATE"},
		{call("TIMESTAMPDIFF", str("HOUR"), ts("2021-03-04 14:06:08"), x), "0", "INT"},
		{call("TIMESTAMPDIFF", str("MONTH"), ts("2021-01-31 00:00:00"), ts("2021-02-28 00:00:00")), "1", ""},
		{call("TIMESTAMPDIFF", str("MONTH"), ts("2021-02-28 00:00:00"), ts("2021-01-29 00:00:00")), "-1", ""},
		{call("TIMESTAMPDIFF", str("DAY"), date("2021-03-04"), date("2021-03-01")), "-3", ""},
	})
}

func TestNow(t *testing.T) {
	p := vector.NewCheckedPool()
	for name, want := range map[string]string{
		"NOW": "2021-03-04 15:06:07.089", "PROCTIME": "2021-03-04 15:06:07.089", "CURRENT_DATE": "2021-03-04", "LOCALTIME": "15:06:07",
		"LOCALTIMESTAMP": "2021-03-04 15:06:07.089", "UNIX_TIMESTAMP": "1614870367",
	} {
		e := call(name)
		ev, err := Compile(e)
		if err != nil {
			t.Fatal(err)
		}
		ev.SetNow(1614870367089)
		b := vector.NewBatch(2, nil, nil)
		v, err := ev.Eval(p, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(v, e.Type(), 1); got != want || v.Len() != 2 {
			t.Errorf("%s is %s in %d rows, want %s", name, got, v.Len(), want)
		}
		v.Release()
	}
	if err := p.Leaks(); err != nil {
		t.Error(err)
	}
}

func TestTypeErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		args []Expr
		want string
	}{
		{"UPPER", []Expr{num(1)}, "line 1:1: no function UPPER(INT); it takes (STRING)"},
		{"SUBSTRING", []Expr{str("a"), str("b")}, "line 1:1: no function SUBSTRING(STRING, STRING); it takes (STRING, INT) or (STRING, INT, INT)"},
		{"+", []Expr{str("a"), num(1)}, "line 1:1: no operator STRING + INT; it takes (number, number) or (TIMESTAMP, INTERVAL) or (DATE, INTERVAL) or (TIME, INTERVAL) or (INTERVAL, INTERVAL)"},
		{"UPPR", []Expr{str("a")}, `line 1:1: function UPPR not found; did you mean "UPPER"?`},
		{"COALESCE", []Expr{num(1), str("a")}, "line 1:1: INT and STRING have no common type; CAST one of them"},
	} {
		_, err := Apply(c.name, errs.Position{Line: 1, Column: 1}, c.args...)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := NewCast(num(1), ts3, false, errs.Position{}); err == nil || !strings.Contains(err.Error(), "TO_TIMESTAMP_LTZ") {
		t.Errorf("cast of a number to a timestamp: %v", err)
	}
	for _, bad := range []Expr{
		call("REGEXP", str("a"), str("(")), call("LIKE", str("a"), str("a#"), str("#")), call("DATE_FORMAT", ts("2020-01-01"), str("QQ")),
		call("FLOOR", ts("2020-01-01"), str("FORTNIGHT")), call("REGEXP_EXTRACT", str("a"), str("(a)"), num(2)),
	} {
		if _, err := Compile(bad); err == nil {
			t.Errorf("%s compiles", bad)
		} else if errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
