package op

import (
	"slices"

	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// Keeps reports whether the join keeps a column of the right of its versions.
func (j *TemporalJoin) Keeps(column int) bool {
	_, stored := j.joined.versions.at[column]
	return stored || column == j.spec.Right.Time || slices.Contains(j.spec.Right.Keys, column)
}

// VersionsAt are the rows of the right that hold at a time, as far as they have come: of
// each key the last one up to then. Of versions that ended before since not all are kept;
// for an earlier time there are no rows. The batches, from p, have the given columns, all of
// which the join Keeps, and are the caller's. The right has rows that are only added. It is
// called between epochs.
func (j *TemporalJoin) VersionsAt(p *vector.Pool, at int64, columns []int) (rows []*vector.Batch, since int64, err error) {
	if since = int64(j.low.Value()); at < since {
		return nil, since, nil
	}
	l := lastVersions{of: j.joined.versions, rows: map[string]followingRow{}, at: at, time: j.spec.Right.Time}
	defer l.close()
	err = j.follow.each(l.add)
	if err == nil {
		rows, err = l.take(p, columns)
	}
	return rows, since, err
}

// lastVersions finds the last versions of keys up to a time: of those that are to hold, and
// of those that hold.
type lastVersions struct {
	of   *versions
	at   int64
	time int // the column

	batches []*vector.Batch
	rows    map[string]followingRow // by key
}

// followingRow is a version that is to hold.
type followingRow struct {
	batch int
	row   int32
	time  int64
}

// add takes versions that are to hold, in the order in which they came.
func (l *lastVersions) add(b *vector.Batch) error {
	keys, times := l.of.enc.Encode(b, l.of.keys), vector.Values[int64](b.Col(l.time))
	for i, t := range times[:b.Len()] {
		if t > l.at {
			continue
		}
		key := keys.Bytes(i)
		if have, ok := l.rows[string(key)]; !ok || have.time <= t {
			l.rows[string(key)] = followingRow{len(l.batches), int32(i), t}
		}
	}
	l.batches = append(l.batches, b.Retain())
	return nil
}

func (l *lastVersions) take(p *vector.Pool, columns []int) ([]*vector.Batch, error) {
	kept, err := l.of.table.All(nil)
	if err != nil {
		return nil, err
	}
	chosen := make([][]int32, len(l.batches))
	for _, r := range l.rows {
		chosen[r.batch] = append(chosen[r.batch], r.row)
	}
	var out []*vector.Batch
	replaced := map[state.Slot]bool{}
	for i, rows := range chosen {
		if len(rows) == 0 {
			continue
		}
		slices.Sort(rows)
		part := l.batches[i].Take(p, rows)
		later, err := l.replace(part, replaced)
		if err == nil {
			narrow := part.Project(columns)
			out = append(out, narrow.Take(p, later))
			narrow.Release()
		}
		part.Release()
		if err != nil {
			return out, err
		}
	}
	live := state.Col[bool](l.of.table, colVersionLive)
	kept = slices.DeleteFunc(kept, func(s state.Slot) bool { return !live[s] || replaced[s] })
	for from := 0; from < len(kept); from += vector.Target {
		b, err := l.kept(p, kept[from:min(from+vector.Target, len(kept))], columns)
		if err != nil {
			return out, err
		}
		out = append(out, b)
	}
	return out, nil
}

// replace lists the rows of b that are not before the version that is kept of their key,
// and notes those that they replace.
func (l *lastVersions) replace(b *vector.Batch, replaced map[state.Slot]bool) ([]int32, error) {
	slots := make([]state.Slot, b.Len())
	if err := l.of.table.Resolve(l.of.enc.Encode(b, l.of.keys), false, slots); err != nil {
		return nil, err
	}
	live, times := state.Col[bool](l.of.table, colVersionLive), state.Col[int64](l.of.table, colVersionTime)
	var later []int32
	for i, t := range vector.Values[int64](b.Col(l.time))[:b.Len()] {
		s := slots[i]
		if s != state.None && live[s] && times[s] > t {
			continue
		}
		if later = append(later, int32(i)); s != state.None {
			replaced[s] = true
		}
	}
	return later, nil
}

// kept are columns of versions that hold.
func (l *lastVersions) kept(p *vector.Pool, slots []state.Slot, columns []int) (*vector.Batch, error) {
	keys, err := l.of.table.Keys(p, slots)
	if err != nil {
		return nil, err
	}
	defer releaseAll(keys)
	cols := make([]*vector.Vector, len(columns))
	for i, c := range columns {
		k := slices.Index(l.of.keys, c)
		switch {
		case k >= 0:
			cols[i] = keys[k].Retain()
		case c == l.time:
			times := state.Col[int64](l.of.table, colVersionTime)
			cols[i] = p.New(vector.Int64, len(slots))
			for j, s := range slots {
				vector.Values[int64](cols[i])[j] = times[s]
			}
		default:
			cols[i] = l.of.column(p, c, slots, nil, true)
		}
	}
	return vector.NewBatch(len(slots), cols, nil), nil
}

func (l *lastVersions) close() {
	for _, b := range l.batches {
		b.Release()
	}
}
