package meter

import (
	"fmt"
	"math/rand"
	"strings"
)

// generator writes random programs that end: loops count down a local of their own, and
// calls go to functions before the caller, or into the caller with a smaller depth.
type generator struct {
	*rand.Rand
	b      strings.Builder
	funcs  []signature
	self   int
	locals []string // types of parameters and locals; the first is the depth
	labels []label
	indent int
	loops  int // open
	size   int // statements that may follow
}

type signature struct{ params, results []string }

type label struct {
	name    string
	results []string // what a branch to it carries
	loop    bool
}

var numeric = []string{"i32", "i64", "f32", "f64"}

// counters are locals at the end of a function that loops count down.
const counters = 4

func (g *generator) program() string {
	g.b.Reset()
	g.funcs = nil
	g.line("memory 1 3")
	g.line("table 8 16 funcref")
	g.line("global $steps mut i32 3000 ;; loops and calls that may follow")
	g.line("global $i mut i32 7")
	g.line("global $l mut i64 -9")
	g.line("global $d mut f64 0.5")
	n := 2 + g.Intn(4)
	for i := range n {
		g.function(i)
	}
	var elems strings.Builder
	for i := range n {
		fmt.Fprintf(&elems, " $f%d", i)
	}
	g.line("elem 0%s", elems.String())
	g.line("elem passive $f0 $f1")
	g.line(`data 16 "some text that is at the begin"`)
	g.line(`data passive "some other bytes"`)
	g.line(`export "memory" memory 0`)
	return g.b.String()
}

func (g *generator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("  ", g.indent))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *generator) types(n int) []string {
	var t []string
	for range n {
		t = append(t, numeric[g.Intn(len(numeric))])
	}
	return t
}

func (g *generator) function(i int) {
	s := signature{append([]string{"i32"}, g.types(g.Intn(3))...), g.types(g.Intn(3))}
	if i == 0 || g.Intn(3) > 0 {
		s = signature{[]string{"i32", "i64"}, []string{"i64"}} // so that calls through the table meet
	}
	g.funcs = append(g.funcs, s)
	g.self = i
	g.line("func $f%d export \"f%d\" (%s) -> (%s)", i, i, strings.Join(s.params, " "), strings.Join(s.results, " "))
	g.indent++
	locals := g.types(1 + g.Intn(4))
	g.locals = append(append([]string(nil), s.params...), locals...)
	g.line("locals %s%s", strings.Join(locals, " "), strings.Repeat(" i32", counters))
	// Every call takes from the depth; at zero the function ends.
	g.step()
	g.line("local.get 0 i32.const 0 i32.gt_s i32.and i32.eqz")
	g.line("if")
	g.indent++
	g.constants(s.results)
	g.line("return")
	g.indent--
	g.line("end")
	g.size = 5 + g.Intn(40)
	g.labels = []label{{"", s.results, false}}
	for g.size > 0 {
		g.statement()
	}
	g.values(s.results, 3)
	g.indent--
	g.line("end")
}

// step takes a step and leaves whether there are more.
func (g *generator) step() {
	g.line("global.get $steps i32.const 1 i32.sub global.set $steps")
	g.line("global.get $steps i32.const 0 i32.gt_s")
}

func (g *generator) constants(types []string) {
	for _, t := range types {
		g.expr(t, 0)
	}
}

func (g *generator) values(types []string, depth int) {
	for _, t := range types {
		g.expr(t, depth)
	}
}

func (g *generator) local(t string) int {
	for range 4 {
		if i := g.Intn(len(g.locals)); g.locals[i] == t && i > 0 {
			return i
		}
	}
	return -1
}

// address leaves an address that is mostly inside the memory.
func (g *generator) address() {
	g.expr("i32", 1)
	if g.Intn(300) > 0 {
		g.line("i32.const 0xefff i32.and")
	}
}

func (g *generator) statement() {
	g.size--
	switch g.Intn(20) {
	case 0, 1:
		if i := g.local(numeric[g.Intn(4)]); i > 0 {
			g.expr(g.locals[i], 3)
			g.line("local.set %d", i)
		}
	case 2:
		n := g.Intn(3)
		g.expr([]string{"i32", "i64", "f64"}[n], 3)
		g.line("global.set $%s", []string{"i", "l", "d"}[n])
	case 3:
		t := numeric[g.Intn(4)]
		g.address()
		g.expr(t, 2)
		g.line("%s.store offset=%d", t, g.Intn(64))
	case 4, 5, 6:
		g.block()
	case 7, 8:
		g.loop()
	case 9, 10:
		g.expr("i32", 2)
		g.branch("br_if")
	case 11:
		if g.Intn(3) == 0 && len(g.labels) > 1 {
			g.line("block")
			g.indent++
			g.labels = append(g.labels, label{fmt.Sprintf("b%d", len(g.labels)), nil, false})
			if g.branch([]string{"br", "return"}[g.Intn(2)]) && g.Intn(2) == 0 {
				g.line("drop i64.const 3 drop") // not reached
			}
			g.labels = g.labels[:len(g.labels)-1]
			g.indent--
			g.line("end")
		}
	case 12, 13:
		g.call()
	case 14:
		g.bulk()
	case 15:
		g.line("block $x block $y block $z")
		g.expr("i32", 2)
		g.line("br_table $x $y $z $y end")
		g.expr("i32", 1)
		g.line("global.set $i end")
		g.expr("i64", 2)
		g.line("global.set $l end")
	default:
		g.expr("i64", 3)
		g.line("global.get $l i64.add global.set $l")
	}
}

// branch branches to some label, but to no loop, and says whether it did.
func (g *generator) branch(op string) bool {
	if op == "return" {
		g.values(g.labels[0].results, 1)
		g.line("return")
		return true
	}
	k := g.Intn(len(g.labels))
	l := g.labels[len(g.labels)-1-k]
	if l.loop {
		if op == "br_if" {
			g.line("drop")
		}
		return false
	}
	if op == "br_if" { // the condition is on the stack: the operands go below
		g.line("global.set $i")
		g.values(l.results, 1)
		g.line("global.get $i br_if %d", k)
		for range l.results {
			g.line("drop")
		}
		return false
	}
	g.values(l.results, 1)
	g.line("br %d", k)
	return true
}

func (g *generator) body(results []string, n int, loop bool) {
	g.indent++
	g.labels = append(g.labels, label{"", results, loop})
	for range n {
		if g.size > 0 {
			g.statement()
		}
	}
	if !loop {
		g.values(results, 2)
	}
	g.labels = g.labels[:len(g.labels)-1]
	g.indent--
}

func (g *generator) blockType(results []string) string {
	switch len(results) {
	case 0:
		return ""
	case 1:
		return " " + results[0]
	}
	return " () -> (" + strings.Join(results, " ") + ")"
}

func (g *generator) block() {
	results := g.types(g.Intn(3))
	if g.Intn(2) == 0 {
		g.line("block%s", g.blockType(results))
		g.body(results, g.Intn(4), false)
	} else {
		g.expr("i32", 2)
		g.line("if%s", g.blockType(results))
		g.body(results, g.Intn(4), false)
		if len(results) > 0 || g.Intn(2) == 0 {
			g.line("else")
			g.body(results, g.Intn(4), false)
		}
	}
	g.line("end")
	for range results {
		g.line("drop")
	}
}

// loop writes a loop, sometimes one with parameters or with a result.
func (g *generator) loop() {
	if g.loops == counters {
		return
	}
	c := len(g.locals) + g.loops
	g.loops++
	g.line("i32.const %d local.set %d", 1+g.Intn(1+[]int{3, 20, 300}[g.Intn(3)]>>g.loops), c)
	shape := g.Intn(3)
	switch shape {
	case 0:
		g.line("loop")
	case 1:
		g.line("loop i64")
	case 2:
		g.expr("i64", 1)
		g.line("loop (i64) -> (i64)")
		g.line("global.get $l i64.xor")
		g.line("global.set $l")
	}
	g.body(nil, 1+g.Intn(3), true)
	if shape > 0 {
		g.expr("i64", 1)
	}
	g.step()
	g.line("local.get %d i32.const 1 i32.sub local.tee %d i32.const 0 i32.gt_s i32.and", c, c)
	g.line("br_if 0")
	g.line("end")
	if shape > 0 {
		g.line("global.set $l")
	}
	g.loops--
}

func (g *generator) call() {
	callee := g.Intn(g.self + 1)
	s := g.funcs[callee]
	if g.Intn(3) == 0 {
		s = signature{[]string{"i32", "i64"}, []string{"i64"}}
		callee = -1
	}
	g.line("local.get 0 i32.const %d i32.sub", 1+g.Intn(2))
	g.values(s.params[1:], 2)
	if callee < 0 {
		if g.Intn(20) == 0 {
			g.expr("i32", 1) // may be out of bounds, null or of another type
		} else {
			g.line("i32.const 0")
		}
		g.line("call_indirect (i32 i64) -> (i64)")
	} else {
		g.line("call $f%d", callee)
	}
	for range s.results {
		g.line("drop")
	}
}

func (g *generator) bulk() {
	long := g.Intn(10) == 0
	length := func() {
		g.expr("i32", 1)
		if long {
			g.line("i32.const 0x17fff i32.and")
		} else {
			g.line("i32.const 63 i32.and")
		}
	}
	switch g.Intn(8) {
	case 0, 1:
		length()
		g.line("global.set $i i32.const %d", 4096+g.Intn(1<<15))
		g.expr("i32", 1)
		g.line("global.get $i memory.fill")
	case 2, 3:
		length()
		g.line("global.set $i i32.const %d i32.const %d", g.Intn(1<<15), g.Intn(1<<15))
		g.line("global.get $i memory.copy")
	case 4:
		g.line("i32.const %d i32.const %d i32.const %d memory.init 1", 100+g.Intn(100), g.Intn(4), g.Intn(14))
	case 5:
		g.line("i32.const %d i32.const %d i32.const %d table.copy", 1+g.Intn(6), g.Intn(7), g.Intn(2))
	case 6:
		g.line("i32.const %d ref.null funcref i32.const %d table.fill", 1+g.Intn(6), g.Intn(3))
	case 7:
		if g.Intn(2) == 0 {
			g.line("i32.const 1 memory.grow drop")
		} else {
			g.line("ref.func $f0 i32.const 1 table.grow drop")
		}
	}
}

// expr leaves a value of type t.
func (g *generator) expr(t string, depth int) {
	if depth == 0 || g.Intn(4) == 0 {
		if i := g.local(t); i >= 0 && depth > 0 {
			g.line("local.get %d", i)
			return
		}
		switch t {
		case "i32":
			g.line("i32.const %d", int32(g.interesting()))
		case "i64":
			g.line("i64.const %d", g.interesting())
		default:
			g.line("%s.const %v", t, float64(g.Intn(2000)-1000)/8)
		}
		return
	}
	two := func(ops string) {
		g.expr(t, depth-1)
		g.expr(t, depth-1)
		list := strings.Fields(ops)
		g.line("%s.%s", t, list[g.Intn(len(list))])
	}
	switch k := g.Intn(10); {
	case k == 0 && t == "i32":
		u := numeric[g.Intn(4)]
		g.expr(u, depth-1)
		g.expr(u, depth-1)
		if u[0] == 'f' {
			g.line("%s.lt", u)
		} else {
			g.line("%s.lt_u", u)
		}
	case k == 0 && t == "i64":
		g.expr("i32", depth-1)
		g.line("i64.extend_i32_s")
	case k == 0:
		g.expr("i32", depth-1)
		g.line("%s.convert_i32_s", t)
	case k == 1 && t == "i32":
		g.expr("i64", depth-1)
		g.line("i32.wrap_i64")
	case k == 1 && t[0] == 'i':
		g.expr("f64", depth-1)
		g.line("%s.trunc_sat_f64_s", t)
	case k == 2:
		g.address()
		g.line("%s.load offset=%d", t, g.Intn(64))
	case k == 3:
		g.expr(t, depth-1)
		g.expr(t, depth-1)
		g.expr("i32", depth-1)
		g.line("select")
	case k == 4:
		g.expr("i32", depth-1)
		g.line("if %s", t)
		g.expr(t, depth-1)
		g.line("else")
		g.expr(t, depth-1)
		g.line("end")
	case k == 5 && t == "i64":
		g.line("global.get $l")
	case t[0] == 'i' && g.Intn(12) == 0:
		g.expr(t, depth-1)
		g.expr(t, depth-1)
		if g.Intn(20) > 0 {
			g.line("%s.const 15 %s.and %s.const 1 %s.or", t, t, t, t)
		}
		g.line("%s.%s", t, []string{"div_s", "div_u", "rem_s", "rem_u"}[g.Intn(4)])
	case t[0] == 'i':
		two("add sub mul and or xor shl shr_s shr_u rotl")
	default:
		two("add sub mul div min max copysign")
	}
}

func (g *generator) interesting() int64 {
	switch g.Intn(4) {
	case 0:
		return int64(g.Uint64())
	case 1:
		return []int64{0, 1, -1, 1 << 31, -1 << 31, 1<<63 - 1, -1 << 63}[g.Intn(7)]
	}
	return int64(g.Intn(300) - 100)
}
