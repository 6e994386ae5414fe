package connector

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/errs"
)

// OptionType is the form of an option's value.
type OptionType uint8

// The forms.
const (
	TextOption     OptionType = iota
	IntOption                 // a whole number
	FloatOption               // a number
	BoolOption                // true or false
	DurationOption            // as '10 s', '1 min', '500ms'
	SizeOption                // a number of bytes, as '16 mb', '64kib'
)

// Option declares an option of a connector or format.
type Option struct {
	// Name is the key. One '#' in it stands for any text, as in "fields.#.kind".
	Name     string
	Type     OptionType
	Default  string // "" : none
	Required bool
	Choices  []string // the values allowed, when they are few
	Doc      string
}

// Options are the options of one table, checked against their declarations.
// Getters panic when the option was not declared or has another type.
type Options struct {
	table    *Table
	declared []Option
	values   map[string]optionValue
}

type optionValue struct {
	text string
	num  int64
	real float64
}

// ParseOptions checks the options of a table against the declared ones: names,
// values, and that none is missing. It reports all problems.
func ParseOptions(t *Table, declared []Option) (Options, error) {
	o := Options{table: t, declared: declared, values: make(map[string]optionValue, len(t.Options))}
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(t.Options)) {
		d, ok := o.declaration(key)
		if !ok {
			problems = append(problems, o.unknown(key))
			continue
		}
		v, err := d.parse(t.Options[key])
		if err != nil {
			problems = append(problems, o.Errorf(key, "option '%s': %w", key, err))
			continue
		}
		o.values[key] = v
	}
	for _, d := range declared {
		if _, ok := t.Options[d.Name]; d.Required && !ok {
			problems = append(problems, errs.New(errs.Option, t.Pos, "table %q needs the option '%s': %s", t.Name, d.Name, d.Doc))
		}
	}
	if len(problems) == 1 {
		return o, problems[0]
	}
	return o, errors.Join(problems...)
}

func (o Options) unknown(key string) error {
	names := make([]string, len(o.declared))
	for i, d := range o.declared {
		names[i] = d.Name
		if pre, post, ok := strings.Cut(d.Name, "#"); ok {
			// Offer the name with the user's own text in the place of '#'.
			parts := strings.Split(key, ".")
			if len(parts) == 3 && strings.Count(d.Name, ".") == 2 {
				names[i] = pre + parts[1] + post
			}
		}
	}
	e := o.Errorf(key, "unknown option '%s' for table %q", key, o.table.Name)
	if hint := errs.DidYouMean(key, names); hint != "" {
		return e.WithHint("%s", hint)
	}
	return e.WithHint("the options are %s", strings.Join(names, ", "))
}

func (o Options) declaration(key string) (Option, bool) {
	for _, d := range o.declared {
		if d.Name == key {
			return d, true
		}
	}
	for _, d := range o.declared {
		pre, post, ok := strings.Cut(d.Name, "#")
		if ok && len(key) > len(pre)+len(post) && strings.HasPrefix(key, pre) && strings.HasSuffix(key, post) {
			return d, true
		}
	}
	return Option{}, false
}

func (d Option) parse(text string) (v optionValue, err error) {
	v.text = text
	if len(d.Choices) > 0 {
		i := slices.IndexFunc(d.Choices, func(c string) bool { return strings.EqualFold(c, text) })
		if i < 0 {
			return v, fmt.Errorf("'%s' is none of '%s'", text, strings.Join(d.Choices, "', '"))
		}
		v.text = d.Choices[i]
	}
	switch trimmed := strings.TrimSpace(text); d.Type {
	case TextOption:
	case IntOption:
		if v.num, err = strconv.ParseInt(trimmed, 10, 64); err != nil {
			return v, fmt.Errorf("'%s' is not a whole number", text)
		}
	case FloatOption:
		if v.real, err = strconv.ParseFloat(trimmed, 64); err != nil {
			return v, fmt.Errorf("'%s' is not a number", text)
		}
	case BoolOption:
		switch strings.ToLower(trimmed) {
		case "true":
			v.num = 1
		case "false":
		default:
			return v, fmt.Errorf("'%s' is neither 'true' nor 'false'", text)
		}
	case DurationOption:
		d, err := ParseDuration(text)
		return optionValue{text: text, num: int64(d)}, err
	case SizeOption:
		n, err := ParseSize(text)
		return optionValue{text: text, num: n}, err
	}
	return v, nil
}

func (o Options) get(key string, types ...OptionType) (optionValue, bool) {
	d, ok := o.declaration(key)
	if !ok || !slices.Contains(types, d.Type) {
		panic(fmt.Sprintf("connector: option %q was not declared with this type", key))
	}
	if v, ok := o.values[key]; ok {
		return v, true
	}
	if d.Default == "" {
		return optionValue{}, false
	}
	v, err := d.parse(d.Default)
	if err != nil {
		panic(fmt.Sprintf("connector: default of option %q: %v", key, err))
	}
	return v, true
}

// Has reports whether the option was given, by the table or by a default.
func (o Options) Has(key string) bool {
	_, ok := o.get(key, TextOption, IntOption, FloatOption, BoolOption, DurationOption, SizeOption)
	return ok
}

// Given reports whether the table itself has the option.
func (o Options) Given(key string) bool {
	_, ok := o.values[key]
	return ok
}

// Keys lists the options that the table itself has, in order.
func (o Options) Keys() []string { return slices.Sorted(maps.Keys(o.values)) }

// Text is a text option's value, or "".
func (o Options) Text(key string) string { v, _ := o.get(key, TextOption); return v.text }

// Int is a whole number option's value, or 0.
func (o Options) Int(key string) int64 { v, _ := o.get(key, IntOption); return v.num }

// Float is a number option's value, or 0.
func (o Options) Float(key string) float64 { v, _ := o.get(key, FloatOption); return v.real }

// Bool is a boolean option's value, or false.
func (o Options) Bool(key string) bool { v, _ := o.get(key, BoolOption); return v.num != 0 }

// Duration is a duration option's value, or 0.
func (o Options) Duration(key string) time.Duration {
	v, _ := o.get(key, DurationOption)
	return time.Duration(v.num)
}

// Size is a size option's value in bytes, or 0.
func (o Options) Size(key string) int64 { v, _ := o.get(key, SizeOption); return v.num }

// Pos is where the option stands in the statement.
func (o Options) Pos(key string) errs.Position { return o.table.optionPos(key) }

// Errorf is an error about an option, at its position.
func (o Options) Errorf(key, format string, args ...any) *errs.Error {
	return errs.New(errs.Option, o.Pos(key), format, args...)
}

// ParseDuration reads a duration as Flink writes it, a whole number with a unit
// (ms when there is none), or as Go does ("1m30s").
func ParseDuration(text string) (time.Duration, error) {
	bad := fmt.Errorf("'%s' is not a duration such as '10 s', '1 min' or '500 ms'", text)
	n, unit, err := numberAndUnit(text)
	if err != nil {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < 0 {
			return 0, bad
		}
		return d, nil
	}
	var u time.Duration
	switch unit {
	case "ns", "nano", "nanos", "nanosecond", "nanoseconds":
		u = time.Nanosecond
	case "µs", "us", "micro", "micros", "microsecond", "microseconds":
		u = time.Microsecond
	case "", "ms", "milli", "millis", "millisecond", "milliseconds":
		u = time.Millisecond
	case "s", "sec", "secs", "second", "seconds":
		u = time.Second
	case "m", "min", "minute", "minutes":
		u = time.Minute
	case "h", "hour", "hours":
		u = time.Hour
	case "d", "day", "days":
		u = 24 * time.Hour
	default:
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < 0 {
			return 0, bad
		}
		return d, nil
	}
	if n > math.MaxInt64/int64(u) {
		return 0, bad
	}
	return time.Duration(n) * u, nil
}

// ParseSize reads a number of bytes as Flink writes it: a whole number with a
// unit b, kb, mb, gb or tb, all powers of 1024.
func ParseSize(text string) (int64, error) {
	bad := fmt.Errorf("'%s' is not a size such as '64 kb' or '16 mb'", text)
	n, unit, err := numberAndUnit(text)
	if err != nil {
		return 0, bad
	}
	shift := 0
	switch unit {
	case "", "b", "byte", "bytes":
	case "k", "kb", "kib", "kibibytes":
		shift = 10
	case "m", "mb", "mib", "mebibytes":
		shift = 20
	case "g", "gb", "gib", "gibibytes":
		shift = 30
	case "t", "tb", "tib", "tebibytes":
		shift = 40
	default:
		return 0, bad
	}
	if n > math.MaxInt64>>shift {
		return 0, bad
	}
	return n << shift, nil
}

func numberAndUnit(text string) (int64, string, error) {
	text = strings.TrimSpace(text)
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(text[:i], 10, 64)
	return n, strings.ToLower(strings.TrimSpace(text[i:])), err
}
