// Functions of all kinds for the benchmarks and tests of the pass.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"sort"
	"strconv"
	"strings"
)

func main() {}

const size = 4096

var (
	a    [size]int64
	b    [size]int64
	text [size]byte
	out  [size]byte
)

func fill() {
	if a[1] != 0 {
		return
	}
	x := uint64(88172645463325252)
	for i := range a {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		a[i], b[i], text[i] = int64(x), int64(x>>40), " etaoinshrdlu,.ABCDEFGHIJKLMNOPQ"[x>>59]
	}
}

func hash(b []byte) (h uint64) {
	for _, c := range b {
		h = h*31 + uint64(c)
	}
	return h
}

//go:wasmexport add
func add(n uint32) uint64 {
	fill()
	for range n {
		for i := range a {
			b[i] += a[i]
		}
	}
	return uint64(b[7])
}

//go:wasmexport poly
func poly(n uint32) uint64 {
	fill()
	s := 0.0
	for range n {
		for i := range b {
			x := float64(b[i])
			s += ((x*0.5+3)*x - 1) * x
		}
	}
	return uint64(math.Mod(s, 1e9))
}

//go:wasmexport upper
func upper(n uint32) uint64 {
	fill()
	for range n {
		for i, c := range text {
			if c >= 'a' && c <= 'z' {
				c -= 32
			}
			out[i] = c
		}
	}
	return hash(out[:])
}

//go:wasmexport words
func words(n uint32) uint64 {
	fill()
	w := 0
	for range n {
		w += len(strings.Fields(string(text[:])))
	}
	return uint64(w)
}

//go:wasmexport counts
func counts(n uint32) uint64 {
	fill()
	w := 0
	for range n {
		m := map[string]int{}
		for _, f := range strings.Fields(string(text[:1024])) {
			m[f]++
		}
		w += len(m)
	}
	return uint64(w)
}

//go:wasmexport sorted
func sorted(n uint32) uint64 {
	fill()
	s := int64(0)
	for range n {
		c := append([]int64(nil), a[:512]...)
		sort.Slice(c, func(i, j int) bool { return c[i] < c[j] })
		s += c[100]
	}
	return uint64(s)
}

//go:wasmexport format
func format(n uint32) uint64 {
	fill()
	s := 0
	for range n {
		for i := range 64 {
			s += len(fmt.Sprintf("%d:%s", b[i], "x"))
		}
	}
	return uint64(s)
}

//go:wasmexport parse
func parse(n uint32) uint64 {
	fill()
	s := 0.0
	for range n {
		for i := range 64 {
			f, _ := strconv.ParseFloat(strconv.FormatInt(b[i], 10)+".5", 64)
			s += f
		}
	}
	return uint64(s)
}

//go:wasmexport decimal
func decimal(n uint32) uint64 {
	fill()
	s := uint64(0)
	for range n {
		for i := range 512 {
			q, r := bits.Div64(uint64(a[i])%100, uint64(b[i]), 100)
			if r >= 50 {
				q++
			}
			s += q
		}
	}
	return s
}

//go:wasmexport haversine
func haversine(n uint32) uint64 {
	fill()
	s := 0.0
	for range n {
		for i := range 64 {
			x, y := float64(b[i])*1e-7, float64(b[i+64])*1e-7
			u, v := math.Sin(x/2), math.Sin(y/2)
			s += 2 * 6371 * math.Asin(math.Sqrt(math.Abs(u*u+math.Cos(x)*math.Cos(y)*v*v)/2))
		}
	}
	return uint64(s)
}

//go:noinline
func fib1(n int) int {
	if n < 2 {
		return n
	}
	return fib1(n-1) + fib1(n-2)
}

//go:wasmexport fib
func fib(n uint32) uint64 {
	s := 0
	for range n {
		s += fib1(16)
	}
	return uint64(s)
}

type shape interface{ area() int64 }
type square struct{ a int64 }
type box struct{ a, b int64 }

func (s square) area() int64 { return s.a * s.a }
func (s box) area() int64    { return s.a * s.b }

//go:wasmexport interfaces
func interfaces(n uint32) uint64 {
	fill()
	shapes := make([]shape, 256)
	for i := range shapes {
		if a[i]&1 == 0 {
			shapes[i] = square{a[i]}
		} else {
			shapes[i] = box{a[i], b[i]}
		}
	}
	s := int64(0)
	for range n {
		for _, x := range shapes {
			s += x.area()
		}
	}
	return uint64(s)
}

//go:wasmexport marshal
func marshal(n uint32) uint64 {
	fill()
	s := 0
	for range n {
		j, _ := json.Marshal(map[string]any{"a": a[1], "b": b[:8], "c": "text"})
		s += len(j)
	}
	return uint64(s)
}

//go:wasmexport sieve
func sieve(n uint32) uint64 {
	s := 0
	for range n {
		clear(out[:])
		for i := 2; i < size; i++ {
			if out[i] == 0 {
				s++
				for j := 2 * i; j < size; j += i {
					out[j] = 1
				}
			}
		}
	}
	return uint64(s)
}
