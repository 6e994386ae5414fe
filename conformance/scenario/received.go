package scenario

// Received is what a table that is written has received so far.
func (s *Session) Received(name string) *Result {
	t := s.tables[name]
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.result(t.out)
}
