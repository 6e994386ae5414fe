package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Case is one test case of a file of format stream-sql-case/1.
type Case struct {
	Name     string
	Family   string
	Tags     []string
	Config   map[string]any
	SetupSQL []string `json:"setup_sql"`

	Functions []Function
	Tables    []Table
	Sinks     []Sink
	SQL       []string
	Steps     []Step
	Expected  struct {
		Error   string
		Outputs []Expected
	}
	Restart   bool `json:"restart_after_phase_1"`
	Sensitive any  `json:"restart_sensitive"` // why the phases must not be joined

	dir      string // of the file, for the files that it names
	restarts int    // the number of shards behind a restart between the phases; 0: there is none
}

// Function is one that the case describes in words.
type Function struct {
	Name, Kind string
	// Of a temporal table function:
	Table, Time, Key string
}

// Table is a source.
type Table struct {
	Name       string
	Columns    []Column
	PrimaryKey []string `json:"primary_key"`
	Watermark  *struct{ Column, Expr string }
	Mode       string `json:"changelog_mode"`
	KeyDeletes bool   `json:"key_only_deletes"`
	Rows       []Row
	RowsFile   string `json:"rows_file"`
}

// Sink is a table that the case's statements write.
type Sink struct {
	Name       string
	Columns    []Column
	PrimaryKey []string `json:"primary_key"`
	Options    map[string]string
}

// deletesByKey reports whether the sink takes a -D with nothing but the key.
func (s Sink) deletesByKey() bool { return s.Options["sink.supports-delete-by-key"] == "true" }

// Column is a column of a table: a physical one has a type, a computed one an
// expression.
type Column struct {
	Name     string
	Type     string
	NotNull  bool `json:"not_null"`
	As       string
	Metadata *struct {
		Key     string
		Virtual bool
	}
}

// Row is [op, v1, v2, ...] with an optional {"phase": 2} at the end, or in checks
// and final contents the values alone.
type Row []any

// Step is a part of a stepwise case: rows for a table, or the content that a sink
// must have then. A step with neither name lets time pass.
type Step struct {
	Feed  string
	Check string
	Rows  []Row
	Sync  bool `json:"-"` // wait until all effects are seen
}

// Expected is what a sink must have received.
type Expected struct {
	Sink      string
	Order     string
	Changelog []Row
	Final     []Row
	FinalFile string `json:"final_file"`
	Strict    string
}

// readCases reads all case files below the given directories, in order of their
// names.
func readCases(dirs []string) ([]Case, error) {
	var files []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, ".rows.json") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	var cases []Case
	for _, file := range files {
		var content struct {
			Format string
			Cases  []Case
		}
		if err := decode(file, &content); err != nil {
			return nil, err
		}
		if content.Format != "stream-sql-case/1" {
			return nil, fmt.Errorf("%s: format %q is not stream-sql-case/1", file, content.Format)
		}
		for _, c := range content.Cases {
			c.dir = filepath.Dir(file)
			if err := c.load(); err != nil {
				return nil, fmt.Errorf("%s: case %s: %w", file, c.Name, err)
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// load reads the files that the case names in place of rows.
func (c *Case) load() error {
	for i, t := range c.Tables {
		if t.RowsFile != "" {
			if err := decode(filepath.Join(c.dir, t.RowsFile), &c.Tables[i].Rows); err != nil {
				return err
			}
		}
	}
	for i, o := range c.Expected.Outputs {
		if o.FinalFile != "" {
			if err := decode(filepath.Join(c.dir, o.FinalFile), &c.Expected.Outputs[i].Final); err != nil {
				return err
			}
		}
	}
	return nil
}

func decode(file string, into any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// phase is the phase of a row and the row without it.
func (r Row) phase() (int, Row) {
	if len(r) > 0 {
		if m, ok := r[len(r)-1].(map[string]any); ok && m["phase"] != nil {
			if m["phase"] == json.Number("2") {
				return 2, r[:len(r)-1]
			}
			return 1, r[:len(r)-1]
		}
	}
	return 1, r
}

// columns is the list of columns, keys and watermark as DDL has it.
func (t Table) columns() string {
	parts := columnList(t.Columns)
	if t.Watermark != nil {
		parts = append(parts, fmt.Sprintf("WATERMARK FOR %s AS %s", quote(t.Watermark.Column), t.Watermark.Expr))
	}
	return strings.Join(append(parts, primaryKey(t.PrimaryKey)...), ", ")
}

func (s Sink) columns() string {
	return strings.Join(append(columnList(s.Columns), primaryKey(s.PrimaryKey)...), ", ")
}

func columnList(columns []Column) []string {
	var parts []string
	for _, c := range columns {
		part := quote(c.Name) + " "
		switch {
		case c.As != "":
			part += "AS " + c.As
		case c.Type == "VARCHAR":
			part += "STRING" // the cases mean text of any length
		default:
			part += c.Type
		}
		if c.NotNull {
			part += " NOT NULL"
		}
		if c.Metadata != nil {
			part += " METADATA FROM '" + c.Metadata.Key + "'"
			if c.Metadata.Virtual {
				part += " VIRTUAL"
			}
		}
		parts = append(parts, part)
	}
	return parts
}

func primaryKey(columns []string) []string {
	if len(columns) == 0 {
		return nil
	}
	var names []string
	for _, c := range columns {
		names = append(names, quote(c))
	}
	return []string{"PRIMARY KEY (" + strings.Join(names, ", ") + ") NOT ENFORCED"}
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
