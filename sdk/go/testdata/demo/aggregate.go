package demo

import (
	"encoding/binary"
	"errors"
	"sort"

	weir "github.com/weirdb/weir/sdk/go"
)

//weir:aggregate avg2(x BIGINT) BIGINT deterministic
type avg2 struct{ Sum, Count int64 }

func (s *avg2) Add(x int64)     { s.Sum, s.Count = s.Sum+x, s.Count+1 }
func (s *avg2) Retract(x int64) { s.Sum, s.Count = s.Sum-x, s.Count-1 }
func (s *avg2) Merge(o *avg2)   { s.Sum, s.Count = s.Sum+o.Sum, s.Count+o.Count }

func (s *avg2) Finish() weir.Null[int64] {
	if s.Count == 0 {
		return weir.None[int64]()
	}
	return weir.Some(s.Sum / s.Count)
}

// smallest has a state of 12 bytes, an Init and an Upgrade.
//
//weir:aggregate smallest(x INT) INT deterministic
//weir:state 2
type smallest struct {
	Least int32
	Seen  bool
	Rows  int32
}

func (s *smallest) Init() { s.Least = 1<<31 - 1 }

func (s *smallest) Add(x int32) { s.Least, s.Seen, s.Rows = min(s.Least, x), true, s.Rows+1 }

func (s *smallest) Finish() weir.Null[int32] { return weir.Null[int32]{V: s.Least, Valid: s.Seen} }

func (s *smallest) Upgrade(version int, old []byte) error {
	if version != 1 || len(old) != 8 {
		return errors.New("no state of version 1")
	}
	s.Least, s.Seen = int32(binary.LittleEndian.Uint32(old)), old[4] != 0
	return nil
}

// str_agg has a state of variable size.
//
//weir:aggregate str_agg(s STRING, sep STRING) STRING deterministic
type strAgg struct {
	any   bool
	first []byte // separator of the first value, for when it follows others
	text  []byte
}

func (s *strAgg) Add(v weir.Null[string], sep string) {
	if v.Valid {
		s.add(v.V, sep)
	}
}

func (s *strAgg) add(text, sep string) {
	if s.any {
		s.text = append(s.text, sep...)
	} else {
		s.any, s.first = true, append(s.first[:0], sep...)
	}
	s.text = append(s.text, text...)
}

func (s *strAgg) Merge(o *strAgg) {
	if o.any {
		s.add(string(o.text), string(o.first))
	}
}

func (s *strAgg) Finish() weir.Null[string] {
	return weir.Null[string]{V: string(s.text), Valid: s.any}
}

func (s *strAgg) AppendState(dst []byte) []byte {
	if !s.any {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.first)))
	dst = append(dst, s.first...)
	return append(dst, s.text...)
}

func (s *strAgg) LoadState(src []byte) error {
	n, k := binary.Uvarint(src)
	s.any = true
	s.first = append(s.first[:0], src[k:k+int(n)]...)
	s.text = append(s.text[:0], src[k+int(n):]...)
	return nil
}

type ranked struct{ V, Rank int32 }

// top2 keeps the two greatest values and emits all of them.
//
//weir:table_aggregate top2(v INT) ROW<v INT, rank INT> deterministic
type top2 struct {
	Values [2]int32
	N      int32
}

func (s *top2) Add(v int32) {
	switch {
	case s.N == 0:
		s.Values[0], s.N = v, 1
	case v > s.Values[0]:
		s.Values[1], s.Values[0], s.N = s.Values[0], v, 2
	case s.N == 1 || v > s.Values[1]:
		s.Values[1], s.N = v, 2
	}
}

func (s *top2) Merge(o *top2) {
	for _, v := range o.Values[:o.N] {
		s.Add(v)
	}
}

func (s *top2) Emit(dst []ranked) []ranked {
	for i, v := range s.Values[:s.N] {
		dst = append(dst, ranked{v, int32(i) + 1})
	}
	return dst
}

// distinct emits a value when its first row comes, and takes it back with its last.
//
//weir:table_aggregate distinct_values(v BIGINT) ROW<v BIGINT> deterministic
type distinct struct {
	counts  map[int64]int64
	emitted map[int64]bool
}

func (s *distinct) Add(v int64) {
	s.init()
	s.counts[v]++
}

func (s *distinct) Retract(v int64) {
	s.init()
	s.counts[v]--
}

func (s *distinct) init() {
	if s.counts == nil {
		s.counts, s.emitted = map[int64]int64{}, map[int64]bool{}
	}
}

func (s *distinct) EmitChanges() (out []weir.Change[int64]) {
	for _, v := range s.values() {
		if s.emitted[v] && s.counts[v] <= 0 {
			delete(s.emitted, v)
			out = append(out, weir.Change[int64]{Row: v, Retract: true})
		}
	}
	for _, v := range s.values() {
		if !s.emitted[v] && s.counts[v] > 0 {
			s.emitted[v] = true
			out = append(out, weir.Change[int64]{Row: v})
		}
	}
	return out
}

// values are the values in order: that of a map differs from call to call.
func (s *distinct) values() (list []int64) {
	for v := range s.counts {
		list = append(list, v)
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	return list
}

func (s *distinct) AppendState(dst []byte) []byte {
	for _, v := range s.values() {
		if s.counts[v] == 0 && !s.emitted[v] {
			continue
		}
		dst = binary.AppendVarint(dst, v)
		dst = binary.AppendVarint(dst, s.counts[v])
		e := byte(0)
		if s.emitted[v] {
			e = 1
		}
		dst = append(dst, e)
	}
	return dst
}

func (s *distinct) LoadState(src []byte) error {
	*s = distinct{}
	s.init()
	for len(src) > 0 {
		v, n := binary.Varint(src)
		c, m := binary.Varint(src[n:])
		s.counts[v] = c
		if src[n+m] == 1 {
			s.emitted[v] = true
		}
		src = src[n+m+1:]
	}
	return nil
}
