// Package state is the keyed state of operators: tables in memory, and a database
// behind them that has what they were at the last checkpoint.
//
// # Pins and holds
//
// An operator never owns an entry. Resolve finds the entries of a batch of keys
// and pins them: their slots are valid until the call into the operator ends
// (Process, Advance, End or Flush, any), and no longer. Hold keeps a pinned entry
// in its slot until the epoch ends, that is, until after the Flush that publishes
// it. Whatever is neither pinned nor held may leave memory, and comes back in
// another slot.
//
// So what an operator may carry from one call to the next are the slots in Held,
// in their order, until the epoch ends; never a slot from Resolve, a slice from
// Col, bytes or a row id. Options.EvictAll is a store that punishes each breach.
//
// A change to an entry counts only if the entry is marked dirty while it is pinned
// or held. Creating an entry, and Rows.Add, mark it by themselves.
//
// A store and its tables belong to one goroutine. Tables own their memory: they
// refer to no batch.
package state

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

// Options of a Store. The zero value keeps everything in memory.
type Options struct {
	// EvictAll is for tests: everything that is neither pinned nor held goes to
	// Tier at the end of each call, slots and row ids are drawn at random, memory
	// that is given up is overwritten, and EndCall reports uses of what was not
	// pinned and changes that were not marked dirty.
	EvictAll bool
	// Seed is where EvictAll's randomness comes from.
	Seed uint64
	// Tier is where EvictAll puts entries; nil: a map.
	Tier Tier
	// DB keeps what the store copies at checkpoints, and has what it had at the last;
	// nil: the store is all there is. Operator is the id under which it is known
	// there, Name what people call it, [From, To) the key groups of the shard; To 0: all.
	DB       *DB
	Operator string
	Name     string
	From, To int
	// Memory is about the number of bytes that entries may take. Those that DB has,
	// and that were not used for longest, leave memory between epochs. 0: no limit.
	Memory int64

	packFrom int     // for tests, see sparseFrom
	miss     *misses // scratch of all tables
}

func (o Options) sparseFrom() int {
	if o.packFrom > 0 {
		return o.packFrom
	}
	return sparseFrom
}

// Store is the keyed state of one operator in one shard.
type Store struct {
	opt    Options
	tables []table    // in the order of their making
	names  []string   // theirs
	steady []steady   // those that are not Slices
	used   usedSlices // of those that are

	operator *operator // in opt.DB
	copied   uint64    // the epoch of the last copy, if it is not known to be committed
	pressed  bool
}

// table is what a store asks of Values, Rows and Times.
type table interface {
	endCall() error
	endEpoch() error
	bytes() int64
	entries() int64
	describe() string
	fail(err error)

	// With a database.
	class() class
	attach(d *disk) error
	copyTo(p *Part) error
	settled() // what was copied is committed
	budgeted
}

// steady is a table whose entries come and go by themselves, and so all that is not Slices.
type steady interface {
	table
	repack() // after the end of an epoch
}

// NewStore returns an empty store.
func NewStore(opt Options) *Store {
	if opt.EvictAll && opt.Tier == nil {
		opt.Tier = memoryTier{}
	}
	opt.To, opt.miss = cmp.Or(opt.To, keyGroups), new(misses)
	s := &Store{opt: opt}
	if opt.DB != nil {
		s.operator = opt.DB.operator(opt.Operator, opt.Name)
	}
	return s
}

// Values makes the table of that name, with what the database has of it. The name is
// unique in the store. If it had another key or other columns there, each Resolve says
// so.
func (s *Store) Values(name string, key rowkey.Layout, cols []vector.Kind) *Values {
	v := newValues(name, key, cols, s.opt)
	v.evict = s.evictor()
	s.register(name, v)
	return v
}

// Rows makes the table of that name, as Values does.
func (s *Store) Rows(name string, key rowkey.Layout, opt RowsOptions) *Rows {
	r := newRows(name, key, opt, s.opt)
	r.evict = s.evictor()
	s.register(name, r)
	return r
}

// Times makes the table of that name, as Values does; its Add and Due report what
// Resolve would.
func (s *Store) Times(name string, key rowkey.Layout) *Times {
	t := newTimes(name, key, s.opt)
	s.register(name, t)
	return t
}

// Slices makes the table of that name, as Values does.
func (s *Store) Slices(name string, key rowkey.Layout, cols []vector.Kind) *Slices {
	t := newSlices(name, key, cols, s)
	s.register(name, t)
	return t
}

func (s *Store) evictor() *evictor {
	if !s.opt.EvictAll {
		return nil
	}
	return &evictor{tier: s.opt.Tier, from: s.opt.From, to: s.opt.To, rand: rand.New(rand.NewPCG(s.opt.Seed, uint64(len(s.names)))), copied: map[string][][]byte{}}
}

func (s *Store) register(name string, t table) {
	if slices.Contains(s.names, name) {
		panic(fmt.Sprintf("state: two tables are called %q", name))
	}
	s.names = append(s.names, name)
	s.tables = append(s.tables, t)
	if t, ok := t.(steady); ok {
		s.steady = append(s.steady, t)
	}
	if s.opt.DB != nil {
		stored, err := s.opt.DB.table(s.operator, name, t.class(), t.describe())
		if err == nil {
			err = t.attach(newDisk(s.opt, s.operator, stored))
		}
		if err != nil {
			t.fail(err)
		}
	}
}

// EndCall says that a call into the operator has ended: pins are gone. The task
// calls it, never the operator. With EvictAll it returns what the operator did
// wrong; the other errors are those of writing state out.
func (s *Store) EndCall() error {
	for _, t := range s.steady {
		if err := t.endCall(); err != nil {
			return err
		}
	}
	return s.used.endCall()
}

// EndEpoch says that Flush has ended: pins and holds are gone. The task calls it,
// instead of EndCall.
func (s *Store) EndEpoch() error {
	for _, t := range s.steady {
		if err := t.endEpoch(); err != nil {
			return err
		}
	}
	if err := s.used.endEpoch(); err != nil {
		return err
	}
	if s.copied != 0 && s.opt.DB.committed.Load() >= s.copied {
		s.copied = 0
		for _, t := range s.tables {
			t.settled()
		}
	}
	if s.opt.DB != nil && s.opt.Memory > 0 {
		s.makeRoom()
	}
	for _, t := range s.steady {
		t.repack()
	}
	return nil
}

// Bytes is the memory that the store takes.
func (s *Store) Bytes() int64 {
	n := int64(0)
	for _, t := range s.tables {
		n += t.bytes()
	}
	return n
}

// Keys is the number of entries of all tables, in memory or not.
func (s *Store) Keys() int64 {
	n := int64(0)
	for _, t := range s.tables {
		n += t.entries()
	}
	return n
}

func corrupt(table string, err error) error {
	return errs.New(errs.State, errs.Position{}, "state of table %q cannot be restored: %w", table, err)
}
