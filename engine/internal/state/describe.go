package state

import (
	"fmt"
	"strings"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// A description has what must stay the same for a table's entries to be understood.

func describeLayout(l rowkey.Layout) string {
	var b strings.Builder
	b.WriteString("key(")
	for i, k := range l.Kinds {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k.String())
		if l.Desc != nil && l.Desc[i] {
			b.WriteString(" desc")
		}
		if l.NullsLast != nil && l.NullsLast[i] {
			b.WriteString(" nulls last")
		}
	}
	b.WriteString(")")
	if l.Group != nil {
		fmt.Fprintf(&b, " grouped by %d", l.Group)
	}
	return b.String()
}

func describeColumns(kinds []vector.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return "columns(" + strings.Join(names, ", ") + ")"
}

func (v *Values) describe() string {
	d := "values " + describeLayout(v.layout) + " " + describeColumns(v.kinds)
	if v.places > 0 {
		d += fmt.Sprint(" the last ", v.lists(), " with ", v.places, " places")
	}
	return d
}

// lists is the number of columns that are lists.
func (v *Values) lists() int {
	n := 0
	for _, c := range v.cols {
		if _, ok := c.(*list); ok {
			n++
		}
	}
	return n
}

// describe leaves out the order: it is made anew when rows are loaded.
func (r *Rows) describe() string {
	d := "rows " + describeLayout(r.layout) + " " + describeColumns(r.opt.Cols)
	if r.opt.Indexed {
		d += " indexed"
	}
	if r.opt.Replacing {
		d += fmt.Sprint(" replacing ", r.opt.Identity)
	}
	if r.opt.Noted {
		d += " noted"
	}
	return d
}
