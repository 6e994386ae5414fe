package rows_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// TestRoundTrip: what ParseRow reads FromBatch writes.
func TestRoundTrip(t *testing.T) {
	schema := sqltype.Schema{
		{Name: "b", Type: sqltype.BoolType},
		{Name: "i", Type: sqltype.IntType},
		{Name: "t", Type: sqltype.TinyType},
		{Name: "d", Type: sqltype.DoubleType},
		{Name: "c", Type: sqltype.DecimalOf(10, 2)},
		{Name: "s", Type: sqltype.StringType},
		{Name: "x", Type: sqltype.BytesType},
		{Name: "day", Type: sqltype.DateType},
		{Name: "tm", Type: sqltype.Type{ID: sqltype.Time, Precision: 3}},
		{Name: "ts", Type: sqltype.TimestampOf(3)},
		{Name: "tz", Type: sqltype.TimestampLTZOf(6)},
	}
	for _, line := range []string{
		"+I TRUE -7 127 1.5 -0.05 word x'00ff' 2001-01-01 01:02:03.5 '2001-01-01 06:55:00.25' '2001-01-01 06:55:00.000001Z'",
		"-U FALSE 0 -128 1.0E10 12345678.90 'two words' x'' 1969-12-31 00:00:00 00:00:03 00:00:03Z",
		"+U NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL",
		"-D TRUE 1 1 NaN 0.00 'it''s' x'' 1970-01-01 00:00:00 '1969-12-31 23:59:59.999' 00:00:00Z",
		"+I TRUE 1 1 -Infinity 0.00 'NULL' x'' 1970-01-01 00:00:00 00:00:00 00:00:00Z",
		"+I TRUE 1 1 0.0 0.00 '' x'' 1970-01-01 00:00:00 00:00:00 00:00:00Z",
	} {
		b := vector.NewBuilder(vector.NewPool(), schema.Kinds())
		if err := rows.ParseRow(b, schema, line); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := rows.FromBatch(nil, schema, b.Finish())[0].String(); got != line {
			t.Errorf("got  %s\nwant %s", got, line)
		}
	}
}

func TestParseRowErrors(t *testing.T) {
	schema := sqltype.Schema{{Name: "i", Type: sqltype.TinyType}, {Name: "c", Type: sqltype.DecimalOf(4, 1)}}
	for line, want := range map[string]string{
		"+I 1":     "1 values for 2 columns",
		"*I 1 1":   "no row kind",
		"+I 128 1": `"128" is no TINYINT`,
		"+I x 1":   `"x" is no TINYINT`,
		"+I 1 x":   `"x" is no DECIMAL(4, 1)`,
		"+I 1 'x":  "' is missing",
	} {
		b := vector.NewBuilder(vector.NewPool(), schema.Kinds())
		if err := rows.ParseRow(b, schema, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}

func TestFold(t *testing.T) {
	row := func(kind vector.RowKind, values ...string) rows.Row { return rows.Row{Kind: kind, Values: values} }
	changes := []rows.Row{
		row(vector.Insert, "b", "1"), row(vector.Insert, "a", "1"), row(vector.Insert, "b", "1"),
		row(vector.UpdateBefore, "a", "1"), row(vector.UpdateAfter, "a", "2"), row(vector.Delete, "c", "1"),
	}
	if _, err := rows.Fold(changes, nil); err == nil || !strings.Contains(err.Error(), "c 1") {
		t.Errorf("a row taken away and never added: %v", err)
	}
	got, err := rows.Fold(append(changes, row(vector.Insert, "c", "1")), nil)
	if want := []string{"a 2", "b 1", "b 1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	upserts := []rows.Row{
		row(vector.Insert, "a", "1"), row(vector.Insert, "b", "1"), row(vector.UpdateAfter, "a", "2"), row(vector.Delete, "b", "0"),
	}
	got, err = rows.Fold(upserts, []int{0})
	if want := []string{"a 2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
