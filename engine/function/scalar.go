package function

import (
	"errors"
	"fmt"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// ScalarFunction is a function of the values of one row. The fields up to
// CalledOnNull are those of Signature.
type ScalarFunction struct {
	Name         string
	Doc          string
	Args         []sqltype.Type
	Variadic     bool
	Returns      sqltype.Type
	CalledOnNull bool

	// NonDeterministic says that the same arguments may give another result each
	// time. Such a call is never moved, folded or computed twice, and it is refused
	// where a row has to be recomputed to be taken back.
	NonDeterministic bool

	// Eval computes a batch: a new vector of c.N rows, of the kind of Returns, which
	// becomes the engine's. Without CalledOnNull no argument is NULL in any row. It
	// is called from several goroutines at once. EachRow makes one from a function of
	// a row.
	Eval func(c *Call) (*vector.Vector, error)
}

// Signature implements Function.
func (f *ScalarFunction) Signature() Signature {
	return Signature{Name: f.Name, Doc: f.Doc, Args: f.Args, Variadic: f.Variadic, Returns: f.Returns, CalledOnNull: f.CalledOnNull}
}

// Validate implements Function.
func (f *ScalarFunction) Validate() error {
	err := f.Signature().validate()
	if f.Eval == nil {
		err = errors.Join(err, fmt.Errorf("function %s: Eval is nil", f.Name))
	}
	return err
}

// EachRow is an Eval that calls f for every row. The result is nil for NULL, or a
// value in the form that Row.Value has; an integer may be of any of Go's types.
func EachRow(f func(row Row) (any, error)) func(*Call) (*vector.Vector, error) {
	return func(c *Call) (*vector.Vector, error) {
		out := vector.NewColumnBuilder(c.Pool, c.Returns.Kind())
		done := false
		defer func() {
			if !done { // also when f panics
				out.Finish().Release()
			}
		}()
		for i := range c.N {
			v, err := f(c.Row(i))
			if err != nil {
				return nil, err
			}
			if err := AppendValue(out, c.Returns, v); err != nil {
				return nil, err
			}
		}
		done = true
		return out.Finish(), nil
	}
}
