package parse

// slab allocates values of one type, many at a time. They live as long as one of
// them does.
type slab[T any] struct {
	free []T
	size int // of the last allocation
}

// take is n new values next to each other.
func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.size = max(n, min(2*s.size, 32), 4)
		s.free = make([]T, s.size)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// one is a new value.
func (s *slab[T]) one() *T { return &s.take(1)[0] }
