// Package bench has benchmarks of whole queries. Run them with make bench
// BENCHPKG=./bench; compare with another revision by OLD=revision.
package bench
