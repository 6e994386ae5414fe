package errs

import "strings"

// Suggest returns the name among have that is most like the mistyped name, or
// "" when none is near or nothing but the length is alike. Case does not count.
func Suggest(name string, have []string) string {
	best, bestD := "", max(len(name)/3, 1)+1
	low := strings.ToLower(name)
	for _, h := range have {
		if d := distance(low, strings.ToLower(h), bestD); d < bestD && d < len(low) {
			best, bestD = h, d
		}
	}
	return best
}

// DidYouMean is Suggest as a hint: `did you mean "price"?`, or "".
func DidYouMean(name string, have []string) string {
	if s := Suggest(name, have); s != "" {
		return `did you mean "` + s + `"?`
	}
	return ""
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours between a and b, or limit when it is at least that.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) >= limit {
		return limit
	}
	var prev2 []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		low := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
			low = min(low, cur[j])
		}
		if low >= limit {
			return limit
		}
		prev2, prev = prev, cur
	}
	return min(prev[len(b)], limit)
}

func abs(x int) int { return max(x, -x) }
