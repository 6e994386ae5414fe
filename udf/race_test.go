//go:build race

package udf_test

const raceEnabled = true
