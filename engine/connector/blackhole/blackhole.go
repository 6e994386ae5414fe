// Package blackhole is the connector of tables that take rows and forget them: for
// measuring a query without its output.
package blackhole

import (
	"context"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Connector is the connector "blackhole".
type Connector struct{}

// Name is "blackhole".
func (Connector) Name() string { return "blackhole" }

// Doc describes the connector.
func (Connector) Doc() string { return "takes rows and forgets them" }

// Options is empty.
func (Connector) Options() []connector.Option { return nil }

// Source fails: there is nothing to read.
func (Connector) Source(t *connector.Table, _ connector.Options) (connector.Source, error) {
	return nil, errs.New(errs.Unsupported, t.Pos, "table %q cannot be read: connector blackhole is only written to", t.Name)
}

// Infer fails: columns must be declared.
func (Connector) Infer(_ context.Context, t *connector.Table, _ connector.Options) (sqltype.Schema, error) {
	return nil, errs.New(errs.Unsupported, t.Pos, "table %q needs columns", t.Name)
}

// Sink takes rows of every kind.
func (Connector) Sink(*connector.Table, connector.Options) (connector.Sink, error) {
	return sink{}, nil
}

type sink struct{}

func (sink) Mode() sqltype.ChangelogMode    { return sqltype.RetractMode }
func (sink) Guarantee() connector.Guarantee { return connector.ExactlyOnce }
func (sink) MaxWriters() int                { return 0 }

func (sink) Writer(context.Context, int, int) (connector.Writer, error) { return writer{}, nil }

func (sink) Committer(context.Context) (connector.Committer, error) {
	return connector.NopCommitter{}, nil
}

type writer struct{}

func (writer) Write(*vector.Batch) error      { return nil }
func (writer) EndEpoch() error                { return nil }
func (writer) Prepare(uint64) ([]byte, error) { return nil, nil }
func (writer) Close() error                   { return nil }
