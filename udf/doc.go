// Package udf runs functions that users wrote as WebAssembly modules, in a sandbox.
//
// A Host loads modules: the manifest is read without running anything, the module is
// checked and rewritten so that it counts what it spends, its imports and exports are
// held against what it may have and what the manifest promises, and it is compiled. A
// Module has Functions; a Function is called through an Instance, which owns one
// memory of the guest's and belongs to one goroutine and one query:
//
//	host, err := udf.Open(ctx, udf.Config{CacheDir: dir})
//	module, err := host.Load(ctx, "demo.wasm", bytes, udf.Limits{})
//	function := module.Function("add")
//	instance, err := function.Open(ctx, pool)
//	sum, err := instance.Call(ctx, &udf.Call{Args: args, Rows: n, Pool: p})
//
// # What a guest can do
//
// It computes. It has no files, network, environment, clock or source of randomness but
// what the call gives it. It may spend so much fuel, time, stack, memory and log per
// batch, and a host function costs it like its own code. Whatever it returns is checked
// and copied before anything else sees it, so that no result can break the engine.
//
// # Errors
//
// Errors are *errs.Error. What went wrong inside of a guest, or against the contract
// with it, is a *Fault in its chain: which function, which row if known, and where in the
// guest. After any error an instance is dead: it is closed and another one is opened.
package udf
