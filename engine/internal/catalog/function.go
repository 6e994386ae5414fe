package catalog

import (
	"maps"
	"slices"
	"strings"

	gofunction "github.com/weirdb/weir/engine/function"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/function"
)

// goFunctions are functions written in Go, by their names in upper case. They belong
// to no database.
type goFunctions struct {
	scalars    map[string]*function.Scalar
	aggregates map[string]*function.Aggregate
}

// Register makes a function callable in all sessions of the catalog. It goes before
// a built-in function of its name.
func (c *Catalog) Register(f gofunction.Function) error {
	if err := f.Validate(); err != nil {
		return errs.New(errs.Invalid, errs.Position{}, "%w", err)
	}
	name := strings.ToUpper(f.Signature().Name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.functions.scalars[name] != nil || c.functions.aggregates[name] != nil {
		return errs.New(errs.Exists, errs.Position{}, "a function %s is registered already", f.Signature().Name)
	}
	switch f := f.(type) {
	case *gofunction.ScalarFunction:
		c.functions.scalars[name] = function.NewGoScalar(f)
	case *gofunction.AggregateFunction:
		c.functions.aggregates[name] = function.NewGoAggregate(f)
	default:
		return errs.New(errs.Invalid, errs.Position{}, "a function is a *function.ScalarFunction or *function.AggregateFunction, not a %T", f)
	}
	return nil
}

// Scalar finds a scalar function that is called by name, in any case: one that was
// registered, or a built-in one unless an aggregate hides it.
func (s *Session) Scalar(name string) (*function.Scalar, bool) {
	name = strings.ToUpper(name)
	c := s.catalog
	c.mu.RLock()
	defer c.mu.RUnlock()
	if f, ok := c.functions.scalars[name]; ok {
		return f, true
	}
	if c.functions.aggregates[name] != nil {
		return nil, false
	}
	return function.LookupScalar(name)
}

// Aggregate finds an aggregate function, as Scalar does.
func (s *Session) Aggregate(name string) (*function.Aggregate, bool) {
	name = strings.ToUpper(name)
	c := s.catalog
	c.mu.RLock()
	defer c.mu.RUnlock()
	if f, ok := c.functions.aggregates[name]; ok {
		return f, true
	}
	if c.functions.scalars[name] != nil {
		return nil, false
	}
	return function.LookupAggregate(name)
}

// Functions lists the functions that are called by name.
func (s *Session) Functions() []string {
	c := s.catalog
	c.mu.RLock()
	defer c.mu.RUnlock()
	names := function.Names()
	names = slices.AppendSeq(names, maps.Keys(c.functions.scalars))
	names = slices.AppendSeq(names, maps.Keys(c.functions.aggregates))
	slices.Sort(names)
	return slices.Compact(names)
}
