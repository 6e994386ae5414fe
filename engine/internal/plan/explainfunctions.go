package plan

import (
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/internal/function"
)

// jsonFunction is a function of a user in EXPLAIN JSON.
type jsonFunction struct {
	Name          string `json:"name"`
	Signature     string `json:"signature"`
	Deterministic bool   `json:"deterministic"`
	Origin        string `json:"origin"`
}

// functions lists the functions of users that the expressions of a forest call, in
// the order of their names.
func functions(roots []Node) []jsonFunction {
	var found []*function.Scalar
	done := map[Node]bool{}
	var walk func(n Node)
	walk = func(n Node) {
		if done[n] {
			return
		}
		done[n] = true
		for _, e := range expressions(n) {
			expr.Walk(e, func(e expr.Expr) bool {
				if c, ok := e.(*expr.Call); ok && c.Func.Origin != "" && !slices.Contains(found, c.Func) {
					found = append(found, c.Func)
				}
				return true
			})
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	for _, r := range roots {
		walk(r)
	}
	out := make([]jsonFunction, len(found))
	for i, f := range found {
		out[i] = jsonFunction{f.Name, f.Signatures[0], f.Deterministic, f.Origin}
	}
	slices.SortFunc(out, func(a, b jsonFunction) int {
		return strings.Compare(a.Name+a.Signature, b.Name+b.Signature)
	})
	return out
}

// expressions are those that an operator computes.
func expressions(n Node) []expr.Expr {
	var out []expr.Expr
	add := func(es ...expr.Expr) {
		for _, e := range es {
			if e != nil {
				out = append(out, e)
			}
		}
	}
	switch n := n.(type) {
	case *Calc:
		add(n.Filter)
		add(n.Exprs...)
	case *Values:
		for _, r := range n.Rows {
			add(r...)
		}
	case *Join:
		add(n.Residual)
	case *LookupJoin:
		add(n.Filter, n.Residual)
		add(n.Exprs...)
	case *WindowAggregate:
		for _, a := range n.Aggs {
			add(a.Args...)
			add(a.Filter)
		}
	case *Aggregate:
		for _, a := range n.Aggs {
			add(a.Args...)
			add(a.Filter)
		}
	}
	return out
}

// functionLines say of each function of a user what the plan relies on.
func functionLines(roots []Node) string {
	var b strings.Builder
	for _, f := range functions(roots) {
		b.WriteString("function " + f.Name + f.Signature + ": " + f.Origin)
		if !f.Deterministic {
			b.WriteString(", not deterministic")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
