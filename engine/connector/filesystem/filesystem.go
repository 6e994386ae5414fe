// Package filesystem is the connector of tables that are files: one file, a
// folder, a glob, or standard input and output.
package filesystem

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/sqltype"
)

// Connector is the connector "filesystem". Its zero value has no formats.
type Connector struct {
	Formats []connector.Format
	Stdin   io.Reader // what path '-' reads; nil: os.Stdin
	Stdout  io.Writer // what path '-' writes; nil: os.Stdout

	after func(time.Duration) <-chan time.Time // nil: time.After
	disk  disk                                 // what sinks write to; nil: the file system
}

// New returns the connector for files of the given formats.
func New(formats ...connector.Format) Connector { return Connector{Formats: formats} }

// Name is "filesystem".
func (Connector) Name() string { return "filesystem" }

// Doc describes the connector.
func (Connector) Doc() string { return "a file, the files of a folder, or standard input and output" }

// Options are the connector's own and those of its formats.
func (c Connector) Options() []connector.Option {
	out := []connector.Option{
		{Name: "path", Required: true, Doc: "a file, a folder, a pattern such as 'logs/*.csv', or '-' for standard input or output; what does not exist yet is made a file when the name has an extension, else a folder"},
		{Name: "format", Choices: c.formatNames(), Doc: "the format of the files; by default what the file's name ends in"},
		{Name: "source.monitor-interval", Type: connector.DurationOption, Doc: "how often to look for what is new; the table then never ends: of a file what is appended is read, line by line and across renaming, of a folder or pattern the files that are moved there. By default what is there is all"},
		{Name: "sink.exists", Default: "append", Choices: []string{"append", "replace", "error"}, Doc: "what happens to a file that is written and exists already"},
	}
	for _, f := range c.Formats {
		for _, o := range f.Options() {
			if !slices.ContainsFunc(out, func(have connector.Option) bool { return have.Name == o.Name }) {
				out = append(out, o)
			}
		}
	}
	return out
}

func (c Connector) formatNames() []string {
	names := make([]string, len(c.Formats))
	for i, f := range c.Formats {
		names[i] = f.Name()
	}
	return names
}

// location is what 'path' means.
type location struct {
	path string
	kind pathKind
}

type pathKind uint8

const (
	onePath  pathKind = iota // a file or folder
	globPath                 // a pattern
	stdPath                  // standard input or output
)

func newLocation(opt connector.Options) (location, error) {
	path := opt.Text("path")
	if scheme, rest, ok := strings.Cut(path, "://"); ok {
		if scheme != "file" {
			return location{}, opt.Errorf("path", "there is no file system %q", scheme).WithHint("paths are local: '/folder/file' or 'file:///folder/file'")
		}
		path = rest
	}
	switch {
	case path == "":
		return location{}, opt.Errorf("path", "the option 'path' is empty")
	case path == "-":
		return location{path: path, kind: stdPath}, nil
	case strings.ContainsAny(path, "*?["):
		// A file whose name has such characters is itself.
		if _, err := os.Stat(path); err == nil {
			break
		}
		if _, err := filepath.Match(path, ""); err != nil {
			return location{}, opt.Errorf("path", "'%s' is not a valid pattern", path)
		}
		return location{path: path, kind: globPath}, nil
	}
	return location{path: path}, nil
}

// format is the table's format, named or taken from the path.
func (c Connector) format(opt connector.Options, at location) (connector.Format, error) {
	name := opt.Text("format")
	if name == "" {
		switch strings.ToLower(filepath.Ext(at.path)) {
		case ".csv":
			name = "csv"
		case ".json", ".jsonl", ".ndjson":
			name = "json"
		case ".parquet":
			name = "parquet"
		}
	}
	for _, f := range c.Formats {
		if f.Name() != name {
			continue
		}
		for _, key := range opt.Keys() {
			if prefix, _, ok := strings.Cut(key, "."); ok && prefix != name && slices.Contains(c.formatNames(), prefix) {
				return nil, opt.Errorf(key, "the option '%s' is for format %s, not %s", key, prefix, name)
			}
		}
		return f, nil
	}
	return nil, opt.Errorf("path", "the option 'format' is missing").WithHint("choose one of '%s'", strings.Join(c.formatNames(), "', '"))
}

// Source checks the declaration of a table that is read.
func (c Connector) Source(t *connector.Table, opt connector.Options) (connector.Source, error) {
	at, err := newLocation(opt)
	if err != nil {
		return nil, err
	}
	f, err := c.format(opt, at)
	if err != nil {
		return nil, err
	}
	d, err := f.Decoding(content(t), opt)
	if err != nil {
		return nil, err
	}
	s := &source{location: at, decoding: d, table: t, pos: opt.Pos("path"), stdin: c.stdin(), after: c.after}
	if s.after == nil {
		s.after = time.After
	}
	const interval = "source.monitor-interval"
	if opt.Given(interval) {
		s.interval = opt.Duration(interval)
		switch {
		case s.interval <= 0:
			return nil, opt.Errorf(interval, "option '%s': '%s' is not longer than 0", interval, t.Options[interval])
		case at.kind == stdPath:
			return nil, opt.Errorf(interval, "standard input is read until it ends: it cannot be monitored").WithHint("remove '%s'", interval)
		}
	}
	return s, nil
}

func (c Connector) stdin() io.Reader {
	if c.Stdin != nil {
		return c.Stdin
	}
	return os.Stdin
}

// Sink checks the declaration of a table that is written.
func (c Connector) Sink(t *connector.Table, opt connector.Options) (connector.Sink, error) {
	at, err := newLocation(opt)
	if err != nil {
		return nil, err
	}
	f, err := c.format(opt, at)
	if err != nil {
		return nil, err
	}
	e, err := f.Encoding(t, opt)
	if err != nil {
		return nil, err
	}
	switch at.kind {
	case globPath:
		return nil, opt.Errorf("path", "a pattern cannot be written to").WithHint("name a file or a folder")
	case stdPath:
		w := c.Stdout
		if w == nil {
			w = os.Stdout
		}
		return &stdSink{encoding: e, w: w}, nil
	}
	run := rand.Text()[:12]
	s := &sink{encoding: e, disk: c.disk, pos: opt.Pos("path"), exists: opt.Text("sink.exists"), run: run, owner: runOwner + run}
	if s.disk == nil {
		s.disk = osDisk{}
	}
	info, err := os.Stat(at.path)
	isFolder := err == nil && info.IsDir()
	if filepath.Ext(at.path) == "" || isFolder || os.IsPathSeparator(at.path[len(at.path)-1]) {
		s.folder = filepath.Clean(at.path)
		return s, nil
	}
	s.folder, s.file = filepath.Split(at.path)
	s.folder = filepath.Clean(s.folder)
	return s, nil
}

// Infer takes the columns from the first file that is there.
func (c Connector) Infer(ctx context.Context, _ *connector.Table, opt connector.Options) (sqltype.Schema, error) {
	at, err := newLocation(opt)
	if err != nil {
		return nil, err
	}
	if at.kind == stdPath {
		return nil, opt.Errorf("path", "the columns of standard input cannot be inferred").WithHint("declare the columns")
	}
	f, err := c.format(opt, at)
	if err != nil {
		return nil, err
	}
	s := &source{location: at, pos: opt.Pos("path")}
	paths, err := s.paths()
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, opt.Errorf("path", "the folder %q has no file to infer the columns from", at.path).WithHint("declare the columns")
	}
	file, err := s.open(paths[0])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if file.Size() < 0 {
		return nil, opt.Errorf("path", "the columns of a stream cannot be inferred").WithHint("declare the columns")
	}
	return f.Infer(ctx, file, opt)
}
