package plan

import (
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// recognized are the columns by which a join whose left rows are joined once finds what it
// has emitted for a row that is taken away: all that do not change with the time at which
// they are computed. Rows that differ in a column which nothing else needs may have found
// different partners. Where rows are only added none are needed.
func recognized(left Node) []int {
	if addsOnly(left) {
		return nil
	}
	var out []int
	for c := range left.Schema() {
		if timeAttribute(left, c) != sqltype.Proctime && lasting(left, c) {
			out = append(out, c)
		}
	}
	return out
}

// lasting reports whether a column is the same when its row is taken away.
func lasting(n Node, c int) bool {
	calc, ok := n.(*Calc)
	if !ok {
		return n.Schema()[c].Name != WatermarkColumn
	}
	if !expr.Deterministic(calc.Exprs[c]) {
		return false
	}
	for _, in := range expr.Columns(calc.Exprs[c]) {
		if !lasting(calc.Input, in) {
			return false
		}
	}
	return true
}
