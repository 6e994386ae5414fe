package catalog

import (
	"testing"
	"time"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
)

func set(o *Options, key, value string) error {
	return o.Set(parse.Option{
		Place: parse.Place{At: errs.Position{Line: 1, Column: 5}}, Key: key, Value: value, ValueAt: errs.Position{Line: 1, Column: 30},
	})
}

func TestSet(t *testing.T) {
	o := DefaultOptions()
	for _, kv := range [][2]string{
		{"parallelism.default", "3"},
		{"exec.batch-size", " 1 "},
		{"exec.flush-interval", "1 s"},
		{"table.exec.mini-batch.size", "10"},
		{"exec.sink.upsert-materialize", "AUTO"},
		{"table.local-time-zone", "UTC"},
		{"pipeline.name", "mine"},
	} {
		if err := set(o, kv[0], kv[1]); err != nil {
			t.Errorf("SET %s: %v", kv[0], err)
		}
	}
	if o.Parallelism != 3 || o.BatchSize != 1 || o.FlushInterval != time.Second || o.FlushRows != 10 || o.UpsertMaterialize != "auto" || o.JobName != "mine" {
		t.Errorf("got %+v", o)
	}
	if err := o.Reset("exec.batch-size", errs.Position{}); err != nil || o.BatchSize != DefaultOptions().BatchSize || o.Parallelism != 3 {
		t.Errorf("RESET of one option: %v, %+v", err, o)
	}
	given := 0
	for _, s := range o.List() {
		if s.Given {
			given++
		}
	}
	if given != 6 {
		t.Errorf("%d options are listed as given, want 6", given)
	}
	if err := o.Reset("", errs.Position{}); err != nil || o.Parallelism != 0 || o.JobName != "" {
		t.Errorf("RESET of everything: %v, %+v", err, o)
	}
}

func TestSetErrors(t *testing.T) {
	o := DefaultOptions()
	for _, c := range []struct{ key, value, want string }{
		{"exec.batch-siez", "1", `line 1:5: unknown option 'exec.batch-siez'; did you mean "exec.batch-size"?`},
		{"zzz", "1", `line 1:5: unknown option 'zzz'; SET without a key lists the options`},
		{"exec.batch-size", "0", `line 1:30: option 'exec.batch-size': '0' is not a whole number from 1 to 1048576`},
		{"exec.batch-size", "many", `line 1:30: option 'exec.batch-size': 'many' is not a whole number from 1 to 1048576`},
		{"exec.flush-interval", "soon", `line 1:30: option 'exec.flush-interval': 'soon' is not a duration such as '10 s', '1 min' or '500 ms'`},
		{"exec.flush-interval", "0 s", `line 1:30: option 'exec.flush-interval': '0 s' is not longer than nothing`},
		{"exec.sink.upsert-materialize", "maybe", `line 1:30: option 'exec.sink.upsert-materialize': 'maybe' is none of 'none', 'auto', 'force'`},
		{"table.local-time-zone", "Local", `line 1:30: option 'table.local-time-zone': 'Local' is no time zone such as UTC or Europe/Berlin`},
	} {
		if err := set(o, c.key, c.value); err == nil || err.Error() != c.want || errs.CodeOf(err) != errs.Option {
			t.Errorf("SET '%s' = '%s':\n got %v\nwant %s", c.key, c.value, err, c.want)
		}
	}
	if DefaultOptions().TimeZone != o.TimeZone || o.BatchSize != DefaultOptions().BatchSize || o.given != nil {
		t.Errorf("a failed SET changed %+v", o)
	}
}
