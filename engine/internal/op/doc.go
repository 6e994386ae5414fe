// Package op holds the operators of a running query, one file each. They know
// nothing of plans: a constructor takes a spec of columns, types and expressions
// that were checked before.
//
// Operators that keep state by key work in two steps. Process folds the rows of
// an epoch into state and remembers what each touched key looked like when the
// epoch began; Flush compares and publishes the net change of each key, all
// removals before all additions. So what reaches a sink at a mark is the result
// for a prefix of the input, whatever the order of the rows inside the epoch: a
// removal may come before the addition that it takes back.
package op
