// Package wasmtest writes WebAssembly modules for tests: whole ones from a readable text
// (Assemble), broken ones out of bytes (Module, Section, U32Wide), and prints them.
package wasmtest

import "slices"

// Header begins every module.
const Header = "\x00asm\x01\x00\x00\x00"

// Numbers of the sections.
const (
	SecCustom = iota
	SecType
	SecImport
	SecFunction
	SecTable
	SecMemory
	SecGlobal
	SecExport
	SecStart
	SecElement
	SecCode
	SecData
	SecDataCount
)

// Module returns a module of these sections, whatever they hold.
func Module(sections ...[]byte) []byte {
	return append([]byte(Header), slices.Concat(sections...)...)
}

// Section returns a section with the right length.
func Section(id byte, parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return slices.Concat([]byte{id}, U32(uint32(len(body))), body)
}

// SectionOfLength returns a section that claims to be that long.
func SectionOfLength(id byte, length uint32, parts ...[]byte) []byte {
	return slices.Concat([]byte{id}, U32(length), slices.Concat(parts...))
}

// Vec returns a vector with the right count.
func Vec(items ...[]byte) []byte {
	return append(U32(uint32(len(items))), slices.Concat(items...)...)
}

// Bytes returns bytes behind their length, as names and bodies are.
func Bytes(parts ...[]byte) []byte {
	b := slices.Concat(parts...)
	return append(U32(uint32(len(b))), b...)
}

// Name returns a string behind its length.
func Name(s string) []byte { return Bytes([]byte(s)) }

// U32 returns an unsigned number in as few bytes as it takes.
func U32(v uint32) []byte {
	var b []byte
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// U32Wide returns an unsigned number in that many bytes; more than five are too many.
func U32Wide(v uint32, bytes int) []byte {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(v)&0x7f | 0x80
		v >>= 7
	}
	b[bytes-1] &= 0x7f
	return b
}

// S64 returns a signed number in as few bytes as it takes.
func S64(v int64) []byte {
	var b []byte
	for {
		c := byte(v) & 0x7f
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
