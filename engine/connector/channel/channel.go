// Package channel is the connector of tables whose rows come from, or go to, the Go
// program that the engine runs in. Input and Output are also a connector.Source and
// a connector.Sink by themselves.
package channel

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Connector is the connector "channel": it finds the inputs, outputs and tables that a
// program has added to it by their names. It is safe for concurrent use.
type Connector struct {
	mu      sync.Mutex
	inputs  map[string]*Input
	outputs map[string]*Output
	tables  map[string]*Table
}

// New returns a connector without inputs and outputs.
func New() *Connector {
	return &Connector{inputs: map[string]*Input{}, outputs: map[string]*Output{}, tables: map[string]*Table{}}
}

// AddInput makes in known to tables. A later one of the same name takes its place.
func (c *Connector) AddInput(name string, in *Input) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs[name] = in
}

// AddOutput makes out known to tables. A later one of the same name takes its place.
func (c *Connector) AddOutput(name string, out *Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outputs[name] = out
}

// Name is "channel".
func (*Connector) Name() string { return "channel" }

// Doc describes the connector.
func (*Connector) Doc() string { return "rows from or to the Go program that runs the engine" }

// Options is the name.
func (*Connector) Options() []connector.Option {
	return []connector.Option{{Name: "channel", Doc: "the name under which the program added the channel; by default the table's"}}
}

func find[T any](c *Connector, t *connector.Table, opt connector.Options, have map[string]T, what string) (T, error) {
	name := t.Name
	if opt.Given("channel") {
		name = opt.Text("channel")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := have[name]; ok {
		return v, nil
	}
	e := errs.New(errs.NotFound, opt.Pos("channel"), "the program has no %s channel %q", what, name)
	if hint := errs.DidYouMean(name, slices.Sorted(maps.Keys(have))); hint != "" {
		e.WithHint("%s", hint)
	}
	var none T
	return none, e
}

// Source is the input of the table's name, which must have the table's columns.
func (c *Connector) Source(t *connector.Table, opt connector.Options) (connector.Source, error) {
	in, err := find(c, t, opt, c.inputs, "input")
	if err != nil {
		return nil, err
	}
	return in, sameColumns(t, in.schema)
}

// Sink is the output of the table's name, which must have the table's columns.
func (c *Connector) Sink(t *connector.Table, opt connector.Options) (connector.Sink, error) {
	out, err := find(c, t, opt, c.outputs, "output")
	if err != nil {
		return nil, err
	}
	return out, sameColumns(t, out.schema)
}

// Infer takes the columns of the input or output.
func (c *Connector) Infer(_ context.Context, t *connector.Table, opt connector.Options) (sqltype.Schema, error) {
	in, err := find(c, t, opt, c.inputs, "input")
	if err == nil {
		return in.schema, nil
	}
	if out, e := find(c, t, opt, c.outputs, "output"); e == nil {
		return out.schema, nil
	}
	return nil, err
}

func sameColumns(t *connector.Table, have sqltype.Schema) error {
	if len(t.Schema) != len(have) {
		return errs.New(errs.Type, t.Pos, "table %q has %d columns, its channel %d", t.Name, len(t.Schema), len(have))
	}
	for i, c := range t.Schema {
		if h := have[i]; h.Name != c.Name || !h.Type.Equal(c.Type) || c.Type.NotNull && !h.Type.NotNull {
			return errs.New(errs.Type, t.Pos, "column %q %v of table %q is %q %v in its channel", c.Name, c.Type, t.Name, h.Name, h.Type)
		}
	}
	return nil
}
