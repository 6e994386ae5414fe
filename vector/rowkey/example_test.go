package rowkey_test

import (
	"bytes"
	"fmt"

	"github.com/weirdb/weir/vector"
	"github.com/weirdb/weir/vector/rowkey"
)

func Example() {
	p := vector.NewPool()
	b := vector.NewBuilder(p, []vector.Kind{vector.Int32, vector.String})
	for i, city := range []string{"Oslo", "Rome", "Oslo"} {
		vector.Append(b.Col(0), int32(i/2))
		b.Col(1).AppendString(city)
		b.EndRow(vector.Insert)
	}
	batch := b.Finish()
	defer batch.Release()

	enc := rowkey.NewEncoder(rowkey.Layout{Kinds: []vector.Kind{vector.String}})
	keys := enc.Encode(batch, []int{1})
	fmt.Println("Oslo is Oslo:", keys.Hash()[0] == keys.Hash()[2])
	fmt.Println("Oslo before Rome:", bytes.Compare(keys.Bytes(0), keys.Bytes(1)) < 0)
	shard := rowkey.Shard(rowkey.KeyGroup(keys.Hash()[0], rowkey.Groups), 4)
	fmt.Println("Oslo belongs to shard", shard, "of 4")
	// Output:
	// Oslo is Oslo: true
	// Oslo before Rome: true
	// Oslo belongs to shard 3 of 4
}
