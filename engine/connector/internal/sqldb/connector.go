package sqldb

import (
	"context"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// Connector is the connector of the databases of a dialect. Its zero value is ready.
type Connector[D Dialect] struct{ dialect D }

// Name is that of the dialect.
func (c Connector[D]) Name() string { return c.dialect.Name() }

// Doc describes the connector.
func (c Connector[D]) Doc() string {
	return "a table of a " + c.dialect.Product() + " database, read once or asked by key"
}

// Options are the address, the table, and how it is asked.
func (c Connector[D]) Options() []connector.Option {
	return options(c.dialect.Schemes()[0] + "://host:" + c.dialect.Port() + "/database")
}

// Source is the table as it is.
func (c Connector[D]) Source(t *connector.Table, opt connector.Options) (connector.Source, error) {
	table, err := newTable(c.dialect, t, opt)
	if err != nil {
		return nil, err
	}
	return source{table}, nil
}

// Lookup is the table asked by key.
func (c Connector[D]) Lookup(t *connector.Table, opt connector.Options) (connector.LookupSource, error) {
	table, err := newTable(c.dialect, t, opt)
	if err != nil {
		return nil, err
	}
	return lookupSource{table}, nil
}

// Sink refuses to write.
func (c Connector[D]) Sink(t *connector.Table, _ connector.Options) (connector.Sink, error) {
	return nil, errs.New(errs.Unsupported, t.Pos, "tables of connector %q can only be read", c.Name())
}

// Infer asks the database for the columns of a table.
func (c Connector[D]) Infer(ctx context.Context, t *connector.Table, opt connector.Options) (sqltype.Schema, error) {
	table, err := newTable(c.dialect, t, opt)
	if err != nil {
		return nil, err
	}
	return table.infer(ctx)
}
