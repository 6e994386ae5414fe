package goglue

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// SDK is the import path of the package that authors import.
const SDK = "github.com/weirdb/weir/sdk/go"

// source is a parsed package.
type source struct {
	dir     string
	fset    *token.FileSet
	name    string // of the package
	hasMain bool   // declares func main
	files   []*ast.File
	types   map[string]*typeDecl
	methods map[string]map[string]*funcDecl // by receiver type, then name
	names   map[string]bool                 // declared at package level
}

type typeDecl struct {
	spec *ast.TypeSpec
	file *ast.File
}

type funcDecl struct {
	decl *ast.FuncDecl
	file *ast.File
}

// load parses the Go files of a folder that belong to the wasip1 build.
func load(dir string) (*source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	target := build.Default
	target.GOOS, target.GOARCH, target.CgoEnabled = "wasip1", "wasm", false
	s := &source{
		dir: dir, fset: token.NewFileSet(),
		types: map[string]*typeDecl{}, methods: map[string]map[string]*funcDecl{}, names: map[string]bool{},
	}
	var problems []error
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := target.MatchFile(dir, name); err != nil {
			problems = append(problems, err)
			continue
		} else if !ok {
			continue
		}
		f, err := parser.ParseFile(s.fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		s.files = append(s.files, f)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if len(s.files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", dir)
	}
	s.name = s.files[0].Name.Name
	for _, f := range s.files {
		if f.Name.Name != s.name {
			return nil, fmt.Errorf("%s has files of the packages %s and %s", dir, s.name, f.Name.Name)
		}
		s.index(f)
	}
	return s, nil
}

// index notes what a file declares.
func (s *source) index(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				s.names[d.Name.Name] = true
				s.hasMain = s.hasMain || d.Name.Name == "main"
				continue
			}
			if of := receiver(d); of != "" {
				if s.methods[of] == nil {
					s.methods[of] = map[string]*funcDecl{}
				}
				s.methods[of][d.Name.Name] = &funcDecl{d, f}
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					s.types[spec.Name.Name] = &typeDecl{spec, f}
					s.names[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						s.names[n.Name] = true
					}
				}
			}
		}
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// imported is the path of the package that a file knows by the name, or "".
func imported(f *ast.File, name string) string {
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		local := path[strings.LastIndexByte(path, '/')+1:]
		if path == SDK {
			local = "weir"
		}
		if i.Name != nil {
			local = i.Name.Name
		}
		if local == name {
			return path
		}
	}
	return ""
}

// errorAt is an error at a place of the source, as Go's tools write it.
func (s *source) errorAt(p token.Pos, format string, args ...any) error {
	at := s.fset.Position(p)
	at.Filename = filepath.Base(at.Filename)
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

// directive is a comment //weir:word rest.
type directive struct {
	pos        token.Pos
	word, rest string
}

// directivesOf lists the directives of a comment, in order.
func directivesOf(doc *ast.CommentGroup) (list []directive) {
	if doc == nil {
		return nil
	}
	for _, c := range doc.List {
		if text, ok := strings.CutPrefix(c.Text, "//weir:"); ok {
			word, rest, _ := strings.Cut(text, " ")
			list = append(list, directive{c.Pos(), word, strings.TrimSpace(rest)})
		}
	}
	return list
}

// exported is a function or type with directives above it.
type exported struct {
	directives []directive
	name       string // of the Go function or type
	fn         *funcDecl
	typ        *typeDecl
}

// exports finds what has directives: functions and types in the order of the
// files, and the directives of the module itself, which stand anywhere else.
func (s *source) exports() (list []exported, module []directive, err error) {
	var problems []error
	for _, f := range s.files {
		used := map[*ast.CommentGroup]bool{}
		take := func(doc *ast.CommentGroup, e exported) {
			if e.directives = directivesOf(doc); len(e.directives) > 0 {
				used[doc] = true
				list = append(list, e)
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					take(d.Doc, exported{name: d.Name.Name, fn: &funcDecl{d, f}})
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						doc := t.Doc
						if doc == nil && len(d.Specs) == 1 {
							doc = d.Doc
						}
						take(doc, exported{name: t.Name.Name, typ: s.types[t.Name.Name]})
					}
				}
			}
		}
		for _, c := range f.Comments {
			if used[c] {
				continue
			}
			for _, d := range directivesOf(c) {
				if d.word == "module" || d.word == "limit" {
					module = append(module, d)
				} else {
					problems = append(problems, s.errorAt(d.pos, "//weir:%s stands above nothing: it belongs directly above a function or a type", d.word))
				}
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].directives[0].pos < list[j].directives[0].pos })
	return list, module, errors.Join(problems...)
}
