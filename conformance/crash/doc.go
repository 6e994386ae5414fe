// Package crash kills a process that runs queries, at instants that nobody chose, and
// lets another one go on, until the result is complete: it must be that of a process
// that nobody killed. The tests run themselves as that process.
//
// Every query has, in its job, a witness: sinks that take the rows of its tables as they
// were read. A checkpoint commits both, so what the query has shown at any time must be
// its result over what the witnesses show.
package crash
