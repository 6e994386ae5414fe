package catalog

import (
	"context"
	"slices"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/engine/sqltype"
)

// Session is one user's view of a catalog: where unqualified names are looked
// up, temporary objects, and options. It is used by one goroutine at a time.
type Session struct {
	Options *Options

	catalog   *Catalog
	current   Identifier               // without Object
	temporary map[Identifier]Object    // tables and views
	functions map[Identifier]*Function // temporary ones, by Identifier.key
}

// Catalog is the catalog of the session.
func (s *Session) Catalog() *Catalog { return s.catalog }

// CurrentCatalog is the catalog that unqualified names belong to.
func (s *Session) CurrentCatalog() string { return s.current.Catalog }

// CurrentDatabase is the database that unqualified names belong to.
func (s *Session) CurrentDatabase() string { return s.current.Database }

// In returns a session that shares everything with s but looks unqualified names
// up in the given database: a view's query is bound where the view was created.
func (s *Session) In(catalog, database string) *Session {
	in := *s
	in.current = Identifier{Catalog: catalog, Database: database}
	return &in
}

// Qualify completes a name of one to three parts.
func (s *Session) Qualify(name parse.Name) (Identifier, error) {
	id := s.current
	switch len(name) {
	case 3:
		id.Catalog = name[0].Value
		fallthrough
	case 2:
		id.Database = name[len(name)-2].Value
		fallthrough
	case 1:
		id.Object = name.Last().Value
		return id, nil
	}
	return id, errs.New(errs.Invalid, name.Pos(), "%s has %d parts", name, len(name)).
		WithHint("a table's name is catalog.database.table at most")
}

// Lookup finds the table or view of a name, a temporary one before a permanent.
func (s *Session) Lookup(name parse.Name) (Object, error) {
	id, err := s.Qualify(name)
	if err != nil {
		return nil, err
	}
	if o, ok := s.temporary[id]; ok {
		return o, nil
	}
	if o, ok := s.catalog.get(id); ok {
		return o, nil
	}
	if err := s.catalog.check(id, name); err != nil {
		return nil, err
	}
	return nil, notFound(name.Last().At, "table", id.Object, s.names(id.Catalog, id.Database))
}

// Exists reports whether a table or view has the name.
func (s *Session) Exists(id Identifier) bool {
	if _, ok := s.temporary[id]; ok {
		return true
	}
	_, ok := s.catalog.get(id)
	return ok
}

func (s *Session) names(catalog, database string) []string {
	names := s.catalog.names(catalog, database)
	for id := range s.temporary {
		if id.Catalog == catalog && id.Database == database {
			names = append(names, id.Object)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// OnExisting says what Create does when the name is taken.
type OnExisting uint8

// The ways to deal with a taken name.
const (
	Fail    OnExisting = iota
	Keep               // IF NOT EXISTS
	Replace            // OR REPLACE
)

// Create adds a table or view. name is where errors point.
func (s *Session) Create(o Object, name parse.Name, on OnExisting) error {
	id := o.Identifier()
	if err := s.catalog.check(id, name); err != nil {
		return err
	}
	var old Object
	var taken bool
	if o.IsTemporary() {
		if old, taken = s.temporary[id]; !taken || on == Replace {
			s.temporary[id] = o
		}
	} else {
		var err error
		if old, taken, err = s.catalog.put(o, on == Replace); err != nil {
			return err
		}
	}
	if taken && on == Fail {
		err := errs.New(errs.Exists, name.Last().At, "a %s %q exists already", old.What(), id.Object)
		if s.catalog.isRestored(old) {
			return err.WithHint("it is in the state directory, and is not made by this statement; replace it with CREATE OR REPLACE, or keep it with IF NOT EXISTS")
		}
		return err.WithHint("choose another name, or add IF NOT EXISTS or OR REPLACE")
	}
	return nil
}

// Drop executes DROP TABLE, VIEW, FUNCTION, DATABASE and CATALOG.
func (s *Session) Drop(stmt *parse.Drop) error {
	var what string
	switch stmt.Kind {
	case parse.DatabaseObject:
		return s.dropDatabase(stmt)
	case parse.CatalogObject:
		return s.dropCatalog(stmt)
	case parse.FunctionObject:
		return s.dropFunction(stmt)
	case parse.TableObject:
		what = "table"
	case parse.ViewObject:
		what = "view"
	default:
		return errs.New(errs.Unsupported, stmt.At, "DROP %s is not supported yet", stmt.Kind)
	}
	id, err := s.Qualify(stmt.Name)
	if err != nil {
		return err
	}
	o, temporary := s.temporary[id]
	ok := temporary
	if !temporary && !stmt.Temporary {
		if o, ok = s.catalog.get(id); !ok && !stmt.IfExists {
			if err := s.catalog.check(id, stmt.Name); err != nil {
				return err
			}
		}
	}
	switch {
	case !ok && stmt.IfExists:
		return nil
	case !ok && stmt.Temporary:
		return errs.New(errs.NotFound, stmt.Name.Last().At, "temporary %s %q not found", what, id.Object)
	case !ok:
		return notFound(stmt.Name.Last().At, what, id.Object, s.names(id.Catalog, id.Database))
	case o.What() != what:
		return errs.New(errs.Invalid, stmt.Name.Last().At, "%q is a %s", id.Object, o.What()).
			WithHint("write DROP %s", map[string]string{"table": "TABLE", "view": "VIEW"}[o.What()])
	case temporary && !stmt.Temporary && s.permanent(id):
		return errs.New(errs.Ambiguous, stmt.Name.Last().At, "%q is a temporary and a permanent %s", id.Object, what).
			WithHint("drop the temporary one first, with DROP TEMPORARY")
	case temporary:
		delete(s.temporary, id)
	default:
		return s.catalog.remove(o)
	}
	return nil
}

func (s *Session) permanent(id Identifier) bool {
	_, ok := s.catalog.get(id)
	return ok
}

// Rename gives a table another name in the same database.
func (s *Session) Rename(t *Table, to parse.Name) error {
	id := t.ID
	id.Object = to.Last().Value
	if len(to) > 1 {
		if named, err := s.Qualify(to); err != nil || named.Catalog != id.Catalog || named.Database != id.Database {
			return errs.New(errs.Invalid, to.Pos(), "a table keeps its database when it is renamed").WithHint("write RENAME TO %s", to.Last())
		}
	}
	renamed := *t
	renamed.ID = id
	declaration := *t.Declaration
	declaration.Name = id.Object
	renamed.Declaration = &declaration
	if !t.Temporary {
		switch taken, err := s.catalog.rename(t, &renamed); {
		case err != nil:
			return err
		case taken != nil:
			return errs.New(errs.Exists, to.Last().At, "a %s %q exists already", taken.What(), id.Object).WithHint("choose another name")
		}
		return nil
	}
	if err := s.Create(&renamed, to, Fail); err != nil {
		return err
	}
	delete(s.temporary, t.ID)
	return nil
}

// Use executes USE and USE CATALOG.
func (s *Session) Use(stmt *parse.Use) error {
	if len(stmt.Modules) > 0 {
		return errs.New(errs.Unsupported, stmt.At, "USE MODULES is not supported: there are the built-in functions only")
	}
	id := s.current
	switch {
	case stmt.Catalog:
		id = Identifier{Catalog: stmt.Name.Last().Value}
		id.Database = s.catalog.defaultDatabase(id.Catalog)
	case len(stmt.Name) > 2:
		return errs.New(errs.Invalid, stmt.Name.Pos(), "%s has %d parts", stmt.Name, len(stmt.Name)).
			WithHint("a database's name is catalog.database at most")
	default:
		if len(stmt.Name) == 2 {
			id.Catalog = stmt.Name[0].Value
		}
		id.Database = stmt.Name.Last().Value
	}
	// The name lacks the object, which check counts.
	if err := s.catalog.check(id, append(slices.Clone(stmt.Name), parse.Ident{Value: "_"})); err != nil {
		return err
	}
	s.current = id
	return nil
}

// Objects lists the tables and views of a database in order of their names, a
// temporary one in the place of the permanent one that it hides.
func (s *Session) Objects(catalog, database string) []Object {
	var out []Object
	for _, n := range s.names(catalog, database) {
		id := Identifier{catalog, database, n}
		o, ok := s.temporary[id]
		if !ok {
			o, ok = s.catalog.get(id)
		}
		if ok {
			out = append(out, o)
		}
	}
	return out
}

// Bind finds the connector of a table's declaration, checks the options, and asks
// the connector for the columns when none are declared.
func (s *Session) Bind(ctx context.Context, t *connector.Table) (connector.Connector, connector.Options, sqltype.Schema, error) {
	c, opt, err := s.catalog.registry.Bind(t, commonOptions()...)
	if err != nil {
		return nil, opt, nil, err
	}
	schema := t.Schema
	if len(schema) == 0 {
		if schema, err = c.Infer(ctx, t, opt); err != nil {
			return nil, opt, nil, err
		}
	}
	return c, opt, schema, nil
}

// WithOptions returns the table with some of its options replaced, for a hint
// OPTIONS('key' = 'value') in one statement.
func (s *Session) WithOptions(ctx context.Context, t *Table, options []parse.Option) (*Table, error) {
	decl := *t.Declaration
	decl.Options = make(map[string]string, len(t.Declaration.Options)+len(options))
	for k, v := range t.Declaration.Options {
		decl.Options[k] = v
	}
	pos := make(map[string]errs.Position, len(options))
	for _, o := range options {
		if o.Key == "connector" {
			return nil, errs.New(errs.Option, o.At, "a hint cannot change the connector of a table")
		}
		decl.Options[o.Key] = o.Value
		pos[o.Key] = o.At
	}
	decl.OptionPos = func(key string) errs.Position { return pos[key] }
	c, opt, _, err := s.Bind(ctx, &decl)
	if err != nil {
		return nil, err
	}
	with := *t
	with.Declaration, with.Connector, with.Options = &decl, c, opt
	return &with, nil
}
