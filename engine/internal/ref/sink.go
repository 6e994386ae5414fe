package ref

import (
	"bytes"
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/plan"
	"github.com/weirdb/weir/engine/sqltype"
)

// written is the rows as a table takes them. Which of several rows of one key stays is
// the caller's question.
func written(n *plan.Sink, in []Row) ([]Row, error) {
	types := n.Schema().Types()
	var out []Row
	for _, r := range in {
		c, wrong := nullWhereNone(n, types, r)
		switch {
		case wrong && !n.DropNull:
			return nil, errs.New(errs.Data, n.Pos(), "NULL in column %q", n.Schema()[c].Name)
		case wrong && len(n.Keys) > 0: // the row of the key that was there before may stay
			return nil, unsupported(n, "history of a key whose row is dropped")
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

// ofLength cuts a string to the length of its type, and fills it up when that is fixed.
func ofLength(v any, t sqltype.Type) any {
	switch x := v.(type) {
	case string:
		return toLength(x, t)
	case []byte:
		x = bytes.Clone(x[:min(len(x), t.Precision)])
		if t.ID == sqltype.Binary {
			x = append(x, make([]byte, t.Precision-len(x))...)
		}
		return x
	}
	return v
}
