package demo

import (
	"errors"
	"strings"

	weir "github.com/weirdb/weir/sdk/go"
)

type piece struct {
	Piece string
	Pos   int32
}

//weir:table split(s STRING) ROW<piece STRING, pos INT> deterministic
func split(dst []piece, s string) []piece {
	for pos := int32(0); ; pos++ {
		before, after, found := strings.Cut(s, "/")
		dst = append(dst, piece{before, pos})
		if !found {
			return dst
		}
		s = after
	}
}

// series makes as many rows as it is asked for without holding them.
//
//weir:table series(from_ BIGINT, to_ BIGINT) ROW<n BIGINT> deterministic
type series struct{ next, to int64 }

func (s *series) Open(from, to int64) error {
	if from < to && uint64(to-from) > 1_000_000 {
		return errors.New("too long")
	}
	s.next, s.to = from, to
	return nil
}

func (s *series) Next() (int64, bool) {
	if s.next > s.to {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

type rate struct{ Rate weir.Decimal }

// rate_at is the rate between two versions, on a straight line.
//
//weir:temporal rate_at(factor INT) ROW<rate DECIMAL(20, 6)> deterministic
//weir:keys STRING
//weir:time TIMESTAMP(3)
//weir:version ROW<rate DECIMAL(20, 6)>
//weir:ceil final
func rateAt(_ string, at int64, floor, ceil weir.Version[rate], factor int32) (rate, bool, error) {
	if !floor.Exists {
		return rate{}, false, nil
	}
	r := floor.Row.Rate
	if ceil.Exists {
		change, _ := ceil.Row.Rate.Sub(r)
		change, _ = change.Mul(weir.DecimalOf(at - floor.Time))
		change, _ = change.QuoRound(weir.DecimalOf(ceil.Time-floor.Time), 0, weir.HalfEven)
		r, _ = r.Add(change)
	}
	r, ok := r.Mul(weir.DecimalOf(int64(factor)))
	if !ok || !r.Fits(20) {
		return rate{}, false, errors.New("the rate does not fit")
	}
	return rate{r}, true, nil
}
