package goglue

import (
	"bytes"
	"go/ast"
	"go/printer"
	"strings"
)

// class is what a Go type is to the code between host and author.
type class uint8

const (
	foreign       class = iota // no value that SQL has
	basic                      // bool, intN, uintN, floatN, string, int, uint: name says which
	slice                      // elems[0]
	structure                  // fields
	array                      // elems[0], length
	pointer                    // elems[0]
	null                       // weir.Null[elems[0]]
	entry                      // weir.Entry[elems[0], elems[1]]
	versioned                  // weir.Version[elems[0]]
	change                     // weir.Change[elems[0]]
	decimal                    // weir.Decimal
	date                       // weir.Date
	column                     // weir.Column[elems[0]]
	stringsColumn              // weir.Strings
	boolsColumn                // weir.Bools
	builder                    // weir.Builder[elems[0]]
	stringBuilder              // weir.StringBuilder
	boolBuilder                // weir.BoolBuilder
	callType                   // weir.Call
	goTime                     // time.Time
	goDuration                 // time.Duration
	errorType                  // error
)

// goType is a type as the source writes it, as far as SQL has a use for it.
type goType struct {
	class  class
	text   string // in the generated file
	name   string // of a basic type
	elems  []*goType
	fields []goField
	named  bool // declared in the package: values need a conversion
	length string
}

type goField struct {
	name string
	typ  *goType
}

// sdkTypes are the types of the SDK that mean something here.
func sdkTypes(name string) (class, bool) {
	c, ok := map[string]class{
		"Null": null, "Entry": entry, "Version": versioned, "Change": change, "Decimal": decimal, "Date": date,
		"Column": column, "Strings": stringsColumn, "Bools": boolsColumn,
		"Builder": builder, "StringBuilder": stringBuilder, "BoolBuilder": boolBuilder, "Call": callType,
	}[name]
	return c, ok
}

func isBasic(name string) bool {
	switch name {
	case "bool", "string", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
		"float32", "float64":
		return true
	}
	return false
}

// typeOf resolves a type expression of a file. A type that means nothing here is
// foreign, not an error: only where it stands for a SQL type that matters.
func (s *source) typeOf(e ast.Expr, f *ast.File) *goType {
	return s.resolve(e, f, nil)
}

func (s *source) resolve(e ast.Expr, f *ast.File, within []string) *goType {
	other := &goType{class: foreign, text: s.print(e)}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return s.resolve(e.X, f, within)
	case *ast.Ident:
		if t, ok := s.types[e.Name]; ok {
			for _, w := range within {
				if w == e.Name {
					return other // recursive types have no SQL type
				}
			}
			if t.spec.TypeParams != nil {
				return other
			}
			under := *s.resolve(t.spec.Type, t.file, append(within, e.Name))
			if t.spec.Assign == 0 && under.class != foreign {
				switch under.class {
				case basic, slice, structure, array, decimal, date, goDuration:
					under.named = true
				default:
					return other
				}
			}
			under.text = e.Name
			return &under
		}
		switch {
		case e.Name == "byte":
			return &goType{class: basic, name: "uint8", text: "byte"}
		case e.Name == "rune":
			return &goType{class: basic, name: "int32", text: "rune"}
		case e.Name == "error":
			return &goType{class: errorType, text: "error"}
		case isBasic(e.Name):
			return &goType{class: basic, name: e.Name, text: e.Name}
		}
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if !ok {
			return other
		}
		switch path := imported(f, x.Name); {
		case path == SDK:
			if c, ok := sdkTypes(e.Sel.Name); ok {
				return &goType{class: c, text: "weir." + e.Sel.Name}
			}
		case path == "time" && e.Sel.Name == "Time":
			return &goType{class: goTime, text: "time.Time"}
		case path == "time" && e.Sel.Name == "Duration":
			return &goType{class: goDuration, text: "time.Duration"}
		}
	case *ast.StarExpr:
		x := s.resolve(e.X, f, within)
		return &goType{class: pointer, text: "*" + x.text, elems: []*goType{x}}
	case *ast.ArrayType:
		x := s.resolve(e.Elt, f, within)
		if e.Len == nil {
			return &goType{class: slice, text: "[]" + x.text, elems: []*goType{x}}
		}
		n := s.print(e.Len)
		return &goType{class: array, text: "[" + n + "]" + x.text, elems: []*goType{x}, length: n}
	case *ast.IndexExpr:
		return s.generic(e.X, []ast.Expr{e.Index}, f, within, other)
	case *ast.IndexListExpr:
		return s.generic(e.X, e.Indices, f, within, other)
	case *ast.StructType:
		t := &goType{class: structure, text: s.print(e)}
		for _, field := range e.Fields.List {
			if len(field.Names) == 0 {
				return other
			}
			typ := s.resolve(field.Type, f, within)
			for _, n := range field.Names {
				t.fields = append(t.fields, goField{n.Name, typ})
			}
		}
		return t
	}
	return other
}

// generic resolves weir.Null[T] and its like.
func (s *source) generic(x ast.Expr, args []ast.Expr, f *ast.File, within []string, other *goType) *goType {
	t := s.resolve(x, f, within)
	want := map[class]int{null: 1, entry: 2, versioned: 1, change: 1, column: 1, builder: 1}[t.class]
	if want != len(args) {
		return other
	}
	var texts []string
	for _, a := range args {
		elem := s.resolve(a, f, within)
		t.elems = append(t.elems, elem)
		texts = append(texts, elem.text)
	}
	t.text += "[" + strings.Join(texts, ", ") + "]"
	return t
}

func (s *source) print(e ast.Expr) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, s.fset, e); err != nil {
		panic("goglue: a type cannot be printed: " + err.Error())
	}
	return b.String()
}

// signature is a function's parameters and results, one by one.
type signature struct {
	call     bool // takes a *weir.Call first
	params   []*goType
	names    []string
	variadic bool // the last parameter is ...T; its type is []T
	results  []*goType
	fails    bool // returns an error last, not among results
}

func (s *source) signature(fn *funcDecl) signature {
	var g signature
	for _, p := range fn.decl.Type.Params.List {
		e := p.Type
		if v, ok := e.(*ast.Ellipsis); ok {
			g.variadic, e = true, &ast.ArrayType{Elt: v.Elt}
		}
		t := s.typeOf(e, fn.file)
		for i := range max(1, len(p.Names)) {
			name := "_"
			if i < len(p.Names) {
				name = p.Names[i].Name
			}
			g.params, g.names = append(g.params, t), append(g.names, name)
		}
	}
	if len(g.params) > 0 && g.params[0].class == pointer && g.params[0].elems[0].class == callType {
		g.call, g.params, g.names = true, g.params[1:], g.names[1:]
	}
	if r := fn.decl.Type.Results; r != nil {
		for _, p := range r.List {
			t := s.typeOf(p.Type, fn.file)
			for range max(1, len(p.Names)) {
				g.results = append(g.results, t)
			}
		}
	}
	if n := len(g.results); n > 0 && g.results[n-1].class == errorType {
		g.fails, g.results = true, g.results[:n-1]
	}
	return g
}

// callArgument is the argument list of a call that takes a *weir.Call at most.
func (g signature) callArgument() string {
	if g.call {
		return "c"
	}
	return ""
}
