package weir

// Slab lends slices that hold the nested values of a row while a function runs. It
// grows to what the largest row needs and is used again for the next.
type Slab[T any] struct{ free []T }

// Reset takes back all slices.
func (s *Slab[T]) Reset() { s.free = s.free[:0] }

// Take lends a slice of n values, which hold anything.
func (s *Slab[T]) Take(n int) []T {
	from := len(s.free)
	if from+n > cap(s.free) {
		// Slices lent before keep their memory.
		s.free = make([]T, 0, max(2*cap(s.free), n))
		from = 0
	}
	s.free = s.free[:from+n]
	return s.free[from : from+n : from+n]
}
