//go:build !wasip1

package abi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ParseManifest reads a manifest and validates it. An unknown key is an error,
// for a misspelt one must not pass, unless it begins with "x-"; so is a key that
// occurs twice in an object. The error is a *VersionError, a *ManifestError or
// several of them joined.
func ParseManifest(text []byte) (*Manifest, error) {
	if len(text) > MaxManifestBytes {
		return nil, &ManifestError{Msg: fmt.Sprintf("has %d bytes, at most %d are read", len(text), MaxManifestBytes)}
	}
	if !utf8.Valid(text) {
		return nil, &ManifestError{Msg: "is no UTF-8"}
	}
	p := &parser{dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	m := &Manifest{}
	if err := p.manifest(m); err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); err != io.EOF {
		return nil, &ManifestError{Msg: "goes on after its end"}
	}
	return m, m.Validate()
}

// parser reads a manifest token by token; path is where it stands.
type parser struct {
	dec  *json.Decoder
	path []string
}

func (p *parser) errorf(format string, args ...any) error {
	var path strings.Builder
	for _, s := range p.path {
		if path.Len() > 0 && s[0] != '[' {
			path.WriteByte('.')
		}
		path.WriteString(s)
	}
	return &ManifestError{Path: path.String(), Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, p.errorf("ends too early (at byte %d)", p.dec.InputOffset())
	} else if err != nil {
		return nil, p.errorf("%s (at byte %d)", strings.TrimPrefix(err.Error(), "json: "), p.dec.InputOffset())
	}
	return t, nil
}

// object reads an object and has field read the value of each key; field reports
// whether it knows the key, and reads nothing otherwise.
func (p *parser) object(field func(key string) (known bool, err error)) error {
	if err := p.open('{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return p.errorf("want a key")
		}
		if key == "" {
			return p.errorf("a key without a name")
		}
		p.path = append(p.path, key)
		if seen[key] {
			return p.errorf("occurs twice")
		}
		seen[key] = true
		if strings.HasPrefix(key, "x-") {
			var skip json.RawMessage
			if err := p.dec.Decode(&skip); err != nil {
				return p.errorf("no JSON value: %s", err)
			}
		} else if known, err := field(key); err != nil {
			return err
		} else if !known {
			return p.errorf(`unknown key (a key of your own begins with "x-")`)
		}
		p.path = p.path[:len(p.path)-1]
	}
	_, err := p.token()
	return err
}

// array reads an array and has element read each of its values.
func (p *parser) array(element func(i int) error) error {
	if err := p.open('[', "an array"); err != nil {
		return err
	}
	for i := 0; p.dec.More(); i++ {
		p.path = append(p.path, "["+strconv.Itoa(i)+"]")
		if err := element(i); err != nil {
			return err
		}
		p.path = p.path[:len(p.path)-1]
	}
	_, err := p.token()
	return err
}

func (p *parser) open(d json.Delim, what string) error {
	t, err := p.token()
	if err == nil && t != d {
		err = p.errorf("want %s", what)
	}
	return err
}

func (p *parser) text(to *string) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	s, ok := t.(string)
	if !ok {
		return p.errorf("want a string")
	}
	*to = s
	return nil
}

func (p *parser) bool(to *bool) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	b, ok := t.(bool)
	if !ok {
		return p.errorf("want true or false")
	}
	*to = b
	return nil
}

func (p *parser) int(to *int) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	n, ok := t.(json.Number)
	if !ok {
		return p.errorf("want a whole number")
	}
	i, err := strconv.ParseInt(n.String(), 10, 32)
	if err != nil || i < 0 {
		return p.errorf("want a whole number from 0 to 2147483647")
	}
	*to = int(i)
	return nil
}

// count reads a positive whole number of up to 64 bits.
func (p *parser) count(to *uint64) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	n, ok := t.(json.Number)
	if !ok {
		return p.errorf("want a positive whole number")
	}
	v, err := strconv.ParseUint(n.String(), 10, 63)
	if err != nil || v == 0 {
		return p.errorf("want a positive whole number")
	}
	*to = v
	return nil
}

// size reads a positive number of bytes: 65536 or "64KiB".
func (p *parser) size(to *int64) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	var text string
	switch v := t.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	}
	n, err := ParseSize(text)
	if err != nil {
		return p.errorf(`want a size, as "16MiB"`)
	}
	*to = n
	return nil
}

func (p *parser) texts(to *[]string) error {
	*to = nil
	return p.array(func(int) error {
		*to = append(*to, "")
		return p.text(&(*to)[len(*to)-1])
	})
}

func (p *parser) manifest(m *Manifest) error {
	var hasABI bool
	err := p.object(func(key string) (bool, error) {
		switch key {
		case "abi":
			hasABI = true
			return true, p.versions(m)
		case "module":
			return true, p.text(&m.Module)
		case "version":
			return true, p.text(&m.Version)
		case "functions":
			return true, p.array(func(int) error {
				f := Function{}
				if err := p.function(&f); err != nil {
					return err
				}
				m.Functions = append(m.Functions, f)
				return nil
			})
		case "limits":
			return true, p.limits(&m.Limits)
		}
		return false, nil
	})
	if err == nil && !hasABI {
		err = p.errorf(`"abi" is missing`)
	}
	return err
}

// versions reads "abi". Other keys may mean something else in another version,
// so a version that is not ours ends the reading.
func (p *parser) versions(m *Manifest) error {
	n := 0
	err := p.array(func(i int) error {
		n++
		switch i {
		case 0:
			return p.int(&m.MinABI)
		case 1:
			return p.int(&m.MaxABI)
		}
		return p.errorf("want two numbers: the first version and the last")
	})
	switch {
	case err != nil:
		return err
	case n != 2 || m.MinABI < 1 || m.MinABI > m.MaxABI:
		return p.errorf("want two numbers: the first version and the last")
	case Version < m.MinABI || Version > m.MaxABI:
		return &VersionError{m.MinABI, m.MaxABI}
	}
	return nil
}

func (p *parser) function(f *Function) error {
	*f = Function{Nullable: true}
	given := map[string]bool{}
	var nulls, emit, ceil, kind string
	var signature string
	err := p.object(func(key string) (bool, error) {
		given[key] = true
		switch key {
		case "name":
			return true, p.text(&f.Name)
		case "export":
			return true, p.text(&f.Export)
		case "kind":
			return true, p.text(&kind)
		case "signature":
			return true, p.text(&signature)
		case "args":
			return true, p.arguments(f)
		case "variadic":
			return true, p.bool(&f.Variadic)
		case "returns":
			return true, p.text(&f.Returns)
		case "nullable":
			return true, p.bool(&f.Nullable)
		case "nulls":
			return true, p.text(&nulls)
		case "deterministic":
			return true, p.bool(&f.Deterministic)
		case "accepts":
			return true, p.texts(&f.Accepts)
		case "state":
			return true, p.state(&f.State)
		case "retract":
			return true, p.bool(&f.Retract)
		case "merge":
			return true, p.bool(&f.Merge)
		case "emit":
			return true, p.text(&emit)
		case "keys":
			return true, p.texts(&f.Keys)
		case "time":
			return true, p.text(&f.Time)
		case "version_row":
			return true, p.text(&f.VersionRow)
		case "ceil":
			return true, p.text(&ceil)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if !given["kind"] {
		return p.errorf(`"kind" is missing`)
	}
	var ok bool
	if f.Kind, ok = KindFromString(kind); !ok {
		return p.errorf("unknown kind %q; there are scalar, table, temporal, aggregate, table_aggregate", kind)
	}
	if !given["export"] {
		f.Export = f.Name
	}
	if err := p.signature(f, given, signature); err != nil {
		return err
	}
	if given["nulls"] {
		if f.Called, ok = word(nulls, "strict", "called"); !ok {
			return p.errorf(`"nulls" is "strict" or "called", not %q`, nulls)
		}
	}
	if given["emit"] {
		isRetract, ok := word(emit, "full", "retract")
		if !ok {
			return p.errorf(`"emit" is "full" or "retract", not %q`, emit)
		}
		if isRetract {
			f.Emit = EmitRetract
		}
	}
	if given["ceil"] {
		isFinal, ok := word(ceil, "none", "final")
		if !ok {
			return p.errorf(`"ceil" is "none" or "final", not %q`, ceil)
		}
		if isFinal {
			f.Ceil = CeilFinal
		}
	}
	return p.kindKeys(f.Kind, given)
}

// word reports whether s is the second of two words, and whether it is one of them.
func word(s, first, second string) (isSecond, ok bool) {
	return s == second, s == first || s == second
}

// kindKeys checks that the keys given belong to the kind, and that none is missing.
func (p *parser) kindKeys(k Kind, given map[string]bool) error {
	keys := []struct {
		name     string
		belongs  bool
		required bool
	}{
		{"state", k.HasState(), true},
		{"retract", k.HasState(), false},
		{"merge", k.HasState(), false},
		{"emit", k == TableAggregate, false},
		{"keys", k == Temporal, true},
		{"time", k == Temporal, true},
		{"version_row", k == Temporal, true},
		{"ceil", k == Temporal, false},
	}
	for _, key := range keys {
		if given[key.name] && !key.belongs {
			return p.errorf("%q does not belong to kind %s", key.name, k)
		}
		if !given[key.name] && key.belongs && key.required {
			return p.errorf("%q is missing; kind %s needs it", key.name, k)
		}
	}
	return nil
}

func (p *parser) signature(f *Function, given map[string]bool, text string) error {
	if !given["signature"] {
		for _, key := range []string{"args", "returns"} {
			if !given[key] {
				return p.errorf("%q is missing", key)
			}
		}
		return nil
	}
	for _, key := range []string{"args", "returns", "variadic"} {
		if given[key] {
			return p.errorf(`"signature" and %q exclude each other`, key)
		}
	}
	if err := f.SetSignature(text); err != nil {
		return p.errorf("signature: %s", err)
	}
	return nil
}

func (p *parser) arguments(f *Function) error {
	return p.array(func(int) error {
		a, hasType := Argument{}, false
		err := p.object(func(key string) (bool, error) {
			switch key {
			case "name":
				return true, p.text(&a.Name)
			case "type":
				hasType = true
				return true, p.text(&a.Type)
			case "default":
				a.HasDefault = true
				return true, p.text(&a.Default)
			}
			return false, nil
		})
		if err == nil && !hasType {
			err = p.errorf(`"type" is missing`)
		}
		f.Args = append(f.Args, a)
		return err
	})
}

func (p *parser) state(s *State) error {
	hasSize := false
	s.Version = 1
	err := p.object(func(key string) (bool, error) {
		switch key {
		case "size":
			hasSize = true
			return true, p.int(&s.Size)
		case "version":
			return true, p.int(&s.Version)
		}
		return false, nil
	})
	if err == nil && !hasSize {
		err = p.errorf(`"size" is missing; 0 stands for states of variable size`)
	}
	return err
}

func (p *parser) limits(l *Limits) error {
	return p.object(func(key string) (bool, error) {
		switch key {
		case "memory":
			return true, p.size(&l.Memory)
		case "fuel":
			return true, p.count(&l.Fuel)
		case "fuel-per-row":
			return true, p.count(&l.FuelPerRow)
		case "timeout":
			return true, p.duration(&l.Timeout)
		case "stack":
			return true, p.size(&l.Stack)
		case "log":
			return true, p.size(&l.Log)
		case "max-rows-out":
			var n uint64
			err := p.count(&n)
			l.RowsOut = int64(n)
			return true, err
		case "state-bytes":
			return true, p.size(&l.StateBytes)
		}
		return false, nil
	})
}

func (p *parser) duration(to *time.Duration) error {
	var text string
	if err := p.text(&text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return p.errorf(`want a duration, as "1s" or "250ms"`)
	}
	*to = d
	return nil
}
