package function

import (
	"context"
	"errors"
	"slices"

	gofunction "github.com/weirdb/weir/engine/function"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// WasmOptions say how a function of a module is called.
type WasmOptions struct {
	Defaults    []Arg // the last arguments, as far as calls may leave them out
	NullOnError bool  // a row that the function fails on gives NULL
}

// NewWasmScalar is a scalar function of a module as SQL calls it, by a name that may be
// another one than the module's.
func NewWasmScalar(name string, f *udf.Function, opt WasmOptions) *Scalar {
	sig := gofunction.Signature{Name: name, Variadic: f.Variadic, Returns: f.Returns, CalledOnNull: !f.Strict}
	for _, a := range f.Args {
		sig.Args = append(sig.Args, a.Type)
	}
	return &Scalar{
		Name:          name,
		Doc:           "function " + f.Export + " of " + f.Module().Name(),
		Signatures:    []string{sig.String()},
		Deterministic: f.Deterministic,
		NullCall:      !f.Strict,
		MayNull:       !f.Returns.NotNull || opt.NullOnError,
		Infer:         inferGo(sig),
		Arity:         len(sig.Args),
		Defaults:      opt.Defaults,
		Origin:        f.Module().Name() + " " + f.Export,
		Open: func(ctx context.Context, b Binding) (Instance, error) {
			i, err := f.Open(ctx, nil)
			if err != nil {
				return nil, err
			}
			w := &wasmInstance{ctx: ctx, of: f, instance: i, binding: b}
			if opt.NullOnError {
				return &tolerantInstance{w}, nil
			}
			return w, nil
		},
	}
}

// NewBrokenScalar is a function of which nothing is known but how it was declared. It
// can be named, so that what depends on it can be kept, but not called: err says why.
func NewBrokenScalar(name string, args []sqltype.Type, returns sqltype.Type, err error) *Scalar {
	sig := gofunction.Signature{Name: name, Args: args, Returns: returns}
	return &Scalar{
		Name:       name,
		Signatures: []string{sig.String()},
		MayNull:    !returns.NotNull,
		Arity:      len(args),
		Infer: func(given []Arg) ([]sqltype.Type, sqltype.Type, error) {
			if coerced, ret, err := inferGo(sig)(given); err == nil {
				return coerced, ret, nil
			}
			types := make([]sqltype.Type, len(given)) // its module may have known of further arguments
			for i, a := range given {
				types[i] = a.Type
			}
			return types, returns, nil
		},
		Open: func(context.Context, Binding) (Instance, error) { return nil, err },
	}
}

// wasmInstance calls an instance of a module.
type wasmInstance struct {
	ctx      context.Context
	of       *udf.Function
	instance *udf.Instance
	binding  Binding
	call     udf.Call
	constant []bool
}

func (w *wasmInstance) Close() { w.instance.Close() }

// Call implements Instance. What is NULL because an argument is, is the host's business.
func (w *wasmInstance) Call(c *Call) (*vector.Vector, error) {
	w.prepare(c)
	out, err := w.instance.Call(w.ctx, &w.call)
	if err != nil {
		return nil, w.explain(err, c)
	}
	return out, nil
}

func (w *wasmInstance) prepare(c *Call) {
	w.constant = w.constant[:0]
	for _, v := range c.Args {
		w.constant = append(w.constant, v.Len() != c.N)
	}
	w.call = udf.Call{Args: c.Args, Rows: c.N, Now: c.Now, Seed: c.Seed, Pool: c.Pool}
	if slices.Contains(w.constant, true) {
		w.call.Constant = w.constant
	}
}

// explain adds the arguments of the row that an error is about, if that is known.
func (w *wasmInstance) explain(err error, c *Call) error {
	var fault *udf.Fault
	var e *errs.Error
	if !errors.As(err, &e) || !errors.As(err, &fault) || fault.Row < 0 || fault.Row >= c.N || len(c.Args) == 0 {
		return err
	}
	with := *e
	with.Msg += ", called with ("
	for i, v := range c.Args {
		if i > 0 {
			with.Msg += ", "
		}
		row := fault.Row
		if w.constant[i] {
			row = 0
		}
		with.Msg += shown(w.binding.Args[i].Type, v, row)
	}
	with.Msg += ")"
	return &with
}

// shown is a value for an error message.
func shown(t sqltype.Type, v *vector.Vector, row int) string {
	const most = 60
	text := []rune(string(sqltype.AppendText(nil, t, v, row)))
	if len(text) > most {
		text = append(text[:most], '…')
	}
	if t.IsString() && !v.IsNull(row) {
		return "'" + string(text) + "'"
	}
	return string(text)
}
