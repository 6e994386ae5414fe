package expr

import "github.com/weirdb/weir/vector"

// Evaluator computes an expression over batches. It has scratch memory and belongs
// to one goroutine.
type Evaluator struct{}

// Compile prepares e for evaluation. It fails for constants that make no sense,
// such as a bad pattern.
func Compile(e Expr) (*Evaluator, error) { panic("not yet") }

// SetNow tells the evaluator the clock of the epoch, in milliseconds since 1970,
// which NOW() and its like read. It may be called between evaluations.
func (ev *Evaluator) SetNow(ms int64) {}

// Eval computes the expression on the live rows of b, which is borrowed. The result
// has b.Len() rows, in the order of the selection, and is the caller's.
func (ev *Evaluator) Eval(p *vector.Pool, b *vector.Batch) (*vector.Vector, error) { panic("not yet") }

// Predicate selects the rows on which a condition is TRUE. It has scratch memory and
// belongs to one goroutine.
type Predicate struct{}

// CompilePredicate prepares a BOOLEAN expression as a filter.
func CompilePredicate(e Expr) (*Predicate, error) { panic("not yet") }

// SetNow is Evaluator.SetNow.
func (pr *Predicate) SetNow(ms int64) {}

// Select finds the live rows of b, which is borrowed, on which the condition is
// TRUE: an Int32 column of physical positions in the order of b's selection, as
// Batch.Select takes it. It is the caller's.
func (pr *Predicate) Select(p *vector.Pool, b *vector.Batch) (*vector.Vector, error) {
	panic("not yet")
}
