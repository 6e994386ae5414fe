package errs_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/weirdb/weir/engine/errs"
)

func Example() {
	sql := "SELECT\n  prise FROM orders"
	err := errs.New(errs.NotFound, errs.At(sql, 9), "column %q not found", "prise").
		WithHint("%s", errs.DidYouMean("prise", []string{"amount", "price"}))
	fmt.Println(err)
	fmt.Println(errs.CodeOf(fmt.Errorf("query 7: %w", err)))
	// Output:
	// line 2:3: column "prise" not found; did you mean "price"?
	// NOT_FOUND
}

func TestErrorText(t *testing.T) {
	cause := io.ErrUnexpectedEOF
	err := errs.New(errs.Data, errs.Position{Line: 7}, "cannot read: %w", cause).In("bids.csv")
	if got, want := err.Error(), "bids.csv: line 7: cannot read: unexpected EOF"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if errs.CodeOf(cause) != errs.Internal {
		t.Error("an error without a code must count as internal")
	}
}

func TestPositionsCountCharacters(t *testing.T) {
	text := "a\nbäc"
	for offset, want := range map[int]string{0: "line 1:1", 1: "line 1:2", 2: "line 2:1", 5: "line 2:3", 99: "line 2:4", -1: "line 1:1"} {
		if got := errs.At(text, offset).String(); got != want {
			t.Errorf("offset %d: %s, want %s", offset, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	have := []string{"price", "product", "currency", "id"}
	for name, want := range map[string]string{"prise": "price", "PRICE": "price", "pirce": "price", "currncy": "currency", "di": "id", "zebra": "", "": ""} {
		if got := errs.Suggest(name, have); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", name, got, want)
		}
	}
}
