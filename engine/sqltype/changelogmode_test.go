package sqltype_test

import (
	"testing"

	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
)

func TestChangelogMode(t *testing.T) {
	byKey := sqltype.UpsertMode.WithDeletesByKey()
	for want, m := range map[string]sqltype.ChangelogMode{
		"":            0,
		"I":           sqltype.AppendMode,
		"I,UA,D":      byKey.WithoutDeletesByKey(),
		"I,UA,D(key)": byKey,
		"I,UB,UA,D":   sqltype.RetractMode,
		"I,UA":        byKey.Without(vector.Delete),
	} {
		if got := m.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if sqltype.UpsertMode.DeletesByKey() || !byKey.DeletesByKey() || byKey.Without(vector.Delete).DeletesByKey() || byKey.InsertOnly() {
		t.Error("a mode says the wrong things of its deletions")
	}
}
