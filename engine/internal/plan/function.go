package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf"
)

// CreateFunction executes CREATE FUNCTION: it loads the module, holds the signature
// against its manifest, and puts the functions into the session's catalog.
func CreateFunction(ctx context.Context, stmt *parse.CreateFunction, s *catalog.Session) error {
	f, err := DefineFunction(ctx, stmt, s)
	if err != nil {
		return err
	}
	on := onExisting(stmt.IfNotExists, stmt.OrReplace)
	return s.CreateFunction(f, stmt.Name, on, !stmt.HasParams)
}

// LoadModule loads the module that a CREATE FUNCTION names, if it can, so that the statement
// finds it loaded: to compile takes long, and no session may be locked meanwhile. What is
// wrong with the statement is for CreateFunction to say. The caller closes the module after
// that.
func LoadModule(ctx context.Context, stmt *parse.CreateFunction, s *catalog.Session) *udf.Module {
	d := &functionDefinition{b: &binder{ctx: ctx, session: s}, stmt: stmt}
	if d.file() != nil || d.limits() != nil {
		return nil
	}
	m, err := d.load(ctx, s.Catalog().Modules())
	if err != nil {
		return nil
	}
	return m
}

// RestoreFunction executes a CREATE FUNCTION that was executed before. The file may be
// gone or another one since: the function is there all the same, and says so when it is
// called.
func RestoreFunction(ctx context.Context, stmt *parse.CreateFunction, s *catalog.Session) error {
	f, err := DefineFunction(ctx, stmt, s)
	if err != nil {
		if f, err = brokenFunction(stmt, s, err); err != nil {
			return err
		}
	}
	return s.CreateFunction(f, stmt.Name, catalog.Replace, false)
}

// functionDefinition is a CREATE FUNCTION on its way to a catalog.Function.
type functionDefinition struct {
	b       *binder
	stmt    *parse.CreateFunction
	path    string
	options functionOptions
	args    []sqltype.Column // of the written signature
	returns *sqltype.Type
}

// DefineFunction resolves the declaration of a function without creating it.
func DefineFunction(ctx context.Context, stmt *parse.CreateFunction, s *catalog.Session) (*catalog.Function, error) {
	d := &functionDefinition{b: &binder{ctx: ctx, session: s}, stmt: stmt}
	for _, step := range []func() error{d.file, d.signature, d.limits} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	m, err := d.load(ctx, s.Catalog().Modules())
	if err != nil {
		return nil, err
	}
	chosen, err := d.choose(m)
	if err != nil {
		return nil, err
	}
	var overloads []*catalog.Overload
	for _, f := range chosen {
		o, err := overload(d.b, d.name(), f, d.options.nullOnError)
		if err != nil {
			return nil, errs.New(errs.CodeOf(err), stmt.SymbolAt, "%w", err)
		}
		if len(d.args) > 0 {
			for i := range o.Args {
				o.Args[i].Name = d.args[i].Name
			}
		}
		o.Wasm = &catalog.WasmFunction{Path: d.path, Export: f.Export, SHA256: catalog.HexSHA256(m.SHA256()), Options: d.options.kept}
		overloads = append(overloads, o)
	}
	return d.made(overloads)
}

// made is the function with the overloads.
func (d *functionDefinition) made(overloads []*catalog.Overload) (*catalog.Function, error) {
	id, err := d.b.session.Qualify(d.stmt.Name)
	if err != nil {
		return nil, err
	}
	if d.stmt.System {
		if len(d.stmt.Name) > 1 {
			return nil, errs.New(errs.Invalid, d.stmt.Name.Pos(), "a SYSTEM function belongs to no database").WithHint("write %s", d.stmt.Name.Last())
		}
		id = catalog.Identifier{Object: id.Object}
	}
	return &catalog.Function{ID: id, Temporary: d.stmt.Temporary, Overloads: overloads}, nil
}

func (d *functionDefinition) name() string { return d.stmt.Name.Last().Value }

// file finds the file that USING names.
func (d *functionDefinition) file() error {
	stmt := d.stmt
	const hint = "write LANGUAGE WASM USING FILE 'module.wasm'"
	switch {
	case stmt.Language != "" && stmt.Language != "WASM":
		return errs.New(errs.Unsupported, stmt.Name.Pos(), "functions in %s are not executed", stmt.Language).
			WithHint("compile it to WebAssembly and %s; functions in Go are registered by the program", hint)
	case len(stmt.Using) == 0:
		return errs.New(errs.Invalid, stmt.Name.Pos(), "the function %s has no file", d.name()).WithHint(hint)
	case len(stmt.Using) > 1:
		return errs.New(errs.Invalid, stmt.Using[1].At, "a function has one module").WithHint("link everything into one file")
	case stmt.Using[0].Kind != "FILE":
		return errs.New(errs.Unsupported, stmt.Using[0].At, "USING %s is not executed", stmt.Using[0].Kind).WithHint(hint)
	}
	d.path = stmt.Using[0].Path
	if rest, ok := strings.CutPrefix(d.path, "file://"); ok {
		d.path = rest
	} else if scheme, _, ok := strings.Cut(d.path, "://"); ok {
		return errs.New(errs.Invalid, stmt.Using[0].At, "there is no file system %q", scheme).WithHint("paths are local: 'folder/file' or 'file:///folder/file'")
	}
	return nil
}

// signature resolves the types of a written signature.
func (d *functionDefinition) signature() error {
	for _, p := range d.stmt.Params {
		t, err := typeOf(p.Type)
		if err != nil {
			return err
		}
		d.args = append(d.args, sqltype.Column{Name: p.Name.Value, Type: t})
	}
	if d.stmt.Returns != nil {
		t, err := typeOf(d.stmt.Returns)
		if err != nil {
			return err
		}
		d.returns = &t
	}
	return nil
}

// load reads and compiles the module, which must be the one of the hash, if one is
// given.
func (d *functionDefinition) load(ctx context.Context, from *catalog.Modules) (*udf.Module, error) {
	at := d.stmt.Using[0].At
	wasm, err := from.Read(d.path, d.options.limits)
	if err != nil {
		return nil, placedAt(err, at)
	}
	if err := d.options.pinned(wasm, d.path, at); err != nil {
		return nil, err
	}
	m, err := from.Load(ctx, d.path, wasm, d.options.limits)
	if err != nil {
		return nil, placedAt(err, at)
	}
	return m, nil
}

// placedAt is err with a position, unless it has one.
func placedAt(err error, at errs.Position) error {
	e, ok := err.(*errs.Error)
	if !ok {
		return errs.New(errs.CodeOf(err), at, "%w", err)
	}
	if e.Pos.IsValid() {
		return e
	}
	c := *e
	c.Pos = at
	return &c
}

// choose finds the functions of the module that the symbol names: all of that name, or
// the one of that export, as far as they have the written signature.
func (d *functionDefinition) choose(m *udf.Module) ([]*udf.Function, error) {
	var named []*udf.Function
	var symbols, signatures []string
	for _, f := range m.Functions() {
		symbols = append(symbols, f.Name)
		if f.Name == d.stmt.Symbol {
			named = append(named, f)
		}
	}
	if f, ok := m.Function(d.stmt.Symbol); ok && len(named) == 0 {
		named = []*udf.Function{f}
	}
	if len(named) == 0 {
		e := errs.New(errs.NotFound, d.stmt.SymbolAt, "%s has no function %s", d.path, d.stmt.Symbol)
		if hint := errs.DidYouMean(d.stmt.Symbol, symbols); hint != "" {
			return nil, e.WithHint("%s", hint)
		}
		slices.Sort(symbols)
		symbols = slices.Compact(symbols)
		const most = 12
		if len(symbols) > most {
			symbols = append(symbols[:most], "..")
		}
		return nil, e.WithHint("it has %s", strings.Join(symbols, ", "))
	}
	var chosen []*udf.Function
	for _, f := range named {
		if f.Kind != abi.Scalar {
			return nil, unsupported(d.stmt.SymbolAt, "%s is a function of kind %s, which is", f.Name, f.Kind).WithHint("scalar functions are")
		}
		signatures = append(signatures, signatureOf(f))
		if d.fits(f) {
			chosen = append(chosen, f)
		}
	}
	if len(chosen) == 0 {
		return nil, errs.New(errs.Type, d.stmt.Name.Pos(), "%s is declared %s, and %s has %s",
			d.name(), d.written(), d.path, strings.Join(signatures, " and ")).
			WithHint("write one of those, or no signature")
	}
	return chosen, nil
}

// fits reports whether f has the written signature. A result that is NOT NULL may be
// declared without.
func (d *functionDefinition) fits(f *udf.Function) bool {
	if r := d.returns; r != nil && (!r.Optional().Equal(f.Returns.Optional()) || r.NotNull && (!f.Returns.NotNull || d.options.nullOnError)) {
		return false
	}
	return !d.stmt.HasParams || slices.EqualFunc(d.args, f.Args, func(a sqltype.Column, b udf.Argument) bool {
		return a.Type.Optional().Equal(b.Type.Optional())
	})
}

// written is the signature of the statement.
func (d *functionDefinition) written() string {
	text := ""
	if d.stmt.HasParams {
		types := make([]string, len(d.args))
		for i, a := range d.args {
			types[i] = a.Type.Optional().String()
		}
		text = "(" + strings.Join(types, ", ") + ")"
	}
	if d.returns != nil {
		text = strings.TrimSpace(text + " RETURNS " + d.returns.String())
	}
	return text
}

// signatureOf is how a function of a module would be declared.
func signatureOf(f *udf.Function) string {
	types := make([]string, len(f.Args))
	for i, a := range f.Args {
		types[i] = a.Type.Optional().String()
	}
	return f.Name + "(" + strings.Join(types, ", ") + ") RETURNS " + f.Returns.String()
}

// overload is a function of a module by the given name.
func overload(b *binder, name string, f *udf.Function, nullOnError bool) (*catalog.Overload, error) {
	o := &catalog.Overload{Returns: f.Returns}
	o.Returns.NotNull = o.Returns.NotNull && !nullOnError
	var defaults []function.Arg
	for _, a := range f.Args {
		o.Args = append(o.Args, sqltype.Column{Name: a.Name, Type: a.Type.Optional()})
		switch {
		case a.Default != "":
			v, err := defaultOf(b, a)
			if err != nil {
				return nil, err
			}
			defaults = append(defaults, v)
		case len(defaults) > 0:
			return nil, errs.New(errs.Invalid, errs.Position{}, "argument %s of %s has no default, but one before it has", a.Name, f.Name)
		}
	}
	o.Scalar = function.NewWasmScalar(name, f, function.WasmOptions{Defaults: defaults, NullOnError: nullOnError})
	return o, nil
}

// defaultOf is the value of an argument that is left out.
func defaultOf(b *binder, a udf.Argument) (function.Arg, error) {
	wrong := func(err error) error {
		return errs.New(errs.Invalid, errs.Position{}, "the default %s of argument %s is no %s: %w", a.Default, a.Name, a.Type.Optional(), err)
	}
	e, err := parse.ParseExpr(a.Default)
	if err != nil {
		return function.Arg{}, wrong(err)
	}
	v, err := b.constant(e, "a default")
	if err != nil {
		return function.Arg{}, wrong(err)
	}
	if v, err = expr.Coerce(v, a.Type); err != nil {
		return function.Arg{}, wrong(err)
	}
	lit, ok := expr.Fold(v).(*expr.Literal)
	if !ok {
		return function.Arg{}, wrong(errs.New(errs.Invalid, errs.Position{}, "it is no constant"))
	}
	t := a.Type
	t.NotNull = lit.Value != nil
	return function.Arg{Type: t, Const: true, Value: lit.Value}, nil
}

// brokenFunction is the function that a statement declares, which cannot be called
// because of err.
func brokenFunction(stmt *parse.CreateFunction, s *catalog.Session, err error) (*catalog.Function, error) {
	d := &functionDefinition{b: &binder{session: s}, stmt: stmt}
	if sig := d.signature(); sig != nil {
		return nil, sig
	}
	if file := d.file(); file != nil || d.returns == nil {
		return nil, err
	}
	_ = d.limits() // as far as they make sense
	types := make([]sqltype.Type, len(d.args))
	for i, a := range d.args {
		types[i] = a.Type
	}
	cannot := errs.New(errs.CodeOf(err), errs.Position{}, "the function %s cannot be called: %s", d.name(), withoutPosition(err)).
		WithHint("CREATE OR REPLACE FUNCTION takes what the file has now")
	o := &catalog.Overload{
		Scalar: function.NewBrokenScalar(d.name(), types, *d.returns, cannot), Args: d.args, Returns: *d.returns,
		Wasm: &catalog.WasmFunction{Path: d.path, Export: stmt.Symbol, SHA256: d.options.sha256, Options: d.options.kept, Err: cannot},
	}
	return d.made([]*catalog.Overload{o})
}

// withoutPosition is the message of err: positions are those of a statement that
// nobody sees.
func withoutPosition(err error) string {
	if e, ok := err.(*errs.Error); ok {
		return e.Msg
	}
	return err.Error()
}

// RegisterModule makes all scalar functions of a module callable in every session of
// the catalog.
func RegisterModule(m *udf.Module, s *catalog.Session) error {
	var made []*catalog.Function
	for _, f := range m.Functions() {
		if f.Kind != abi.Scalar {
			continue
		}
		o, err := overload(&binder{session: s}, f.Name, f, false)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(made, func(g *catalog.Function) bool { return strings.EqualFold(g.ID.Object, f.Name) })
		if at < 0 {
			at = len(made)
			made = append(made, &catalog.Function{ID: catalog.Identifier{Object: f.Name}})
		}
		made[at].Overloads = append(made[at].Overloads, o)
	}
	if len(made) == 0 {
		return errs.New(errs.Unsupported, errs.Position{}, "%s has no scalar function", m.Name())
	}
	return s.Catalog().RegisterAs(made...)
}
