// Command weir runs streaming SQL: files of statements or statements given as
// arguments. Results go to standard output, everything else to standard error.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/term"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // a statement failed
	exitUsage  = 2 // the command line was wrong
)

func main() {
	// State lives in few, large slices without pointers: collecting less often costs
	// little memory and saves processor time. GOGC in the environment goes before.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	// Less often, but not so that it takes more than three quarters of the memory of the
	// container or the machine. GOMEMLIMIT goes before. Where neither can be told, all is as
	// without a limit.
	_, _ = memlimit.Set(memlimit.WithRatio(0.75), memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)))
	// Each signal asks the program to end: the first gracefully, the second at once.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// A reader that goes away ("| head") is then an error of the write, not of the process.
	signal.Ignore(syscall.SIGPIPE)
	std := streams{
		in:     os.Stdin,
		out:    os.Stdout,
		err:    os.Stderr,
		outTTY: term.IsTerminal(int(os.Stdout.Fd())),
		errTTY: term.IsTerminal(int(os.Stderr.Fd())),
	}
	os.Exit(run(context.Background(), os.Args[1:], std, signals))
}
