package parse

// FormatQuery is the query as SQL on one line, as Format is for expressions.
// Hints are left out.
func FormatQuery(q *Query) string {
	p := &printer{}
	p.query(q)
	return p.b.String()
}

func (p *printer) query(q *Query) {
	if q == nil {
		return
	}
	if q.With != nil {
		p.write("WITH ")
		if q.Recursive {
			p.write("RECURSIVE ")
		}
		p.list(len(q.With), func(i int) {
			c := q.With[i]
			p.write(c.Name.String())
			p.columns(c.Columns)
			p.write(" AS (")
			p.query(c.Query)
			p.write(")")
		})
		p.write(" ")
	}
	p.body(q.Body)
	if q.OrderBy != nil {
		p.write(" ")
		p.orderBy(q.OrderBy)
	}
	p.clause(" LIMIT ", q.Limit)
	p.clause(" OFFSET ", q.Offset)
	if q.Emit != "" {
		p.write(" ", q.Emit)
	}
}

// columns writes a list of names in brackets, if there is one.
func (p *printer) columns(list []Ident) {
	if list != nil {
		p.write(" (")
		p.idents(list)
		p.write(")")
	}
}

// clause writes a keyword and an expression, if there is one.
func (p *printer) clause(word string, e Expr) {
	if e != nil {
		p.write(word)
		p.expr(e, 0)
	}
}

func (p *printer) body(b QueryBody) {
	switch b := b.(type) {
	case *Query:
		p.write("(")
		p.query(b)
		p.write(")")
	case *Values:
		p.write("VALUES ")
		p.list(len(b.Rows), func(i int) {
			p.write("(")
			p.exprs(b.Rows[i])
			p.write(")")
		})
	case *SetOp:
		p.setOp(b)
	case *Select:
		p.selectBlock(b)
	}
}

// setOp writes brackets where precedence does not give the tree: INTERSECT binds
// tighter than the others, all go from left to right.
func (p *printer) setOp(s *SetOp) {
	side := func(b QueryBody, right bool) {
		o, ok := b.(*SetOp)
		if ok && (right && !(s.Kind != Intersect && o.Kind == Intersect) || !right && s.Kind == Intersect && o.Kind != Intersect) {
			p.write("(")
			p.setOp(o)
			p.write(")")
			return
		}
		p.body(b)
	}
	side(s.Left, false)
	p.write(" ", s.Kind.String(), " ")
	if s.All {
		p.write("ALL ")
	}
	side(s.Right, true)
}

func (p *printer) selectBlock(s *Select) {
	p.write("SELECT ")
	if s.Distinct {
		p.write("DISTINCT ")
	}
	p.list(len(s.Items), func(i int) {
		it := s.Items[i]
		if it.Star {
			if it.Qualifier != nil {
				p.write(it.Qualifier.String(), ".")
			}
			p.write("*")
			return
		}
		p.expr(it.Expr, 0)
		if !it.Alias.IsZero() {
			p.write(" AS ", it.Alias.String())
		}
	})
	if s.From != nil {
		p.write(" FROM ")
		p.table(s.From, false)
	}
	p.clause(" WHERE ", s.Where)
	if s.Grouped {
		p.write(" GROUP BY ")
		p.list(len(s.GroupBy), func(i int) { p.groupItem(s.GroupBy[i]) })
	}
	p.clause(" HAVING ", s.Having)
	if s.Windows != nil {
		p.write(" WINDOW ")
		p.list(len(s.Windows), func(i int) {
			p.write(s.Windows[i].Name.String(), " AS ")
			p.windowSpec(s.Windows[i].Spec)
		})
	}
	p.clause(" QUALIFY ", s.Qualify)
}

func (p *printer) groupItem(g GroupItem) {
	if g.Kind == GroupExprs && len(g.Exprs) == 1 {
		p.expr(g.Exprs[0], 0)
		return
	}
	if g.Kind != GroupExprs {
		p.write(g.Kind.String(), " ")
	}
	p.write("(")
	p.exprs(g.Exprs)
	p.list(len(g.Items), func(i int) { p.groupItem(g.Items[i]) })
	p.write(")")
}

// table writes a table; a join in brackets where it is the right side of one.
func (p *printer) table(t TableExpr, brackets bool) {
	switch t := t.(type) {
	case *TableName:
		p.write(t.Name.String())
		p.clause(" FOR SYSTEM_TIME AS OF ", t.AsOf)
		p.alias(t.Alias)
	case *DerivedTable:
		p.lateral(t.Lateral)
		p.write("(")
		p.query(t.Query)
		p.write(")")
		p.alias(t.Alias)
	case *TableFunction:
		p.lateral(t.Lateral)
		p.write("TABLE(")
		p.call(t.Call)
		p.write(")")
		p.alias(t.Alias)
	case *Unnest:
		p.write("UNNEST(")
		p.exprs(t.Args)
		p.write(")")
		if t.Ordinality {
			p.write(" WITH ORDINALITY")
		}
		p.alias(t.Alias)
	case *Join:
		p.join(t, brackets)
	}
}

func (p *printer) lateral(is bool) {
	if is {
		p.write("LATERAL ")
	}
}

func (p *printer) alias(a *Alias) {
	if a != nil {
		p.write(" AS ", a.Name.String())
		p.columns(a.Columns)
	}
}

func (p *printer) join(j *Join, brackets bool) {
	if brackets {
		p.write("(")
		defer p.write(")")
	}
	left, comma := j.Left.(*Join)
	p.table(j.Left, comma && left.Comma && !j.Comma)
	switch {
	case j.Comma:
		p.write(", ")
	case j.Natural:
		p.write(" NATURAL ", j.Kind.String(), " ")
	default:
		p.write(" ", j.Kind.String(), " ")
	}
	_, nested := j.Right.(*Join)
	p.table(j.Right, nested)
	p.clause(" ON ", j.On)
	if j.Using != nil {
		p.write(" USING")
		p.columns(j.Using)
	}
}
