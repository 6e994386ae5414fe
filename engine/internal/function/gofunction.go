package function

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	gofunction "github.com/weirdb/weir/engine/function"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/kernel"
)

// NewGoScalar is a valid function written in Go as SQL calls it.
func NewGoScalar(f *gofunction.ScalarFunction) *Scalar {
	sig := f.Signature()
	return &Scalar{
		Name:          f.Name,
		Doc:           f.Doc,
		Signatures:    []string{sig.String()},
		Deterministic: !f.NonDeterministic,
		NullCall:      f.CalledOnNull,
		MayNull:       !f.Returns.NotNull,
		Infer:         inferGo(sig),
		Arity:         len(f.Args),
		Origin:        "Go",
		Bind: func(b Binding) (Kernel, error) {
			g := goScalar{f: f, ret: b.Ret}
			for _, a := range b.Args {
				g.types = append(g.types, a.Type)
			}
			if f.CalledOnNull {
				return g.all, nil
			}
			return g.valid, nil
		},
	}
}

// inferGo types a call of a function with that signature.
func inferGo(sig gofunction.Signature) func([]Arg) ([]sqltype.Type, sqltype.Type, error) {
	return func(args []Arg) ([]sqltype.Type, sqltype.Type, error) {
		if !sig.Takes(len(args)) {
			return nil, sig.Returns, ErrMismatch
		}
		coerced := make([]sqltype.Type, len(args))
		for i, a := range args {
			coerced[i] = sig.Type(i)
			if a.Type.ID != sqltype.Null && !CanCast(a.Type, coerced[i], true) {
				return nil, sig.Returns, ErrMismatch
			}
		}
		return coerced, sig.Returns, nil
	}
}

// goError makes an error of a function written in Go one that names it.
func goError(name string, err error) error {
	var p *gofunction.Panic
	if errors.As(err, &p) {
		return errs.New(errs.Function, errs.Position{}, "function %s panicked: %w", name, err).WithHint("the cause has the stack")
	}
	return errs.New(errs.Function, errs.Position{}, "function %s: %w", name, err)
}

// guard runs a function written in Go. What it returns or panics with becomes an
// error that names it.
func guard(name string, call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = goError(name, &gofunction.Panic{Value: r, Stack: debug.Stack()})
		}
	}()
	if err := call(); err != nil {
		return goError(name, err)
	}
	return nil
}

// goScalar is a call of a ScalarFunction with settled types.
type goScalar struct {
	f     *gofunction.ScalarFunction
	types []sqltype.Type
	ret   sqltype.Type
}

// eval calls the function with n rows of arguments, which are borrowed.
func (g goScalar) eval(p *vector.Pool, n int, args []*vector.Vector) (out *vector.Vector, err error) {
	if n == 0 {
		return vector.NewColumnBuilder(p, g.ret.Kind()).Finish(), nil
	}
	err = guard(g.f.Name, func() error {
		out, err = g.f.Eval(&gofunction.Call{Pool: p, N: n, Args: args, Types: g.types, Returns: g.ret})
		return err
	})
	if err != nil {
		return nil, err
	}
	if out == nil || out.Len() != n || out.Kind() != g.ret.Kind() {
		got := "nothing"
		if out != nil {
			got = fmt.Sprintf("%d rows of %s", out.Len(), out.Kind())
			out.Release()
		}
		return nil, errs.New(errs.Function, errs.Position{}, "function %s returned %s, want %d rows of %s", g.f.Name, got, n, g.ret.Kind())
	}
	if g.f.Returns.NotNull && out.Nulls() > 0 {
		out.Release()
		return nil, errs.New(errs.Function, errs.Position{}, "function %s returned NULL, and was declared %s", g.f.Name, g.f.Returns)
	}
	return out, nil
}

// all is the kernel of a function that sees NULL.
func (g goScalar) all(c *Call) (*vector.Vector, error) {
	args := make([]*vector.Vector, len(c.Args))
	for i, v := range c.Args {
		if args[i] = v.Retain(); v.Len() != c.N {
			args[i].Release()
			args[i] = kernel.Broadcast(c.Pool, v, c.N)
		}
		defer args[i].Release()
	}
	return g.eval(c.Pool, c.N, args)
}

// valid is the kernel of a function that must not see NULL: it gets the rows
// without, and the others are NULL.
func (g goScalar) valid(c *Call) (*vector.Vector, error) {
	if c.Valid == nil {
		return g.all(c)
	}
	var rows []int32
	for i := range c.N {
		if c.Valid.Get(i) {
			rows = append(rows, int32(i))
		}
	}
	args := make([]*vector.Vector, len(c.Args))
	for i, v := range c.Args {
		if v.Len() == c.N {
			args[i] = v.Take(c.Pool, rows)
			args[i].DropValid()
		} else {
			args[i] = kernel.Broadcast(c.Pool, v, len(rows))
		}
		defer args[i].Release()
	}
	some, err := g.eval(c.Pool, len(rows), args)
	if err != nil {
		return nil, err
	}
	defer some.Release()
	out := vector.NewColumnBuilder(c.Pool, g.ret.Kind())
	next := 0
	for i := range c.N {
		if !c.Valid.Get(i) {
			out.AppendNull()
			continue
		}
		out.AppendFrom(some, next)
		next++
	}
	return out.Finish(), nil
}

// NewGoAggregate is a valid function written in Go as SQL calls it.
func NewGoAggregate(f *gofunction.AggregateFunction) *Aggregate {
	sig := f.Signature()
	return &Aggregate{
		Name:       f.Name,
		Doc:        f.Doc,
		Signatures: []string{sig.String()},
		Kind:       Custom,
		Infer:      inferGo(sig),
		Go:         &GoAggregate{f: f, Retracts: f.Retracts()},
	}
}

// GoAggregate is an aggregate function written in Go.
type GoAggregate struct {
	f        *gofunction.AggregateFunction
	Retracts bool // it can take rows away
}

// CalledOnNull reports whether it sees rows with NULL arguments.
func (g *GoAggregate) CalledOnNull() bool { return g.f.CalledOnNull }

// GoArgs are arguments for an accumulator.
type GoArgs = gofunction.Call

// GoAccumulator is the accumulator of one group.
type GoAccumulator struct {
	of  *GoAggregate
	acc gofunction.Accumulator
}

// encoded is the first byte of every encoded accumulator: state that is empty was
// never written.
const encoded = 1

// Accumulator decodes what Encode wrote. Nothing at all is a group without rows.
func (g *GoAggregate) Accumulator(enc []byte) (GoAccumulator, error) {
	a := GoAccumulator{of: g}
	err := guard(g.f.Name, func() error {
		a.acc = g.f.Create()
		if len(enc) == 0 {
			return nil
		}
		if u, ok := a.acc.(encoding.BinaryUnmarshaler); ok {
			return u.UnmarshalBinary(append([]byte{}, enc[1:]...))
		}
		return json.Unmarshal(enc[1:], a.acc)
	})
	return a, err
}

// Encode is the accumulator as state keeps it.
func (a GoAccumulator) Encode() (enc []byte, err error) {
	err = guard(a.of.f.Name, func() error {
		if m, ok := a.acc.(encoding.BinaryMarshaler); ok {
			enc, err = m.MarshalBinary()
		} else {
			enc, err = json.Marshal(a.acc)
		}
		enc = append([]byte{encoded}, enc...)
		return err
	})
	return enc, err
}

// Add adds row i of the arguments, or takes it away.
func (a GoAccumulator) Add(args *GoArgs, i int, away bool) error {
	return guard(a.of.f.Name, func() error {
		if away {
			return a.acc.(gofunction.Retractor).Retract(args.Row(i))
		}
		return a.acc.Accumulate(args.Row(i))
	})
}

// AppendValue appends the result to a column of type t.
func (a GoAccumulator) AppendValue(c *vector.ColumnBuilder, t sqltype.Type) error {
	return guard(a.of.f.Name, func() error {
		v, err := a.acc.Value()
		if err != nil {
			return err
		}
		return gofunction.AppendValue(c, t, v)
	})
}
