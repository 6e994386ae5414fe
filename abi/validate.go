//go:build !wasip1

package abi

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Lengths of texts in a manifest.
const (
	maxName = 128
	maxText = 4096
)

// Validate reports everything in the manifest that is against the rules, joined.
// It does not look into types further than their brackets: they are SQL text.
func (m *Manifest) Validate() error {
	v := &validator{}
	if m.MinABI < 1 || m.MinABI > m.MaxABI {
		v.add("abi", "want two numbers: the first version and the last")
	} else if Version < m.MinABI || Version > m.MaxABI {
		v.errs = append(v.errs, &VersionError{m.MinABI, m.MaxABI})
	}
	if m.Module == "" || len(m.Module) > maxName || !plain(m.Module) {
		v.add("module", "want a name of up to %d characters", maxName)
	}
	if len(m.Version) > maxName || !plain(m.Version) {
		v.add("version", "want a text of up to %d characters", maxName)
	}
	if len(m.Functions) == 0 {
		v.add("functions", "want at least one")
	}
	v.limits(&m.Limits)
	exports, kinds, overloads := map[string]bool{}, map[string]Kind{}, map[string]bool{}
	for i := range m.Functions {
		f := &m.Functions[i]
		v.path = fmt.Sprintf("functions[%d].", i)
		if identifier(f.Name) {
			v.path = fmt.Sprintf("functions[%d] (%s).", i, f.Name)
		}
		v.function(f)
		for _, e := range f.Exports() {
			if exports[e.Name] {
				v.add("export", "the name %q is taken; overloads need an \"export\" each", e.Name)
			}
			exports[e.Name] = true
		}
		name := strings.ToLower(f.Name)
		if k, ok := kinds[name]; ok && k != f.Kind {
			v.add("kind", "overloads are of one kind, another one is %s", k)
		}
		kinds[name] = f.Kind
		overload := name
		for _, a := range f.Args {
			overload += "," + strings.ToUpper(strings.Join(strings.Fields(a.Type), " "))
		}
		if overloads[overload] {
			v.add("args", "another overload takes the same types")
		}
		overloads[overload] = true
	}
	return errors.Join(v.errs...)
}

type validator struct {
	path string
	errs []error
}

func (v *validator) add(key, format string, args ...any) {
	v.errs = append(v.errs, &ManifestError{Path: v.path + key, Msg: fmt.Sprintf(format, args...)})
}

func (v *validator) function(f *Function) {
	if !identifier(f.Name) {
		v.add("name", "%q is no name: letters, digits and _, no digit first, up to %d", clip(f.Name), maxName)
	}
	v.export(f.Export)
	if f.Kind < Scalar || f.Kind > TableAggregate {
		v.add("kind", "unknown kind %d", f.Kind)
	}
	names := map[string]bool{}
	for i, a := range f.Args {
		at := fmt.Sprintf("args[%d].", i)
		if !identifier(a.Name) {
			v.add(at+"name", "%q is no name: letters, digits and _, no digit first, up to %d", clip(a.Name), maxName)
		} else if name := strings.ToLower(a.Name); names[name] {
			v.add(at+"name", "two arguments are named %s", a.Name)
		} else {
			names[name] = true
		}
		v.sqlType(at+"type", a.Type)
		switch {
		case a.HasDefault && (strings.TrimSpace(a.Default) == "" || len(a.Default) > maxText || !plain(a.Default)):
			v.add(at+"default", "want SQL text")
		case a.HasDefault && f.Variadic:
			v.add(at+"default", "a variadic function has no default values")
		case !a.HasDefault && i > 0 && f.Args[i-1].HasDefault:
			v.add(at+"default", "is missing after an argument with a default value")
		case !a.HasDefault && a.Default != "":
			panic("abi: Argument.Default without HasDefault")
		}
	}
	if f.Variadic && len(f.Args) == 0 {
		v.add("variadic", "there is no argument to repeat")
	}
	if n := len(f.Args) + len(f.Keys); n >= MaxColumns {
		v.add("args", "has %d, at most %d columns go in and out", n, MaxColumns)
	}
	v.sqlType("returns", f.Returns)
	if f.Kind.HasRows() && !isRow(f.Returns) {
		v.add("returns", "kind %s returns rows: want ROW<...>, not %q", f.Kind, clip(f.Returns))
	}
	seen := map[string]bool{}
	for i, a := range f.Accepts {
		if !acceptWord(a) || seen[a] {
			v.add(fmt.Sprintf("accepts[%d]", i), "%q is no word, or stands there twice", clip(a))
		}
		seen[a] = true
	}
	v.state(f)
	v.temporal(f)
}

func (v *validator) export(name string) {
	switch {
	case name == "" || len(name) > 2*maxName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }):
		v.add("export", "want up to %d visible ASCII characters", 2*maxName)
	case strings.HasPrefix(name, ReservedPrefix):
		v.add("export", "names that begin with %q are the host's", ReservedPrefix)
	case name == ExportMemory || name == ExportInitialize || name == ExportAlloc || name == ExportFree:
		v.add("export", "%q has a meaning of its own", name)
	}
}

func (v *validator) state(f *Function) {
	if !f.Kind.HasState() {
		if f.State != (State{}) || f.Retract || f.Merge {
			v.add("state", "kind %s keeps no state", f.Kind)
		}
	} else {
		if s := f.State.Size; s < 0 || s > MaxStateSize || s%StateAlign != 0 {
			v.add("state.size", "want a multiple of %d up to %d, or 0 for states of variable size", StateAlign, MaxStateSize)
		}
		if f.State.Version < 1 {
			v.add("state.version", "want a positive number")
		}
	}
	if f.Kind != TableAggregate && f.Emit != EmitFull {
		v.add("emit", "does not belong to kind %s", f.Kind)
	}
}

func (v *validator) temporal(f *Function) {
	if f.Kind != Temporal {
		if len(f.Keys) > 0 || f.Time != "" || f.VersionRow != "" || f.Ceil != CeilNone {
			v.add("keys", "only temporal functions have keys, time, version_row and ceil")
		}
		return
	}
	if len(f.Keys) == 0 {
		v.add("keys", "want at least one type")
	}
	for i, k := range f.Keys {
		v.sqlType(fmt.Sprintf("keys[%d]", i), k)
	}
	v.sqlType("time", f.Time)
	if !hasKeyword(f.Time, "TIMESTAMP") && !hasKeyword(f.Time, "TIMESTAMP_LTZ") {
		v.add("time", "want a TIMESTAMP, not %q", clip(f.Time))
	}
	v.sqlType("version_row", f.VersionRow)
	if !isRow(f.VersionRow) {
		v.add("version_row", "want ROW<...>, not %q", clip(f.VersionRow))
	}
}

func (v *validator) limits(l *Limits) {
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"memory", l.Memory},
		{"timeout", int64(l.Timeout)},
		{"stack", l.Stack},
		{"log", l.Log},
		{"max-rows-out", l.RowsOut},
		{"state-bytes", l.StateBytes},
	} {
		if n.value < 0 {
			v.add("limits."+n.key, "want a positive number")
		}
	}
}

// sqlType checks what can be checked without parsing SQL: length, characters,
// and brackets. DECIMAL(10, 2) as the innermost type adds one bracket to the levels.
func (v *validator) sqlType(key, t string) {
	switch {
	case strings.TrimSpace(t) == "":
		v.add(key, "want a type")
	case len(t) > maxText || !plain(t):
		v.add(key, "want a type of up to %d characters", maxText)
	case depth(t) > MaxLevels:
		v.add(key, "is nested deeper than %d levels", MaxLevels)
	}
}

// identifier reports a name that SQL takes without quotes.
func identifier(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// acceptWord reports a word as "constant": lower case, with digits, - and _. Words
// that this version does not know are fine: the module takes more than is sent.
func acceptWord(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

// plain reports text without control characters.
func plain(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }

func isRow(t string) bool { return hasKeyword(t, "ROW") }

// hasKeyword reports whether a type begins with a keyword, in any case.
func hasKeyword(t, keyword string) bool {
	t = strings.TrimSpace(t)
	if len(t) < len(keyword) || !strings.EqualFold(t[:len(keyword)], keyword) {
		return false
	}
	rest := t[len(keyword):]
	return rest == "" || strings.ContainsAny(rest[:1], " (<")
}

// clip shortens a text for an error message.
func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "..."
	}
	return s
}
