package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weirdb/weir/vector"
)

// What is gathered in blocks is, once encoded, what saving each entry alone gives.
func TestEncodeIsSave(t *testing.T) {
	for name, k := range keyCases {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 7))
			d := newTestDB(t, Options{})
			s := NewStore(d.opt)
			cols := append(slices.Clone(testRowCols), vector.Decimal, vector.Int8, vector.Int16, vector.Bool)
			rows := map[string]*Rows{
				"appended": s.Rows("appended", k.layout, RowsOptions{Cols: testRowCols}),
				"indexed":  s.Rows("indexed", k.layout, RowsOptions{Cols: testRowCols, Indexed: true, Noted: true}),
			}
			values, lists := s.Values("values", k.layout, cols), s.Lists("lists", k.layout, modelCols, modelCols, 3)
			ns := make([]int, 3*block/2)
			for i := range ns {
				ns[i] = r.IntN(1 << 20)
			}
			p := vector.NewPool()
			keys, _ := k.keysOf(p, ns)
			slots := make([]Slot, len(ns))
			d.ok(values.Resolve(keys, true, slots))
			for _, slot := range slots {
				Col[int64](values, 0)[slot] = r.Int64()
				Col[vector.Dec](values, 4)[slot] = vector.DecFromInt64(-r.Int64())
				Col[int8](values, 5)[slot], Col[int16](values, 6)[slot] = int8(r.Int()), int16(r.Int())
				Col[bool](values, 7)[slot] = r.IntN(2) == 0
				values.SetBytes(1, slot, make([]byte, r.IntN(300)))
				if r.IntN(200) == 0 { // more than a chunk takes
					values.SetBytes(1, slot, bytes.Repeat([]byte{1}, partChunk+r.IntN(9)))
				}
			}
			d.ok(lists.Resolve(keys, true, slots))
			for _, slot := range slots {
				for place := range Slot(3) {
					Col[int64](lists, 3)[slot*3+place] = r.Int64()
					lists.SetBytes(5, slot*3+place, fmt.Append(nil, r.IntN(1000)))
				}
			}
			for _, table := range rows {
				for range 2 {
					d.ok(table.Resolve(keys, true, slots))
					b := vector.NewBuilder(p, testRowCols)
					for range slots {
						randomRow(r).append(b, vector.Insert)
					}
					d.ok(table.Add(slots, b.Finish()))
				}
			}
			want := map[string]string{}
			for _, v := range []*Values{values, lists} {
				v.index.each(func(slot Slot) {
					want[string(v.disk.appendKey(nil, &v.keyTable, slot))] = string(v.payload.save(nil, slot))
				})
			}
			for _, table := range rows {
				table.index.each(func(slot Slot) {
					number := uint32(table.number[slot])
					for id := table.head[slot]; id != 0; id = table.next[id] {
						number--
						want[string(table.appendRowKey(nil, slot, id, number))] = string(table.saveRow(nil, id))
					}
				})
			}
			d.ok(s.EndEpoch())
			part, err := s.Copy(1)
			d.ok(err)
			if part.Entries() != int64(len(want)) {
				t.Errorf("%d entries, want %d", part.Entries(), len(want))
			}
			for _, table := range part.tables {
				table.sort()
				for _, e := range table.entries {
					key := string(table.key(e))
					if value, ok := want[key]; !ok || value != string(table.value(e)) {
						t.Fatalf("%s: key %x has %x, want %x", table.stored.Description, key, table.value(e), value)
					}
					delete(want, key)
				}
			}
			if len(want) > 0 {
				t.Errorf("%d entries are missing", len(want))
			}
			d.flying = []*Part{part}
			d.commit()
		})
	}
}

// Blocks begin and end within chunks, however long their fields are.
func TestRawRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	part := &tablePart{spare: &chunkPool{}}
	var want [][]byte
	for range 300 {
		part.beginBlock()
		var all []byte
		for range r.IntN(5) {
			n := []int{0, r.IntN(20), r.IntN(partReserve), r.IntN(partChunk + 100)}[r.IntN(4)]
			field := part.rawRoom(n)
			for i := range field {
				field[i] = byte(r.Int())
			}
			all = append(append(all, make([]byte, aligned(len(all))-len(all))...), field...)
		}
		part.endBlock(rawBlock{n: 1})
		want = append(want, all)
	}
	for i, b := range part.blocks {
		if got := part.raw[b.chunk][b.from:b.to]; !bytes.Equal(got, want[i]) {
			t.Errorf("block %d of %d bytes is not what was gathered, of %d", i, len(got), len(want[i]))
		}
	}
}
