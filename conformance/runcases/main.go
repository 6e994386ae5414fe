// Command runcases runs test cases of the format stream-sql-case/1, facts about
// streaming SQL that were collected from other engines' suites, and reports how
// many the engine meets.
//
//	go run ./conformance/runcases [-json] [-batch N] [-parallel N] [-restart [-parallel-after N]] DIR...
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	var set settings
	asJSON := flag.Bool("json", false, "print an object for each case in place of the table")
	flag.IntVar(&set.batch, "batch", 1, "rows of a batch; changelogs are compared change by change only at 1")
	flag.IntVar(&set.parallel, "parallel", 1, "shards of a query; the same holds")
	flag.BoolVar(&set.restart, "restart", false, "stop queries with a savepoint between the phases of a case, and go on from it")
	flag.IntVar(&set.after, "parallel-after", 0, "shards of a query after a restart; 0: as before")
	only := flag.String("run", "", "run only cases whose name matches this regular expression")
	timeout := flag.Duration("timeout", 30*time.Second, "longest time for a case")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: runcases [flags] DIR...")
		flag.PrintDefaults()
	}
	flag.Parse()
	match, err := regexp.Compile(*only)
	if flag.NArg() == 0 || err != nil {
		flag.Usage()
		os.Exit(2)
	}
	cases, err := readCases(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "runcases:", err)
		os.Exit(2)
	}
	var outcomes []Outcome
	for _, c := range cases {
		if match.MatchString(c.Name) {
			outcomes = append(outcomes, runOne(c, set, *timeout))
		}
	}
	if *asJSON {
		err = writeJSON(os.Stdout, outcomes)
	} else {
		err = writeTable(os.Stdout, outcomes)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "runcases:", err)
		os.Exit(1)
	}
	if count(outcomes, Failed) > 0 {
		os.Exit(1)
	}
}

func runOne(c Case, set settings, timeout time.Duration) Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return c.run(ctx, set)
}

func writeJSON(w io.Writer, outcomes []Outcome) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, o := range outcomes {
		if err := enc.Encode(o); err != nil {
			return err
		}
	}
	return nil
}

// writeTable shows the counts of each family, what was skipped for which feature,
// what failed and why.
func writeTable(w io.Writer, outcomes []Outcome) error {
	families := map[string][]Outcome{}
	features := map[string]int{}
	for _, o := range outcomes {
		families[o.Family] = append(families[o.Family], o)
		if o.Status == Skipped {
			features[o.Reason]++
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "family\tpassed\tfailed\tskipped")
	for _, f := range slices.Sorted(maps.Keys(families)) {
		list := families[f]
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\n", f, count(list, Passed), count(list, Failed), count(list, Skipped))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(features) > 0 {
		fmt.Fprintln(w, "\nskipped for want of")
		names := slices.SortedFunc(maps.Keys(features), func(a, b string) int {
			if d := features[b] - features[a]; d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		for _, f := range names {
			fmt.Fprintf(w, "%5d  %s\n", features[f], f)
		}
	}
	for _, o := range outcomes {
		if o.Status == Failed {
			fmt.Fprintf(w, "\nFAILED %s (%s)\n  %s\n", o.Name, o.Family, strings.ReplaceAll(o.Reason, "\n", "\n  "))
		}
	}
	_, err := fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", count(outcomes, Passed), count(outcomes, Failed), count(outcomes, Skipped))
	return err
}

func count(outcomes []Outcome, status Status) int {
	n := 0
	for _, o := range outcomes {
		if o.Status == status {
			n++
		}
	}
	return n
}
