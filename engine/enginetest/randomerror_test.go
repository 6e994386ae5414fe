package enginetest_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/sqltype"
)

// failing draws an expression that fails on some values.
func (g *grammar) failing() *term {
	num := []sqltype.Type{sqltype.TinyType, sqltype.SmallType, sqltype.IntType, sqltype.BigIntType, sqltype.DecimalOf(5, 2)}[g.r.IntN(5)]
	x, y := g.term(num, 1), g.term(num, 1)
	big := g.pick("100", "30000", "2000000000", "9000000000000000000")
	switch g.r.IntN(8) {
	case 0:
		return apply("(%s / %s)", num, x, y)
	case 1:
		return apply("MOD(%s, %s)", num, x, y)
	case 2:
		return apply("(%s * CAST("+big+" AS BIGINT))", sqltype.BigIntType, x)
	case 3:
		// The product fits: an expression fails in one way only, since the engine computes
		// a step for all rows of a batch before the next step.
		return apply("CAST(%s * CAST("+g.pick("100", "30000", "2000000000")+" AS BIGINT) AS "+g.pick("TINYINT", "SMALLINT", "INT", "DECIMAL(5, 2)")+")", num, x)
	case 4:
		return apply("CAST(%s AS "+g.pick("INT", "TINYINT", "BIGINT")+")", num, g.term(sqltype.StringType, 1))
	case 5:
		return apply("TRY_CAST(%s * "+g.pick("100", "30000")+" AS TINYINT)", num, x)
	case 6:
		return apply("CASE WHEN %s THEN %s / %s ELSE %s END", num, g.boolean(1), x, y, x)
	}
	return apply("COALESCE(%s, %s / %s)", num, x, x, y)
}

// A row that fails stops a query, with the code that the reference finds, and no
// row does that a WHERE, CASE or COALESCE keeps from being computed. Rows are only
// added, so that the reference sees all that the engine sees.
func TestRandomErrorsAgreeWithTheReference(t *testing.T) {
	n := uint64(1000)
	if testing.Short() {
		n = 100
	}
	failed := 0
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		types := []sqltype.Type{sqltype.TinyType, sqltype.SmallType, sqltype.IntType, sqltype.BigIntType, sqltype.DecimalOf(5, 2), sqltype.StringType}
		table := newRandomTable(r, "t0", types, 1+r.IntN(12))
		table.mode, table.key = sqltype.AppendMode, 0
		c := &trial{tables: []*randomTable{table}, seed: seed}
		g := &grammar{r: r, tables: c.tables, types: types, leaves: 1}
		c.query = &query{}
		g.from(c.query, 0)
		g.item(c.query, g.failing())
		if g.chance(2) {
			c.query.where = g.boolean(1)
		}
		s, err := c.open(t.Context(), engine.Config{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want, err := enginetest.Reference(t.Context(), s.Engine, s.sql, c.now(everything))
		s.Close()
		code := code(err)
		if code == errs.Unsupported {
			continue
		}
		if err != nil {
			failed++
		}
		for _, w := range []way{{batch: 1, parallel: 1}, {batch: 7, parallel: 2}} {
			err := c.run(t.Context(), w, want)
			if errors.Is(err, errSkip) {
				continue
			}
			var got *errs.Error
			if errors.As(err, &got); (code == "") != (err == nil) || code != "" && (got == nil || got.Code != code) {
				t.Fatalf("seed %d, %v: %v, where the reference has code %q\n%s", seed, w, err, code, c.conformance(t.Context()))
			}
		}
	}
	if failed < int(n)/10 {
		t.Errorf("only %d of %d queries fail", failed, n)
	}
}
