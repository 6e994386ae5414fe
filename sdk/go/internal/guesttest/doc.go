// Package guesttest holds the tests that call functions made with the Go SDK: apart
// from the SDK, so that a module which requires it does not require what they import.
package guesttest
