package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/filesystem"
	jsonformat "github.com/weirdb/weir/engine/format/json"
	"github.com/weirdb/weir/engine/sqltype"
)

// childEnv names the file that says what a process is to do, and makes it one that is
// killed.
const childEnv = "WEIR_CRASH_LIFE"

func TestMain(m *testing.M) {
	file := os.Getenv(childEnv)
	if file == "" {
		os.Exit(m.Run())
	}
	if err := live(context.Background(), file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// life is what one process does.
type life struct {
	State string // the directory
	DDL   string
	Jobs  []lifeJob
	Drain bool // end for good, when standard input ends
}

// lifeJob is one query, with what goes before it.
type lifeJob struct{ Set, SQL string }

// live runs the jobs of a life to their end, unless somebody kills it.
func live(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var l life
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	e, running, err := l.start(ctx)
	if err != nil {
		return err
	}
	fmt.Println("started")
	if l.Drain {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	for _, q := range running {
		if l.Drain {
			err = q.Drain(ctx)
		} else {
			err = q.Wait(ctx)
		}
		if err != nil {
			return err
		}
	}
	return e.Close()
}

func (l life) start(ctx context.Context) (*engine.Engine, []*engine.Query, error) {
	e, err := engine.Open(ctx, engine.Config{StateDir: l.State, Connectors: []connector.Connector{upserts{}}})
	if err != nil {
		return nil, nil, err
	}
	var running []*engine.Query
	execute := func(script string) error {
		return e.ExecuteScript(ctx, script, func(*engine.Query) error { return nil })
	}
	if err := execute(l.DDL); err != nil {
		return nil, nil, err
	}
	for _, j := range l.Jobs {
		if err := execute(j.Set); err != nil {
			return nil, nil, err
		}
		q, err := e.ExecuteSQL(ctx, j.SQL)
		if err != nil {
			return nil, nil, fmt.Errorf("%w\n%s", err, j.SQL)
		}
		running = append(running, q)
	}
	return e, running, nil
}

// upserts are files with changes in which an update does not say what was there before.
type upserts struct{ filesystem.Connector }

func (upserts) Name() string { return "upserts" }

func (upserts) files() filesystem.Connector { return filesystem.New(jsonformat.Format{}) }

func (u upserts) Options() []connector.Option { return u.files().Options() }

func (u upserts) Source(t *connector.Table, opt connector.Options) (connector.Source, error) {
	s, err := u.files().Source(t, opt)
	return upsertSource{s}, err
}

func (u upserts) Sink(t *connector.Table, opt connector.Options) (connector.Sink, error) {
	s, err := u.files().Sink(t, opt)
	return upsertSink{s}, err
}

type upsertSource struct{ connector.Source }

func (upsertSource) Mode() sqltype.ChangelogMode { return sqltype.UpsertMode }

type upsertSink struct{ connector.Sink }

func (upsertSink) Mode() sqltype.ChangelogMode { return sqltype.UpsertMode }

func (s upsertSink) Resume(query string) { s.Sink.(connector.Resumable).Resume(query) }
