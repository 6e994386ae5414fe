package exec

import (
	"slices"
	"sync/atomic"
)

// Figure is a number that an operator shows beside those that all have, such as the rows
// that wait in it.
type Figure struct {
	Name  string
	Value int64
}

// figures are those of one operator, in the order in which they were first given. The
// task's goroutine changes them; everybody else sees them as they were at the last publish.
type figures struct {
	list    []Figure
	changed bool
	public  atomic.Pointer[[]Figure]
}

func (f *figures) find(name string) *Figure {
	f.changed = true
	for i := range f.list {
		if f.list[i].Name == name {
			return &f.list[i]
		}
	}
	f.list = append(f.list, Figure{Name: name})
	return &f.list[len(f.list)-1]
}

func (f *figures) publish() {
	if f.changed {
		list := slices.Clone(f.list)
		f.public.Store(&list)
		f.changed = false
	}
}

// shown are the figures as they were at the last publish.
func (f *figures) shown() []Figure {
	if list := f.public.Load(); list != nil {
		return *list
	}
	return nil
}

// Count adds n to one of the operator's figures.
func (rt *Runtime) Count(name string, n int64) {
	if rt.figures != nil {
		rt.figures.find(name).Value += n
	}
}

// Gauge sets one of the operator's figures, and shows it at once: it may be long before
// the next mark.
func (rt *Runtime) Gauge(name string, v int64) {
	if rt.figures != nil {
		rt.figures.find(name).Value = v
		rt.figures.publish()
	}
}

// Figures are those of an operator that no task calls: one under test.
func (rt *Runtime) Figures() []Figure { return rt.figures.list }
