//go:build !wasip1

package abi

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

const emptyModule = "\x00asm\x01\x00\x00\x00"

func custom(name, body string) string {
	b := appendU32(nil, uint32(len(name)))
	b = append(b, name...)
	b = append(b, body...)
	return string(append(appendU32([]byte{0}, uint32(len(b))), b...))
}

func TestSection(t *testing.T) {
	types := "\x01\x05\x01\x60\x01\x7f\x00"
	module := emptyModule + custom("name", "x") + types
	if _, err := ReadManifest([]byte(module)); !errors.Is(err, ErrNoManifest) {
		t.Errorf("no manifest: %v", err)
	}
	out, err := AppendManifest([]byte(module), fullManifest())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out, []byte(module)) {
		t.Error("the module was changed")
	}
	m, err := ReadManifest(out)
	if err != nil {
		t.Fatal(err)
	}
	if want := fullManifest(); !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	if _, err := AppendManifest(out, fullManifest()); !errors.Is(err, ErrManifestExists) {
		t.Errorf("second manifest: %v", err)
	}
	if _, err := AppendManifest([]byte(module), &Manifest{}); err == nil {
		t.Error("an invalid manifest was appended")
	}
	// Cut anywhere, it is refused or has no manifest.
	for n := range out {
		if _, err := ReadManifest(out[:n]); err == nil {
			t.Errorf("cut at byte %d: no error", n)
		}
	}
}

func TestSectionErrors(t *testing.T) {
	for _, c := range []struct{ name, module, want string }{
		{"empty", "", "byte 0: no WebAssembly module"},
		{"text", "(module)", "no WebAssembly module"},
		{"component", "\x00asm\x0d\x00\x01\x00", "no WebAssembly module"},
		{"no size", emptyModule + "\x00", "byte 8: a section reaches past the end"},
		{"size past the end", emptyModule + "\x01\x02\x00", "a section reaches past the end"},
		{"size wraps", emptyModule + "\x01\xff\xff\xff\xff\x0f", "a section reaches past the end"},
		{"size has 33 bits", emptyModule + "\x01\x80\x80\x80\x80\x10", "a section reaches past the end"},
		{"size has six bytes", emptyModule + "\x01\x80\x80\x80\x80\x80\x00", "a section reaches past the end"},
		{"no name", emptyModule + "\x00\x00", "the name of a custom section"},
		{"name past the end", emptyModule + "\x00\x02\x05a", "the name of a custom section"},
		{"two", emptyModule + custom(SectionName, "{}") + custom(SectionName, "{}"), "more than one custom section"},
		{"large", emptyModule + custom(SectionName, strings.Repeat(" ", MaxManifestBytes+1)), "at most 65536 are read"},
		{"only a name", emptyModule + custom(SectionName, ""), "ends too early"},
	} {
		_, err := ReadManifest([]byte(c.module))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// FuzzManifestSection: the walk stays within bounds, and finds what was appended.
func FuzzManifestSection(f *testing.F) {
	f.Add([]byte(emptyModule))
	f.Add([]byte(emptyModule + custom("name", "x") + "\x01\x05\x01\x60\x01\x7f\x00"))
	f.Add([]byte(emptyModule + custom(SectionName, full)))
	f.Add([]byte(emptyModule + "\x00\x80\x80\x80\x80\x00"))
	f.Fuzz(func(t *testing.T, module []byte) {
		text, err := ManifestSection(module)
		if err == nil {
			if !bytes.Contains(module, text) {
				t.Fatal("the manifest is not the module's")
			}
			return
		}
		if !errors.Is(err, ErrNoManifest) {
			return
		}
		out, err := AppendManifest(module, fullManifest())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(out); err != nil {
			t.Fatal(err)
		}
	})
}
