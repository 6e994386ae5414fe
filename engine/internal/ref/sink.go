package ref

import (
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// toSink is the rows as a table takes them. Which of several rows of one key stays is
// the caller's question.
func toSink(n *plan.Sink, in table) (table, error) {
	out := in
	out.some = out.some || in.opensColumns(n.NotNull) && n.DropNull
	var err error
	if out.rows, err = sinkRows(n, in.rows); err == nil && in.choice != nil {
		c := *in.choice
		c.rows, err = sinkRows(n, c.rows)
		if out.choice = &c; len(c.rows) < len(in.choice.rows) {
			out.choice = nil
		}
	}
	if len(n.Keys) > 0 && len(out.rows) < len(in.rows) { // what was there by the key before may stay
		out.some, out.unordered, out.choice = true, true, nil
	}
	return out, err
}

func sinkRows(n *plan.Sink, in []Row) ([]Row, error) {
	types := n.Schema().Types()
	var out []Row
	for _, r := range in {
		c, wrong := nullWhereNone(n, types, r)
		switch {
		case wrong && !n.DropNull:
			return nil, errs.New(errs.Data, n.Pos(), "NULL in column %q", n.Schema()[c].Name)
		case wrong:
			continue
		}
		for _, c := range n.Lengths {
			v := ofLength(r[c], types[c])
			if n.StrictLength && order(v, r[c]) != 0 {
				return nil, errs.New(errs.Data, n.Pos(), "length of column %q", n.Schema()[c].Name)
			}
			r = slices.Clone(r)
			r[c] = v
		}
		out = append(out, r)
	}
	return out, nil
}

// nullWhereNone finds a column that is NULL, or has NULL inside, against its type.
func nullWhereNone(n *plan.Sink, types []sqltype.Type, r Row) (column int, ok bool) {
	for _, c := range n.NotNull {
		if r[c] == nil {
			return c, true
		}
	}
	for _, c := range n.Nested {
		if nullWithin(types[c], r[c], n.Collections) {
			return c, true
		}
	}
	return 0, false
}
