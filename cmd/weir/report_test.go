package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
)

func TestReport(t *testing.T) {
	text := "-- bids\nSELECT auction,\n       prise FROM bid\n"
	at := errs.Position{Line: 3, Column: 8, Offset: 31}
	missing := errs.New(errs.NotFound, at, `column "prise" not found`).WithHint(`did you mean "price"?`)
	tests := []struct {
		name string
		s    script
		err  error
		want string
	}{
		{"file", script{"q.sql", text}, missing, `
weir: q.sql: line 3:8: column "prise" not found; did you mean "price"?
         prise FROM bid
         ^
`},
		{"flag", script{"", text}, missing, `
weir: line 3:8: column "prise" not found; did you mean "price"?
         prise FROM bid
         ^
`},
		{"wrapped", script{"q.sql", text}, fmt.Errorf("operator calc: %w", missing), `
weir: q.sql: operator calc: line 3:8: column "prise" not found; did you mean "price"?
         prise FROM bid
         ^
`},
		{"position in data", script{"q.sql", text}, errs.New(errs.Data, errs.Position{Line: 2}, "bad number").In("bid.csv"), `
weir: bid.csv: line 2: bad number
`},
		{"no position", script{"q.sql", text}, errors.New("disk full"), `
weir: disk full
`},
		{"several", script{"q.sql", text}, errors.Join(missing, errors.New("and more")), `
weir: q.sql: line 3:8: column "prise" not found; did you mean "price"?
         prise FROM bid
         ^
weir: and more
`},
		{"tab and wide characters", script{"", "\tSELECT '日本' x y"}, errs.New(errs.Syntax, errs.Position{Line: 1, Column: 16}, "no"), `
weir: line 1:16: no
  	SELECT '日本' x y
  	                ^
`},
		{"end of text", script{"", "SELECT"}, errs.New(errs.Syntax, errs.Position{Line: 1, Column: 7}, "no"), `
weir: line 1:7: no
  SELECT
        ^
`},
		{"beyond the text", script{"", "SELECT"}, errs.New(errs.Syntax, errs.Position{Line: 9, Column: 7}, "no"), `
weir: line 9:7: no
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			report(&out, tt.s, tt.err)
			if got := "\n" + out.String(); got != tt.want {
				t.Errorf("got%s\nwant%s", got, tt.want)
			}
		})
	}
}

func TestExcerptOfALongLine(t *testing.T) {
	text := strings.Repeat("a", 500) + "X" + strings.Repeat("b", 500)
	lines := strings.Split(excerpt(text, errs.At(text, 500)), "\n")
	if len(lines[0]) != excerptWidth+2 {
		t.Errorf("line of %d characters", len(lines[0]))
	}
	if at := strings.IndexByte(lines[1], '^'); at < 0 || lines[0][at] != 'X' {
		t.Errorf("caret at %d:\n%s\n%s", at, lines[0], lines[1])
	}
}

func TestProgressLine(t *testing.T) {
	for _, tt := range []struct {
		rows    int64
		loading []engine.LoadMetrics
		elapsed time.Duration
		want    string
	}{
		{0, nil, 0, "0 rows, 0/s, 0.0 s"},
		{1, nil, time.Second, "1 row, 1/s, 1.0 s"},
		{1234567, nil, 2500 * time.Millisecond, "1,234,567 rows, 493,826/s, 2.5 s"},
		{30, []engine.LoadMetrics{{Table: "rates", RowsRead: 20, RowsWaiting: 10}}, time.Second, "30 rows, 30/s, 1.0 s; loading rates: 20 rows, 10 wait"},
		{0, []engine.LoadMetrics{{Table: "c", RowsRead: 1}}, time.Second, "0 rows, 0/s, 1.0 s; loading c: 1 row"},
	} {
		if got := progressLine(engine.Metrics{SourceRows: tt.rows, Loading: tt.loading}, tt.elapsed); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
