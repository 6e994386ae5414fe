package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// input is a table's rows, as lines, and how much of them its files have by now.
type input struct {
	table string
	path  string // a file, or a folder of files that are all there
	lines [][]string
	grows bool
	at    int   // bytes of the lines that were written
	turns []int // the rows behind which files were renamed
}

const (
	orderRows  = 1500
	itemRows   = 60
	changeRows = 700
	priceRows  = 500
	eventRows  = 1500
	clickRows  = 400
	smallKeys  = 16
)

// newInputs draws the tables of a scenario in a folder.
func newInputs(r *rand.Rand, dir string) (map[string]*input, error) {
	all := map[string]*input{}
	for _, table := range names {
		in := &input{table: table, grows: updating(table) || r.IntN(4) > 0}
		splits := 1
		if in.path = filepath.Join(dir, table+".json"); !in.grows {
			in.path, splits = filepath.Join(dir, table), 3
		}
		lines := draw(r, table)
		for i := range splits {
			in.lines = append(in.lines, lines[len(lines)*i/splits:len(lines)*(i+1)/splits])
		}
		all[table] = in
		if in.grows {
			if err := os.WriteFile(in.path, nil, 0o666); err != nil {
				return nil, err
			}
			continue
		}
		if err := os.Mkdir(in.path, 0o777); err != nil {
			return nil, err
		}
		for i, l := range in.lines {
			if err := os.WriteFile(filepath.Join(in.path, fmt.Sprint(i, ".json")), []byte(text(l)), 0o666); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func text(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func draw(r *rand.Rand, table string) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch table {
	case "orders":
		for id := range orderRows {
			s := []string{"null", `"nut"`, `"bolt"`, `"screw, long"`}[r.IntN(4)]
			add(`{"id":%d,"k":%d,"v":%d,"s":%s}`, id, r.IntN(smallKeys), r.IntN(100)-50, s)
		}
	case "items":
		for id := range itemRows {
			add(`{"id":%d,"k":%d,"w":%d}`, id, r.IntN(smallKeys), r.IntN(100)-50)
		}
	case "events":
		for id := range eventRows {
			add(`{"id":%d,"k":%d,"v":%d,"ts":"%s"}`, id, r.IntN(smallKeys), r.IntN(100)-50, eventTime(r, id, 1))
		}
	case "clicks":
		for id := range clickRows {
			add(`{"id":%d,"k":%d,"w":%d,"ts":"%s"}`, id, r.IntN(smallKeys), r.IntN(100)-50, eventTime(r, id, eventRows/clickRows))
		}
	case "accounts":
		live := map[int]string{}
		for len(lines) < changeRows {
			id := r.IntN(40)
			old, ok := live[id]
			row := fmt.Sprintf(`"id":%d,"k":%d,"v":%d}`, id, r.IntN(smallKeys), r.IntN(100)-50)
			switch {
			case !ok:
				add(`{"op":"+I",%s`, row)
			case r.IntN(5) == 0:
				add(`{"op":"-D",%s`, old)
				delete(live, id)
				continue
			default:
				add(`{"op":"-U",%s`, old)
				add(`{"op":"+U",%s`, row)
			}
			live[id] = row
		}
	case "prices":
		live := map[int]int{}
		for range priceRows {
			k, p := r.IntN(3*smallKeys), r.IntN(30)
			old, ok := live[k]
			switch {
			case ok && r.IntN(5) == 0:
				add(`{"op":"-D","k":%d,"p":%d}`, k, old)
				delete(live, k)
				continue
			case ok:
				add(`{"op":"+U","k":%d,"p":%d}`, k, p)
			default:
				add(`{"op":"+I","k":%d,"p":%d}`, k, p)
			}
			live[k] = p
		}
	}
	return lines
}

// eventTime is the time of a row, which no other of its table has. Neighbours are out of
// order, by less than a second.
func eventTime(r *rand.Rand, id, slower int) string {
	const step, disorder = 50, 18
	at := (id*slower+r.IntN(disorder))*step + id%step
	return time.UnixMilli(int64(at)).UTC().Format("2006-01-02 15:04:05.999")
}

// ddl declares the table.
func (in *input) ddl() string {
	options, watermark := "", ""
	if timed(in.table) {
		watermark = ", WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
	}
	connector := "filesystem"
	if updating(in.table) {
		options = ", 'json.changelog' = 'true'"
	}
	if in.table == "prices" {
		connector = "upserts"
	}
	if in.grows {
		options += ", 'source.monitor-interval' = '3 ms'"
	}
	return fmt.Sprintf("CREATE TEMPORARY TABLE %s (%s%s) WITH ('connector' = '%s', 'path' = '%s', 'format' = 'json'%s);\n",
		in.table, columns[in.table], watermark, connector, in.path, options)
}

// grow writes so many more bytes, of lines or parts of lines.
func (in *input) grow(n int) error {
	if !in.grows {
		return nil
	}
	all := text(in.lines[0])
	n = min(n, len(all)-in.at)
	f, err := os.OpenFile(in.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	in.at += n
	_, err = f.WriteString(all[in.at-n : in.at])
	return err
}

// turn completes the line that is being written and begins a new file of that name.
func (in *input) turn() error {
	if !in.grows {
		return nil
	}
	rest := text(in.lines[0])[in.at:]
	if err := in.grow(strings.IndexByte(rest, '\n') + 1); err != nil {
		return err
	}
	in.turns = append(in.turns, strings.Count(text(in.lines[0])[:in.at], "\n"))
	if err := os.Rename(in.path, fmt.Sprintf("%s.%d", in.path, len(in.turns))); err != nil {
		return err
	}
	return os.WriteFile(in.path, nil, 0o666)
}

// size is the number of bytes of all lines.
func (in *input) size() int { return len(text(in.lines[0])) }
