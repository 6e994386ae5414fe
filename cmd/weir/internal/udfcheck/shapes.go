package udfcheck

import (
	"errors"
	"fmt"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// maxFuel is about what one check may spend: a few seconds.
const maxFuel = 2_000_000_000

// shapes tries the rows of base in batches of other shapes.
func (k *checker) shapes() {
	byRow := !k.fn.Kind.HasState() // the result is one of each row
	want, err := k.fresh(&udf.Call{Args: k.base, Rows: k.rows})
	if err != nil {
		k.report("replay", Broken, "the same batch was accepted before: %s", err)
		return
	}
	defer want.release()
	k.cost = k.fn.Metrics().Fuel / max(1, k.fn.Metrics().Rows)
	for _, v := range append(append([]*vector.Vector{}, k.base...), want.columns...) {
		k.bytes += v.Size()
	}
	k.try("replay", func() (string, error) { // the same seed and time: the same result, deterministic or not
		return k.compare(want, "a second fresh instance gave another result for the same batch, seed and time: ", &udf.Call{Args: k.base, Rows: k.rows})
	})
	k.try("one row", func() (string, error) {
		out, err := k.fresh(&udf.Call{Args: k.base, Rows: 1})
		if err != nil {
			return "", err
		}
		defer out.release()
		if !byRow || !k.fn.Deterministic {
			return "", nil
		}
		first := want.only(k.pool, 0, 1)
		defer first.release()
		return prefix("the first row alone gives another result: ", difference(first, out, false)), nil
	})
	k.try("selected rows", func() (string, error) { return k.selected() })
	k.try("NULLs", func() (string, error) { return k.nulls() })
	k.try("only NULLs", func() (string, error) {
		cols, err := k.columns(64, 1)
		if err != nil {
			return "", err
		}
		defer release(cols)
		return k.accepts(&udf.Call{Args: cols, Rows: 64})
	})
	if len(k.base) > 0 {
		k.try("constants", func() (string, error) { return k.constants() })
	}
	k.try("big batch", func() (string, error) { return k.big() })
	if k.fn.Deterministic {
		if byRow {
			k.try("rows on their own", func() (string, error) { return k.halves(want) })
		}
		k.try("used instance", func() (string, error) { return k.used(want) })
	}
	k.try("many batches", func() (string, error) { return k.many() })
}

// compare evaluates a call on a fresh instance and compares.
func (k *checker) compare(want *outcome, what string, c *udf.Call) (string, error) {
	out, err := k.fresh(c)
	if err != nil {
		return "", err
	}
	defer out.release()
	return prefix(what, difference(want, out, false)), nil
}

func prefix(what, text string) string {
	if text == "" {
		return ""
	}
	return what + text
}

// accepts evaluates a call that the function may refuse, but not break on.
func (k *checker) accepts(c *udf.Call) (string, error) {
	out, err := k.fresh(c)
	if _, ok := refusedRow(err); ok {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	out.release()
	return "", nil
}

// selected compares every third row from the last to the first, selected, with the
// same rows copied together.
func (k *checker) selected() (string, error) {
	var sel []int32
	for i := k.rows - 1; i >= 0; i -= 3 {
		sel = append(sel, int32(i))
	}
	dense := make([]*vector.Vector, len(k.base))
	for i, c := range k.base {
		dense[i] = c.Take(k.pool, sel)
	}
	defer release(dense)
	want, err := k.fresh(&udf.Call{Args: dense, Rows: len(sel)})
	if err != nil {
		return "", err
	}
	defer want.release()
	return k.compare(want, "selected rows give another result than the same rows copied: ", &udf.Call{Args: k.base, Rows: len(sel), Sel: sel})
}

// nulls puts NULL into a third of the values.
func (k *checker) nulls() (string, error) {
	cols := make([]*vector.Vector, len(k.base))
	for i, c := range k.base {
		b := vector.NewColumnBuilder(k.pool, c.Kind())
		for r := range k.rows {
			if k.values.rand.IntN(3) == 0 && !k.inputs[i].NotNull {
				b.AppendNull()
			} else {
				b.AppendFrom(c, r)
			}
		}
		cols[i] = b.Finish()
	}
	defer release(cols)
	out, err := k.fresh(&udf.Call{Args: cols, Rows: k.rows})
	if _, ok := refusedRow(err); ok {
		return "", nil
	} else if err != nil {
		return "", err
	}
	defer out.release()
	if !k.fn.Strict || k.fn.Kind != abi.Scalar {
		return "", nil
	}
	want, err := k.fresh(&udf.Call{Args: k.base, Rows: k.rows})
	if err != nil {
		return "", err
	}
	defer want.release()
	for r := range k.rows {
		null := false
		for _, c := range cols {
			null = null || c.IsNull(r)
		}
		switch {
		case null != out.columns[0].IsNull(r) && null:
			return fmt.Sprintf("row %d has a NULL and a result", r), nil
		case !null && k.fn.Deterministic && !same(k.fn.Returns, want.columns[0], r, out.columns[0], r, false):
			return fmt.Sprintf("row %d, without a NULL, is %s among rows with NULLs and %s without", r,
				show(k.fn.Returns, out.columns[0], r), show(k.fn.Returns, want.columns[0], r)), nil
		}
	}
	return "", nil
}

// constants passes each argument as one row that stands for all.
func (k *checker) constants() (string, error) {
	for i := range k.base {
		one := k.base[i].Slice(k.pool, 0, 1)
		all := make([]int32, k.rows)
		wide := k.base[i].Take(k.pool, all)
		cols, expanded := append([]*vector.Vector{}, k.base...), append([]*vector.Vector{}, k.base...)
		cols[i], expanded[i] = one, wide
		constant := make([]bool, len(cols))
		constant[i] = true
		wrong, err := func() (string, error) {
			want, err := k.fresh(&udf.Call{Args: expanded, Rows: k.rows})
			if _, ok := refusedRow(err); ok {
				return "", nil
			} else if err != nil {
				return "", err
			}
			defer want.release()
			return k.compare(want, fmt.Sprintf("argument %d as a constant gives another result than as a column: ", i+1),
				&udf.Call{Args: cols, Rows: k.rows, Constant: constant})
		}()
		one.Release()
		wide.Release()
		if wrong != "" || err != nil {
			return wrong, err
		}
	}
	return "", nil
}

// big tries more rows than one call takes and, where that is beyond the function's
// limits, as many as the engine sends in one batch; of rows that take much memory, as many
// as arguments and results of a quarter of the function's.
func (k *checker) big() (string, error) {
	wrong, err := "", error(nil)
	fit := int(k.fn.Module().Limits().Memory) / 4 / max(1, k.bytes/k.rows)
	for _, n := range []int{bigRows, min(vector.Target, max(fit, k.rows))} {
		if n > vector.Target && k.cost > maxFuel/bigRows {
			continue // it would take too long
		}
		wrong, err = k.repeated(n)
		var f *udf.Fault
		if !errors.As(err, &f) || f.Cause == udf.Broken {
			break
		}
	}
	return wrong, err
}

// repeated tries a batch of n rows, those of base again and again.
func (k *checker) repeated(n int) (string, error) {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i % k.rows)
	}
	cols := make([]*vector.Vector, len(k.base))
	for i, c := range k.base {
		cols[i] = c.Take(k.pool, rows)
	}
	defer release(cols)
	out, err := k.fresh(&udf.Call{Args: cols, Rows: n})
	if _, ok := refusedRow(err); ok && k.fn.Kind.HasState() {
		return "", nil // so many rows of a group may be too much
	}
	if err != nil {
		return "", err
	}
	defer out.release()
	if k.fn.Kind != abi.Scalar || !k.fn.Deterministic {
		return "", nil
	}
	for r := k.rows; r < n; r++ {
		if !same(k.fn.Returns, out.columns[0], r, out.columns[0], r%k.rows, false) {
			return fmt.Sprintf("rows %d and %d are equal, their results are %s and %s", r%k.rows, r,
				show(k.fn.Returns, out.columns[0], r%k.rows), show(k.fn.Returns, out.columns[0], r)), nil
		}
	}
	return "", nil
}

// halves compares the rows of two batches with those of one.
func (k *checker) halves(want *outcome) (string, error) {
	cut := k.rows / 3
	for _, part := range [][2]int{{0, cut}, {cut, k.rows}} {
		cols := make([]*vector.Vector, len(k.base))
		for i, c := range k.base {
			cols[i] = c.Slice(k.pool, part[0], part[1])
		}
		expect := want.only(k.pool, part[0], part[1])
		wrong, err := k.compare(expect, "rows depend on what else is in the batch: ", &udf.Call{Args: cols, Rows: part[1] - part[0]})
		expect.release()
		release(cols)
		if wrong != "" || err != nil {
			return wrong, err
		}
	}
	return "", nil
}

// used calls an instance with other batches first.
func (k *checker) used(want *outcome) (string, error) {
	in, err := k.fn.Open(k.ctx, nil)
	if err != nil {
		return "", err
	}
	defer in.Close()
	var back []int32
	for i := k.rows - 1; i >= 0; i-- {
		back = append(back, int32(i))
	}
	for n := k.rows; n > 0; n /= 7 {
		out, err := k.evaluate(in, &udf.Call{Args: k.base, Rows: n, Sel: back, Seed: uint64(n), Now: int64(n)})
		if err != nil {
			return "", err
		}
		out.release()
	}
	out, err := k.evaluate(in, &udf.Call{Args: k.base, Rows: k.rows, Seed: 99, Now: 99})
	if err != nil {
		return "", err
	}
	defer out.release()
	return prefix("it is declared deterministic, but an instance that has seen other batches, another time and another seed gives another result: ",
		difference(want, out, false)), nil
}

// many calls one instance so often that what it forgets to free shows as a memory
// that fills up.
func (k *checker) many() (string, error) {
	in, err := k.fn.Open(k.ctx, nil)
	if err != nil {
		return "", err
	}
	defer in.Close()
	const warm = 50
	calls := min(max(int(maxFuel/max(1, k.cost*int64(k.rows))), warm+20), 300)
	size := int64(0)
	for i := range calls {
		out, err := k.evaluate(in, &udf.Call{Args: k.base, Rows: k.rows})
		if err != nil {
			return fmt.Sprintf("batch %d of the same rows failed: %s", i+1, err), nil
		}
		out.release()
		if i == warm {
			size = in.Memory()
		}
	}
	if grown := in.Memory() - size; grown > size/4+(1<<20) {
		return fmt.Sprintf("its memory grew by %d KiB over %d batches of the same rows", grown>>10, calls-warm), nil
	}
	return "", nil
}
