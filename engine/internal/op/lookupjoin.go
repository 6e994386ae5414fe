package op

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/exec"
	"github.com/weirdb/weir/engine/internal/expr"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// LookupJoinSpec says what a LookupJoin computes. Its rows of the table are what Exprs
// computes of the columns that were read.
type LookupJoinSpec struct {
	ProbeSpec
	Name      string // of the table, for errors
	Keys      []int  // columns of the probe side
	TableKeys []int  // columns of Table that equal them

	// Source is asked for rows by key. Without it, and with a full cache, all rows of
	// Whole are read.
	Source connector.LookupSource
	Ask    connector.Ask
	Whole  connector.Source

	Read   []sqltype.Type // the columns that are read, Ask.Columns
	Filter expr.Expr      // over these; nil: all rows
	Exprs  []expr.Expr    // over these

	Settings connector.LookupSettings
	// MissRetries is how often a key without rows is asked for again, each time after
	// MissDelay.
	MissRetries int
	MissDelay   time.Duration
	// Wait waits for a time; nil: by the clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// LookupJoin joins each row with the rows that an external table has under its key at the
// time. It asks once for a batch, with the keys that its cache does not know.
//
// What the table has later changes nothing that was emitted: a row that is taken away
// takes away what was emitted for it.
type LookupJoin struct {
	probeJoin
	spec   LookupJoinSpec
	layout rowkey.Layout
	enc    *rowkey.Encoder
	table  *rowkey.Encoder
	calc   *Calc
	cache  *lookupCache
	ask    connector.Lookup
	ctx    context.Context // of Open: it ends with the task
	whole  bool            // a full cache was read
	loaded int64           // when
}

// NewLookupJoin returns a LookupJoin. It fails for expressions that cannot be compiled.
func NewLookupJoin(spec LookupJoinSpec) (*LookupJoin, error) {
	probe, err := newProbeJoin(spec.ProbeSpec)
	if err != nil {
		return nil, err
	}
	calc, err := NewCalc(spec.Filter, spec.Exprs)
	if err != nil {
		return nil, err
	}
	if spec.Wait == nil {
		spec.Wait = wait
	}
	j := &LookupJoin{probeJoin: probe, spec: spec, calc: calc, layout: keyLayout(spec.Types, spec.Keys, nil)}
	j.enc, j.table = rowkey.NewEncoder(j.layout), rowkey.NewEncoder(j.layout)
	return j, nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Open opens what is asked, or looks whether the table is there that is to be read before
// the first row comes.
func (j *LookupJoin) Open(ctx context.Context, rt *exec.Runtime) error {
	j.ctx = ctx
	if err := j.open(rt); err != nil {
		return err
	}
	if err := j.calc.Open(ctx, rt); err != nil {
		return err
	}
	j.newCache()
	if j.full() {
		return j.tryAgain("read", func(ctx context.Context) error {
			_, err := j.spec.Whole.Splits(ctx)
			return err
		})
	}
	return j.tryAgain("opened", func(context.Context) (err error) {
		j.ask, err = j.spec.Source.Open(ctx, j.spec.Ask)
		return err
	})
}

func (j *LookupJoin) full() bool { return j.spec.Settings.Cache == connector.FullCache }

func (j *LookupJoin) newCache() {
	kinds := make([]vector.Kind, len(j.spec.Table))
	for i, t := range j.spec.Table {
		kinds[i] = t.Kind()
	}
	j.cache = newLookupCache(j.spec.Settings, j.layout, kinds)
}

// Process joins the rows of b.
func (j *LookupJoin) Process(_ int, b *vector.Batch, out exec.Output) error {
	if j.full() && (!j.whole || j.spec.Settings.Reload > 0 && j.rt.Now()-j.loaded >= j.spec.Settings.Reload.Milliseconds()) {
		if err := j.load(); err != nil {
			return err
		}
	}
	b = b.Dense(j.rt.Pool)
	defer b.Release()
	if j.frozen == nil {
		return j.lookUp(b, out)
	}
	return j.frozen.process(b, out, func(part *vector.Batch) error { return j.lookUp(part, out) })
}

// lookUp joins the rows of b, which are additions.
func (j *LookupJoin) lookUp(b *vector.Batch, out exec.Output) error {
	keys := j.enc.Encode(b, j.spec.Keys)
	if !j.full() {
		if err := j.fill(b, keys); err != nil {
			return err
		}
	}
	with, err := j.cache.partners(keys)
	if err != nil {
		return err
	}
	if err := j.join(b, with, out); err != nil {
		return err
	}
	return j.cache.end(keys)
}

// fill reads the rows of keys that the cache does not know.
func (j *LookupJoin) fill(b *vector.Batch, keys *rowkey.Keys) error {
	now := j.rt.Now()
	miss, err := j.cache.find(keys, j.rt.Pool, now)
	if err != nil {
		return err
	}
	if j.spec.Settings.Cache == connector.PartialCache {
		j.rt.Count("cache hits", int64(b.Len()-len(miss)))
		j.rt.Count("cache misses", int64(len(miss)))
	}
	if len(miss) == 0 {
		return nil
	}
	narrow := b.Project(j.spec.Keys)
	defer narrow.Release()
	missing := plain(narrow.Take(j.rt.Pool, miss))
	defer missing.Release()
	cols := upTo(len(j.spec.Keys))
	first, fresh, err := j.cache.know(j.table.Encode(missing, cols), now)
	if err != nil {
		return err
	}
	asked := missing.Take(j.rt.Pool, first)
	defer func() { asked.Release() }()
	for again := 0; ; again++ {
		if err := j.read(asked, func(rows *vector.Batch, keys *rowkey.Keys) error { return j.cache.add(rows, keys, fresh) }); err != nil {
			return err
		}
		if again == j.spec.MissRetries {
			return nil
		}
		// Those that still have no rows are asked for again.
		with, err := j.cache.partners(j.table.Encode(asked, cols))
		if err != nil {
			return err
		}
		var none []int32
		for i, s := range with.slots {
			if s < 0 {
				none = append(none, int32(i))
			}
		}
		if len(none) == 0 {
			return nil
		}
		rest := asked.Take(j.rt.Pool, none)
		asked.Release()
		asked = rest
		if err := j.spec.Wait(j.ctx, j.spec.MissDelay); err != nil {
			return err
		}
	}
}

// read asks for the rows of keys, and hands them to each, with their keys.
func (j *LookupJoin) read(keys *vector.Batch, each func(*vector.Batch, *rowkey.Keys) error) error {
	var got *vector.Batch
	err := j.tryAgain("looked up in", func(ctx context.Context) (err error) {
		j.rt.Count("lookups", 1)
		got, err = j.ask.Lookup(ctx, j.rt.Pool, keys)
		return err
	})
	if err != nil {
		return err
	}
	defer got.Release()
	j.rt.Count("keys asked for", int64(keys.Len()))
	j.rt.Count("rows read", int64(got.Len()))
	return j.compute(got, each)
}

// compute makes rows of the table of what was read.
func (j *LookupJoin) compute(got *vector.Batch, each func(*vector.Batch, *rowkey.Keys) error) error {
	if got.Cols() != len(j.spec.Read) {
		panic(fmt.Sprintf("op: a lookup in %s returned %d columns for %d", j.spec.Name, got.Cols(), len(j.spec.Read)))
	}
	if got.Len() == 0 {
		return nil
	}
	return j.calc.Process(0, got, sendTo(func(b *vector.Batch) error {
		rows := b.Dense(j.rt.Pool)
		defer rows.Release()
		if rows.Len() == 0 {
			return nil
		}
		return each(rows, j.table.Encode(rows, j.spec.TableKeys))
	}))
}

// sendTo is an output that calls a function.
type sendTo func(*vector.Batch) error

func (f sendTo) Emit(b *vector.Batch) error { return f(b) }

func (sendTo) Advance(exec.Watermark) error { return nil }

// load reads the whole table, in place of what was there.
func (j *LookupJoin) load() error {
	old, n := j.cache, int64(0)
	j.rt.Gauge(Loading, 1)
	defer j.rt.Gauge(Loading, 0)
	err := j.tryAgain("read", func(ctx context.Context) error {
		j.newCache()
		n = 0
		return j.scan(ctx, func(got *vector.Batch) error {
			n += int64(got.Len())
			j.rt.Gauge(RowsLoaded, n)
			return j.compute(got, func(rows *vector.Batch, keys *rowkey.Keys) error {
				return j.cache.add(rows, keys, nil)
			})
		})
	})
	if err != nil {
		j.cache = old
		return err
	}
	j.whole, j.loaded = true, j.rt.Now()
	j.rt.Count("loads", 1)
	return j.cache.young.store.EndCall()
}

// scan reads all splits of the table.
func (j *LookupJoin) scan(ctx context.Context, each func(*vector.Batch) error) error {
	splits, err := j.spec.Whole.Splits(ctx)
	if err != nil {
		return err
	}
	for _, s := range splits {
		if err := j.scanSplit(ctx, s, each); err != nil {
			return err
		}
	}
	return nil
}

func (j *LookupJoin) scanSplit(ctx context.Context, s connector.Split, each func(*vector.Batch) error) (err error) {
	r, err := j.spec.Whole.Open(ctx, s, connector.Scan{Columns: j.spec.Ask.Columns}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b, err := r.Read(ctx, j.rt.Pool, vector.Target)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case b == nil:
			return ctx.Err()
		}
		err = each(b)
		b.Release()
		if err != nil {
			return err
		}
	}
}

// tryAgain makes a call until it succeeds, fails for good, or its time is over.
func (j *LookupJoin) tryAgain(what string, call func(context.Context) error) error {
	s := j.spec.Settings
	ctx, cancel := j.ctx, func() {}
	if s.Timeout > 0 {
		ctx, cancel = context.WithTimeout(j.ctx, s.Timeout)
	}
	defer cancel()
	for times, delay := 1, s.Delay; ; times, delay = times+1, 2*delay {
		err := call(ctx)
		if err == nil || j.ctx.Err() != nil || !connector.PassesBy(err) {
			return err
		}
		if times <= s.Retries && ctx.Err() == nil {
			j.rt.Count("retries", 1)
			if j.spec.Wait(ctx, delay) == nil {
				continue
			}
			if j.ctx.Err() != nil {
				return j.ctx.Err()
			}
		}
		return j.gaveUp(what, times, ctx.Err() != nil, err)
	}
}

// gaveUp is the error of a call that was made several times.
func (j *LookupJoin) gaveUp(what string, times int, late bool, cause error) error {
	tried := "after one try"
	if times > 1 {
		tried = fmt.Sprintf("after %d tries", times)
	}
	if late {
		tried += fmt.Sprintf(" within %v ('lookup.timeout')", j.spec.Settings.Timeout)
	}
	var e *errs.Error
	hint := "'lookup.max-retries' and 'lookup.timeout' say how long to try; a cache ('lookup.cache') asks less often"
	if errors.As(cause, &e) && e.Hint != "" {
		hint = strings.TrimSuffix(e.Hint, ".") + "; " + hint
	}
	return errs.New(errs.Input, errs.Position{}, "the table %q could not be %s, %s: %w", j.spec.Name, what, tried, cause).WithHint("%s", hint)
}

// Advance passes the watermark on: what it is about has been emitted.
func (j *LookupJoin) Advance(_ int, w exec.Watermark, out exec.Output) error { return out.Advance(w) }

// End does nothing.
func (j *LookupJoin) End(int, exec.Output) error { return nil }

// Flush takes back what came before what it takes back. The first one reads the table that
// is to be read before the first row.
func (j *LookupJoin) Flush(out exec.Output) error {
	if j.full() && !j.whole {
		if err := j.load(); err != nil {
			return err
		}
	}
	if j.cache.settings.Cache != connector.NoCache {
		j.rt.Gauge("rows cached", j.cache.kept())
	}
	if j.frozen == nil {
		return nil
	}
	return j.frozen.flush(out)
}

// Close ends the asking.
func (j *LookupJoin) Close() error {
	if j.frozen != nil {
		j.frozen.close()
	}
	var err error
	if j.ask != nil {
		err = j.ask.Close()
	}
	return errors.Join(err, j.calc.Close())
}
