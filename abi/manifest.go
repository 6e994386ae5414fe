//go:build !wasip1

package abi

import "strconv"

// Manifest says what a module offers. It is JSON in the module's one custom
// section SectionName, and is read without running anything of the module.
//
// Types and default values are SQL text, which the host parses.
type Manifest struct {
	MinABI, MaxABI int    // versions of the contract the module understands
	Module         string // its name
	Version        string // its own version, any text
	Functions      []Function
	Limits         Limits
}

// Function is one function of a module. NewFunction has the defaults.
type Function struct {
	Name          string // in SQL; overloads share it
	Export        string // default: Name; no two functions share it
	Kind          Kind
	Args          []Argument
	Variadic      bool // the last argument repeats, at least once
	Returns       string
	Nullable      bool // default true; a NULL from a function that is not is a fault
	Called        bool // sees rows with NULL arguments ("nulls": "called"); else they yield NULL without it
	Deterministic bool
	Accepts       []string // what it can be sent beyond the plain layout: AcceptConstant

	// Aggregates and table aggregates.
	State   State
	Retract bool // takes retractions
	Merge   bool // exports f.merge
	Emit    Emit // table aggregates only

	// Temporal functions.
	Keys       []string // types of the key
	Time       string   // type of the as-of time
	VersionRow string   // ROW type of a version
	Ceil       Ceil
}

// Argument is a parameter of a function. Default is SQL text, if HasDefault.
type Argument struct {
	Name       string
	Type       string
	Default    string
	HasDefault bool
}

// State describes the state of an aggregate: Size bytes, a multiple of
// StateAlign up to MaxStateSize, or 0 for views of variable size. Version changes
// when the meaning of the bytes does.
type State struct {
	Size    int
	Version int
}

// AcceptConstant among Function.Accepts: inputs may be ColumnConstant.
const AcceptConstant = "constant"

// Emit says what f.emit of a table aggregate writes.
type Emit uint8

// The ways to emit.
const (
	EmitFull    Emit = iota // a group's whole result; the host finds out what no longer holds
	EmitRetract             // what no longer holds as RowRetract, then what is new as RowAdd
)

func (e Emit) String() string {
	if e == EmitRetract {
		return "retract"
	}
	return "full"
}

// Ceil says whether a temporal function waits for the version after the as-of time.
type Ceil uint8

// The ways to see the version after.
const (
	CeilNone  Ceil = iota // whatever has arrived
	CeilFinal             // a row waits until the versions' watermark has passed the ceil time
)

func (c Ceil) String() string {
	if c == CeilFinal {
		return "final"
	}
	return "none"
}

// NewFunction returns a function with the defaults of a manifest.
func NewFunction(name string, kind Kind) Function {
	f := Function{Name: name, Export: name, Kind: kind, Nullable: true}
	if kind.HasState() {
		f.State.Version = 1
	}
	return f
}

// Accept reports whether the function accepts what the word stands for.
func (f *Function) Accept(word string) bool {
	for _, a := range f.Accepts {
		if a == word {
			return true
		}
	}
	return false
}

// Export is a part that a module exports for a function, as (i32) -> i32.
type Export struct {
	Name     string
	Part     Part
	Optional bool // the module may leave it out
}

// Exports are the exports a function of this kind has, in the order of Part.
func (f *Function) Exports() []Export {
	part := func(p Part, optional bool) Export { return Export{f.Export + p.Suffix(), p, optional} }
	if !f.Kind.HasState() {
		return []Export{part(PartBody, false)}
	}
	out := []Export{part(PartInit, true), part(PartUpdate, false)}
	if f.Merge {
		out = append(out, part(PartMerge, false))
	}
	if f.Kind == Aggregate {
		out = append(out, part(PartFinish, false))
	} else {
		out = append(out, part(PartEmit, false))
	}
	return append(out, part(PartUpgrade, true))
}

// ManifestError is what is wrong at one place of a manifest. Path names the
// place, for instance functions[2].args[0].type, and is empty for the whole.
type ManifestError struct {
	Path string
	Msg  string
}

func (e *ManifestError) Error() string {
	if e.Path == "" {
		return "manifest: " + e.Msg
	}
	return "manifest: " + e.Path + ": " + e.Msg
}

// VersionError is a manifest whose versions do not include Version.
type VersionError struct {
	Min, Max int
}

func (e *VersionError) Error() string {
	return "manifest: abi: the module speaks versions " + strconv.Itoa(e.Min) + " to " + strconv.Itoa(e.Max) + ", the host version " + strconv.Itoa(Version)
}
