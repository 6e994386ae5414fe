package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/weirdb/weir/conformance/rows"
	"github.com/weirdb/weir/conformance/scenario"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

// compare reports how a result differs from what is expected: change by change
// when the case and exact say so, else by the content that is left at the end.
func (e Expected) compare(result *scenario.Result, exact bool) error {
	exact = exact && e.Strict == "changelog" && e.Changelog != nil
	var want []string
	changes, err := parseRows(result.Schema, withoutRepeats(e.Changelog), Row.appendChange)
	if err == nil && e.Changelog != nil && (exact || e.Final == nil) {
		want, err = listed(result, changes, exact)
	} else if err == nil {
		var content []rows.Row
		if content, err = parseRows(result.Schema, e.Final, Row.appendValues); err == nil {
			want, err = rows.Fold(roundFloats(result.Schema, content), nil)
		}
	}
	if err != nil {
		return fmt.Errorf("the rows expected: %w", err)
	}
	got, err := listed(result, result.Rows, exact)
	if err != nil {
		return err
	}
	if exact && e.Order != "exact" {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		return errors.New(difference(got, want))
	}
	return nil
}

// withoutRepeats leaves out updates that change nothing. The origin has them where an
// accumulator has changed and its value has not.
func withoutRepeats(changes []Row) []Row {
	var out []Row
	for i := 0; i < len(changes); i++ {
		if i+1 < len(changes) && changes[i][0] == "-U" && changes[i+1][0] == "+U" && reflect.DeepEqual(changes[i][1:], changes[i+1][1:]) {
			i++
			continue
		}
		out = append(out, changes[i])
	}
	return out
}

// listed are changes as lines, or else the content that they leave.
func listed(result *scenario.Result, changes []rows.Row, exact bool) ([]string, error) {
	changes = roundFloats(result.Schema, changes)
	if !exact {
		return rows.Fold(changes, result.Key)
	}
	out := make([]string, len(changes))
	for i, r := range changes {
		out[i] = r.String()
	}
	return out, nil
}

// roundFloats leaves off the last digits of approximate numbers, which depend on
// the order of additions.
func roundFloats(schema sqltype.Schema, in []rows.Row) []rows.Row {
	out := slices.Clone(in)
	for c, col := range schema {
		digits := 12
		if col.Type.ID == sqltype.Float {
			digits = 5
		}
		if !col.Type.IsApprox() {
			continue
		}
		for i, r := range out {
			if f, err := strconv.ParseFloat(r.Values[c], 64); err == nil {
				r.Values = slices.Clone(r.Values)
				r.Values[c] = strconv.FormatFloat(f, 'g', digits, 64)
				out[i] = r
			}
		}
	}
	return out
}

// difference shows the first lines that one side has and the other has not.
func difference(got, want []string) string {
	minus := func(a, b []string) string {
		left := map[string]int{}
		for _, s := range b {
			left[s]++
		}
		var only []string
		for _, s := range a {
			if left[s]--; left[s] < 0 {
				only = append(only, s)
			}
		}
		const most = 5
		if len(only) > most {
			return strings.Join(only[:most], " | ") + fmt.Sprintf(" | and %d more", len(only)-most)
		}
		return strings.Join(only, " | ")
	}
	missing, extra := minus(want, got), minus(got, want)
	switch {
	case missing == "" && extra == "":
		return "the order differs"
	case missing == "":
		return "unexpected " + extra
	case extra == "":
		return "missing " + missing
	}
	return "missing " + missing + "; unexpected " + extra
}

// parseRows reads rows of a case.
func parseRows(schema sqltype.Schema, in []Row, appendRow func(Row, *vector.Builder, sqltype.Schema) error) ([]rows.Row, error) {
	b := vector.NewBuilder(vector.NewPool(), schema.Kinds())
	for _, r := range in {
		if err := appendRow(r, b, schema); err != nil {
			return nil, err
		}
	}
	return rows.FromBatch(nil, schema, b.Finish()), nil
}

// appendChange appends a row that begins with its kind.
func (r Row) appendChange(b *vector.Builder, schema sqltype.Schema) error {
	_, r = r.phase()
	if len(r) == 0 {
		return errors.New("a row without a kind")
	}
	kind, ok := vector.ParseRowKind(fmt.Sprint(r[0]))
	if !ok {
		return fmt.Errorf("%v is no row kind", r[0])
	}
	return r[1:].append(b, schema, kind)
}

// appendValues appends a row without a kind.
func (r Row) appendValues(b *vector.Builder, schema sqltype.Schema) error {
	return r.append(b, schema, vector.Insert)
}

func (r Row) append(b *vector.Builder, schema sqltype.Schema, kind vector.RowKind) error {
	if len(r) != len(schema) {
		return fmt.Errorf("%d values for %d columns: %v", len(r), len(schema), r)
	}
	for i, c := range schema {
		if err := appendValue(b.Col(i), c.Type, r[i]); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	b.EndRow(kind)
	return nil
}

func appendValue(c *vector.ColumnBuilder, t sqltype.Type, v any) error {
	switch v := v.(type) {
	case nil:
		c.AppendNull()
		return nil
	case bool:
		return rows.AppendValue(c, t, strconv.FormatBool(v))
	case json.Number:
		return rows.AppendValue(c, t, v.String())
	case string:
		if raw, ok := strings.CutPrefix(v, "utf8:"); ok && t.IsBinary() {
			c.AppendString(raw)
			return nil
		}
		if t.IsString() { // also one that is too long for its type
			c.AppendString(v)
			return nil
		}
		return rows.AppendValue(c, t, v)
	case []any:
		if t.IsBinary() {
			var raw []byte
			for _, x := range v {
				n, err := strconv.ParseInt(fmt.Sprint(x), 10, 16)
				if err != nil {
					return err
				}
				raw = append(raw, byte(n))
			}
			c.AppendBytes(raw)
			return nil
		}
		if t.ID == sqltype.Array || t.ID == sqltype.Row && len(v) == len(t.Fields) {
			return appendNested(c, t, v)
		}
	case map[string]any:
		if entries, ok := v["map"].([]any); ok && (t.ID == sqltype.Map || t.ID == sqltype.Multiset) {
			return appendNested(c, t, entries)
		}
	}
	return skip("values of type " + t.String())
}

// appendNested appends an ARRAY of the values, a ROW, or a MAP of entries [k, v].
func appendNested(c *vector.ColumnBuilder, t sqltype.Type, vs []any) error {
	types := t.Children()
	for i, v := range vs {
		parts, child := []any{v}, 0
		switch t.ID {
		case sqltype.Row:
			child = i
		case sqltype.Map, sqltype.Multiset:
			if parts, _ = v.([]any); len(parts) != 2 {
				return fmt.Errorf("%v is no entry of a map", v)
			}
		}
		for k, part := range parts {
			if err := appendValue(c.Child(child+k), types[child+k], part); err != nil {
				return err
			}
		}
	}
	c.EndValue()
	return nil
}
