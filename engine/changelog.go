package engine

import (
	"context"
	"io"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
)

// Changelog iterates over the changes of a query's result, in batches. The rows up
// to any mark, folded, are the result on the input so far.
//
// A Changelog that is not read holds its query back. It is used by one goroutine.
type Changelog struct {
	from  changes
	query *Query
	ended bool
}

// changes is where a Changelog's batches come from.
type changes interface {
	Next(ctx context.Context) (*vector.Batch, error)
	Close()
}

// Next waits for the next batch, which is the caller's: Release it. It returns
// io.EOF after the last one of a query that ended well, else the error that ended
// the query.
func (c *Changelog) Next(ctx context.Context) (*vector.Batch, error) {
	if c.ended {
		return nil, io.EOF
	}
	b, err := c.from.Next(ctx)
	if err == nil {
		return b, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	// The query says better than the stream why there is no more.
	if failed := c.query.Wait(ctx); failed != nil {
		return nil, failed
	}
	if c.query.durable && errs.CodeOf(err) == errs.Canceled {
		err = io.EOF // it was stopped, to go on another time
	}
	c.ended = err == io.EOF
	return nil, err
}

// Close says that no more is wanted. The query is canceled unless it has ended.
func (c *Changelog) Close() {
	c.query.Cancel()
	c.from.Close()
}

// listing is the rows of a statement that runs no query.
type listing struct{ rest []*vector.Batch }

// Next returns the next batch.
func (l *listing) Next(context.Context) (*vector.Batch, error) {
	if len(l.rest) == 0 {
		return nil, io.EOF
	}
	b := l.rest[0]
	l.rest = l.rest[1:]
	return b, nil
}

// Close drops what was not read.
func (l *listing) Close() {
	for _, b := range l.rest {
		b.Release()
	}
	l.rest = nil
}
