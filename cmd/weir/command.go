package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirdb/weir/cmd/weir/internal/output"
	"github.com/weirdb/weir/cmd/weir/internal/statecmd"
	"github.com/weirdb/weir/cmd/weir/internal/udfcmd"
	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/errs"
)

// streams are what the program is connected to.
type streams struct {
	in             io.Reader
	out, err       io.Writer
	outTTY, errTTY bool
}

// errFailed says that a statement failed and that this has been reported.
var errFailed = errors.New("failed")

// inputError is a script that cannot be read.
type inputError struct{ error }

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, std streams, signals <-chan os.Signal) int {
	root := &cobra.Command{
		Use:           "weir",
		Short:         "Streaming SQL in one binary",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetArgs(args)
	root.AddCommand(runCommand(std, signals), sqlCommand(std, signals), explainCommand(std, signals), udfcmd.Command(), statecmd.Command(), versionCommand())
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailed
	}
	fmt.Fprintf(std.err, "weir: %s\n", err)
	if errors.As(err, new(*udfcmd.Failed)) || errors.As(err, new(*errs.Error)) {
		return exitFailed
	}
	if !errors.As(err, new(inputError)) {
		fmt.Fprintf(std.err, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	return exitUsage
}

// settings are the flags of the commands that run queries.
type settings struct {
	output        string
	parallel      int
	batchSize     int
	flushInterval time.Duration
	state         string
	checkpoints   time.Duration
	savepoint     string
	stopInto      string
	moduleCache   string
}

func (s *settings) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.output, "output", "o", string(output.Table), "form of results: "+strings.Join(output.Formats(), ", "))
	f.IntVar(&s.parallel, "parallel", 0, "shards that a query runs on (0: one per processor)")
	f.IntVar(&s.batchSize, "batch-size", 0, "rows that move at a time; 1 gives the changelog row by row (0: 8192)")
	f.DurationVar(&s.flushInterval, "flush-interval", 0, "longest time until a change is seen (0: 20ms)")
	f.StringVar(&s.moduleCache, "module-cache", "", "directory for functions that have been compiled; none: no cache (default: in the user's cache directory)")
	f.StringVar(&s.state, "state", "", "directory in which tables, views and the state of INSERTs are kept from one run to the next")
	f.DurationVar(&s.checkpoints, "checkpoint-interval", 0, "time between checkpoints, with --state (0: 10s, and more when they are expensive)")
	f.StringVar(&s.savepoint, "from-savepoint", "", "folder of the savepoint that the query begins with, with --state")
	f.StringVar(&s.stopInto, "stop-savepoint", "", "new folder for a savepoint of the query that a signal stops, with --state")
}

func (s *settings) config(std streams) engine.Config {
	return engine.Config{
		Parallelism: s.parallel, BatchSize: s.batchSize, FlushInterval: s.flushInterval, StateDir: s.state,
		CheckpointInterval: s.checkpoints, Savepoint: s.savepoint,
		UDF: modules(s.moduleCache, std.err),
	}
}

func (s *settings) check() (output.Format, error) {
	switch {
	case s.parallel < 0:
		return "", errors.New("--parallel must not be negative")
	case s.batchSize < 0:
		return "", errors.New("--batch-size must not be negative")
	case s.flushInterval < 0:
		return "", errors.New("--flush-interval must not be negative")
	case s.checkpoints < 0:
		return "", errors.New("--checkpoint-interval must not be negative")
	case s.state == "" && (s.checkpoints > 0 || s.savepoint != "" || s.stopInto != ""):
		return "", errors.New("--checkpoint-interval, --from-savepoint and --stop-savepoint need --state")
	}
	return output.ParseFormat(s.output)
}

func runCommand(std streams, signals <-chan os.Signal) *cobra.Command {
	var set settings
	cmd := &cobra.Command{
		Use:   "run FILE.sql",
		Short: "Run the statements of a file; - is standard input",
		Long: `Run the statements of a file one after the other; - is standard input.
The rows of a SELECT go to standard output. File names in tables are relative to
the current directory.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one file of SQL, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := set.check()
			if err != nil {
				return err
			}
			s, err := readScript(args[0], std.in)
			if err != nil {
				return err
			}
			return runScripts(cmd.Context(), set, format, std, signals, []script{s})
		},
	}
	set.register(cmd)
	return cmd
}

func sqlCommand(std streams, signals <-chan os.Signal) *cobra.Command {
	var set settings
	var texts []string
	cmd := &cobra.Command{
		Use:   "sql -e SQL",
		Short: "Run statements given as arguments",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := set.check()
			if err != nil {
				return err
			}
			return runScripts(cmd.Context(), set, format, std, signals, scriptsOf(texts))
		},
	}
	cmd.Flags().StringArrayVarP(&texts, "execute", "e", nil, "statements to run; may be repeated")
	if err := cmd.MarkFlagRequired("execute"); err != nil {
		panic(err)
	}
	set.register(cmd)
	return cmd
}

func explainCommand(std streams, signals <-chan os.Signal) *cobra.Command {
	var texts []string
	var format, state string
	var analyze bool
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "explain (FILE.sql | -e SQL)",
		Short: "Show how queries would run, or with --analyze what they do",
		Long: `Show how queries would run, without running them. With --analyze they are run, their
rows dropped, and the plan is shown with what each operator did: when a query has ended,
when --for is over, or at Ctrl-C. It says where rows wait and why none come out.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, ok := map[string]engine.ExplainFormat{"text": engine.ExplainText, "json": engine.ExplainJSON}[format]
			if !ok {
				return fmt.Errorf("--format is text or json, not %q", format)
			}
			if (len(args) == 0) == (len(texts) == 0) {
				return errors.New("give one file of SQL or -e")
			}
			scripts := scriptsOf(texts)
			if len(args) == 1 {
				s, err := readScript(args[0], std.in)
				if err != nil {
					return err
				}
				scripts = []script{s}
			}
			if analyze {
				if f != engine.ExplainText {
					return errors.New("--analyze has no JSON form")
				}
				return analyzeScripts(cmd.Context(), state, limit, std, signals, scripts)
			}
			return explainScripts(cmd.Context(), f, state, std, scripts)
		},
	}
	cmd.Flags().StringArrayVarP(&texts, "execute", "e", nil, "statements to explain; may be repeated")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.Flags().StringVar(&state, "state", "", "state directory: shows what the query would go on from")
	cmd.Flags().BoolVar(&analyze, "analyze", false, "run the queries, and show what they did")
	cmd.Flags().DurationVar(&limit, "for", 0, "longest time to run each query with --analyze (0: until it ends, or Ctrl-C)")
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

// versionLine is "weir v1.2.3 (0123456789ab, go1.26.0)", as far as it is known.
func versionLine() string {
	version, detail := "(devel)", runtime.Version()
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				detail = s.Value[:min(12, len(s.Value))] + ", " + detail
			}
		}
	}
	return fmt.Sprintf("weir %s (%s)", version, detail)
}

// scriptsOf names the texts of -e by their number when there are several.
func scriptsOf(texts []string) []script {
	var out []script
	for i, t := range texts {
		s := script{text: t}
		if len(texts) > 1 {
			s.name = fmt.Sprintf("-e %d", i+1)
		}
		out = append(out, s)
	}
	return out
}

func readScript(name string, stdin io.Reader) (script, error) {
	if name == "-" {
		b, err := io.ReadAll(stdin)
		if err != nil {
			return script{}, inputError{fmt.Errorf("reading standard input: %w", err)}
		}
		return script{name: "<stdin>", text: string(b)}, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return script{}, inputError{err}
	}
	return script{name: name, text: string(b)}, nil
}
