package udf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
)

// Argument is an argument of a function.
type Argument struct {
	Name    string
	Type    sqltype.Type
	Default string // SQL text; "" when the argument must be given
}

// Function is a function of a module, as its manifest declares it. Read only; it may be
// used by several goroutines.
type Function struct {
	Name          string // in SQL; overloads share it
	Export        string // in the module
	Kind          abi.Kind
	Args          []Argument
	Variadic      bool         // the last argument may be repeated
	Returns       sqltype.Type // a ROW of the result columns for the kinds that make tables
	Strict        bool         // a NULL argument gives NULL, or no row
	Deterministic bool
	Constant      bool // constant arguments may be passed as one row

	// Of aggregates and table aggregates.
	StateSize    int // bytes of a state; 0: states are of variable size
	StateVersion int
	Retract      bool // update can take rows away
	Merge        bool // states can be merged
	EmitRetract  bool // emit writes changes, not the whole result

	// Of temporal functions, whose arguments are: keys, as-of time, floor time, the
	// columns of the floor version, ceil time, the columns of the ceil version, then Args.
	Keys       []sqltype.Type
	Time       sqltype.Type
	VersionRow sqltype.Type
	CeilFinal  bool // a row waits until its ceil version is final

	module *Module
	names  [abi.PartUpgrade + 1]string // of the exports, "" where there is none
	count  counts

	template struct { // what Init found
		sync.Mutex
		made  bool
		state []byte
	}
}

// functionFrom parses the types of a function of the manifest.
func functionFrom(m *Module, d *abi.Function) (*Function, error) {
	f := &Function{
		Name: d.Name, Export: d.Export, Kind: d.Kind, Variadic: d.Variadic, Strict: !d.Called, Deterministic: d.Deterministic,
		Constant: d.Accept(abi.AcceptConstant), StateSize: d.State.Size, StateVersion: d.State.Version, Retract: d.Retract,
		Merge: d.Merge, EmitRetract: d.Emit == abi.EmitRetract, CeilFinal: d.Ceil == abi.CeilFinal, module: m,
	}
	var problems []error
	parse := func(what, text string) sqltype.Type {
		t, err := sqltype.ParseType(text)
		if err == nil {
			err = crosses(t)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("function %s, %s: %w", d.Export, what, err))
		}
		return t
	}
	for _, a := range d.Args {
		f.Args = append(f.Args, Argument{Name: a.Name, Type: parse("argument "+a.Name, a.Type), Default: a.Default})
	}
	f.Returns = parse("result", d.Returns)
	if !d.Nullable {
		f.Returns.NotNull = true
	}
	if d.Kind.HasRows() && f.Returns.ID != sqltype.Row && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("function %s: a function of kind %v returns a ROW", d.Export, d.Kind))
	}
	if d.Kind == abi.Temporal {
		for _, k := range d.Keys {
			f.Keys = append(f.Keys, parse("key", k))
		}
		f.Time = parse("time", d.Time)
		f.VersionRow = parse("version", d.VersionRow)
		if len(problems) == 0 && (!f.Time.IsTimestamp() || f.VersionRow.ID != sqltype.Row) {
			problems = append(problems, fmt.Errorf("function %s: a temporal function has a TIMESTAMP and a ROW of versions", d.Export))
		}
	}
	if len(problems) == 0 {
		if n := len(f.Inputs(len(f.Args))) + len(f.outputs()); n > abi.MaxColumns {
			problems = append(problems, fmt.Errorf("function %s has %d columns, at most %d can go in and out", d.Export, n, abi.MaxColumns))
		}
	}
	return f, errors.Join(problems...)
}

// Module is the module that the function belongs to.
func (f *Function) Module() *Module { return f.module }

// Inputs are the types of the columns that a call takes when n values are given for Args:
// len(Args), or more when the function is variadic.
func (f *Function) Inputs(n int) []sqltype.Type {
	var out []sqltype.Type
	if f.Kind == abi.Temporal {
		version := sqltype.Schema(f.VersionRow.Fields).Types()
		for i := range version {
			version[i].NotNull = false
		}
		out = append(out, f.Keys...)
		out = append(out, f.Time)
		for range 2 { // floor, ceil
			out = append(out, f.Time.Optional())
			out = append(out, version...)
		}
	}
	for i := range n {
		out = append(out, f.Args[min(i, len(f.Args)-1)].Type)
	}
	return out
}

// outputs are the types of the result columns.
func (f *Function) outputs() []sqltype.Type {
	if f.Kind.HasRows() {
		return sqltype.Schema(f.Returns.Fields).Types()
	}
	return []sqltype.Type{f.Returns}
}

// strictInputs are the columns whose NULL matters to a strict function: all but the
// versions that a temporal function may not have.
func (f *Function) strictInputs(k int) bool {
	if f.Kind != abi.Temporal {
		return true
	}
	versions := 2 * (1 + len(f.VersionRow.Fields))
	return k <= len(f.Keys) || k > len(f.Keys)+versions
}

// Open returns an instance to call f with, from the pool of the caller's query if that
// has an idle one. A nil pool keeps none. The instance belongs to one goroutine; Close it.
func (f *Function) Open(ctx context.Context, p *Pool) (*Instance, error) {
	if i := p.take(f.module); i != nil {
		i.fn, i.pool = f, p
		clear(i.parts[:])
		return i, nil
	}
	f.module.host.retain(f.module)
	i, err := f.instantiate(ctx)
	if err != nil {
		f.module.host.release(f.module)
		return nil, err
	}
	i.pool = p
	return i, nil
}

// layout is that of a part of the function of i for so many arguments.
func (i *Instance) layout(part abi.Part, args int) *layout {
	key := layoutKey{i.fn, part, args}
	if key == i.lastKey {
		return i.last
	}
	l := i.layouts[key]
	if l == nil {
		f := i.fn
		var in []sqltype.Type
		if part == abi.PartBody || part == abi.PartUpdate {
			fixed := len(f.Inputs(0))
			if args-fixed < len(f.Args) || args-fixed > len(f.Args) && !f.Variadic {
				panic(fmt.Sprintf("udf: %d columns given to %s, which takes %d", args, f.Export, fixed+len(f.Args)))
			}
			in = f.Inputs(args - fixed)
		}
		var out []sqltype.Type
		if part == abi.PartBody || part == abi.PartFinish || part == abi.PartEmit {
			out = slices.Clone(f.outputs())
		}
		l = newLayout(in, out)
		i.layouts[key] = l
	}
	i.lastKey, i.last = key, l
	return l
}
