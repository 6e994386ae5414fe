// Package statecmd is `weir state`: commands that look at the state of queries on disk.
package statecmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirdb/weir/engine"
)

// Command is the command state with those below it.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Look at the state of queries on disk",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(inspectCommand())
	return cmd
}

func inspectCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect DIR",
		Short: "Show jobs, their checkpoints, operators and tables",
		Long: `Show jobs, their checkpoints, operators and tables, as they are in a state
directory (as given to --state), in the directory of one job, or in a savepoint.
Nothing is changed. The jobs must not be running, but may have crashed.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one directory")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			jobs, err := engine.InspectState(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(jobs)
			}
			return write(cmd.OutOrStdout(), jobs)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON array with an object for each job")
	return cmd
}

func write(w io.Writer, jobs []engine.JobState) error {
	if len(jobs) == 0 {
		_, err := fmt.Fprintln(w, "no jobs")
		return err
	}
	var b strings.Builder
	for i, j := range jobs {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeJob(&b, j)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeJob(w io.Writer, j engine.JobState) {
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(lines, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	what := "job"
	if j.Savepoint {
		what = "savepoint of job"
	}
	line(what, "%s", j.Job)
	line("directory", "%s", j.Dir)
	if j.Err != "" {
		line("error", "%s", j.Err)
		_ = lines.Flush() // into memory
		return
	}
	if j.Statement != "" {
		line("statement", "%s", j.Statement)
	}
	switch {
	case j.Epoch == 0:
		line("checkpoint", "none yet")
	case j.Complete:
		line("checkpoint", "the last, of %s, epoch %d: the job has ended", j.Taken.Format(time.RFC3339), j.Epoch)
	default:
		line("checkpoint", "of %s, epoch %d, processing time %s", j.Taken.Format(time.RFC3339), j.Epoch, j.Now.Format(time.RFC3339))
	}
	line("format", "version %d, %s bytes on disk", j.FormatVersion, strconv.FormatInt(j.DiskBytes, 10))
	_ = lines.Flush() // into memory
	if len(j.Sources) > 0 {
		t := table{{"source", "id", "splits begun", "finished"}}
		for _, s := range j.Sources {
			t = append(t, []string{s.Name, s.ID, strconv.Itoa(s.Begun), strconv.Itoa(s.Finished)})
		}
		t.write(w, 2, 3)
	}
	if len(j.Operators) > 0 {
		t := table{{"operator", "id", "table", "keys", "bytes", "form"}}
		for _, o := range j.Operators {
			for _, x := range o.Tables {
				t = append(t, []string{o.Name, o.ID, x.Name, strconv.FormatInt(x.Keys, 10), strconv.FormatInt(x.Bytes, 10), x.Description})
			}
		}
		t.write(w, 3, 4)
	}
}

// table is lines of cells, the first of which has the names of the columns.
type table [][]string

// write writes the table with columns aligned, some of them to the right.
func (t table) write(w io.Writer, right ...int) {
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	numbers := map[int]bool{}
	for _, i := range right {
		numbers[i] = true
	}
	for _, row := range t {
		cells := make([]string, len(row))
		for i, cell := range row {
			if numbers[i] {
				cells[i] = fmt.Sprintf("%*s", widths[i], cell)
			} else {
				cells[i] = fmt.Sprintf("%-*s", widths[i], cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
}
