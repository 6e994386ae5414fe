//go:build !wasip1

package abi

import (
	"errors"
	"fmt"
)

// SectionName is the name of the custom section that holds the manifest.
const SectionName = "udf.manifest"

// ErrNoManifest is the cause of the error for a module without a manifest.
var ErrNoManifest = errors.New("the module has no custom section " + SectionName)

// ErrManifestExists is the cause of the error for a module with a second manifest.
var ErrManifestExists = errors.New("the module has more than one custom section " + SectionName)

// ModuleError is a module whose sections cannot be walked, or whose manifest is
// not there exactly once. Offset is where in the module.
type ModuleError struct {
	Offset int
	Err    error
}

func (e *ModuleError) Error() string {
	return fmt.Sprintf("wasm module, byte %d: %s", e.Offset, e.Err)
}

func (e *ModuleError) Unwrap() error { return e.Err }

// ReadManifest reads the manifest of a module. It walks the sections within
// bounds, looks into none but custom ones, and runs nothing.
func ReadManifest(module []byte) (*Manifest, error) {
	text, err := ManifestSection(module)
	if err != nil {
		return nil, err
	}
	return ParseManifest(text)
}

// ManifestSection returns the bytes of the manifest of a module; they share the
// module's memory.
func ManifestSection(module []byte) ([]byte, error) {
	text, at, err := findManifest(module)
	if err == nil && at < 0 {
		err = &ModuleError{len(module), ErrNoManifest}
	}
	return text, err
}

// AppendManifest returns a new module with the manifest in a section at its end.
// A module that has one is refused.
func AppendManifest(module []byte, m *Manifest) ([]byte, error) {
	_, at, err := findManifest(module)
	if err != nil {
		return nil, err
	}
	if at >= 0 {
		return nil, &ModuleError{at, ErrManifestExists}
	}
	text, err := m.JSON()
	if err != nil {
		return nil, err
	}
	body := appendU32(nil, uint32(len(SectionName)))
	body = append(body, SectionName...)
	body = append(body, text...)
	out := append([]byte(nil), module...)
	out = append(out, 0)
	out = appendU32(out, uint32(len(body)))
	return append(out, body...), nil
}

// findManifest walks the whole module and returns the manifest and the offset of
// its section, or -1 when there is none.
func findManifest(module []byte) (text []byte, at int, err error) {
	fail := func(at int, format string, args ...any) ([]byte, int, error) {
		return nil, -1, &ModuleError{at, fmt.Errorf(format, args...)}
	}
	const header = "\x00asm\x01\x00\x00\x00"
	if len(module) < len(header) || string(module[:len(header)]) != header {
		return fail(0, "no WebAssembly module of version 1")
	}
	at = -1
	for pos := len(header); pos < len(module); {
		start := pos
		id := module[pos]
		size, n := readU32(module[pos+1:])
		if n == 0 || uint64(size) > uint64(len(module)-pos-1-n) {
			return fail(start, "a section reaches past the end")
		}
		body := module[pos+1+n : pos+1+n+int(size)]
		pos += 1 + n + int(size)
		if id != 0 {
			continue
		}
		length, n := readU32(body)
		if n == 0 || uint64(length) > uint64(len(body)-n) {
			return fail(start, "the name of a custom section reaches past its end")
		}
		if string(body[n:n+int(length)]) != SectionName {
			continue
		}
		if at >= 0 {
			return nil, -1, &ModuleError{start, ErrManifestExists}
		}
		if text, at = body[n+int(length):], start; len(text) > MaxManifestBytes {
			return fail(start, "the manifest has %d bytes, at most %d are read", len(text), MaxManifestBytes)
		}
	}
	return text, at, nil
}

// readU32 reads an unsigned LEB128 number of at most 32 bits and reports its
// length, 0 when it is cut off or too long.
func readU32(b []byte) (v uint32, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		if n == 4 && c > 0x0f {
			return 0, 0
		}
		v |= uint32(c&0x7f) << (7 * n)
		n++
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
