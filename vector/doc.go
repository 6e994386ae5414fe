// Package vector holds the unit of data that moves through the engine, the
// Batch: columns in Arrow's layout, a row kind per row, an optional selection.
//
// # Ownership
//
// Columns (Vector) are counted references to pooled buffers. Whoever creates a
// vector holds one reference; a Batch takes over one reference to each of its
// columns and gives them back in Release. A batch handed to an operator is
// borrowed until the call returns: what shall outlive the call goes through
// Batch.Keep. A published vector is never written again.
//
// A Pool belongs to one goroutine, which alone allocates from it; the last
// reference may be dropped on any goroutine.
package vector
