package connector

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
)

// Registry is the set of connectors that an engine knows. It is immutable.
type Registry struct {
	names  []string
	byName map[string]Connector
}

// NewRegistry returns a registry of the given connectors. Of two with the same
// name the later one is used.
func NewRegistry(connectors ...Connector) *Registry {
	r := &Registry{byName: make(map[string]Connector, len(connectors))}
	for _, c := range connectors {
		if _, ok := r.byName[c.Name()]; !ok {
			r.names = append(r.names, c.Name())
		}
		r.byName[c.Name()] = c
	}
	slices.Sort(r.names)
	return r
}

// With returns a registry that has the given connectors as well.
func (r *Registry) With(connectors ...Connector) *Registry {
	return NewRegistry(append(r.Connectors(), connectors...)...)
}

// Names lists the connectors' names in order.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Connectors lists the connectors in order of their names.
func (r *Registry) Connectors() []Connector {
	out := make([]Connector, len(r.names))
	for i, n := range r.names {
		out[i] = r.byName[n]
	}
	return out
}

// Lookup returns the connector of a name.
func (r *Registry) Lookup(name string) (Connector, bool) {
	c, ok := r.byName[name]
	return c, ok
}

// Bind finds the connector of a table and checks the table's options. The common
// ones are those that the engine itself understands on every table.
func (r *Registry) Bind(t *Table, common ...Option) (Connector, Options, error) {
	name, ok := t.Options["connector"]
	if !ok {
		return nil, Options{}, errs.New(errs.Option, t.Pos, "table %q has no option 'connector'", t.Name).
			WithHint("choose one of %s", strings.Join(r.names, ", "))
	}
	c, ok := r.byName[name]
	if !ok {
		e := errs.New(errs.Option, t.optionPos("connector"), "there is no connector %q", name)
		if hint := errs.DidYouMean(name, r.names); hint != "" {
			return nil, Options{}, e.WithHint("%s", hint)
		}
		return nil, Options{}, e.WithHint("choose one of %s", strings.Join(r.names, ", "))
	}
	opt, err := ParseOptions(t, slices.Concat([]Option{{Name: "connector", Doc: "what the table stands for"}}, common, c.Options()))
	if err != nil {
		return nil, Options{}, err
	}
	return c, opt, nil
}

func (t *Table) optionPos(key string) errs.Position {
	if t.OptionPos == nil {
		return t.Pos
	}
	return t.OptionPos(key)
}
