package op

import (
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// lookupCache has the rows of a table by key, as they were when they were read. It is no
// state: after a restart the table is asked again.
//
// It forgets what was used least recently by halves. What is read or found goes to the
// young half; when that is full it becomes the old one, and what was old and was not found
// meanwhile is gone.
type lookupCache struct {
	settings connector.LookupSettings
	layout   rowkey.Layout
	kinds    []vector.Kind // of rows
	young    *cacheHalf
	old      *cacheHalf // nil: nothing is old

	slots    []state.Slot
	oldSlots []state.Slot
	miss     []int32
	matches  state.Matches
}

// cacheHalf is a part of the cache: the keys that are known, and their rows.
type cacheHalf struct {
	store *state.Store
	keys  *state.Values // columns: when the rows were read, and when they were used
	rows  *state.Rows
	held  int64 // rows, and keys without
}

func newLookupCache(s connector.LookupSettings, layout rowkey.Layout, kinds []vector.Kind) *lookupCache {
	c := &lookupCache{settings: s, layout: layout, kinds: kinds}
	c.young = c.half()
	return c
}

func (c *lookupCache) half() *cacheHalf {
	h := &cacheHalf{store: state.NewStore(state.Options{})}
	h.keys = h.store.Values("keys", c.layout, []vector.Kind{vector.Int64, vector.Int64})
	h.rows = h.store.Rows("rows", c.layout, state.RowsOptions{Cols: c.kinds})
	return h
}

// find looks for keys, and returns the positions of those that are to be read, which have
// no NULL.
func (c *lookupCache) find(keys *rowkey.Keys, p *vector.Pool, now int64) ([]int32, error) {
	c.slots = resize(c.slots, keys.Len())
	if err := c.young.keys.Resolve(keys, false, c.slots); err != nil {
		return nil, err
	}
	if err := c.young.expire(c.settings, c.slots, keys, now); err != nil {
		return nil, err
	}
	c.miss = c.miss[:0]
	for i, s := range c.slots {
		if s == state.None && !(keys.AnyNull() && keys.HasNull(i)) {
			c.miss = append(c.miss, int32(i))
		}
	}
	if c.settings.AfterAccess > 0 {
		used := state.Col[int64](c.young.keys, 1)
		for _, s := range c.slots {
			if s != state.None {
				used[s] = now
			}
		}
	}
	if len(c.miss) == 0 || c.old == nil {
		return c.miss, nil
	}
	return c.miss, c.moveOld(keys, p, now)
}

// expire drops the keys whose time is over, and makes their slots None.
func (h *cacheHalf) expire(s connector.LookupSettings, slots []state.Slot, keys *rowkey.Keys, now int64) error {
	if s.AfterWrite <= 0 && s.AfterAccess <= 0 {
		return nil
	}
	over := func(since int64, d time.Duration) bool { return d > 0 && now-since >= d.Milliseconds() }
	read, used := state.Col[int64](h.keys, 0), state.Col[int64](h.keys, 1)
	expired := map[state.Slot]bool{}
	for i, at := range slots {
		if at == state.None || !over(read[at], s.AfterWrite) && !over(used[at], s.AfterAccess) {
			continue
		}
		expired[at] = true
		slots[i] = state.None
	}
	if len(expired) == 0 {
		return nil
	}
	drop := make([]state.Slot, 0, len(expired))
	for at := range expired {
		drop = append(drop, at)
	}
	rows := make([]state.Slot, len(slots))
	if err := h.rows.Resolve(keys, false, rows); err != nil {
		return err
	}
	var gone []state.Slot
	seen := map[state.Slot]bool{}
	for i, at := range rows {
		if slots[i] == state.None && at != state.None && !seen[at] {
			seen[at] = true
			gone = append(gone, at)
			h.held -= h.rows.Count(at)
		}
	}
	h.rows.Drop(gone)
	h.keys.Drop(drop)
	return nil
}

// moveOld moves keys that were missed and are in the old half to the young one, and leaves
// in c.miss what is in neither.
func (c *lookupCache) moveOld(keys *rowkey.Keys, p *vector.Pool, now int64) error {
	c.oldSlots = resize(c.oldSlots, keys.Len())
	if err := c.old.keys.Resolve(keys, false, c.oldSlots); err != nil {
		return err
	}
	if err := c.old.expire(c.settings, c.oldSlots, keys, now); err != nil {
		return err
	}
	missed := make([]bool, keys.Len())
	found := 0
	for _, i := range c.miss {
		if c.oldSlots[i] != state.None {
			missed[i] = true
			found++
		}
	}
	if found == 0 {
		return nil
	}
	// Create the keys, each once, with the times that they had.
	if err := c.young.keys.Resolve(keys, false, c.slots); err != nil {
		return err
	}
	all := make([]state.Slot, keys.Len())
	if err := c.young.keys.Resolve(keys, true, all); err != nil {
		return err
	}
	read, used := state.Col[int64](c.young.keys, 0), state.Col[int64](c.young.keys, 1)
	was := state.Col[int64](c.old.keys, 0)
	first := map[state.Slot]bool{}
	var unknown []state.Slot
	for i, s := range all {
		switch {
		case missed[i]:
			read[s], used[s] = was[c.oldSlots[i]], now
			if first[s] {
				missed[i] = false
			}
			first[s] = true
		case c.slots[i] == state.None && !first[s]:
			unknown = append(unknown, s)
		}
	}
	c.young.keys.Drop(unknown)
	rows := make([]state.Slot, keys.Len())
	if err := c.old.rows.Resolve(keys, false, rows); err != nil {
		return err
	}
	for i := range rows {
		if !missed[i] {
			rows[i] = state.None
		}
	}
	if err := c.copyRows(rows, keys, p); err != nil {
		return err
	}
	left := c.miss[:0]
	for _, i := range c.miss {
		if c.oldSlots[i] == state.None {
			left = append(left, i)
		}
	}
	c.miss = left
	return nil
}

// copyRows copies rows of the old half to the young one.
func (c *lookupCache) copyRows(from []state.Slot, keys *rowkey.Keys, p *vector.Pool) error {
	to := make([]state.Slot, keys.Len())
	if err := c.young.rows.Resolve(keys, true, to); err != nil {
		return err
	}
	var cursor state.Cursor
	for done := false; !done; {
		c.matches.Reset()
		done = c.old.rows.Match(from, &cursor, vector.Target, &c.matches)
		n := len(c.matches.Row)
		if n == 0 {
			continue
		}
		b := vector.NewBatch(n, c.old.rows.Take(p, c.matches.Row), nil)
		err := c.young.rows.Add(gather(nil, to, c.matches.Probe), b)
		b.Release()
		if err != nil {
			return err
		}
		c.young.held += int64(n)
	}
	return nil
}

// know makes keys known, which are to be read now. It returns which of them are the first
// of their kind, by position, and their slots.
func (c *lookupCache) know(keys *rowkey.Keys, now int64) (first []int32, fresh map[state.Slot]bool, err error) {
	slots := make([]state.Slot, keys.Len())
	if err := c.young.keys.Resolve(keys, true, slots); err != nil {
		return nil, nil, err
	}
	read, used := state.Col[int64](c.young.keys, 0), state.Col[int64](c.young.keys, 1)
	fresh = make(map[state.Slot]bool, keys.Len())
	for i, s := range slots {
		if !fresh[s] {
			fresh[s] = true
			first = append(first, int32(i))
			read[s], used[s] = now, now
		}
	}
	return first, fresh, nil
}

// add keeps rows, with their keys, as far as the keys are among fresh; nil: all are.
func (c *lookupCache) add(b *vector.Batch, keys *rowkey.Keys, fresh map[state.Slot]bool) error {
	slots := make([]state.Slot, b.Len())
	if fresh == nil {
		return c.store(b, keys, slots)
	}
	if err := c.young.keys.Resolve(keys, false, slots); err != nil {
		return err
	}
	asked := make([]bool, len(slots))
	for i, s := range slots {
		asked[i] = fresh[s]
	}
	if err := c.young.rows.Resolve(keys, true, slots); err != nil {
		return err
	}
	for i, ok := range asked {
		if !ok {
			slots[i] = state.None
			continue
		}
		c.young.held++
	}
	return c.young.rows.Add(slots, b)
}

func (c *lookupCache) store(b *vector.Batch, keys *rowkey.Keys, slots []state.Slot) error {
	if err := c.young.rows.Resolve(keys, true, slots); err != nil {
		return err
	}
	c.young.held += int64(b.Len())
	return c.young.rows.Add(slots, b)
}

// partners finds the rows of keys.
func (c *lookupCache) partners(keys *rowkey.Keys) (partners, error) {
	c.slots = resize(c.slots, keys.Len())
	err := c.young.rows.Resolve(keys, false, c.slots)
	return partners{rows: c.young.rows, slots: c.slots}, err
}

// end is the end of a call: it forgets keys that have no rows, if the settings say so, and
// what is too much.
func (c *lookupCache) end(keys *rowkey.Keys) error {
	switch {
	case c.settings.Cache == connector.FullCache:
	case c.settings.Cache == connector.NoCache:
		c.young = c.half()
		return nil
	case !c.settings.KeepMissing:
		if err := c.forgetMissing(keys); err != nil {
			return err
		}
	}
	if err := c.young.store.EndCall(); err != nil {
		return err
	}
	if c.old != nil {
		if err := c.old.store.EndCall(); err != nil {
			return err
		}
	}
	if c.settings.Cache == connector.PartialCache && max(c.young.held, int64(c.young.keys.Len())) > (c.settings.MaxRows+1)/2 {
		c.old, c.young = c.young, c.half()
	}
	return nil
}

func (c *lookupCache) forgetMissing(keys *rowkey.Keys) error {
	rows := make([]state.Slot, keys.Len())
	if err := c.young.rows.Resolve(keys, false, rows); err != nil {
		return err
	}
	known := make([]state.Slot, keys.Len())
	if err := c.young.keys.Resolve(keys, false, known); err != nil {
		return err
	}
	var drop []state.Slot
	seen := map[state.Slot]bool{}
	for i, s := range known {
		if s != state.None && rows[i] == state.None && !seen[s] {
			seen[s] = true
			drop = append(drop, s)
		}
	}
	c.young.keys.Drop(drop)
	return nil
}

// kept is the number of rows and keys in the cache.
func (c *lookupCache) kept() int64 {
	n := c.young.held
	if c.old != nil {
		n += c.old.held
	}
	return n
}
