//go:build unix

package engine_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weirdb/weir/engine"
)

// Other statements go on while a module is loaded: its file is a pipe that nobody writes to.
func TestFunctionsLoadBesideOtherStatements(t *testing.T) {
	module, err := os.ReadFile(lab)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pipe := filepath.Join(dir, "m.wasm")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	e, _ := open(t, engine.Config{})
	created := make(chan error)
	go func() {
		_, err := e.ExecuteSQL(t.Context(), "CREATE FUNCTION root AS 'root' LANGUAGE WASM USING FILE '"+pipe+"'")
		created <- err
	}()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the statement reads
	if err != nil {
		t.Fatal(err)
	}
	if got := oneRow(t, e, "SELECT 1 + 1"); got != "2" {
		t.Errorf("1 + 1 = %s", got)
	}
	select {
	case err := <-created:
		t.Errorf("the function was created without its file: %v", err)
	default:
	}
	whole := filepath.Join(dir, "whole")
	if err := os.WriteFile(whole, module, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(whole, pipe); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-created; err != nil {
		t.Fatal(err)
	}
}
