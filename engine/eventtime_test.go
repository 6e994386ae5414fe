package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/sqltype"
)

// Metrics say how far event time is at an operator, which input holds it back, and how
// many rows came too late.
func TestEventTimeMetrics(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	schema := sqltype.Schema{{Name: "k", Type: sqltype.StringType}, {Name: "ts", Type: sqltype.TimestampOf(3)}}
	channels := channel.New()
	fast, slow := channel.NewInput(schema, sqltype.AppendMode), channel.NewInput(schema, sqltype.AppendMode)
	channels.AddInput("fast", fast)
	channels.AddInput("slow", slow)
	e, err := engine.Open(ctx, engine.Config{Connectors: []connector.Connector{channels}, Parallelism: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, sql := range []string{
		"CREATE TABLE fast (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'channel')",
		"CREATE TABLE slow (k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS SOURCE_WATERMARK()) WITH ('connector' = 'channel', 'watermark.idle-timeout' = '0')",
		"CREATE VIEW both_of_them AS SELECT * FROM fast UNION ALL SELECT * FROM slow",
	} {
		q, err := e.ExecuteSQL(ctx, sql)
		if err == nil {
			err = q.Wait(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	q, err := e.ExecuteSQL(ctx, "SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE both_of_them, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Cancel()
	at := func(minute int) time.Time { return time.Date(2020, 1, 1, 12, minute, 0, 0, time.UTC) }
	for _, err := range []error{
		fast.Send(ctx, channel.Insert("a", at(5)), channel.Insert("b", at(9)), channel.Insert("late", at(2))),
		slow.Send(ctx, channel.Insert("c", at(1))),
		slow.SendWatermark(ctx, at(3)),
		q.Sync(ctx),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for _, o := range q.Metrics().Operators {
		name, _, _ := strings.Cut(o.Name, "[")
		switch name {
		case "Union":
			seen++
			if o.Watermark != at(3).UnixMilli() || !strings.HasPrefix(o.HeldBy, "WatermarkAssigner") || o.HeldSince.IsZero() {
				t.Errorf("the union is at %v, held by %q since %v", time.UnixMilli(o.Watermark).UTC(), o.HeldBy, o.HeldSince)
			}
		case "Scan":
			seen++
			if o.HeldBy != "channel" {
				t.Errorf("a scan is held by %q", o.HeldBy)
			}
		case "WindowAggregate":
			seen++
			if o.Late != 1 || o.LateRetractions != 0 {
				t.Errorf("%d late rows, %d retractions", o.Late, o.LateRetractions)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d operators of 4 were seen", seen)
	}
}
