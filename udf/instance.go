package udf

// Instance is a running copy of a module, opened for one function. One goroutine at a
// time may use it.
type Instance struct{}

// Close gives the instance back to its pool, or frees it when there was an error.
func (i *Instance) Close() { panic("soon") }

// Dead reports whether an error ended the instance. Calls fail then: open another one.
func (i *Instance) Dead() bool { panic("soon") }

// Function is what the instance was opened for.
func (i *Instance) Function() *Function { panic("soon") }
