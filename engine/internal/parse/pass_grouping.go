package parse

import "github.com/weirdb/weir/engine/errs"

// grouping rewrites GROUPING SETS, ROLLUP, CUBE and ().
func (f *fragment) grouping() {
	for i := f.lo; i < f.hi && f.err == nil; i++ {
		if !f.concerns(i, forGrouping) || f.in(i) != inGroup || f.taken(i) || f.word(i-1) == "." {
			continue
		}
		item := func(k GroupKind) *GroupItem { return &GroupItem{Place: Place{f.tokPos(i)}, Kind: k} }
		switch {
		case f.are(i, "GROUPING", "SETS", "("):
			f.caller(item(GroupingSets), i, f.closer(i+2))
			f.drop(i+1, i+2)
		case f.are(i, "ROLLUP", "("):
			f.caller(item(GroupRollup), i, f.closer(i+1))
		case f.are(i, "CUBE", "("):
			f.caller(item(GroupCube), i, f.closer(i+1))
		case f.are(i, "(", ")") && !f.isCallName(i-1):
			f.leaf(item(GroupExprs), i, i+1)
		case f.are(i, "WITH", "ROLLUP"):
			f.failAt(i, errs.Syntax, "WITH ROLLUP is not known").WithHint("write GROUP BY ROLLUP(a, b)")
		case f.are(i-2, "GROUP", "BY", "ALL"), f.are(i-2, "GROUP", "BY", "DISTINCT"):
			f.failAt(i, errs.Unsupported, "GROUP BY %s is not supported", f.word(i)).WithHint("list the columns")
		}
	}
}
