package state

import (
	"io"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

type Slot = int32

const None Slot = -1

type RowID = int32

type Options struct {
	EvictAll bool
	Seed     uint64
}

type Store struct{}

func NewStore(opt Options) *Store                                                  { panic("todo") }
func (s *Store) Values(name string, key rowkey.Layout, cols []vector.Kind) *Values { panic("todo") }
func (s *Store) Rows(name string, key rowkey.Layout, opt RowsOptions) *Rows        { panic("todo") }
func (s *Store) Times(name string, key rowkey.Layout) *Times                       { panic("todo") }
func (s *Store) EndCall() error                                                    { panic("todo") }
func (s *Store) EndEpoch() error                                                   { panic("todo") }
func (s *Store) Bytes() int64                                                      { panic("todo") }
func (s *Store) Keys() int64                                                       { panic("todo") }
func (s *Store) Snapshot(w io.Writer) error                                        { panic("todo") }
func (s *Store) Restore(r io.Reader, from, to int) error                           { panic("todo") }

type Values struct{}

func (v *Values) Resolve(keys *rowkey.Keys, create bool, slots []Slot) error { panic("todo") }
func Col[T vector.Fixed](v *Values, i int) []T                               { panic("todo") }
func (v *Values) Bytes(i int, s Slot) []byte                                 { panic("todo") }
func (v *Values) SetBytes(i int, s Slot, b []byte)                           { panic("todo") }
func (v *Values) Dirty(slots []Slot)                                         { panic("todo") }
func (v *Values) Drop(slots []Slot)                                          { panic("todo") }
func (v *Values) Hold(slots []Slot, fresh []int32) []int32                   { panic("todo") }
func (v *Values) Held() []Slot                                               { panic("todo") }
func (v *Values) Ordinal(s Slot) int32                                       { panic("todo") }
func (v *Values) Len() int                                                   { panic("todo") }
func (v *Values) Keys(p *vector.Pool, slots []Slot) ([]*vector.Vector, error) {
	panic("todo")
}

type SortSpec struct {
	Cols      []int // stored columns, most significant first
	Desc      []bool
	NullsLast []bool
}

type RowsOptions struct {
	Cols    []vector.Kind
	Sort    *SortSpec
	Indexed bool
}

type Rows struct{}

type Matches struct {
	Probe []int32
	Row   []RowID
	Count []int64
}

type Cursor struct {
	Pos int
	row RowID
}

func (r *Rows) Resolve(keys *rowkey.Keys, create bool, slots []Slot) error       { panic("todo") }
func (r *Rows) Add(slots []Slot, b *vector.Batch) error                          { panic("todo") }
func (r *Rows) Match(slots []Slot, c *Cursor, limit int, m *Matches) (done bool) { panic("todo") }
func (r *Rows) Take(p *vector.Pool, ids []RowID) []*vector.Vector                { panic("todo") }
func (r *Rows) First(s Slot) (id RowID, count int64, ok bool)                    { panic("todo") }
func (r *Rows) Last(s Slot) (id RowID, count int64, ok bool)                     { panic("todo") }
func (r *Rows) Range(s Slot, from []byte, yield func(id RowID, count int64) bool) error {
	panic("todo")
}
func (r *Rows) Count(s Slot) int64 { panic("todo") }
func (r *Rows) Drop(slots []Slot)  { panic("todo") }
func (r *Rows) DropAll()           { panic("todo") }
func (r *Rows) Negative() int64    { panic("todo") }

type Times struct{}

func (t *Times) Add(at int64, keys *rowkey.Keys, i int) error             { panic("todo") }
func (t *Times) Due(w int64, yield func(at int64, key []byte) bool) error { panic("todo") }
