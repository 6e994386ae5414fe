// Package function is the registry of SQL functions and operators: what they
// accept, what type they give and the vectorized code that computes them.
package function

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Arg is what is known about an argument when a call is typed: its type and,
// when it is a literal, its value (nil for NULL, bool, int64, float64,
// vector.Dec, string or []byte; dates, times and intervals are int64).
type Arg struct {
	Type  sqltype.Type
	Const bool
	Value any
}

// Binding is a call whose types are settled, as Scalar.Bind sees it.
type Binding struct {
	Args []Arg // of the coerced types
	Ret  sqltype.Type
	Zone *time.Location // session time zone, never nil
}

// Call is one batch's worth of work for a Kernel.
type Call struct {
	Pool *vector.Pool
	N    int // rows wanted
	// Args are borrowed. A constant argument has one row, the others N.
	Args []*vector.Vector
	// Valid has the rows in which no argument is NULL, or is nil when that is
	// every row. A NullCall kernel gets nil and looks at the arguments itself.
	Valid vector.Bitmap
	// Now is the clock of the epoch, in milliseconds since 1970.
	Now int64
	// Seed is another number for each call of an instance.
	Seed uint64
	// Failed is for an instance to add the number of rows that it gives NULL for after an
	// error.
	Failed int64
}

// Kernel computes a function over a batch. The result is new, of c.N rows, and
// the caller's. When it has no validity bitmap the caller gives it c.Valid; a
// kernel that makes further rows NULL starts from c.Valid itself. Rows outside
// c.Valid hold arbitrary values and must not cause errors.
type Kernel func(c *Call) (*vector.Vector, error)

// Lazy says how a function evaluates its arguments.
type Lazy uint8

// A lazy function sees an argument only on the rows that need it; the evaluator
// implements those itself, so they have no Bind.
const (
	Eager        Lazy = iota
	LazyAnd           // n-ary AND: until one is FALSE
	LazyOr            // n-ary OR: until one is TRUE
	LazyIf            // condition, then, else
	LazyCoalesce      // until one is not NULL
)

// Scalar is a function of one row. It is immutable.
type Scalar struct {
	Name       string
	Doc        string   // one line
	Signatures []string // argument lists it takes, for error messages: "(STRING, INT)"

	Deterministic bool // the same arguments always give the same result
	Clock         bool // called without arguments it reads the clock of the epoch
	NullCall      bool // it sees NULL arguments; otherwise a NULL argument gives NULL
	MayNull       bool // it may give NULL though no argument is NULL
	Cheap         bool // it cannot fail and costs about a nanosecond a row
	Lazy          Lazy

	// Infer gives the types that the arguments must be cast to and the type of the
	// result. Nullability is set by Resolve, except for a NullCall function, which
	// says it itself. ErrMismatch says that the function does not take such arguments.
	Infer func(args []Arg) (coerced []sqltype.Type, ret sqltype.Type, err error)
	// Bind chooses the kernel for settled types. It fails for constants that make no
	// sense, such as a bad pattern.
	Bind func(b Binding) (Kernel, error)

	// Open, in place of Bind, is for a function that keeps something from one call to
	// the next. What it returns depends on the function alone, not on the binding's
	// constants. A call under way is broken off when ctx ends.
	Open func(ctx context.Context, b Binding) (Instance, error)
	// Arity is the number of arguments, and Defaults are the last of them as far as a
	// call may leave them out. They are for functions that users give.
	Arity    int
	Defaults []Arg
	// Overloads are the functions that this one stands for, which has nothing else then
	// but names; see Choose.
	Overloads []*Scalar
	// Origin says where a function of a user comes from, for EXPLAIN: "Go", or a file and
	// a symbol in it.
	Origin string
}

// Costly reports whether calling the function is to be assumed to cost more than keeping
// its result: nobody knows what functions of users do.
func (s *Scalar) Costly() bool { return s.Open != nil || s.Origin != "" }

// ErrMismatch is what Infer returns for arguments that fit no signature.
var ErrMismatch = errors.New("arguments do not fit")

// Resolve types a call: the types to cast the arguments to and the type of the
// result. Its errors have no position.
func (s *Scalar) Resolve(args []Arg) (coerced []sqltype.Type, ret sqltype.Type, err error) {
	coerced, ret, err = s.Infer(args)
	if errors.Is(err, ErrMismatch) {
		return nil, ret, mismatch(s.Name, s.Signatures, args)
	}
	if err != nil {
		return nil, ret, err
	}
	if !s.NullCall {
		ret.NotNull = !s.MayNull
		for i := range args {
			ret.NotNull = ret.NotNull && args[i].Type.NotNull
		}
	}
	for i := range coerced {
		coerced[i].NotNull = args[i].Type.NotNull
	}
	return coerced, ret.Plain(), nil
}

// AggKind is which built-in aggregate an Aggregate is.
type AggKind uint8

// The aggregates.
const (
	Count AggKind = iota // COUNT(*) without arguments, COUNT(x) with one
	Sum
	Avg
	Min
	Max
	VarPop
	VarSamp
	StddevPop
	StddevSamp
	Custom     // written in Go
	FirstValue // in the order of arrival, as LastValue and ListAgg
	LastValue
	ListAgg // the separator is a literal, the second argument
)

// Ordered reports whether the result depends on the order in which rows come.
func (k AggKind) Ordered() bool { return k >= FirstValue }

// Aggregate is a function over the rows of a group. It is immutable.
type Aggregate struct {
	Name       string
	Doc        string
	Signatures []string
	Kind       AggKind
	Go         *GoAggregate // of Kind Custom
	Infer      func(args []Arg) (coerced []sqltype.Type, ret sqltype.Type, err error)
}

// Resolve types a call. All aggregates but COUNT give NULL for no rows, so the
// result is nullable; the planner may mark it NOT NULL where a group has rows.
func (a *Aggregate) Resolve(args []Arg) (coerced []sqltype.Type, ret sqltype.Type, err error) {
	coerced, ret, err = a.Infer(args)
	if errors.Is(err, ErrMismatch) {
		return nil, ret, mismatch(a.Name, a.Signatures, args)
	}
	return coerced, ret.Plain(), err
}

func mismatch(name string, signatures []string, args []Arg) error {
	types := make([]string, len(args))
	for i, a := range args {
		types[i] = a.Type.Optional().String()
	}
	if len(args) == 2 && !strings.ContainsFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }) {
		e := errs.New(errs.Type, errs.Position{}, "no operator %s %s %s", types[0], name, types[1])
		return e.WithHint("it takes %s", strings.Join(signatures, " or "))
	}
	e := errs.New(errs.Type, errs.Position{}, "no function %s(%s)", name, strings.Join(types, ", "))
	return e.WithHint("it takes %s", strings.Join(signatures, " or "))
}

// registry is the set of built-in functions by name.
type registry struct {
	scalars    map[string]*Scalar
	aggregates map[string]*Aggregate
	names      []string // of what is called like a function, sorted
}

// builtins is built on first use and never changes.
var builtins = sync.OnceValue(newRegistry)

func newRegistry() *registry {
	r := &registry{scalars: map[string]*Scalar{}, aggregates: map[string]*Aggregate{}}
	for _, list := range [][]*Scalar{
		arithmetic(), comparisons(), logic(), conditionals(), mathFunctions(), stringFunctions(), patternFunctions(), timeFunctions(), watermarkFunctions(), hashFunctions(), charsetFunctions(), nestedFunctions(), {single()},
	} {
		for _, s := range list {
			r.add(s.Name, s)
		}
	}
	for alias, name := range aliases() {
		r.add(alias, r.scalars[name])
	}
	for _, a := range aggregates() {
		r.aggregates[a.Name] = a
		r.names = append(r.names, a.Name)
	}
	for alias, name := range aggregateAliases() {
		r.aggregates[alias] = r.aggregates[name]
		r.names = append(r.names, alias)
	}
	slices.Sort(r.names)
	return r
}

func (r *registry) add(name string, s *Scalar) {
	if s == nil || r.scalars[name] != nil {
		panic("function: " + name + " is registered twice, or an alias of nothing")
	}
	r.scalars[name] = s
	if c := name[0]; c >= 'A' && c <= 'Z' && !strings.Contains(name, " ") {
		switch name {
		case "AND", "OR", "NOT", "NEG", "LIKE", "ILIKE", "IN":
		default:
			r.names = append(r.names, name)
		}
	}
}

// aliases are second names: alias to name.
func aliases() map[string]string {
	return map[string]string{
		"CEILING":          "CEIL",
		"POW":              "POWER",
		"CHARACTER_LENGTH": "CHAR_LENGTH",
		"SUBSTR":           "SUBSTRING",
		"DAY":              "DAYOFMONTH",
		"!=":               "<>",
	}
}

// LookupScalar finds a scalar function or operator by its name, in any case.
func LookupScalar(name string) (*Scalar, bool) {
	s, ok := builtins().scalars[strings.ToUpper(name)]
	return s, ok
}

// MustScalar is LookupScalar for names that the engine itself writes.
func MustScalar(name string) *Scalar {
	s, ok := LookupScalar(name)
	if !ok {
		panic("function: there is no " + name)
	}
	return s
}

// LookupAggregate finds an aggregate function by its name, in any case.
func LookupAggregate(name string) (*Aggregate, bool) {
	a, ok := builtins().aggregates[strings.ToUpper(name)]
	return a, ok
}

// Scalars lists the scalar functions and operators, each once, sorted by name.
func Scalars() []*Scalar {
	var out []*Scalar
	for name, s := range builtins().scalars {
		if name == s.Name {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *Scalar) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Names lists the functions that are called by name, sorted; operators are left out.
func Names() []string { return slices.Clone(builtins().names) }
