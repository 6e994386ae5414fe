package enginetest_test

import (
	"context"
	"slices"
)

// shrink makes a trial that fails in the given way smaller, as long as it fails:
// fewer changes, tables, clauses and columns, smaller expressions.
func (c *trial) shrink(ctx context.Context, w way) *trial {
	for budget := 2000; ; {
		smaller := false
		c.smaller(func(s *trial) bool {
			budget--
			if budget > 0 && s.again(ctx, w) != nil {
				c, smaller = s, true
				return true
			}
			return budget <= 0
		})
		if !smaller || budget <= 0 {
			return c
		}
	}
}

// smaller yields trials that are a little smaller, until yield returns true.
func (c *trial) smaller(yield func(*trial) bool) {
	done := false
	try := func(s *trial) {
		if !done {
			done = yield(s)
		}
	}
	for i, t := range c.tables {
		for size := len(t.steps); size > 0; size /= 2 {
			for at := 0; at < len(t.steps); at += size {
				short := *t
				short.steps = slices.Delete(slices.Clone(t.steps), at, min(at+size, len(t.steps)))
				try(c.with(i, &short))
			}
		}
		if t.splits > 1 {
			one := *t
			one.splits = 1
			try(c.with(i, &one))
		}
	}
	if c.insert != collected {
		s := *c
		s.insert = collected
		try(&s)
	}
	for _, q := range c.query.smaller() {
		s := *c
		s.query = q
		try(&s)
	}
	for i := range c.tables {
		if s := *c; len(s.tables) > 1 {
			s.tables = slices.Delete(slices.Clone(s.tables), i, i+1)
			try(&s)
		}
	}
}

func (c *trial) with(i int, t *randomTable) *trial {
	s := *c
	s.tables = slices.Clone(c.tables)
	s.tables[i] = t
	return &s
}

// smaller lists queries that are a little smaller. Many of them are no valid SQL,
// since names or types are missing; those do not fail as the larger one does.
func (q *query) smaller() (out []*query) {
	edit := func(change func(*query)) {
		c := q.clone()
		change(c)
		out = append(out, c)
	}
	if q.sides != nil {
		out = append(out, q.sides...)
		for i, s := range q.sides {
			if len(q.sides) > 2 {
				edit(func(c *query) { c.sides = slices.Delete(c.sides, i, i+1) })
			}
			for _, small := range s.smaller() {
				edit(func(c *query) { c.sides[i] = small })
			}
		}
		return out
	}
	for i, f := range q.froms {
		if f.sub != nil {
			out = append(out, f.sub)
		}
		if f.window != "" {
			edit(func(c *query) { c.froms[i].window = "" })
		}
		if len(q.froms) > 1 {
			edit(func(c *query) {
				c.froms = slices.Delete(c.froms, i, i+1)
				c.froms[0].on = nil
			})
		}
		if i > 0 && f.join != " JOIN " {
			edit(func(c *query) { c.froms[i].join = " JOIN " })
		}
		for k := range f.on {
			if len(f.on) > 1 {
				edit(func(c *query) { c.froms[i].on = slices.Delete(c.froms[i].on, k, k+1) })
			}
		}
	}
	if q.where != nil {
		edit(func(c *query) { c.where = nil })
	}
	if q.having != nil {
		edit(func(c *query) { c.having = nil })
	}
	if q.distinct {
		edit(func(c *query) { c.distinct = false })
	}
	if q.qualify != "" {
		edit(func(c *query) { c.qualify = "" })
	}
	if q.sets != "" {
		edit(func(c *query) { c.sets = "" })
	}
	if q.limit != "" {
		edit(func(c *query) { c.limit = "" })
	}
	for i := range q.keys {
		edit(func(c *query) { c.keys = slices.Delete(c.keys, i, i+1) })
	}
	if len(q.items) > 1 {
		for i := range q.items {
			edit(func(c *query) { c.items = slices.Delete(c.items, i, i+1) })
			if i < len(q.keys) { // the key's column stands at the key's place
				edit(func(c *query) {
					c.items = slices.Delete(c.items, i, i+1)
					c.keys = slices.Delete(c.keys, i, i+1)
				})
			}
		}
	}
	for i, f := range q.froms {
		if f.sub != nil {
			for _, small := range f.sub.smaller() {
				edit(func(c *query) { c.froms[i].sub = small })
			}
		}
		for k, on := range f.on {
			for _, small := range on.smaller() {
				edit(func(c *query) { c.froms[i].on[k] = small })
			}
		}
	}
	if q.where != nil {
		for _, small := range q.where.smaller() {
			edit(func(c *query) { c.where = small })
		}
	}
	if q.having != nil {
		for _, small := range q.having.smaller() {
			edit(func(c *query) { c.having = small })
		}
	}
	for i, it := range q.items {
		for _, small := range it.term.smaller() {
			edit(func(c *query) {
				c.items[i].term = small
				for k, key := range c.keys {
					if key.String() == it.term.String() {
						c.keys[k] = small
					}
				}
			})
		}
	}
	return out
}

// smaller lists the arguments of the term, and the term with a smaller argument.
func (t *term) smaller() (out []*term) {
	out = append(out, t.args...)
	for i, a := range t.args {
		for _, small := range a.smaller() {
			c := *t
			c.args = slices.Clone(t.args)
			c.args[i] = small
			out = append(out, &c)
		}
	}
	return out
}
