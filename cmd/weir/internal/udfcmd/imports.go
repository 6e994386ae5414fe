package udfcmd

import "encoding/binary"

// importsOf lists the functions that a module imports, as module.name. A module
// that cannot be read has none: the host says what is wrong with it.
func importsOf(module []byte) (list []string) {
	const header = 8
	for at := header; at < len(module); {
		id := module[at]
		size, n := binary.Uvarint(module[at+1:])
		if n <= 0 || size > uint64(len(module)-at-1-n) {
			return list
		}
		body := module[at+1+n : at+1+n+int(size)]
		if id == 2 {
			return importSection(body)
		}
		at += 1 + n + int(size)
	}
	return list
}

// importSection reads the names of imported functions; it stops at what it does not
// know.
func importSection(b []byte) (list []string) {
	number := func() (uint64, bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, false
		}
		b = b[n:]
		return v, true
	}
	text := func() (string, bool) {
		n, ok := number()
		if !ok || n > uint64(len(b)) {
			return "", false
		}
		s := string(b[:n])
		b = b[n:]
		return s, true
	}
	count, ok := number()
	for ; ok && count > 0; count-- {
		module, ok1 := text()
		name, ok2 := text()
		if !ok1 || !ok2 || len(b) == 0 || b[0] != 0 {
			return list
		}
		b = b[1:]
		if _, ok = number(); ok {
			list = append(list, module+"."+name)
		}
	}
	return list
}
