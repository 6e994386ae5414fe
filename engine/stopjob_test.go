package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
)

// read waits until a query has read so many rows, and they are visible.
func (k *kept) read(q *engine.Query, rows int64) {
	k.t.Helper()
	over := ended(q)
	for q.Metrics().SourceRows < rows {
		select {
		case <-over:
			k.t.Fatal(q.Wait(k.t.Context()))
		case <-time.After(time.Millisecond):
		}
	}
	if err := q.Sync(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

// appended appends text to a file.
func (k *kept) appended(path, text string) {
	k.t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		k.t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		k.t.Fatal(err)
	}
}

// STOP JOB leaves windows open and a file hidden, and the job goes on; with DRAIN it is
// as if the input had ended: windows fire, the file is shown, nothing is left to go on with.
func TestStopJobWithDrain(t *testing.T) {
	k := keep(t)
	in := k.file("clicks.csv", "2024-01-01 00:00:01\n2024-01-01 00:00:02\n2024-01-01 00:00:15\n")
	out := filepath.Join(k.dir, "out.csv")
	define := `CREATE TEMPORARY TABLE clicks (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv',
			'csv.header' = 'false', 'path' = '` + in + `', 'source.monitor-interval' = '1 ms');
		CREATE TEMPORARY TABLE counts (start TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.header' = 'false', 'path' = '` + out + `');
		SET 'pipeline.name' = 'clicks'`
	const statement = "INSERT INTO counts SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
	k.run(define)
	q := k.start(statement)
	k.read(q, 3)
	k.run("STOP JOB clicks")
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(out); err == nil {
		t.Errorf("a job that can go on has shown %q", text)
	}
	k.again(define)
	q = k.start(statement)
	k.appended(in, "2024-01-01 00:00:16\n")
	k.read(q, 1)
	k.run("STOP JOB 'clicks' WITH DRAIN")
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	k.want("windows", strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "; "), "2024-01-01 00:00:00,2; 2024-01-01 00:00:10,2")
	if q = k.start(statement); !q.Complete() {
		t.Error("a job that was drained is not complete")
	}
}

// START JOB is no statement of Weir's; what it says instead works.
func TestStartJob(t *testing.T) {
	k := keep(t)
	_, err := k.ExecuteSQL(t.Context(), "START JOB sums FROM '/a/savepoint'")
	if errs.CodeOf(err) != errs.Unsupported {
		t.Fatal(err)
	}
	for _, want := range []string{"SET 'pipeline.name' = 'sums'", "SET 'execution.savepoint.path' = '/a/savepoint'"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}

// A savepoint keeps event time, so that what was late stays late; with 'restore.watermark'
// = 'forget' event time begins anew.
func TestRestoredWatermark(t *testing.T) {
	k := keep(t)
	in := k.file("clicks.csv", "2024-01-01 00:00:01\n2024-01-01 00:01:00\n")
	define := func(out, in string) string {
		return `CREATE TEMPORARY TABLE clicks (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'csv',
				'csv.header' = 'false', 'path' = '` + in + `', 'source.monitor-interval' = '1 ms');
			CREATE TEMPORARY TABLE counts (start TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'csv.header' = 'false', 'path' = '` + filepath.Join(k.dir, out) + `.csv');
			SET 'pipeline.name' = '` + out + `'`
	}
	const statement = "INSERT INTO counts SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
	k.run(define("first", in))
	q := k.start(statement)
	k.read(q, 2)
	save := filepath.Join(k.dir, "save")
	k.run("STOP JOB first WITH SAVEPOINT TO '" + save + "'")
	for restore, want := range map[string]string{
		"keep":   "2024-01-01 00:01:00,1",
		"forget": "2024-01-01 00:00:00,1; 2024-01-01 00:01:00,1",
	} {
		k.again(define(restore, in) + "; SET 'execution.savepoint.path' = '" + save + "'; SET 'restore.watermark' = '" + restore + "'")
		q := k.start(statement)
		k.appended(in, "2024-01-01 00:00:02\n")
		k.read(q, 1)
		k.run("STOP JOB " + restore + " WITH DRAIN")
		text, err := os.ReadFile(filepath.Join(k.dir, restore+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		k.want(restore, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "; "), want)
		if err := os.WriteFile(in, []byte("2024-01-01 00:00:01\n2024-01-01 00:01:00\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
