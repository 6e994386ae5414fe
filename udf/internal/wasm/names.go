package wasm

import "slices"

// decodeNames reads the name section. It serves messages only: a broken one is as good
// as none.
func decodeNames(b []byte, limit int) (module string, funcs []FuncName) {
	r := &reader{b: b, fn: -1}
	for r.left() > 0 {
		id, size := r.byte(), r.u32()
		end := r.pos + int(size)
		if r.err != nil || end > len(b) {
			return "", nil
		}
		switch id {
		case 0:
			module = r.name()
		case 1:
			n := r.count(2)
			if n > limit {
				return "", nil
			}
			funcs = slices.Grow(funcs, n)
			for range n {
				f := FuncName{r.u32(), r.name()}
				if r.err != nil || len(funcs) > 0 && funcs[len(funcs)-1].Index >= f.Index {
					return "", nil
				}
				funcs = append(funcs, f)
			}
		default:
			r.pos = end
		}
		if r.err != nil || r.pos != end {
			return "", nil
		}
	}
	return module, funcs
}
