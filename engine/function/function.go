// Package function is how functions written in Go come to be called from SQL: fill
// in a ScalarFunction or an AggregateFunction and give it to engine.Config or
// Engine.RegisterFunction.
package function

import (
	"errors"
	"fmt"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// Function is a *ScalarFunction or an *AggregateFunction.
type Function interface {
	// Signature says how the function is called.
	Signature() Signature
	// Validate reports everything that is wrong with the declaration.
	Validate() error
}

// Signature is what all functions have in common.
type Signature struct {
	// Name is how SQL calls the function, in any case. It goes before a built-in
	// function of that name.
	Name string
	// Doc is one line about what the function does.
	Doc string
	// Args are the types of the arguments. A call may have arguments of other types
	// where SQL casts implicitly, such as INT for BIGINT.
	Args []sqltype.Type
	// Variadic says that the last of Args may come any number of times, or not at all.
	Variadic bool
	// Returns is the type of the result. It is nullable unless it says NOT NULL.
	Returns sqltype.Type
	// CalledOnNull says that the function sees NULL arguments. Otherwise a scalar
	// function gives NULL for them, and an aggregate passes such rows over.
	CalledOnNull bool
}

// Type is the type of argument i.
func (s Signature) Type(i int) sqltype.Type { return s.Args[min(i, len(s.Args)-1)] }

// Takes reports whether a call may have n arguments.
func (s Signature) Takes(n int) bool {
	if s.Variadic {
		return n >= len(s.Args)-1
	}
	return n == len(s.Args)
}

// String is the list of arguments: (BIGINT, INT...).
func (s Signature) String() string {
	out := "("
	for i, t := range s.Args {
		if i > 0 {
			out += ", "
		}
		out += t.Optional().String()
		if s.Variadic && i == len(s.Args)-1 {
			out += "..."
		}
	}
	return out + ")"
}

func (s Signature) validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("function %s: "+format, append([]any{s.Name}, args...)...))
		}
	}
	check(isName(s.Name), "the name is not one of letters, digits and _")
	check(!s.Variadic || len(s.Args) > 0, "a variadic function needs the type of the arguments")
	for i, t := range s.Args {
		check(supported(t), "argument %d: %s cannot be passed to Go", i+1, t)
	}
	check(supported(s.Returns), "%s cannot be returned from Go", s.Returns)
	return errors.Join(problems...)
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// supported reports whether values of t have a form in Go: all but nested ones and
// the type of a bare NULL.
func supported(t sqltype.Type) bool {
	return t.ID > sqltype.Null && t.ID < sqltype.Array && t.Kind() != vector.Invalid
}

// Call is one batch of calls.
type Call struct {
	// Pool is where the result comes from.
	Pool *vector.Pool
	// N is the number of rows.
	N int
	// Args are the arguments, N rows each. They are borrowed.
	Args []*vector.Vector
	// Types are the types of the arguments, Returns that of the result.
	Types   []sqltype.Type
	Returns sqltype.Type
}

// Row is row i of the arguments.
func (c *Call) Row(i int) Row { return Row{call: c, at: i} }

// Panic is the cause of the error that a query ends with when a function panics.
type Panic struct {
	Value any    // of the panic
	Stack []byte // where it was
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }
