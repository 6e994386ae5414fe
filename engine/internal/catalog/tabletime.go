package catalog

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
)

// Options that every table understands which has event time. The second names are
// Flink's.
const (
	idleTimeout      = "watermark.idle-timeout"
	flinkIdleTimeout = "scan.watermark.idle-timeout"
	maxDrift         = "watermark.max-drift"
	flinkMaxDrift    = "scan.watermark.alignment.max-drift"
	// LateRows names the option that says what becomes of rows that are late: "drop", or
	// "table:" and the name of a table that takes them.
	LateRows = "late-rows"
)

func timeOptions() []connector.Option {
	idle := "the time after which a part of the table without new rows holds back event time no longer; 0: it always does"
	drift := "about how far a part of the table may be ahead of the slowest; by default as far as it comes"
	return []connector.Option{
		{Name: idleTimeout, Type: connector.DurationOption, Doc: idle},
		{Name: flinkIdleTimeout, Type: connector.DurationOption, Doc: idle},
		{Name: maxDrift, Type: connector.DurationOption, Doc: drift},
		{Name: flinkMaxDrift, Type: connector.DurationOption, Doc: drift},
		{Name: LateRows, Doc: "what becomes of rows that are late: 'drop', or 'table:name' for a table that takes them"},
	}
}

// TimeAttribute says whether a column is event time or processing time.
func (t *Table) TimeAttribute(col int) sqltype.TimeAttr {
	if col == t.Watermark.Column {
		return sqltype.Rowtime
	}
	if c, ok := t.Columns[col].Computed.(*expr.Call); ok && c.Func.Name == "PROCTIME" {
		return sqltype.Proctime
	}
	return sqltype.NoTime
}

// Text is the expression as SQL has it.
func (w Watermark) Text() string {
	if w.Expr == nil {
		return "SOURCE_WATERMARK()"
	}
	return w.Expr.String()
}

// IdleTimeout is the time after which a split without rows holds back nobody: the
// table's option, or what the session says; 0: it always does.
func (t *Table) IdleTimeout(session time.Duration) time.Duration {
	for _, key := range []string{idleTimeout, flinkIdleTimeout} {
		if t.Options.Given(key) {
			return t.Options.Duration(key)
		}
	}
	return session
}

// MaxDrift is about how far a split may be ahead of the slowest; 0: as far as it comes.
func (t *Table) MaxDrift() time.Duration {
	for _, key := range []string{maxDrift, flinkMaxDrift} {
		if t.Options.Given(key) {
			return t.Options.Duration(key)
		}
	}
	return 0
}

// ParseLateRows reads a value of the option late-rows: the table's name, as SQL has it, or
// that there is none.
func ParseLateRows(value string) (table string, some bool, err error) {
	value = strings.TrimSpace(value)
	name, some := strings.CutPrefix(value, "table:")
	if name = strings.TrimSpace(name); some && name != "" {
		return name, true, nil
	}
	if value == "" || strings.EqualFold(value, "drop") {
		return "", false, nil
	}
	return "", false, fmt.Errorf("'%s' is neither 'drop' nor 'table:name'", value)
}
