package expr

import (
	"bytes"
	"math"
	"slices"
	"time"

	"github.com/weirdb/weir/engine/internal/function"
)

// children are the direct parts of e, in order of evaluation.
func children(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Cast:
		return []Expr{e.Arg}
	case *Case:
		var out []Expr
		for _, w := range e.Whens {
			out = append(out, w.Cond, w.Then)
		}
		return append(out, e.Else)
	}
	return nil
}

// Walk calls f for e and its parts, outside in; it goes no deeper where f says false.
func Walk(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	for _, c := range children(e) {
		Walk(c, f)
	}
}

// Rewrite rebuilds e inside out, replacing each node by f of it. Nodes whose parts
// do not change are shared with e. f must keep the type.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	switch n := e.(type) {
	case *Call:
		args, changed := make([]Expr, len(n.Args)), false
		for i, a := range n.Args {
			args[i] = Rewrite(a, f)
			changed = changed || args[i] != a
		}
		if changed {
			c := *n
			c.Args = args
			e = &c
		}
	case *Cast:
		if arg := Rewrite(n.Arg, f); arg != n.Arg {
			c := *n
			c.Arg = arg
			e = &c
		}
	case *Case:
		c := *n
		c.Whens = make([]When, len(n.Whens))
		c.Else = Rewrite(n.Else, f)
		changed := c.Else != n.Else
		for i, w := range n.Whens {
			c.Whens[i] = When{Cond: Rewrite(w.Cond, f), Then: Rewrite(w.Then, f)}
			changed = changed || c.Whens[i] != w
		}
		if changed {
			e = &c
		}
	}
	return f(e)
}

// Columns lists the columns that e reads, sorted, each once.
func Columns(e Expr) []int {
	var out []int
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Column); ok {
			out = append(out, c.Index)
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// Remap is e over an input whose column index is f of the old one.
func Remap(e Expr, f func(index int) int) Expr {
	return Rewrite(e, func(e Expr) Expr {
		if c, ok := e.(*Column); ok {
			if i := f(c.Index); i != c.Index {
				m := *c
				m.Index = i
				return &m
			}
		}
		return e
	})
}

// InZone is e evaluated with the given session time zone.
func InZone(e Expr, zone *time.Location) Expr {
	return Rewrite(e, func(e Expr) Expr {
		switch n := e.(type) {
		case *Call:
			c := *n
			c.Zone = zone
			return &c
		case *Cast:
			c := *n
			c.Zone = zone
			return &c
		}
		return e
	})
}

// Deterministic reports whether e gives the same value whenever it is evaluated
// on the same row.
func Deterministic(e Expr) bool {
	ok := true
	Walk(e, func(e Expr) bool {
		if c, is := e.(*Call); is && !c.deterministic() {
			ok = false
		}
		return ok
	})
	return ok
}

func (e *Call) deterministic() bool {
	return e.Func.Deterministic && !(e.Func.Clock && len(e.Args) == 0)
}

// Equal reports whether a and b are the same expression, positions and names apart.
func Equal(a, b Expr) bool {
	if !a.Type().Equal(b.Type()) {
		return false
	}
	switch a := a.(type) {
	case *Column:
		b, ok := b.(*Column)
		return ok && a.Index == b.Index
	case *Literal:
		b, ok := b.(*Literal)
		return ok && sameValue(a.Value, b.Value)
	case *Call:
		b, ok := b.(*Call)
		if !ok || a.Func != b.Func || a.Zone != b.Zone {
			return false
		}
	case *Cast:
		b, ok := b.(*Cast)
		if !ok || a.Try != b.Try || a.Zone != b.Zone {
			return false
		}
	case *Case:
		if _, ok := b.(*Case); !ok {
			return false
		}
	}
	return slices.EqualFunc(children(a), children(b), Equal)
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	case float64:
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y)
	}
	return a == b
}

// Conjuncts splits e at its ANDs. TRUE has none.
func Conjuncts(e Expr) []Expr {
	switch n := e.(type) {
	case *Call:
		if n.Func.Lazy == function.LazyAnd {
			var out []Expr
			for _, a := range n.Args {
				out = append(out, Conjuncts(a)...)
			}
			return out
		}
	case *Literal:
		if n.Value == true {
			return nil
		}
	}
	return []Expr{e}
}

// And joins conditions; of none it is TRUE.
func And(es ...Expr) Expr {
	var parts []Expr
	for _, e := range es {
		parts = append(parts, Conjuncts(e)...)
	}
	switch len(parts) {
	case 0:
		return Bool(true)
	case 1:
		return parts[0]
	}
	c, err := NewCall(function.MustScalar("AND"), parts[0].Pos(), parts...)
	if err != nil {
		panic("expr: AND of " + err.Error())
	}
	return c
}
