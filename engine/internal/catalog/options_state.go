package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
)

// StateOptions are the options of a session about the state of jobs.
type StateOptions struct {
	// CheckpointInterval is the time between two checkpoints; 0: ten seconds, and more
	// when they are expensive.
	CheckpointInterval time.Duration
	// Memory is about the number of bytes that a job's state may take in memory; 0: no
	// limit.
	Memory int64
	// Savepoint is the folder of the savepoint that jobs begin with, or "".
	Savepoint string
	// ForgetWatermarks lets event time begin anew when a job goes on.
	ForgetWatermarks bool
	// AllowNonRestored lets a job go on without the state that its query cannot use, or
	// does not have.
	AllowNonRestored bool
}

// auto is the value of an option that the engine decides on.
const auto = "auto"

func stateOptions() []option {
	return []option{
		{
			name:    "checkpoint.interval",
			aliases: []string{"execution.checkpointing.interval"},
			doc:     "the time between two checkpoints, with a state directory; auto: 10 s, and more when they are expensive",
			set: func(o *Options, v string) error {
				if strings.EqualFold(strings.TrimSpace(v), auto) {
					o.State.CheckpointInterval = 0
					return nil
				}
				return setDuration(&o.State.CheckpointInterval, v)
			},
			get: func(o *Options) string {
				if o.State.CheckpointInterval == 0 {
					return auto
				}
				return o.State.CheckpointInterval.String()
			},
			reset: func(o, d *Options) { o.State.CheckpointInterval = d.State.CheckpointInterval },
		},
		{
			name: "state.memory",
			doc:  "about how much memory the state of a job may take, such as 512 mb, with a state directory; 0: no limit",
			set: func(o *Options, v string) error {
				n, err := connector.ParseSize(v)
				if err == nil && n < 0 {
					err = fmt.Errorf("'%s' is negative", v)
				}
				if err == nil {
					o.State.Memory = n
				}
				return err
			},
			get:   func(o *Options) string { return strconv.FormatInt(o.State.Memory, 10) },
			reset: func(o, d *Options) { o.State.Memory = d.State.Memory },
		},
		{
			name:    "execution.savepoint.path",
			aliases: []string{"execution.state-recovery.path"},
			doc:     "the folder of the savepoint that jobs begin with which have no state yet",
			set:     func(o *Options, v string) error { o.State.Savepoint = v; return nil },
			get:     func(o *Options) string { return o.State.Savepoint },
			reset:   func(o, d *Options) { o.State.Savepoint = d.State.Savepoint },
		},
		{
			name: "restore.watermark",
			doc:  "whether a job that goes on from its state keeps the event time that it had reached: keep or forget",
			set: func(o *Options, v string) error {
				choice := ""
				err := setChoice(&choice, v, "keep", "forget")
				if err == nil {
					o.State.ForgetWatermarks = choice == "forget"
				}
				return err
			},
			get: func(o *Options) string {
				if o.State.ForgetWatermarks {
					return "forget"
				}
				return "keep"
			},
			reset: func(o, d *Options) { o.State.ForgetWatermarks = d.State.ForgetWatermarks },
		},
		{
			name:    "restore.allow-non-restored-state",
			aliases: []string{"execution.savepoint.ignore-unclaimed-state", "execution.state-recovery.ignore-unclaimed-state"},
			doc:     "a changed query goes on although operators begin without state, or state is dropped",
			set:     func(o *Options, v string) error { return setBool(&o.State.AllowNonRestored, v) },
			get:     func(o *Options) string { return strconv.FormatBool(o.State.AllowNonRestored) },
			reset:   func(o, d *Options) { o.State.AllowNonRestored = d.State.AllowNonRestored },
		},
	}
}
