// Package errs defines the errors that users of the engine see: a stable code, a
// position in their SQL text or file, what is wrong and a way out.
package errs

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Code names a kind of error. Codes are stable: programs may switch on them.
type Code string

// The codes. SQL errors come from a statement's text, data errors from rows,
// the others from the world around.
const (
	Syntax       Code = "SYNTAX"         // the text is no statement of the dialect
	Unsupported  Code = "UNSUPPORTED"    // understood, but not executed (yet)
	NotFound     Code = "NOT_FOUND"      // no such table, column, function, option
	Exists       Code = "ALREADY_EXISTS" // the name is taken
	Ambiguous    Code = "AMBIGUOUS"      // a name fits several things
	Type         Code = "TYPE_MISMATCH"  // operands or columns of the wrong type
	Invalid      Code = "INVALID"        // well formed but without a meaning
	Changelog    Code = "CHANGELOG"      // an updating result where none can be taken
	Option       Code = "INVALID_OPTION" // a WITH or SET option is missing, unknown or has a bad value
	Data         Code = "BAD_DATA"       // a row or value that cannot be read or written
	Arithmetic   Code = "ARITHMETIC"     // overflow, division by zero
	Cast         Code = "CAST"           // a value that does not fit the type asked for
	Function     Code = "FUNCTION"       // a function written in Go failed
	Input        Code = "INPUT"          // a source failed
	Output       Code = "OUTPUT"         // a sink failed
	State        Code = "STATE"          // the state store failed or refused
	Canceled     Code = "CANCELED"       // the caller ended the query
	Limit        Code = "LIMIT"          // a size or resource limit was reached
	Internal     Code = "INTERNAL"       // a bug in the engine
	Inconsistent Code = "INCONSISTENT"   // the input retracted what it never added
)

// Position is a place in a text: line and column count from 1, columns in
// characters; the offset counts bytes from 0. The zero Position is "nowhere".
type Position struct {
	Line, Column int
	Offset       int
}

// IsValid reports whether p is a place.
func (p Position) IsValid() bool { return p.Line > 0 }

func (p Position) String() string {
	if p.Column > 0 {
		return fmt.Sprintf("line %d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("line %d", p.Line)
}

// At is the position of the byte at offset in text.
func At(text string, offset int) Position {
	offset = min(max(offset, 0), len(text))
	head := text[:offset]
	start := strings.LastIndexByte(head, '\n') + 1
	return Position{
		Line:   strings.Count(head, "\n") + 1,
		Column: utf8.RuneCountInString(head[start:]) + 1,
		Offset: offset,
	}
}

// Error is an error for users. Source names the file that Pos refers to, and is
// empty for the statement's own text.
type Error struct {
	Code   Code
	Source string
	Pos    Position
	Msg    string
	Hint   string // what to do about it, or ""
	Err    error  // the cause, or nil
}

// New returns an error with a formatted message. The verb %w is understood.
func New(code Code, pos Position, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Pos: pos, Msg: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns e with a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// In returns e with the name of the file that its position refers to.
func (e *Error) In(source string) *Error {
	e.Source = source
	return e
}

// Error is "source:line 3:14: message; hint", without the parts that are empty.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Source != "" {
		b.WriteString(e.Source)
		b.WriteString(": ")
	}
	if e.Pos.IsValid() {
		b.WriteString(e.Pos.String())
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of the first Error in err's chain, or Internal.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}
