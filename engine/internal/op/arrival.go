package op

import (
	"github.com/weirdb/weir/engine/internal/state"
	"github.com/weirdb/weir/vector"
)

// firstValue keeps the value that came first.
type firstValue struct {
	valueResult
	fresh []state.Slot
	rows  []int32
}

func (a *firstValue) add(groups *state.Values, in *fed) error {
	has := state.Col[bool](groups, a.has)
	a.fresh, a.rows = a.fresh[:0], a.rows[:0]
	for i, s := range in.slots {
		if !has[s] {
			has[s] = true
			a.fresh, a.rows = append(a.fresh, s), append(a.rows, int32(i))
		}
	}
	storeColumn(groups, a.col, a.fresh, in.vals, a.rows)
	return nil
}

func (a *firstValue) settle(*state.Values, []state.Slot) error { return nil }

// lastValue keeps the value that came last.
type lastValue struct{ valueResult }

func (a *lastValue) add(groups *state.Values, in *fed) error {
	has := state.Col[bool](groups, a.has)
	for _, s := range in.slots {
		has[s] = true
	}
	storeColumn(groups, a.col, in.slots, in.vals, nil)
	return nil
}

func (a *lastValue) settle(*state.Values, []state.Slot) error { return nil }

// textList appends texts to a list, with a separator.
type textList struct {
	valueResult
	separator string
	text      []byte
}

func (a *textList) add(groups *state.Values, in *fed) error {
	has := state.Col[bool](groups, a.has)
	for i, s := range in.slots {
		a.text = append(a.text[:0], groups.Bytes(a.col, s)...)
		if has[s] {
			a.text = append(a.text, a.separator...)
		}
		has[s] = true
		a.text = append(a.text, in.vals.Bytes(i)...)
		groups.SetBytes(a.col, s, a.text)
	}
	return nil
}

func (a *textList) settle(*state.Values, []state.Slot) error { return nil }

// arrivalKind is what is published of the values of a group in their order.
type arrivalKind uint8

const (
	firstArrival arrivalKind = iota
	lastArrival
	listOfArrivals
)

// arrival plans FIRST_VALUE, LAST_VALUE and LISTAGG of f.
func (p *aggregatePlan) arrival(f *feed, kind arrivalKind, separator string) call {
	value := f.arg.Type().Kind()
	if p.updating {
		return call{p.arrivals(f).publish(p, kind, separator)}
	}
	for _, acc := range f.accs {
		switch acc := acc.(type) {
		case *firstValue:
			if kind == firstArrival {
				return call{acc.valueResult}
			}
		case *lastValue:
			if kind == lastArrival {
				return call{acc.valueResult}
			}
		case *textList:
			if kind == listOfArrivals && acc.separator == separator {
				return call{acc.valueResult}
			}
		}
	}
	r := valueResult{col: p.column(value), has: p.column(vector.Bool), kind: value}
	var acc accumulator
	switch kind {
	case firstArrival:
		acc = &firstValue{valueResult: r}
	case lastArrival:
		acc = &lastValue{r}
	default:
		acc = &textList{valueResult: r, separator: separator}
	}
	f.accs = append(f.accs, acc)
	return call{r}
}

// arrivals finds or adds the table of the values of f in the order in which they
// came, for updating input.
func (p *aggregatePlan) arrivals(f *feed) *valueLog {
	for _, acc := range f.accs {
		if l, ok := acc.(*valueLog); ok {
			return l
		}
	}
	l := newValueLog(p, f.arg.Type().Kind())
	f.accs = append(f.accs, l)
	p.logs = append(p.logs, l)
	return l
}
