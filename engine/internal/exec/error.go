package exec

import (
	"errors"
	"fmt"

	"github.com/weirdb/weir/engine/errs"
)

// OpError says in which operator an error happened.
type OpError struct {
	Op    string
	Shard int
	Err   error
}

func (e *OpError) Error() string { return e.Op + ": " + e.Err.Error() }

// Unwrap returns the error as the operator returned it.
func (e *OpError) Unwrap() error { return e.Err }

// opError names the operator unless err passed through one already.
func opError(op string, shard int, err error) error {
	var oe *OpError
	if err == nil || errors.As(err, &oe) {
		return err
	}
	return &OpError{Op: op, Shard: shard, Err: err}
}

// panicError is the error for a panic: a bug in the engine.
func panicError(r any, stack []byte) error {
	err, _ := r.(error)
	return &errs.Error{Code: errs.Internal, Msg: fmt.Sprintf("panic: %v\n%s", r, stack), Err: err}
}

// bug is the error for a broken contract inside the engine.
func bug(format string, args ...any) error {
	return errs.New(errs.Internal, errs.Position{}, format, args...)
}
