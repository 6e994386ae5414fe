package udfcmd

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirdb/weir/sdk/c"
)

// engineModule is the Go module that the SDK belongs to.
const engineModule = "github.com/weirdb/weir"

//go:embed template
var goTemplate embed.FS

func newCommand() *cobra.Command {
	var lang, sdk string
	cmd := &cobra.Command{
		Use:   "new --lang (go | c) NAME",
		Short: "Make a folder with a function to start from",
		Long: `Make a folder NAME with the source of a module NAME, which has one function.
Nothing is downloaded.

Go: the folder becomes a Go module, or a package of the Weir repository when it lies
in one. A program that was built from the repository, not from a release, lets the
Go module find the SDK there; --sdk names another copy of the repository.
C: the folder gets a copy of weir.h, which is the whole SDK.`,
		Example: "  weir udf new --lang go discount\n  weir udf new --lang c discount",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give the new module one name")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := filepath.Clean(args[0])
			name := filepath.Base(dir)
			if !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(name) {
				return fmt.Errorf("%q is no name for a module: use small letters, digits and _, a letter first", name)
			}
			var files map[string][]byte
			var err error
			switch lang {
			case "go":
				files, err = goProject(dir, name, sdk)
			case "c":
				files = csdk.Project(name)
			default:
				return fmt.Errorf("--lang is go or c, not %q", lang)
			}
			if err != nil {
				return &Failed{err}
			}
			if err := writeProject(dir, files); err != nil {
				return &Failed{err}
			}
			out := cmd.OutOrStdout()
			for _, f := range sortedNames(files) {
				fmt.Fprintln(out, filepath.Join(dir, f))
			}
			fmt.Fprintf(out, "Next: weir udf build %s\n", dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "", "language: go or c")
	cmd.Flags().StringVar(&sdk, "sdk", "", "for Go: folder with the Weir repository")
	if err := cmd.MarkFlagRequired("lang"); err != nil {
		panic(err)
	}
	return cmd
}

// writeProject writes files into a folder that is new or empty.
func writeProject(dir string, files map[string][]byte) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("the folder %s is there already and not empty", dir)
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func sortedNames(files map[string][]byte) (names []string) {
	for n := range files {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// goProject are the files of a new package in Go.
func goProject(dir, name, sdk string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(goTemplate, "template", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := goTemplate.ReadFile(path)
		file := strings.TrimSuffix(strings.TrimPrefix(path, "template/"), ".txt")
		files[strings.ReplaceAll(file, "example", name)] = []byte(strings.ReplaceAll(string(text), "example", name))
		return err
	})
	if err != nil {
		panic("udfcmd: the embedded template cannot be read: " + err.Error())
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if inRepository(filepath.Dir(abs)) {
		return files, nil // a package of the repository's own module
	}
	mod, err := goMod(name, sdk)
	if err != nil {
		return nil, err
	}
	files["go.mod"] = []byte(mod)
	return files, nil
}

// inRepository reports whether a folder belongs to the module of this repository.
func inRepository(dir string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return isRepository(dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// isRepository reports whether a folder is the top of this repository.
func isRepository(dir string) bool {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(mod), "module "+engineModule+"\n")
}

// goMod is the go.mod of a module of its own: it requires the release that this
// program is of, or the source that it was built from.
func goMod(name, sdk string) (string, error) {
	const head = "module %s\n\ngo 1.26\n\nrequire " + engineModule + " %s\n"
	if sdk == "" {
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == engineModule && regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(info.Main.Version) {
			return fmt.Sprintf(head, name, info.Main.Version), nil
		}
		_, file, _, _ := runtime.Caller(0)
		sdk = filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
		if !filepath.IsAbs(file) || !isRepository(sdk) {
			return "", errors.New("this program is no release and the repository it was built from is not there: name a clone with --sdk")
		}
	}
	sdk, err := filepath.Abs(sdk)
	if err != nil {
		return "", err
	}
	if !isRepository(sdk) {
		return "", fmt.Errorf("%s is not the top of a clone of the Weir repository", sdk)
	}
	return fmt.Sprintf(head+"\nreplace "+engineModule+" => %s\n", name, "v0.0.0", quotePath(sdk)), nil
}

// quotePath is a path as go.mod takes it.
func quotePath(path string) string {
	if strings.ContainsAny(path, " \t\"'`()[]{},") {
		return fmt.Sprintf("%q", path)
	}
	return path
}
