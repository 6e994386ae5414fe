package function

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"

	"github.com/weirdb/weir/engine/sqltype"
)

// AggregateFunction is a function of the rows of a group. The fields up to
// CalledOnNull are those of Signature.
type AggregateFunction struct {
	Name         string
	Doc          string
	Args         []sqltype.Type
	Variadic     bool
	Returns      sqltype.Type
	CalledOnNull bool

	// Create returns the accumulator of a group without rows, a pointer. It is called
	// from several goroutines at once.
	Create func() Accumulator
}

// Accumulator is what an AggregateFunction knows of one group. It is used by one
// goroutine at a time.
//
// Accumulators live in the state of the query, which may be on disk: between two
// epochs nothing is left of one but its encoding. That is JSON, so fields are
// exported, unless it is an encoding.BinaryMarshaler and BinaryUnmarshaler. What is
// encoded is decoded into what Create returned.
//
// One that is no Retractor is for inputs that only grow; a query with an updating
// input is refused.
type Accumulator interface {
	// Accumulate adds a row.
	Accumulate(row Row) error
	// Value is the result: nil for NULL, or a value in the form that Row.Value has.
	// It does not change the accumulator.
	Value() (any, error)
}

// Retractor is an Accumulator that can take rows away. Within an epoch a row may be
// taken away before it is added.
type Retractor interface {
	Accumulator
	// Retract takes away a row that was or will be added.
	Retract(row Row) error
}

// Merger is an Accumulator that can take in another one of the same function. It is
// optional: windows that grow together, such as sessions, need it.
type Merger interface {
	Accumulator
	// Merge adds all rows of other, which is not used again.
	Merge(other Accumulator) error
}

// Signature implements Function.
func (f *AggregateFunction) Signature() Signature {
	return Signature{Name: f.Name, Doc: f.Doc, Args: f.Args, Variadic: f.Variadic, Returns: f.Returns, CalledOnNull: f.CalledOnNull}
}

// Retracts reports whether rows can be taken away.
func (f *AggregateFunction) Retracts() bool {
	_, ok := f.Create().(Retractor)
	return ok
}

// Validate implements Function.
func (f *AggregateFunction) Validate() error {
	err := f.Signature().validate()
	if f.Returns.NotNull {
		err = errors.Join(err, fmt.Errorf("function %s: a group may be empty, so an aggregate cannot promise %s", f.Name, f.Returns))
	}
	if f.Create == nil {
		return errors.Join(err, fmt.Errorf("function %s: Create is nil", f.Name))
	}
	a := f.Create()
	_, writes := a.(encoding.BinaryMarshaler)
	_, reads := a.(encoding.BinaryUnmarshaler)
	switch t := reflect.TypeOf(a); {
	case t == nil || t.Kind() != reflect.Pointer:
		err = errors.Join(err, fmt.Errorf("function %s: Create returns a %T, want a pointer", f.Name, a))
	case writes != reads:
		err = errors.Join(err, fmt.Errorf("function %s: %T has one of MarshalBinary and UnmarshalBinary, want both or none", f.Name, a))
	case !writes && t.Elem().Kind() == reflect.Struct:
		for _, field := range reflect.VisibleFields(t.Elem()) {
			if !field.IsExported() && !field.Anonymous {
				err = errors.Join(err, fmt.Errorf("function %s: the field %s of %T would be lost in state: export it, or write MarshalBinary and UnmarshalBinary",
					f.Name, field.Name, a))
			}
		}
	}
	return err
}
