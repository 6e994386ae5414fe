package udfcheck

import (
	"context"
	"errors"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// Accepted makes n rows of values that the function takes, repeating some where it
// refuses others. The columns are the caller's.
func Accepted(ctx context.Context, f *udf.Function, p *vector.Pool, seed uint64, given map[string][]string, n int) ([]*vector.Vector, error) {
	k := newChecker(ctx, f, p, Options{Seed: seed, Values: given})
	if err := k.accept(); err != nil {
		return nil, err
	}
	defer release(k.base)
	if k.rows == 0 {
		return nil, errors.New("every row was refused: give values with --values, as --values currency=EUR,JPY")
	}
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i % k.rows)
	}
	var cols []*vector.Vector
	for _, c := range k.base {
		cols = append(cols, c.Take(p, rows))
	}
	return cols, nil
}
