//go:build !wasip1

package abi

import (
	"bytes"
	"encoding/json"
)

// manifestJSON is a manifest as it is written: keys in this order, defaults left out.
type manifestJSON struct {
	ABI       [2]int         `json:"abi"`
	Module    string         `json:"module"`
	Version   string         `json:"version,omitempty"`
	Functions []functionJSON `json:"functions"`
	Limits    *limitsJSON    `json:"limits,omitempty"`
}

type functionJSON struct {
	Name          string         `json:"name"`
	Export        string         `json:"export,omitempty"`
	Kind          string         `json:"kind"`
	Keys          []string       `json:"keys,omitempty"`
	Time          string         `json:"time,omitempty"`
	VersionRow    string         `json:"version_row,omitempty"`
	Args          []argumentJSON `json:"args"`
	Variadic      bool           `json:"variadic,omitempty"`
	Returns       string         `json:"returns"`
	Nullable      *bool          `json:"nullable,omitempty"`
	Nulls         string         `json:"nulls,omitempty"`
	Deterministic bool           `json:"deterministic,omitempty"`
	Accepts       []string       `json:"accepts,omitempty"`
	State         *stateJSON     `json:"state,omitempty"`
	Retract       bool           `json:"retract,omitempty"`
	Merge         bool           `json:"merge,omitempty"`
	Emit          string         `json:"emit,omitempty"`
	Ceil          string         `json:"ceil,omitempty"`
}

type argumentJSON struct {
	Name    string  `json:"name"`
	Type    string  `json:"type"`
	Default *string `json:"default,omitempty"`
}

type stateJSON struct {
	Size    int `json:"size"`
	Version int `json:"version"`
}

type limitsJSON struct {
	Memory     string `json:"memory,omitempty"`
	Fuel       uint64 `json:"fuel,omitempty"`
	FuelPerRow uint64 `json:"fuel-per-row,omitempty"`
	Timeout    string `json:"timeout,omitempty"`
	Stack      string `json:"stack,omitempty"`
	Log        string `json:"log,omitempty"`
	RowsOut    int64  `json:"max-rows-out,omitempty"`
	StateBytes string `json:"state-bytes,omitempty"`
}

// JSON writes a valid manifest, one function a line; ParseManifest reads the same
// manifest back. A manifest that is not valid is returned as an error.
func (m *Manifest) JSON() ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	doc := manifestJSON{ABI: [2]int{m.MinABI, m.MaxABI}, Module: m.Module, Version: m.Version}
	for i := range m.Functions {
		doc.Functions = append(doc.Functions, functionToJSON(&m.Functions[i]))
	}
	if m.Limits != (Limits{}) {
		doc.Limits = limitsToJSON(&m.Limits)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	text := bytes.TrimRight(b.Bytes(), "\n")
	if len(text) > MaxManifestBytes {
		return nil, &ManifestError{Msg: "is longer than " + FormatSize(MaxManifestBytes)}
	}
	return text, nil
}

func functionToJSON(f *Function) functionJSON {
	j := functionJSON{
		Name: f.Name, Kind: f.Kind.String(), Keys: f.Keys, Time: f.Time, VersionRow: f.VersionRow,
		Args: []argumentJSON{}, Variadic: f.Variadic, Returns: f.Returns, Deterministic: f.Deterministic,
		Accepts: f.Accepts, Retract: f.Retract, Merge: f.Merge,
	}
	if f.Export != f.Name {
		j.Export = f.Export
	}
	for _, a := range f.Args {
		arg := argumentJSON{Name: a.Name, Type: a.Type}
		if a.HasDefault {
			arg.Default = &a.Default
		}
		j.Args = append(j.Args, arg)
	}
	if !f.Nullable {
		j.Nullable = new(bool)
	}
	if f.Called {
		j.Nulls = "called"
	}
	if f.Kind.HasState() {
		j.State = &stateJSON{f.State.Size, f.State.Version}
	}
	if f.Kind == TableAggregate {
		j.Emit = f.Emit.String()
	}
	if f.Kind == Temporal {
		j.Ceil = f.Ceil.String()
	}
	return j
}

func limitsToJSON(l *Limits) *limitsJSON {
	j := &limitsJSON{Fuel: l.Fuel, FuelPerRow: l.FuelPerRow, RowsOut: l.RowsOut}
	for _, s := range []struct {
		to *string
		n  int64
	}{{&j.Memory, l.Memory}, {&j.Stack, l.Stack}, {&j.Log, l.Log}, {&j.StateBytes, l.StateBytes}} {
		if s.n != 0 {
			*s.to = FormatSize(s.n)
		}
	}
	if l.Timeout != 0 {
		j.Timeout = l.Timeout.String()
	}
	return j
}
