package op_test

import (
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/exec/exectest"
	"github.com/weirdb/weir/engine/internal/op"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func lengthCase(strict bool, events ...exectest.Event) exectest.Case {
	cols := []op.TextColumn{
		{Column: 1, Name: "c", Type: sqltype.Type{ID: sqltype.Char, Precision: 3}},
		{Column: 2, Name: "v", Type: sqltype.Type{ID: sqltype.Varchar, Precision: 2}},
	}
	s := schema("k bigint", "c string", "v string")
	return exectest.Case{
		New:       func() (exec.Operator, error) { return op.NewTextLength("t", cols, strict), nil },
		Kinds:     [][]vector.Kind{s.Kinds()},
		Events:    events,
		KeepNulls: true,
	}
}

func TestTextLength(t *testing.T) {
	t.Parallel()
	got := exectest.Run(t, lengthCase(false,
		exectest.Rows(0, "1 abc ab", "2 abcd abc", "3 x x", "4 NULL NULL", "-D 2 äöüß äöü", "5 '' ''"), exectest.Mark(),
		exectest.Rows(0, "6 abc a"),
	))
	changesEqual(t, got.Changes(), "+I 1 abc ab", "+I 2 abc ab", "+I 3 'x  ' x", "+I 4 NULL NULL", "-D 2 äöü äö", "+I 5 '   ' ''", "+I 6 abc a")
}

func TestTextLengthStrict(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		"1 abc ab":    "",
		"1 NULL NULL": "",
		"1 äöü äö":    "",
		"1 abcd ab":   `column "c" of table "t" is CHAR(3), and the query gave a value of 4 characters`,
		"1 ab ab":     `column "c" of table "t" is CHAR(3), and the query gave a value of 2 characters`,
		"1 abc abc":   `column "v" of table "t" is VARCHAR(2), and the query gave a value of 3 characters`,
	} {
		switch _, err := drive(t, lengthCase(true), row); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", row, err)
		case want != "" && (errs.CodeOf(err) != errs.Data || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%s: %v", row, err)
		}
	}
}

func TestDropNull(t *testing.T) {
	t.Parallel()
	s := schema("a bigint", "b string")
	for rule, want := range map[op.NullRule][]string{
		op.DropNull:    {"+I 1 x", "-D 1 x"},
		op.DropNewNull: {"+I 1 x", "-D 2 NULL", "-D 1 x"},
	} {
		got := exectest.Run(t, exectest.Case{
			New: func() (exec.Operator, error) {
				return op.NewNotNull(op.NotNullSpec{Table: "t", Columns: []int{1}, Names: []string{"b"}, Rule: rule}), nil
			},
			Kinds:     [][]vector.Kind{s.Kinds()},
			Events:    []exectest.Event{exectest.Rows(0, "1 x", "2 NULL", "-D 2 NULL", "-D 1 x")},
			KeepNulls: true,
		})
		changesEqual(t, got.Changes(), want...)
	}
}
