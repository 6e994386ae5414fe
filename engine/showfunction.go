package engine

import (
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
)

// describeFunction executes DESCRIBE FUNCTION, with a row for everything that is known.
func (e *Engine) describeFunction(stmt *parse.Describe) (*Query, error) {
	scalar, aggregate := e.session.FunctionOf(stmt.Name)
	f, given := e.session.LookupFunction(stmt.Name)
	if scalar == nil && aggregate == nil && (!given || f.Temporal == nil) {
		return nil, e.noFunction(stmt.Name)
	}
	var rows [][]string
	row := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	row("is system function", yes(!given || f.IsSystem()))
	row("is temporary", yes(given && f.Temporary))
	switch {
	case aggregate != nil:
		row("kind", "AGGREGATE")
		row("signature", signatures(aggregate.Name, aggregate.Signatures))
		row("meaning", aggregate.Doc)
	case given && f.Temporal != nil:
		row("kind", "TEMPORAL TABLE")
		row("table", f.Temporal.Table.String())
		row("time", f.Temporal.Time)
		row("key", strings.Join(f.Temporal.Key, ", "))
	case !given || f.Overloads[0].Wasm == nil && len(f.Overloads) == 1:
		row("kind", "SCALAR")
		row("is deterministic", yes(scalar.Deterministic))
		row("signature", signatures(scalar.Name, scalar.Signatures))
		row("meaning", scalar.Doc)
	default:
		row("kind", "SCALAR")
		for _, o := range f.Overloads {
			row("signature", f.ID.Object+declared(o))
			row("is deterministic", yes(o.Scalar.Deterministic))
			row("is called on NULL", yes(o.Scalar.NullCall))
			if w := o.Wasm; w != nil {
				row("file", w.Path)
				row("symbol", w.Export)
				row("sha256", w.SHA256)
				for _, opt := range w.Options {
					row(opt.Key, opt.Value)
				}
				if w.Err != nil {
					row("error", w.Err.Error())
				}
			}
		}
	}
	return list("DESCRIBE", []string{"info name", "info value"}, rows), nil
}

func signatures(name string, lists []string) string {
	out := make([]string, len(lists))
	for i, l := range lists {
		out[i] = name + l
	}
	return strings.Join(out, ", ")
}

// showCreateFunction executes SHOW CREATE FUNCTION.
func (e *Engine) showCreateFunction(stmt *parse.Show) (*Query, error) {
	f, given := e.session.LookupFunction(stmt.Name)
	if !given {
		if s, a := e.session.FunctionOf(stmt.Name); s != nil || a != nil {
			return nil, errs.New(errs.Invalid, stmt.Name.Pos(), "%s is built in: no statement makes it", stmt.Name).WithHint("DESCRIBE FUNCTION says what it takes")
		}
		return nil, e.noFunction(stmt.Name)
	}
	if f.IsSystem() && !f.Temporary {
		return nil, errs.New(errs.Invalid, stmt.Name.Pos(), "%s was registered by the program: no statement makes it", stmt.Name).WithHint("DESCRIBE FUNCTION says what it takes")
	}
	return list("SHOW CREATE", []string{"result"}, [][]string{{createFunction(f, false)}}), nil
}

func (e *Engine) noFunction(name parse.Name) error {
	err := errs.New(errs.NotFound, name.Pos(), "function %s not found", name)
	if hint := errs.DidYouMean(name.Last().Value, e.session.Functions(true)); hint != "" {
		return err.WithHint("%s", hint)
	}
	return err.WithHint("SHOW FUNCTIONS lists them")
}

// createFunction is a statement for each overload. What is pinned says which content the
// file must have.
func createFunction(f *catalog.Function, pin bool) string {
	if f.Temporal != nil {
		return f.Temporal.SQL(f)
	}
	out := make([]string, len(f.Overloads))
	for i, o := range f.Overloads {
		name, what := f.ID.String(), "FUNCTION"
		if f.IsSystem() {
			name, what = parse.QuoteIdent(f.ID.Object), "SYSTEM FUNCTION"
		}
		if f.Temporary {
			what = "TEMPORARY " + what
		}
		w := o.Wasm
		text := "CREATE " + what + " " + name + " " + declared(o) + "\n  AS " + quoted(w.Export) + " LANGUAGE WASM USING FILE " + quoted(w.Path)
		var with []string
		if pin {
			with = append(with, "'sha256' = "+quoted(w.SHA256))
		}
		for _, opt := range w.Options {
			with = append(with, quoted(opt.Key)+" = "+quoted(opt.Value))
		}
		if len(with) > 0 {
			text += "\n  WITH (" + strings.Join(with, ", ") + ")"
		}
		out[i] = text
	}
	return strings.Join(out, ";\n")
}

// declared is the signature of an overload as a statement has it.
func declared(o *catalog.Overload) string {
	args := make([]string, len(o.Args))
	for i, a := range o.Args {
		args[i] = a.Type.Optional().String()
		if a.Name != "" {
			args[i] = parse.QuoteIdent(a.Name) + " " + args[i]
		}
	}
	return "(" + strings.Join(args, ", ") + ") RETURNS " + o.Returns.String()
}
