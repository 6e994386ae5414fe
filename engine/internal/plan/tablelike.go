package plan

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/catalog"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// written is the declaration that a CREATE TABLE comes to when LIKE and AS are
// written out.
func written(ctx context.Context, stmt *parse.CreateTable, s *catalog.Session) (*parse.CreateTable, error) {
	switch {
	case stmt.Like != nil:
		return like(stmt, s)
	case stmt.As != nil:
		return columnsOf(ctx, stmt, s)
	}
	return stmt, nil
}

// likeRules says for each part of a declaration whether LIKE takes it over: without
// rules all parts, and options that are given again are overwritten.
type likeRules map[string]string

func rulesOf(l *parse.LikeTable) (likeRules, error) {
	all := "INCLUDING"
	for _, r := range l.Rules {
		if r.What == "ALL" {
			all = r.Mode
		}
	}
	out := likeRules{}
	for _, what := range []string{"CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"} {
		out[what] = all
	}
	if len(l.Rules) == 0 {
		out["OPTIONS"] = "OVERWRITING"
	}
	for _, r := range l.Rules {
		if r.Mode == "OVERWRITING" && (r.What == "CONSTRAINTS" || r.What == "PARTITIONS" || r.What == "ALL") {
			return nil, errs.New(errs.Invalid, r.At, "OVERWRITING %s does not exist", r.What).WithHint("it is for GENERATED, METADATA, OPTIONS and WATERMARKS; write EXCLUDING %s and declare them", r.What)
		}
		if r.What != "ALL" {
			out[r.What] = r.Mode
		}
	}
	return out, nil
}

// like merges the declaration of another table into a CREATE TABLE.
func like(stmt *parse.CreateTable, s *catalog.Session) (*parse.CreateTable, error) {
	o, err := s.Lookup(stmt.Like.Table)
	if err != nil {
		return nil, err
	}
	table, ok := o.(*catalog.Table)
	if !ok {
		return nil, errs.New(errs.Invalid, stmt.Like.Table.Pos(), "%q is a view, and LIKE takes over the declaration of a table", o.Identifier().Object).
			WithHint("write CREATE TABLE .. AS SELECT * FROM %s", stmt.Like.Table)
	}
	rules, err := rulesOf(stmt.Like)
	if err != nil {
		return nil, err
	}
	from, out := table.Statement, *stmt
	out.Like = nil
	takes := func(what string) bool { return rules[what] != "EXCLUDING" }
	conflict := func(at errs.Position, what, part string) error {
		e := errs.New(errs.Exists, at, "%s is declared by %s too", what, table.ID.Object)
		if part == "CONSTRAINTS" {
			return e.WithHint("write LIKE %s (EXCLUDING CONSTRAINTS)", stmt.Like.Table)
		}
		return e.WithHint("write LIKE %s (OVERWRITING %s)", stmt.Like.Table, part)
	}
	out.Columns = nil
	for _, c := range from.Columns {
		part := map[parse.ColumnKind]string{parse.ComputedColumn: "GENERATED", parse.MetadataColumn: "METADATA"}[c.Kind]
		i := slices.IndexFunc(stmt.Columns, func(own *parse.ColumnDef) bool { return own.Name.Value == c.Name.Value })
		switch {
		case part != "" && !takes(part):
		case i < 0:
			out.Columns = append(out.Columns, c)
		case part == "":
			return nil, errs.New(errs.Exists, stmt.Columns[i].Name.At, "column %q is declared by %s too", c.Name.Value, table.ID.Object).WithHint("leave it out: LIKE takes it over")
		case rules[part] != "OVERWRITING":
			return nil, conflict(stmt.Columns[i].Name.At, "column \""+c.Name.Value+"\"", part)
		}
	}
	out.Columns = append(out.Columns, stmt.Columns...)
	if from.PrimaryKey != nil && takes("CONSTRAINTS") {
		if stmt.PrimaryKey != nil {
			return nil, conflict(stmt.PrimaryKey.At, "a primary key", "CONSTRAINTS")
		}
		out.PrimaryKey = from.PrimaryKey
	}
	if len(from.Watermarks) > 0 && takes("WATERMARKS") {
		switch {
		case len(stmt.Watermarks) == 0:
			out.Watermarks = from.Watermarks
		case rules["WATERMARKS"] != "OVERWRITING":
			return nil, conflict(stmt.Watermarks[0].At, "a watermark", "WATERMARKS")
		}
	}
	if takes("OPTIONS") {
		out.Options = nil
		for _, opt := range from.Options {
			i := slices.IndexFunc(stmt.Options, func(own parse.Option) bool { return own.Key == opt.Key })
			switch {
			case i < 0:
				out.Options = append(out.Options, opt)
			case rules["OPTIONS"] != "OVERWRITING":
				return nil, conflict(stmt.Options[i].At, "option '"+opt.Key+"'", "OPTIONS")
			}
		}
		out.Options = append(out.Options, stmt.Options...)
	}
	return &out, nil
}

// columnsOf declares the columns of the query in CREATE TABLE .. AS. Columns that are
// declared beside it may be computed, or be all the query's names in another order.
func columnsOf(ctx context.Context, stmt *parse.CreateTable, s *catalog.Session) (*parse.CreateTable, error) {
	b := &binder{ctx: ctx, session: s}
	n, err := b.complete(stmt.As, true)
	if err != nil {
		return nil, err
	}
	out := *stmt
	out.Columns, out.As = nil, nil
	for _, c := range n.Schema() {
		t, err := typeName(c.Type, stmt.As.At)
		if err != nil {
			return nil, err
		}
		name := parse.Ident{Place: parse.Place{At: stmt.As.At}, Value: c.Name}
		out.Columns = append(out.Columns, &parse.ColumnDef{Place: parse.Place{At: stmt.As.At}, Name: name, Type: t})
	}
	if len(stmt.Columns) > 0 {
		return nil, unsupported(stmt.Columns[0].At, "CREATE TABLE .. AS with columns of its own is").WithHint("name the columns in the query")
	}
	return &out, nil
}

// typeName is a type as a declaration writes it.
func typeName(t sqltype.Type, at errs.Position) (*parse.DataType, error) {
	d := &parse.DataType{Place: parse.Place{At: at}, Name: t.ID.String(), NotNull: t.NotNull}
	switch {
	case t.ID == sqltype.Decimal:
		d.Params = []int{t.Precision, t.Scale}
	case (t.IsString() || t.IsBinary()) && t.Precision == sqltype.MaxLength:
		d.Name = map[bool]string{true: "STRING", false: "BYTES"}[t.IsString()]
	case t.IsString() || t.IsBinary() || t.IsTimestamp() || t.ID == sqltype.Time:
		d.Params = []int{t.Precision}
	case t.ID >= sqltype.Array, t.ID == sqltype.Null, t.ID == sqltype.IntervalDay, t.ID == sqltype.IntervalMonth:
		return nil, unsupported(at, "a table column of type %s, made by CREATE TABLE .. AS, is", t.Optional()).WithHint("CAST it, or declare the table and INSERT INTO it")
	}
	return d, nil
}

// AlterTable executes ALTER TABLE: SET and RESET of options, and RENAME TO.
func AlterTable(ctx context.Context, stmt *parse.Alter, s *catalog.Session) error {
	if stmt.Kind != parse.TableObject {
		return unsupported(stmt.At, "ALTER %s is", stmt.Kind)
	}
	o, err := s.Lookup(stmt.Name)
	if err != nil {
		if stmt.IfExists && errs.CodeOf(err) == errs.NotFound {
			return nil
		}
		return err
	}
	table, ok := o.(*catalog.Table)
	if !ok {
		return errs.New(errs.Invalid, stmt.Name.Pos(), "%q is a view", o.Identifier().Object).WithHint("DROP VIEW and create it again")
	}
	decl := *table.Statement
	switch a := stmt.Action.(type) {
	case *parse.AlterSet:
		decl.Options = slices.Clone(decl.Options)
		for _, opt := range a.Options {
			if i := optionIndex(decl.Options, opt.Key); i >= 0 {
				decl.Options[i] = opt
			} else {
				decl.Options = append(decl.Options, opt)
			}
		}
	case *parse.AlterReset:
		decl.Options = slices.Clone(decl.Options)
		for _, key := range a.Keys {
			if key.Key == "connector" {
				return errs.New(errs.Option, key.At, "a table needs a connector").WithHint("SET another one")
			}
			if i := optionIndex(decl.Options, key.Key); i >= 0 {
				decl.Options = slices.Delete(decl.Options, i, i+1)
			}
		}
	case *parse.AlterRename:
		return s.Rename(table, a.To)
	default:
		return unsupported(stmt.Action.Pos(), "this change of a table is").WithHint("ALTER TABLE sets and resets options and renames; DROP TABLE and create it again for others")
	}
	decl.Name = stmt.Name
	changed, err := DefineTable(ctx, &decl, s)
	if err != nil {
		return err
	}
	changed.ID, changed.Temporary = table.ID, table.Temporary
	return s.Create(changed, stmt.Name, catalog.Replace)
}

func optionIndex(options []parse.Option, key string) int {
	return slices.IndexFunc(options, func(o parse.Option) bool { return o.Key == key })
}
