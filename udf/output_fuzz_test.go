package udf_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/weirdb/weir/udf"
	"github.com/weirdb/weir/vector"
)

// resultTypes are types of every form, nested and with what the checks look at.
func resultTypes() []string {
	return []string{
		"BIGINT", "BOOLEAN", "STRING", "BYTES", "DECIMAL(20, 2)", "DECIMAL(3, 1) NOT NULL", "TIME(3)", "TIME(9)", "VARCHAR(3)", "VARBINARY(2)",
		"TINYINT NOT NULL", "SMALLINT", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH", "CHAR(1)", "INT",
		"ARRAY<INT>", "ARRAY<STRING NOT NULL>", "MAP<STRING, BOOLEAN>", "MAP<INT, ARRAY<TIME(3) NOT NULL>>", "MULTISET<VARCHAR(2)>",
		"ROW<a INT, b ROW<c STRING NOT NULL, d ARRAY<BOOLEAN>>>", "ARRAY<ARRAY<ROW<a TINYINT, b BYTES>>>", "ROW<a BOOLEAN NOT NULL> NOT NULL",
	}
}

// FuzzResult lets a guest write anything over a result: there must be an error, or a column
// that the engine can rely on.
func FuzzResult(f *testing.F) {
	seed := rand.Uint64()
	f.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	interesting := []uint32{0, 1, 2, 3, 4, 63, 64, 1024, 4096, 8192, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<32 - 8, 0x41ff80e2}
	for k := range resultTypes() {
		for rows := range 8 {
			var writes []byte
			for range rng.IntN(12) {
				writes = binary.LittleEndian.AppendUint16(writes, uint16(1024+4*rng.IntN(250)))
				v := interesting[rng.IntN(len(interesting))]
				if rng.IntN(3) == 0 {
					v = rng.Uint32N(200)
				}
				writes = binary.LittleEndian.AppendUint32(writes, v)
			}
			f.Add(byte(k), byte(rows), uint64(rng.Uint32()), writes)
		}
	}
	f.Fuzz(func(t *testing.T, typ, rows byte, counts uint64, writes []byte) {
		types := resultTypes()
		resultType := mustType(t, types[int(typ)%len(types)])
		n := int(rows)
		var mask vector.Bitmap
		if counts != 0 {
			mask = make(vector.Bitmap, vector.BitmapWords(n))
			for w := range mask {
				mask[w] = counts
			}
		}
		p := vector.NewCheckedPool()
		v, err := udf.Take(resultType, []int{0, 64, 70}[counts%3], n, mask, 16<<10, func(mem []byte) {
			for ; len(writes) >= 6; writes = writes[6:] {
				at := int(binary.LittleEndian.Uint16(writes)) % (len(mem) - 4)
				copy(mem[at:], writes[2:6])
			}
		}, p)
		if err == nil {
			counts := make([]bool, n)
			for r := range counts {
				counts[r] = mask == nil || mask.Get(r)
			}
			if problem := invalidAmong(resultType, v, counts); problem != "" {
				t.Errorf("%v: %s", resultType, problem)
			}
			show(resultType, v) // reads every value
			v.Release()
		}
		if leak := p.Leaks(); leak != nil {
			t.Error(leak)
		}
	})
}
