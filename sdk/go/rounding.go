package weir

// Rounding says which neighbour a number between two takes.
type Rounding uint8

// The ways of rounding. HalfUp is what SQL's ROUND and CAST do.
const (
	HalfUp       Rounding = iota // the nearer one; the one farther from zero when both are as near
	HalfEven                     // the nearer one; the even one when both are as near (bankers' rounding)
	HalfDown                     // the nearer one; the one nearer to zero when both are as near
	TowardZero                   // cut off
	AwayFromZero                 // away from zero
	Floor                        // the smaller one
	Ceiling                      // the greater one
)

// up reports whether a magnitude that was cut off goes up by one: odd says how the
// rest ends, half compares what was cut off with one half.
func (r Rounding) up(odd, negative bool, half int) bool {
	switch r {
	case HalfUp:
		return half >= 0
	case HalfEven:
		return half > 0 || half == 0 && odd
	case HalfDown:
		return half > 0
	case AwayFromZero:
		return true
	case Floor:
		return negative
	case Ceiling:
		return !negative
	}
	return false
}
