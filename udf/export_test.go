package udf

import (
	"time"

	"github.com/weirdb/weir/abi"
	"github.com/weirdb/weir/engine/sqltype"
	"github.com/weirdb/weir/udf/internal/meter"
	"github.com/weirdb/weir/vector"
)

// SetClock makes the instance measure time with another clock.
func SetClock(i *Instance, clock func() time.Duration) { i.fuel.clock = clock }

// CountNothing makes the host load modules that are not metered.
func CountNothing(h *Host) { h.rewrite = meter.Bare }

// RowsOfPiece is how many of so many rows a call of a function of these types has.
func RowsOfPiece(in, out []sqltype.Type, rows int) int { return newLayout(in, out).rowsOfPiece(rows) }

// Take lays a result of so many rows out in a memory, lets change do anything to it as a
// guest could, and takes the result: where calls write in place, as that of the last call of
// a batch, which begins at row from. Counts are the rows whose values matter.
func Take(typ sqltype.Type, from, rows int, counts vector.Bitmap, size int, change func(mem []byte), p *vector.Pool) (*vector.Vector, error) {
	const base = 1024
	mem := view[byte](int64Bytes(make([]int64, size/8)), size)
	var x exchange
	x.begin(abi.PartBody, newLayout(nil, []sqltype.Type{typ}))
	x.outRows, x.count = rows, rows
	if need := base + x.measure(false); need > size {
		mem = view[byte](int64Bytes(make([]int64, need/8)), need)
	}
	x.lay(arena{mem: mem[base:], base: base}, 0, 0)
	change(mem)
	if !x.layout.inPlace {
		from = 0
	}
	out := pieces{pool: p, rows: from + rows, inPlace: x.layout.inPlace}
	t := taker{mem: mem, base: base, pool: p, from: from, left: int64(len(mem))}
	if err := out.add(&t, &x.layout.out[0], rows, counts); err != nil {
		out.drop()
		return nil, err
	}
	v := out.finish()
	if from == 0 {
		return v, nil
	}
	defer v.Release()
	var last []int32
	for r := range rows {
		last = append(last, int32(from+r))
	}
	return v.Take(p, last), nil
}
