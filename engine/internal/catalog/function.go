package catalog

import (
	"slices"
	"strings"

	gofunction "github.com/weirdb/weir/engine/function"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// Function is a function that a user gave: everything that its name stands for in one
// place. Names of functions are the same in any case.
type Function struct {
	// ID is the name as it was given. Those that were registered, and temporary SYSTEM
	// ones, belong to no catalog and database.
	ID        Identifier
	Temporary bool
	// Overloads are scalar functions that differ in the types of their arguments. There
	// are none when it is an Aggregate or Temporal.
	Overloads []*Overload
	Aggregate *function.Aggregate
	Temporal  *TemporalFunction

	scalar *function.Scalar // for the overloads
}

// Overload is one scalar function of a name.
type Overload struct {
	Scalar  *function.Scalar
	Args    []sqltype.Column
	Returns sqltype.Type
	Wasm    *WasmFunction // nil: registered by the program
}

// WasmFunction is where an overload comes from that CREATE FUNCTION made.
type WasmFunction struct {
	Path, Export string
	SHA256       string         // of the file as it was then
	Options      []parse.Option // of WITH, without the hash
	Err          error          // why it cannot be called, or nil
}

// Identifier is the function's full name.
func (f *Function) Identifier() Identifier { return f.ID }

// IsTemporary reports whether the function belongs to one session.
func (f *Function) IsTemporary() bool { return f.Temporary }

// What is "function".
func (f *Function) What() string { return "function" }

// IsSystem reports whether the function belongs to no database.
func (f *Function) IsSystem() bool { return f.ID.Database == "" }

// with is f with these overloads.
func (f *Function) with(overloads []*Overload) *Function {
	out := *f
	out.Overloads = overloads
	if len(overloads) == 0 {
		return &out
	}
	scalars := make([]*function.Scalar, len(overloads))
	for i, o := range overloads {
		scalars[i] = o.Scalar
	}
	out.scalar = function.Overloaded(f.ID.Object, scalars)
	return &out
}

// find is the place of the overload with the arguments of o, or -1.
func (f *Function) find(o *Overload) int {
	return slices.IndexFunc(f.Overloads, func(p *Overload) bool {
		return slices.EqualFunc(p.Args, o.Args, func(a, b sqltype.Column) bool { return a.Type.Optional().Equal(b.Type.Optional()) })
	})
}

// key is where a function is found.
func (id Identifier) key() Identifier {
	id.Object = strings.ToUpper(id.Object)
	return id
}

// Register makes a function that is written in Go callable in all sessions of the
// catalog. It goes before a built-in function of its name. Scalar functions of one name
// are overloads.
func (c *Catalog) Register(f gofunction.Function) error {
	if err := f.Validate(); err != nil {
		return errs.New(errs.Invalid, errs.Position{}, "%w", err)
	}
	sig := f.Signature()
	made := &Function{ID: Identifier{Object: sig.Name}}
	switch f := f.(type) {
	case *gofunction.ScalarFunction:
		o := &Overload{Scalar: function.NewGoScalar(f), Returns: sig.Returns}
		for _, t := range sig.Args {
			o.Args = append(o.Args, sqltype.Column{Type: t})
		}
		made.Overloads = []*Overload{o}
	case *gofunction.AggregateFunction:
		made.Aggregate = function.NewGoAggregate(f)
	default:
		return errs.New(errs.Invalid, errs.Position{}, "a function is a *function.ScalarFunction or *function.AggregateFunction, not a %T", f)
	}
	return c.RegisterAs(made)
}

// RegisterAs makes functions callable in all sessions of the catalog, as Register does:
// all of them, or none.
func (c *Catalog) RegisterAs(all ...*Function) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	made := make([]*Function, len(all))
	for i, f := range all {
		old, taken := c.functions[f.ID.key()]
		if !taken {
			made[i] = f.with(f.Overloads)
			continue
		}
		clash := slices.ContainsFunc(f.Overloads, func(o *Overload) bool { return old.find(o) >= 0 })
		if clash || old.Aggregate != nil || f.Aggregate != nil || old.Temporal != nil || f.Temporal != nil {
			return errs.New(errs.Exists, errs.Position{}, "a function %s is registered already", f.ID.Object)
		}
		made[i] = old.with(slices.Concat(old.Overloads, f.Overloads))
	}
	for _, f := range made {
		c.functions[f.ID.key()] = f
	}
	return nil
}

// CreateFunction adds a function, or overloads to one. With Replace they take the place
// of the overloads with the same arguments; whole says that the function has no others
// then. name is where errors point.
func (s *Session) CreateFunction(f *Function, name parse.Name, on OnExisting, whole bool) error {
	if !f.IsSystem() {
		if err := s.catalog.check(f.ID, name); err != nil {
			return err
		}
	}
	if f.Temporary {
		made, err := merge(s.functions[f.ID.key()], f, name, on, whole)
		if err == nil {
			s.functions[f.ID.key()] = made
		}
		return err
	}
	c := s.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.functions[f.ID.key()]
	if on == Fail && old != nil && c.restored[restoredObject(old)] && c.includes(old, f) {
		return nil
	}
	made, err := merge(old, f, name, on, whole)
	if err != nil || made == old {
		return err
	}
	if err := c.recordFunction(made, old != nil); err != nil {
		return err
	}
	c.functions[f.ID.key()] = made
	return nil
}

// includes reports whether old has all overloads of f, made by the same statements.
func (c *Catalog) includes(old, f *Function) bool {
	if old.Temporal != nil || f.Temporal != nil {
		return c.text(old) == c.text(f)
	}
	for _, o := range f.Overloads {
		at := old.find(o)
		if at < 0 || c.text(old.with(old.Overloads[at:at+1])) != c.text(f.with([]*Overload{o})) {
			return false
		}
	}
	return true
}

// merge is what a name stands for when f is created where old is, which may be nil.
func merge(old, f *Function, name parse.Name, on OnExisting, whole bool) (*Function, error) {
	if old == nil || whole && on == Replace {
		return f.with(f.Overloads), nil
	}
	if old.Temporal != nil || f.Temporal != nil {
		if f.Temporal != nil && on == Keep {
			return old, nil
		}
		return nil, errs.New(errs.Exists, name.Last().At, "a function %s exists already", old.ID.Object).
			WithHint("choose another name, or drop it first")
	}
	all, changed := slices.Clone(old.Overloads), false
	for _, o := range f.Overloads {
		at := old.find(o)
		if on != Replace {
			if err := unchanged(old, o, name); err != nil {
				return nil, err
			}
		}
		switch {
		case at < 0:
			all, changed = append(all, o), true
		case on == Replace:
			all[at], changed = o, true
		case on == Fail:
			return nil, errs.New(errs.Exists, name.Last().At, "a function %s%s exists already", old.ID.Object, o.Scalar.Signatures[0]).
				WithHint("choose another name or other arguments, or add IF NOT EXISTS or OR REPLACE")
		}
	}
	if !changed {
		return old, nil
	}
	return old.with(all), nil
}

// unchanged fails when old has a function of the file of o as it was before it changed.
func unchanged(old *Function, o *Overload, name parse.Name) error {
	for _, p := range old.Overloads {
		if p.Wasm != nil && o.Wasm != nil && p.Wasm.Path == o.Wasm.Path && p.Wasm.SHA256 != o.Wasm.SHA256 {
			return errs.New(errs.Exists, name.Last().At, "the function %s was created from %s when its sha256 was %.12s.., and it is %.12s.. now",
				old.ID.Object, o.Wasm.Path, p.Wasm.SHA256, o.Wasm.SHA256).
				WithHint("CREATE OR REPLACE FUNCTION takes the new file")
		}
	}
	return nil
}

// LookupFunction finds a function that a user gave: a temporary one before a permanent,
// one of the database before one that was registered.
func (s *Session) LookupFunction(name parse.Name) (*Function, bool) {
	id, err := s.Qualify(name)
	if err != nil {
		return nil, false
	}
	system := Identifier{Object: id.Object}.key()
	if len(name) == 1 {
		if f, ok := s.functions[system]; ok {
			return f, true
		}
	}
	if f, ok := s.functions[id.key()]; ok {
		return f, true
	}
	if f, ok := s.catalog.function(id); ok || len(name) > 1 {
		return f, ok
	}
	return s.catalog.function(system)
}

func (c *Catalog) function(id Identifier) (*Function, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f, ok := c.functions[id.key()]
	return f, ok
}

// FunctionOf finds the scalar or the aggregate function that a name in a call stands
// for; both are nil when there is none. One that a user gave hides a built-in one.
func (s *Session) FunctionOf(name parse.Name) (*function.Scalar, *function.Aggregate) {
	if f, ok := s.LookupFunction(name); ok {
		return f.scalar, f.Aggregate
	}
	if len(name) > 1 {
		return nil, nil
	}
	if a, ok := function.LookupAggregate(name.Last().Value); ok {
		return nil, a
	}
	f, _ := function.LookupScalar(name.Last().Value)
	return f, nil
}

// Functions lists the functions that can be called by their name alone, without regard
// to case, sorted. Without builtin they are those that users gave.
func (s *Session) Functions(builtin bool) []string {
	var names []string
	if builtin {
		names = function.Names()
	}
	for _, f := range s.UserFunctions(s.current.Catalog, s.current.Database) {
		names = append(names, f.ID.Object)
	}
	byName := func(a, b string) int { return strings.Compare(strings.ToUpper(a), strings.ToUpper(b)) }
	slices.SortStableFunc(names, byName)
	return slices.CompactFunc(names, strings.EqualFold)
}

// UserFunctions lists the functions of a database, and those of none.
func (s *Session) UserFunctions(catalog, database string) []*Function {
	var out []*Function
	add := func(f *Function) {
		if f.IsSystem() || f.ID.Catalog == catalog && f.ID.Database == database {
			out = append(out, f)
		}
	}
	for _, f := range s.functions {
		add(f)
	}
	c := s.catalog
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, f := range c.functions {
		add(f)
	}
	slices.SortFunc(out, func(a, b *Function) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	return out
}

// hasFunctions reports whether a database has functions.
func (s *Session) hasFunctions(catalog, database string) bool {
	return slices.ContainsFunc(s.UserFunctions(catalog, database), func(f *Function) bool { return !f.IsSystem() })
}

// dropFunction executes DROP FUNCTION: all overloads of a name.
func (s *Session) dropFunction(stmt *parse.Drop) error {
	id, err := s.Qualify(stmt.Name)
	if err != nil {
		return err
	}
	if stmt.System {
		id = Identifier{Object: id.Object}
	}
	at := stmt.Name.Last().At
	_, temporary := s.functions[id.key()]
	f, permanent := s.catalog.function(id)
	permanent = permanent && !stmt.Temporary && !stmt.System
	switch {
	case temporary && permanent:
		return errs.New(errs.Ambiguous, at, "%q is a temporary and a permanent function", id.Object).
			WithHint("drop the temporary one first, with DROP TEMPORARY")
	case temporary:
		delete(s.functions, id.key())
		return nil
	case permanent:
		return s.catalog.removeFunction(f)
	case stmt.IfExists:
		return nil
	}
	e := errs.New(errs.NotFound, at, "function %s not found", stmt.Name)
	_, system := s.functions[Identifier{Object: id.Object}.key()]
	_, registered := s.catalog.function(Identifier{Object: id.Object})
	scalar, _ := function.LookupScalar(id.Object)
	aggregate, _ := function.LookupAggregate(id.Object)
	switch {
	case system:
		return e.WithHint("write DROP TEMPORARY SYSTEM FUNCTION %s", stmt.Name.Last())
	case registered:
		return e.WithHint("the one of that name was registered by the program, and stays")
	case scalar != nil || aggregate != nil:
		return e.WithHint("the one of that name is built in, and stays")
	}
	if hint := errs.DidYouMean(id.Object, s.Functions(false)); hint != "" {
		return e.WithHint("%s", hint)
	}
	return e.WithHint("SHOW USER FUNCTIONS lists them")
}
