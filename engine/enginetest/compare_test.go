package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/enginetest"
	"github.com/weirdb/weir/engine/internal/ref"
	"github.com/weirdb/weir/engine/sqltype"
)

// counted is how often each row is there.
func counted(types []sqltype.Type, rows []enginetest.Row) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		out[ref.Key(types, r)]++
	}
	return out
}

// compare holds the content of a sink against the result that is wanted, as far as the
// rows alone decide it.
func compare(got map[string]int, want enginetest.Result) error {
	switch want.Rule {
	case ref.Exactly:
		return sameRows(got, counted(want.Schema.Types(), want.Rows))
	case ref.Choice:
		return chosen(got, want)
	}
	return nil
}

func sameRows(got, want map[string]int) error {
	diff, n, all := map[string]int{}, 0, 0
	for text, count := range got {
		diff[text] += count
		n += count
	}
	for text, count := range want {
		diff[text] -= count
		all += count
	}
	var s strings.Builder
	for text, count := range diff {
		if count != 0 {
			fmt.Fprintf(&s, "\n\t%+d  %s", count, text)
		}
	}
	if s.Len() == 0 {
		return nil
	}
	return fmt.Errorf("of %d rows, %d wanted, the engine has%s", n, all, s.String())
}

// chosen checks what a LIMIT without a total order has taken.
func chosen(got map[string]int, want enginetest.Result) error {
	types := want.Schema.Types()
	n := 0
	for _, count := range got {
		n += count
	}
	if want.Take >= 0 && n != want.Take {
		return fmt.Errorf("the engine has %d rows, %d wanted", n, want.Take)
	}
	from, sure := counted(types, want.Rows), counted(types, want.Rows[:want.Sure])
	for text, count := range got {
		if count > from[text] {
			return fmt.Errorf("the engine has %d times a row that is there %d times\n\t%s", count, from[text], text)
		}
	}
	for text, count := range sure {
		if count > got[text] {
			return fmt.Errorf("the engine has %d times a row that is among the first %d times\n\t%s", got[text], count, text)
		}
	}
	return nil
}

// compare holds what a sink was given against the result that is wanted of prefixes of
// the tables. Where the order in which rows come decides, a run that reads one after
// the other has to come to that very result.
func (c *trial) compare(ctx context.Context, s *session, w way, changes []rowChange, want enginetest.Result, prefix func(*randomTable, int) int) error {
	rows, err := live(changes, s.sink.types, s.sink.key)
	if err != nil {
		return err
	}
	got := counted(s.sink.types, rows)
	if want.Rule == ref.Exactly {
		return compare(got, want)
	}
	if c.several != nil {
		c.several.Add(1)
	}
	if want.InOrder && w.unsplit && w.parallel == 1 {
		return sameRows(got, counted(s.sink.types, want.Arrived))
	}
	if want.Rule == ref.Columns {
		return c.compareColumns(ctx, s, rows, want, prefix)
	}
	return compare(got, want)
}

// compareColumns compares what is sure of the rows. Each value that is open has to be
// one that comes out when the rows of the tables come in some order; which characters a
// text has is what matters then, since LISTAGG has more orders than can be tried.
func (c *trial) compareColumns(ctx context.Context, s *session, rows []enginetest.Row, want enginetest.Result, prefix func(*randomTable, int) int) error {
	types := want.Schema.Types()
	var sure []int
	for i := range types {
		if !want.Open[i] {
			sure = append(sure, i)
		}
	}
	part := func(r enginetest.Row, cols []int) string { return keyOf(types, r, cols) }
	got, wanted := map[string]int{}, map[string]int{}
	missing := map[string]bool{} // column and row that no order has shown
	for _, r := range rows {
		got[part(r, sure)]++
		for i, open := range want.Open {
			if open {
				missing[valueText(types, r, sure, i)] = true
			}
		}
	}
	for _, r := range want.Rows {
		wanted[part(r, sure)]++
	}
	if err := sameRows(got, wanted); err != nil {
		return fmt.Errorf("but for columns that depend on an order: %w", err)
	}
	if c.timed {
		return nil // what is late and when windows are over decides which orders there are
	}
	random := rand.New(rand.NewPCG(c.seed, 4))
	for tries := 0; len(missing) > 0; tries++ {
		if tries == 300 {
			for text := range missing {
				return errors.New("no order of the rows shows\n\t" + text)
			}
		}
		other, err := enginetest.Reference(ctx, s.Engine, s.sql, c.shuffled(prefix, func(rows []ref.Row) {
			random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}))
		if err != nil {
			return err
		}
		for _, r := range other.Rows {
			for i, open := range want.Open {
				if open {
					delete(missing, valueText(types, r, sure, i))
				}
			}
		}
	}
	return nil
}

// valueText is the value of a column, its characters in order, beside what is sure of
// its row.
func valueText(types []sqltype.Type, r enginetest.Row, sure []int, i int) string {
	letters := []rune(keyOf(types, r, []int{i}))
	slices.Sort(letters)
	return fmt.Sprint(i, " ", keyOf(types, r, sure), ": ", string(letters))
}
