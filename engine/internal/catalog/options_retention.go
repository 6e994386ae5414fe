package catalog

import (
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
)

// RetentionOptions say when jobs forget state that nothing touches.
type RetentionOptions struct {
	// TTL is how long it is kept at least; 0: for ever.
	TTL time.Duration
	// Min and Max say the same with an end: at Max at the latest it is forgotten.
	Min, Max time.Duration
}

const (
	ttlOption = "exec.state.ttl"
	minOption = "exec.min-idle-state-retention"
	maxOption = "exec.max-idle-state-retention"
)

// leastIdle is what has to lie between Min and Max, as in Flink: the deadline of a key
// moves no more often than that.
const leastIdle = 5 * time.Minute

// Between is when state is forgotten: at min at the earliest and at max at the latest,
// or never when both are 0. Without an end it is half as long again, as in Flink.
func (r RetentionOptions) Between() (least, most time.Duration, err error) {
	switch {
	case r.Min == 0 && r.Max == 0:
		return r.TTL, r.TTL + r.TTL/2, nil
	case r.TTL > 0:
		err = errs.New(errs.Option, errs.Position{}, "'%s' says how long state is kept, and so do '%s' and '%s'", ttlOption, minOption, maxOption).
			WithHint("RESET one or the other")
	case r.Max-r.Min < leastIdle:
		err = errs.New(errs.Option, errs.Position{}, "'%s' (%v) must be at least %v more than '%s' (%v)", maxOption, r.Max, leastIdle, minOption, r.Min).
			WithHint("or SET '%s' alone", ttlOption)
	}
	return r.Min, r.Max, err
}

func retentionOptions() []option {
	duration := func(name, alias, doc string, at func(o *Options) *time.Duration) option {
		return option{
			name: name, aliases: []string{alias}, doc: doc,
			set:   func(o *Options, v string) error { return setIdle(at(o), v) },
			get:   func(o *Options) string { return at(o).String() },
			reset: func(o, d *Options) { *at(o) = *at(d) },
		}
	}
	return []option{
		duration(ttlOption, "table.exec.state.ttl", "how long state that nothing touches is kept at least, and at most half as long again; 0: for ever",
			func(o *Options) *time.Duration { return &o.Retention.TTL }),
		duration(minOption, "execution.min-idle-state-retention", "how long state that nothing touches is kept at least; goes with the maximum",
			func(o *Options) *time.Duration { return &o.Retention.Min }),
		duration(maxOption, "execution.max-idle-state-retention", "how long state that nothing touches is kept at most, 5 min more than the minimum or longer",
			func(o *Options) *time.Duration { return &o.Retention.Max }),
	}
}

func setIdle(p *time.Duration, value string) error {
	if strings.TrimSpace(value) == "0" {
		*p = 0
		return nil
	}
	d, err := connector.ParseDuration(value)
	if err == nil {
		*p = d
	}
	return err
}
