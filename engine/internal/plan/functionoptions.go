package plan

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/udf"
)

// functionOptions are the options in WITH of CREATE FUNCTION.
type functionOptions struct {
	limits      udf.Limits
	nullOnError bool
	sha256      string         // "" when it is not given
	kept        []parse.Option // all but the hash
}

// limit is an option that sets a limit.
type limit struct {
	name  string
	what  string // of what it is a number
	parse func(text string) (int64, error)
	of    func(l *udf.Limits) *int64
}

// knownLimits are all but the timeout, which is no whole number.
func knownLimits() []limit {
	count := func(text string) (int64, error) { return strconv.ParseInt(strings.TrimSpace(text), 10, 64) }
	size := connector.ParseSize
	return []limit{
		{"memory", "a size such as 16MiB", size, func(l *udf.Limits) *int64 { return &l.Memory }},
		{"fuel", "a number of instructions", count, func(l *udf.Limits) *int64 { return &l.Fuel }},
		{"fuel-per-row", "a number of instructions", count, func(l *udf.Limits) *int64 { return &l.FuelPerRow }},
		{"module", "a size such as 8MiB", size, func(l *udf.Limits) *int64 { return &l.Module }},
		{"stack", "a size such as 4MiB", size, func(l *udf.Limits) *int64 { return &l.Stack }},
		{"log", "a size such as 64KiB", size, func(l *udf.Limits) *int64 { return &l.Log }},
		{"timeout", "a time such as 10s", func(text string) (int64, error) {
			d, err := connector.ParseDuration(text)
			return int64(d), err
		}, func(l *udf.Limits) *int64 { return (*int64)(&l.Timeout) }},
	}
}

// limits reads WITH.
func (d *functionDefinition) limits() error {
	known := knownLimits()
	names := []string{"sha256", "on-error"}
	for _, k := range known {
		names = append(names, k.name)
	}
	given := map[string]bool{}
	for _, o := range d.stmt.Options {
		if given[o.Key] {
			return errs.New(errs.Option, o.At, "option '%s' is given twice", o.Key)
		}
		given[o.Key] = true
		switch o.Key {
		case "sha256":
			d.options.sha256 = strings.ToLower(strings.TrimSpace(o.Value))
			if len(d.options.sha256) != 2*sha256.Size || strings.Trim(d.options.sha256, "0123456789abcdef") != "" {
				return errs.New(errs.Option, o.ValueAt, "option 'sha256': '%s' is no hash of %d hexadecimal digits", o.Value, 2*sha256.Size)
			}
			continue
		case "on-error":
			switch o.Value {
			case "fail":
			case "null":
				d.options.nullOnError = true
			default:
				return errs.New(errs.Option, o.ValueAt, "option 'on-error': '%s' is none of 'fail', 'null'", o.Value).
					WithHint("a row that the function fails on fails the query, or gives NULL")
			}
		default:
			if err := d.limit(known, names, o); err != nil {
				return err
			}
		}
		d.options.kept = append(d.options.kept, o)
	}
	return nil
}

func (d *functionDefinition) limit(known []limit, names []string, o parse.Option) error {
	most := d.b.session.Catalog().Modules().Most()
	for _, k := range known {
		if k.name != o.Key {
			continue
		}
		v, err := k.parse(o.Value)
		if err != nil || v <= 0 {
			return errs.New(errs.Option, o.ValueAt, "option '%s': '%s' is not %s", k.name, o.Value, k.what)
		}
		if bound := *k.of(&most); bound > 0 && v > bound {
			text := strconv.FormatInt(bound, 10)
			if k.name == "timeout" {
				text = time.Duration(bound).String()
			}
			return errs.New(errs.Limit, o.ValueAt, "option '%s': '%s' is more than this engine gives", k.name, o.Value).WithHint("the most is %s", text)
		}
		var alone udf.Limits
		*k.of(&alone) = v
		if err := alone.Validate(); err != nil {
			return errs.New(errs.Option, o.ValueAt, "option '%s': %w", k.name, err)
		}
		*k.of(&d.options.limits) = v
		return nil
	}
	e := errs.New(errs.Option, o.At, "a function has no option '%s'", o.Key)
	if hint := errs.DidYouMean(o.Key, names); hint != "" {
		return e.WithHint("%s", hint)
	}
	return e.WithHint("the options are '%s'", strings.Join(names, "', '"))
}

// pinned fails when the file is not the one of the hash that was given.
func (o *functionOptions) pinned(wasm []byte, path string, at errs.Position) error {
	if sum := catalog.HexSHA256(sha256.Sum256(wasm)); o.sha256 != "" && o.sha256 != sum {
		return errs.New(errs.Invalid, at, "%s has another content: its sha256 is %.12s.., and not %.12s..", path, sum, o.sha256).
			WithHint("if it is to be the new one, CREATE OR REPLACE FUNCTION without 'sha256'")
	}
	return nil
}
