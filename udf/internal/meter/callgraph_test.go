package meter

import "testing"

func TestResolve(t *testing.T) {
	const small, large = 100, 2000 // bytes of a frame
	o := defaults()
	for _, c := range []struct {
		name string
		fs   []function
		free []bool
		own  []int
	}{
		{"a leaf", []function{{plain: true, path: 10, frame: small}}, []bool{true}, []int{0}},
		{"an expensive leaf", []function{{plain: true, path: o.free + 1, frame: small}}, []bool{false}, []int{0}},
		{"a leaf with a large frame", []function{{plain: true, path: 10, frame: large}}, []bool{false}, []int{large}},
		{"an exported leaf", []function{{plain: true, path: 10, frame: small, pinned: true}}, []bool{false}, []int{0}},
		{
			"callers pay for callees, once a call", []function{
				{plain: true, path: 10, frame: small, calls: []uint32{1, 1}},
				{plain: true, path: 18, frame: small},
				{plain: true, path: 10, frame: small, calls: []uint32{1, 1, 1}},
			}, []bool{true, true, false}, []int{0, 0, 0},
		},
		{
			"a chain is counted where it has grown", []function{
				{frame: 500, calls: []uint32{1}}, {frame: 500, calls: []uint32{2}}, {frame: 500},
			}, []bool{false, false, false}, []int{1500, 0, 0},
		},
		{"recursion", []function{{plain: true, path: 5, frame: small, calls: []uint32{0}}}, []bool{false}, []int{small}},
		{
			"recursion in turns", []function{
				{plain: true, path: 5, frame: small, calls: []uint32{1}}, {plain: true, path: 5, frame: small, calls: []uint32{0}},
			}, []bool{false, false}, []int{small, small},
		},
		{"a call through a table", []function{{frame: small, indirect: true}}, []bool{false}, []int{small + sharedIndirect}},
		{"a function in a table", []function{{frame: sharedIndirect + 1, pinned: true}}, []bool{false}, []int{sharedIndirect + 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			resolve(c.fs, &o)
			for i, f := range c.fs {
				if f.free != c.free[i] || f.own != c.own[i] {
					t.Errorf("function %d: free %v, own %d; not %v, %d", i, f.free, f.own, c.free[i], c.own[i])
				}
			}
		})
	}
}

// A chain of calls through all functions of a large module must not need a stack here.
func TestResolveDeep(t *testing.T) {
	fs := make([]function, 1<<16)
	for i := range fs {
		fs[i] = function{frame: 100}
		if i+1 < len(fs) {
			fs[i].calls = []uint32{uint32(i + 1)}
		}
	}
	o := defaults()
	resolve(fs, &o)
	for i := range fs {
		if fs[i].own > o.shared+100 {
			t.Fatalf("function %d counts %d bytes", i, fs[i].own)
		}
	}
}
