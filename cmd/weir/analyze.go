package main

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/weirdb/weir/engine"
)

// analyzeScripts runs the queries of scripts, each until it ends, for the given time or
// until a signal comes, and prints what it did.
func analyzeScripts(ctx context.Context, state string, limit time.Duration, std streams, signals <-chan os.Signal, scripts []script) error {
	eng, err := engine.Open(ctx, engine.Config{UDF: modules("", std.err), StateDir: state})
	if err != nil {
		report(std.err, script{}, err)
		return errFailed
	}
	defer eng.Close()
	for _, sc := range scripts {
		err := eng.ExecuteScript(ctx, sc.text, func(q *engine.Query) error {
			if q.Job() == "" {
				return nil
			}
			return watchQuery(ctx, q, limit, std.out, signals)
		})
		switch {
		case errors.Is(err, syscall.EPIPE):
			return nil
		case err != nil:
			report(std.err, sc, err)
			return errFailed
		}
	}
	return nil
}

// watchQuery drops the rows of a query until one of these happens, shows what it did and
// stops it.
func watchQuery(ctx context.Context, q *engine.Query, limit time.Duration, out io.Writer, signals <-chan os.Signal) error {
	ended := make(chan error, 1)
	go func() {
		for log := q.Changelog(); log != nil; {
			b, err := log.Next(ctx)
			if err != nil {
				break // the query's own error comes from Wait
			}
			b.Release()
		}
		ended <- q.Wait(ctx)
	}()
	var over <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case err := <-ended:
		if err == nil {
			_, err = io.WriteString(out, q.Explain())
		}
		return err
	case <-over:
	case <-signals:
	}
	if _, err := io.WriteString(out, q.Explain()); err != nil {
		return err
	}
	if err := q.Stop(ctx); err != nil {
		return err
	}
	return <-ended
}
