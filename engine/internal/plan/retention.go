package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
)

// Retention says when state that nothing touches is forgotten: at Min at the earliest
// and at Max at the latest. The zero value keeps it for ever.
type Retention struct{ Min, Max time.Duration }

// Set reports whether anything is ever forgotten.
func (r Retention) Set() bool { return r.Max > 0 }

func (r Retention) String() string {
	if !r.Set() {
		return "ever"
	}
	return fmt.Sprintf("%s to %s", shortDuration(r.Min), shortDuration(r.Max))
}

// shortDuration is a duration without units of which there are none at its end.
func shortDuration(d time.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}

// retentions are those of an operator's state, input by input, as far as a hint has said
// or the pass retention has decided.
type retentions struct {
	of   [2]Retention
	hint [2]bool
}

// Retention is when the state of the operator for one of its inputs is forgotten.
func (b *base) Retention(input int) Retention { return b.keep.of[input] }

func (b *base) retentions() *retentions { return &b.keep }

func (r *retentions) hinted(input int, keep Retention) {
	r.of[input], r.hint[input] = keep, true
}

// stateTTL reads the hints STATE_TTL('name' = 'duration') of a SELECT: how long what is
// kept of a table or subquery in FROM stays, by its name there.
func stateTTL(s *parse.Select) (map[string]Retention, error) {
	var out map[string]Retention
	for _, h := range s.Hints {
		if h.Name != "STATE_TTL" {
			continue
		}
		names := fromNames(s.From, nil)
		if len(h.Args) > 0 || len(h.Options) == 0 {
			return nil, errs.New(errs.Invalid, h.At, "the hint STATE_TTL names tables of FROM with a duration each").
				WithHint("write STATE_TTL('t' = '1 h')")
		}
		for _, o := range h.Options {
			name := ""
			for _, n := range names {
				if strings.EqualFold(n, o.Key) {
					name = n
				}
			}
			if name == "" {
				return nil, hintNames(errs.New(errs.NotFound, o.At, "the hint STATE_TTL names %q, which FROM does not have", o.Key), o.Key, names, "FROM has")
			}
			d, err := connector.ParseDuration(o.Value)
			if err != nil {
				return nil, errs.New(errs.Invalid, o.ValueAt, "the hint STATE_TTL: %w", err)
			}
			if out == nil {
				out = map[string]Retention{}
			}
			out[name] = Retention{d, d + d/2}
		}
	}
	return out, nil
}

// fromNames are the names of what stands in FROM.
func fromNames(t parse.TableExpr, names []string) []string {
	if j, ok := t.(*parse.Join); ok {
		return fromNames(j.Right, fromNames(j.Left, names))
	}
	if name := fromName(t); name != "" {
		names = append(names, name)
	}
	return names
}

// fromName is the name of a table or subquery in FROM, or "".
func fromName(t parse.TableExpr) string {
	var alias *parse.Alias
	name := ""
	switch t := t.(type) {
	case *parse.TableName:
		alias, name = t.Alias, t.Name.Last().Value
	case *parse.DerivedTable:
		alias = t.Alias
	case *parse.TableFunction:
		alias = t.Alias
	}
	if alias != nil && !alias.Name.IsZero() {
		name = alias.Name.Value
	}
	return name
}

// hintJoin gives a join what the hints of its SELECT say of its sides.
func (b *binder) hintJoin(n *Join, j *parse.Join) {
	for i, side := range []parse.TableExpr{j.Left, j.Right} {
		if keep, ok := b.ttl[fromName(side)]; ok {
			n.keep.hinted(i, keep)
		}
	}
}

// hintAggregates gives the aggregates and the numbering between a SELECT's result and its
// FROM what the hints say, if FROM is one table.
func (b *binder) hintAggregates(s *parse.Select, n, from Node) {
	keep, ok := b.ttl[fromName(s.From)]
	for ok && n != from && len(n.Inputs()) == 1 {
		switch n := n.(type) {
		case *Aggregate:
			n.keep.hinted(0, keep)
		case *Rank:
			n.keep.hinted(0, keep)
		case *Over:
			n.keep.hinted(0, keep)
		}
		n = n.Inputs()[0]
	}
}

// keepState decides for every operator with state when that is forgotten: as a hint has
// it, or else the session. What is bounded by few rows, and what nothing would ever
// leave idle, is kept: the group of an aggregate without keys, sorted rows.
func keepState(keep Retention) func(Node) (Node, error) {
	done := map[Node]bool{}
	var pass func(n Node) (Node, error)
	pass = func(n Node) (Node, error) {
		if done[n] {
			return n, nil
		}
		done[n] = true
		for _, in := range n.Inputs() {
			if _, err := pass(in); err != nil {
				return nil, err
			}
		}
		if sides := forgets(n); sides > 0 {
			r := n.retentions()
			for i := range sides {
				if !r.hint[i] {
					r.of[i] = keep
				}
			}
			if onlyRight(n) {
				r.of[0] = Retention{}
			}
		} else {
			*n.retentions() = retentions{}
		}
		return n, nil
	}
	return pass
}

// onlyRight reports whether an operator of two inputs forgets nothing of the left one.
func onlyRight(n Node) bool {
	switch n := n.(type) {
	case *TemporalJoin:
		return true
	case *Join:
		return n.Snapshot != nil
	}
	return false
}

// forgets is the number of inputs of which an operator can forget state.
func forgets(n Node) int {
	switch n := n.(type) {
	case *TemporalJoin:
		return 2
	case *Aggregate:
		if len(n.Keys) > 0 {
			return 1
		}
	case *Join:
		if !n.byTime() && n.Lookup == nil {
			return 2
		}
	case *Rank:
		if len(n.Partition) > 0 && !n.windowed() {
			return 1
		}
	case *Over:
		if n.forgets() {
			return 1
		}
	case *Normalize, *Materialize, *SetOperation:
		return 1
	}
	return 0
}

// bound is what the state of an operator is bounded by, which forgets what is kept of so
// many inputs, and of which it was said what it grows with.
func (r *retentions) bound(state string, sides int) string {
	of := r.of[:sides]
	if state == "" || sides == 0 {
		return state
	}
	if sides == 2 && of[0] == of[1] {
		of = of[:1]
	}
	what, grows := strings.CutPrefix(state, "grows with ")
	if !grows {
		what = strings.TrimPrefix(state, "bounded by ")
	}
	switch {
	case len(of) == 1 && !of[0].Set():
		return state
	case len(of) == 1:
		return "bounded by " + what + " touched within " + of[0].String()
	case of[0].Set() && of[1].Set():
		return fmt.Sprintf("bounded by %s touched within %s (left), %s (right)", what, of[0], of[1])
	}
	side := [...]string{"left", "right"}
	for i := range of {
		if of[i].Set() {
			return fmt.Sprintf("%s; of the %s those touched within %s", state, side[i], of[i])
		}
	}
	return state
}
