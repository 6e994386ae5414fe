//go:build !race

package udf_test

const raceEnabled = false
