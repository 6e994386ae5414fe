package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// part is a file that a sink has committed. Its name is part-run-shard-number.json.
type part struct {
	run           string
	shard, number int
	written       time.Time
	lines         []string
}

// shown reads the lines that a sink has committed, in the order in which it was given
// those of a key.
func shown(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var parts []part
	runs := map[string]time.Time{} // when each began
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(e.Name(), ".json"), "-")
		if len(fields) != 4 || fields[0] != "part" {
			return nil, fmt.Errorf("%s: what is %s?", dir, e.Name())
		}
		p := part{run: fields[1]}
		if p.shard, err = strconv.Atoi(fields[2]); err != nil {
			return nil, err
		}
		if p.number, err = strconv.Atoi(fields[3]); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if n := len(content); n > 0 && content[n-1] != '\n' {
			return nil, fmt.Errorf("%s: %s ends within a line", dir, e.Name())
		}
		p.written = info.ModTime()
		for line := range strings.Lines(string(content)) {
			p.lines = append(p.lines, strings.TrimSuffix(line, "\n"))
		}
		if at, ok := runs[p.run]; !ok || p.written.Before(at) {
			runs[p.run] = p.written
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(runs[a.run].Compare(runs[b.run]), cmp.Compare(a.run, b.run), cmp.Compare(a.number, b.number), cmp.Compare(a.shard, b.shard))
	})
	var lines []string
	for _, p := range parts {
		lines = append(lines, p.lines...)
	}
	return lines, nil
}

// change splits a line into the kind of row, +I where there is none, and the row.
func change(line string) (kind, row string) {
	rest, ok := strings.CutPrefix(line, `{"op":"`)
	if !ok {
		return "+I", strings.TrimPrefix(line, "{")
	}
	return rest[:2], strings.TrimPrefix(rest[3:], ",")
}

// fold is the table that changes come to, as sorted rows. With the name of a key, the
// changes are upserts.
func fold(lines []string, key string) ([]string, error) {
	var rows []string
	if key != "" {
		live := map[string]string{}
		for _, line := range lines {
			kind, row := change(line)
			if k := member(row, key); kind == "-D" {
				delete(live, k)
			} else if kind != "-U" {
				live[k] = row
			}
		}
		for _, row := range live {
			rows = append(rows, row)
		}
		slices.Sort(rows)
		return rows, nil
	}
	counts := map[string]int{}
	for _, line := range lines {
		kind, row := change(line)
		if kind[0] == '+' {
			counts[row]++
		} else {
			counts[row]--
		}
	}
	for row, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("%s was taken away more often than added", row)
		}
		for range n {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return rows, nil
}

// member is the text of a member of a row, without commas.
func member(row, name string) string {
	_, rest, _ := strings.Cut(row, `"`+name+`":`)
	return rest[:strings.IndexAny(rest, ",}")]
}

// minus are the rows that one table has more than another.
func minus(a, b []string) (more []string) {
	count := map[string]int{}
	for _, r := range b {
		count[r]++
	}
	for _, r := range a {
		if count[r]--; count[r] < 0 {
			more = append(more, r)
		}
	}
	return more
}

func few(rows []string) string {
	const most = 5
	return fmt.Sprintf("%d rows, such as %q", len(rows), rows[:min(most, len(rows))])
}

// witnessed checks that the rows of a table that were committed are a prefix of each of
// its files' rows, and returns them.
func witnessed(in *input, dir string) ([]string, error) {
	lines, err := shown(dir)
	if err != nil {
		return nil, err
	}
	switch {
	case in.table == "prices": // its witness is given what prices replace each other
		now, err := fold(lines, "")
		if err != nil {
			return nil, err
		}
		for n := range len(in.lines[0]) + 1 {
			was, err := fold(in.lines[0][:n], "k")
			if err != nil {
				return nil, err
			}
			if slices.Equal(was, now) {
				return lines, nil
			}
		}
		return nil, fmt.Errorf("table prices never was so in %d rows; files were renamed behind rows %v", len(lines), in.turns)
	case updating(in.table):
		for i, l := range lines {
			if i == len(in.lines[0]) || l != in.lines[0][i] {
				return nil, fmt.Errorf("of table %s, of which the files were renamed behind rows %v, %d rows were read, but in place of row %d row %d", in.table, in.turns, len(lines), i, slices.Index(in.lines[0], l))
			}
		}
		return lines, nil
	}
	read := map[string]bool{}
	for _, l := range lines {
		if read[l] {
			return nil, fmt.Errorf("table %s: %s was read twice", in.table, l)
		}
		read[l] = true
	}
	found := 0
	for _, split := range in.lines {
		n := 0
		for n < len(split) && read[split[n]] {
			n++
		}
		found += n
	}
	if found < len(lines) {
		return nil, fmt.Errorf("of table %s %d rows were read, of which only %d are the first; files were renamed behind rows %v", in.table, len(lines), found, in.turns)
	}
	return lines, nil
}

// missing is an error if the rows of a table that were committed are not all.
func (in *input) missing(lines []string) error {
	key := ""
	if in.table == "prices" {
		key = "k"
	}
	got, err := fold(lines, "")
	if err != nil {
		return err
	}
	want, err := fold(slices.Concat(in.lines...), key)
	if err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("of table %s not all was read: %d rows of %d; files were renamed behind rows %v", in.table, len(got), len(want), in.turns)
	}
	return nil
}

// over is the result of a query over rows of its tables, in an engine that nobody kills,
// in a folder of its own. schema has the result's columns.
func (q query) over(ctx context.Context, dir string, rows map[string][]string, schema string) ([]string, error) {
	var l life
	for table, lines := range rows {
		in := &input{table: table, path: filepath.Join(dir, table+".json")}
		if timed(table) { // several files were read at once: in one, rows would be late
			lines = slices.Clone(lines)
			slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(member(a, "ts"), member(b, "ts")) })
		}
		if err := os.WriteFile(in.path, []byte(text(lines)), 0o666); err != nil {
			return nil, err
		}
		l.DDL += strings.Replace(in.ddl(), "'upserts'", "'filesystem'", 1)
	}
	l.DDL += q.definition()
	out := filepath.Join(dir, "out")
	l.DDL += sinkDDL(q.result(), schema, out, true, "")
	l.Jobs = []lifeJob{{"SET 'parallelism.default' = '1'", "INSERT INTO " + q.result() + " " + q.sql}}
	e, running, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if err := running[0].Wait(ctx); err != nil {
		return nil, err
	}
	return shown(out)
}

func sinkDDL(name, columns, dir string, updates bool, key string) string {
	connector, options := "filesystem", ""
	if updates {
		options = ", 'json.changelog' = 'true'"
	}
	if key != "" {
		connector = "upserts"
		columns += ", PRIMARY KEY (" + key + ") NOT ENFORCED"
		options += ", 'upsert-materialize' = 'auto'"
	}
	return fmt.Sprintf("CREATE TEMPORARY TABLE %s (%s) WITH ('connector' = '%s', 'path' = '%s', 'format' = 'json'%s);\n", name, columns, connector, dir, options)
}
