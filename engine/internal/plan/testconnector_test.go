package plan_test

import (
	"context"
	"strings"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// testConnector makes tables that are planned, but never run. The option 'changes'
// is the changelog mode of both sides.
type testConnector struct{}

func (testConnector) Name() string { return "test" }
func (testConnector) Doc() string  { return "tables that are planned, but never run" }

func (testConnector) Options() []connector.Option {
	return []connector.Option{
		{Name: "changes", Choices: []string{"append", "upsert", "retract"}, Default: "append", Doc: "the row kinds"},
		{Name: "key-deletes", Type: connector.BoolOption, Doc: "a -D may have only the key"},
		{Name: "bounded", Type: connector.BoolOption, Doc: "the rows come to an end"},
		{Name: "infer", Type: connector.BoolOption, Doc: "make up columns"},
		{Name: "writers", Type: connector.IntOption, Doc: "the largest number of writers"},
		{Name: "asked", Type: connector.BoolOption, Doc: "rows can be asked for by key, and where they equal something"},
		{Name: "side", Choices: []string{"source", "sink"}, Doc: "the only side there is"},
	}
}

func mode(opt connector.Options) sqltype.ChangelogMode {
	m := map[string]sqltype.ChangelogMode{
		"append": sqltype.AppendMode, "upsert": sqltype.UpsertMode, "retract": sqltype.RetractMode,
	}[opt.Text("changes")]
	if opt.Bool("key-deletes") {
		m = m.WithDeletesByKey()
	}
	return m
}

func (testConnector) Source(t *connector.Table, opt connector.Options) (connector.Source, error) {
	if opt.Text("side") == "sink" {
		return nil, errs.New(errs.Unsupported, t.Pos, "table %q can only be written", t.Name)
	}
	return testSource{mode: mode(opt), bounded: opt.Bool("bounded")}, nil
}

func (testConnector) Sink(t *connector.Table, opt connector.Options) (connector.Sink, error) {
	if opt.Text("side") == "source" {
		return nil, errs.New(errs.Unsupported, errs.Position{}, "table %q can only be read", t.Name)
	}
	return testSink{mode: mode(opt), writers: int(opt.Int("writers"))}, nil
}

func (testConnector) Infer(_ context.Context, t *connector.Table, opt connector.Options) (sqltype.Schema, error) {
	if !opt.Bool("infer") {
		return nil, errs.New(errs.Unsupported, t.Pos, "table %q needs columns", t.Name)
	}
	return sqltype.Schema{{Name: "id", Type: sqltype.BigIntType}, {Name: "name", Type: sqltype.StringType}}, nil
}

func (testConnector) Lookup(_ *connector.Table, opt connector.Options) (connector.LookupSource, error) {
	if !opt.Bool("asked") {
		return nil, errs.New(errs.Unsupported, errs.Position{}, "not asked")
	}
	return testLookup{}, nil
}

type testLookup struct{ connector.LookupSource }

func (testLookup) Takes(f connector.Filter) bool { return f.Op == connector.Equal }

type testSource struct {
	connector.Source
	mode    sqltype.ChangelogMode
	bounded bool
}

func (s testSource) Mode() sqltype.ChangelogMode { return s.mode }
func (s testSource) Bounded() bool               { return s.bounded }

type testSink struct {
	connector.Sink
	mode    sqltype.ChangelogMode
	writers int
}

func (s testSink) Mode() sqltype.ChangelogMode    { return s.mode }
func (s testSink) MaxWriters() int                { return s.writers }
func (s testSink) Guarantee() connector.Guarantee { return connector.AtLeastOnce }

// oneLine is a message without line breaks.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " | ") }
