package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
)

// Persist writes every further change of permanent objects to a log, before it is
// made: a change that cannot be written is not made. text is a statement that makes an
// object.
func (c *Catalog) Persist(l *Log, text func(Object) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log, c.text = l, text
	c.restored = map[string]bool{}
	for _, f := range c.functions {
		// Those written in Go are registered, and not made by a statement.
		c.restored[restoredObject(f)] = !slices.ContainsFunc(f.Overloads, func(o *Overload) bool { return o.Wasm == nil })
	}
	for name, databases := range c.catalogs {
		c.restored[restoredCatalog(name)] = true
		for database, objects := range databases {
			c.restored[restoredDatabase(name, database)] = true
			for _, o := range objects {
				c.restored[restoredObject(o)] = true
			}
		}
	}
}

// again reports whether a statement that creates an object makes what the log has made
// already. So a script that is run again, to go on with its queries, finds its tables as
// they are. Each may be created once in a run, as without a log.
func (c *Catalog) again(o Object) bool { return c.take(restoredObject(o)) }

func (c *Catalog) take(restored string) bool {
	found := c.restored[restored]
	delete(c.restored, restored)
	return found
}

// isRestored reports whether an object is from the log, and was not created again.
func (c *Catalog) isRestored(o Object) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return !o.IsTemporary() && c.restored[restoredObject(o)]
}

func restoredObject(o Object) string { return o.What() + " " + o.Identifier().String() }

func restoredCatalog(name string) string { return "catalog " + parse.QuoteIdent(name) }

func restoredDatabase(catalog, name string) string {
	return "database " + parse.QuoteIdent(catalog) + "." + parse.QuoteIdent(name)
}

// alike reports whether two objects are made by the same statement.
func (c *Catalog) alike(a, b Object) bool {
	if c.text == nil || a.What() != b.What() || c.text(a) != c.text(b) {
		return false
	}
	v, ok := a.(*View)
	return !ok || v.Catalog == b.(*View).Catalog && v.Database == b.(*View).Database
}

// IsDurable reports whether permanent objects outlive the engine.
func (c *Catalog) IsDurable() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.log != nil
}

// append writes a statement to the log. The lock is held.
func (c *Catalog) append(sql string) error {
	if c.log == nil {
		return nil
	}
	return c.log.Append(Record{SQL: sql})
}

// record writes an object to the log, with the names that its query goes by.
func (c *Catalog) record(o Object, replace bool) error {
	if c.log == nil {
		return nil
	}
	r := Record{SQL: c.text(o)}
	if replace {
		r.SQL = strings.Replace(r.SQL, "CREATE ", "CREATE OR REPLACE ", 1)
	}
	if v, ok := o.(*View); ok {
		r.Catalog, r.Database = v.Catalog, v.Database
	}
	return c.log.Append(r)
}

// recordFunction writes a function to the log with all its overloads. The lock is held.
func (c *Catalog) recordFunction(f *Function, replace bool) error {
	if c.log == nil {
		return nil
	}
	r := Record{SQL: c.text(f)}
	if replace {
		r.SQL = "DROP FUNCTION " + f.ID.String() + ";\n" + r.SQL
	}
	return c.log.Append(r)
}

// removeFunction drops a permanent function.
func (c *Catalog) removeFunction(f *Function) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.append("DROP FUNCTION " + f.ID.String()); err != nil {
		return err
	}
	delete(c.functions, f.ID.key())
	return nil
}

// defaultDatabase is the database that USE CATALOG chooses.
func (c *Catalog) defaultDatabase(name string) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.defaults[name]
}

// CreateCatalog executes CREATE CATALOG, of the kind that keeps its tables itself.
func (s *Session) CreateCatalog(stmt *parse.CreateCatalog) error {
	first := "default"
	for _, o := range stmt.Options {
		switch {
		case o.Key == "type" && o.Value != "generic_in_memory":
			return errs.New(errs.Option, o.At, "there is no catalog type '%s'", o.Value).WithHint("write 'type' = 'generic_in_memory'")
		case o.Key == "default-database" && o.Value != "":
			first = o.Value
		case o.Key != "type":
			return errs.New(errs.Option, o.At, "a catalog has no option '%s'", o.Key).WithHint("the options are 'type' and 'default-database'")
		}
	}
	c := s.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	name := stmt.Name.Value
	if _, ok := c.catalogs[name]; ok {
		if stmt.IfNotExists || c.take(restoredCatalog(name)) {
			return nil
		}
		return errs.New(errs.Exists, stmt.Name.At, "a catalog %q exists already", name).WithHint("choose another name, or add IF NOT EXISTS")
	}
	sql := "CREATE CATALOG " + parse.QuoteIdent(name) + " WITH ('default-database' = '" + strings.ReplaceAll(first, "'", "''") + "')"
	if err := c.append(sql); err != nil {
		return err
	}
	c.catalogs[name] = map[string]map[string]Object{first: {}}
	c.defaults[name] = first
	return nil
}

// CreateDatabase executes CREATE DATABASE.
func (s *Session) CreateDatabase(stmt *parse.CreateDatabase) error {
	cat := s.current.Catalog
	if len(stmt.Name) == 2 {
		cat = stmt.Name[0].Value
	} else if len(stmt.Name) != 1 {
		return errs.New(errs.Invalid, stmt.Name.Pos(), "%s has %d parts", stmt.Name, len(stmt.Name)).
			WithHint("a database's name is catalog.database at most")
	}
	c := s.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	databases, ok := c.catalogs[cat]
	if !ok {
		return notFound(stmt.Name.Pos(), "catalog", cat, slices.Sorted(maps.Keys(c.catalogs)))
	}
	db := stmt.Name.Last()
	if _, ok := databases[db.Value]; ok {
		if stmt.IfNotExists || c.take(restoredDatabase(cat, db.Value)) {
			return nil
		}
		return errs.New(errs.Exists, db.At, "a database %q exists already", db.Value).WithHint("choose another name, or add IF NOT EXISTS")
	}
	if err := c.append("CREATE DATABASE " + parse.QuoteIdent(cat) + "." + parse.QuoteIdent(db.Value)); err != nil {
		return err
	}
	databases[db.Value] = map[string]Object{}
	return nil
}

// dropDatabase executes DROP DATABASE. One with tables needs CASCADE.
func (s *Session) dropDatabase(stmt *parse.Drop) error {
	id := s.current
	switch len(stmt.Name) {
	case 2:
		id.Catalog = stmt.Name[0].Value
	case 1:
	default:
		return errs.New(errs.Invalid, stmt.Name.Pos(), "%s has %d parts", stmt.Name, len(stmt.Name)).
			WithHint("a database's name is catalog.database at most")
	}
	id.Database = stmt.Name.Last().Value
	if err := s.catalog.check(id, append(slices.Clone(stmt.Name), parse.Ident{Value: "_"})); err != nil {
		if stmt.IfExists {
			return nil
		}
		return err
	}
	at := stmt.Name.Last().At
	names := s.names(id.Catalog, id.Database)
	switch {
	case id == s.current:
		return errs.New(errs.Invalid, at, "the database %q is in use", id.Database).WithHint("USE another one first")
	case s.catalog.defaultDatabase(id.Catalog) == id.Database:
		return errs.New(errs.Invalid, at, "the database %q is the default one of its catalog, and stays", id.Database)
	case (len(names) > 0 || s.hasFunctions(id.Catalog, id.Database)) && !stmt.Cascade:
		return errs.New(errs.Invalid, at, "the database %q is not empty", id.Database).WithHint("DROP DATABASE .. CASCADE drops its tables, views and functions too")
	}
	c := s.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.append("DROP DATABASE " + parse.QuoteIdent(id.Catalog) + "." + parse.QuoteIdent(id.Database) + " CASCADE"); err != nil {
		return err
	}
	delete(c.catalogs[id.Catalog], id.Database)
	inside := func(o Identifier) bool { return o.Catalog == id.Catalog && o.Database == id.Database }
	maps.DeleteFunc(s.temporary, func(t Identifier, _ Object) bool { return inside(t) })
	maps.DeleteFunc(s.functions, func(f Identifier, _ *Function) bool { return inside(f) })
	maps.DeleteFunc(c.functions, func(f Identifier, _ *Function) bool { return inside(f) })
	return nil
}

// dropCatalog executes DROP CATALOG. It has to be empty: what it has is nowhere else.
func (s *Session) dropCatalog(stmt *parse.Drop) error {
	name, at := stmt.Name.Last().Value, stmt.Name.Last().At
	databases := s.catalog.Databases(name)
	switch {
	case len(databases) == 0 && stmt.IfExists:
		return nil
	case len(databases) == 0:
		return notFound(at, "catalog", name, s.catalog.Catalogs())
	case name == s.current.Catalog:
		return errs.New(errs.Invalid, at, "the catalog %q is in use", name).WithHint("USE CATALOG another one first")
	case name == DefaultCatalog:
		return errs.New(errs.Invalid, at, "the catalog %q is the default one, and stays", name)
	}
	for _, db := range databases {
		if len(s.names(name, db)) > 0 || s.hasFunctions(name, db) {
			return errs.New(errs.Invalid, at, "the catalog %q is not empty: its database %q has tables, views or functions", name, db).WithHint("drop them first")
		}
	}
	c := s.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.append("DROP CATALOG " + parse.QuoteIdent(name)); err != nil {
		return err
	}
	delete(c.catalogs, name)
	delete(c.defaults, name)
	return nil
}

// Permanent returns a session that shares everything with s but its temporary
// objects: what it cannot find does not outlive the session.
func (s *Session) Permanent() *Session {
	p := *s
	p.temporary, p.functions = map[Identifier]Object{}, map[Identifier]*Function{}
	return &p
}

// Has fails when the catalog, or the database if one is named, does not exist.
func (c *Catalog) Has(id Identifier, at errs.Position) error {
	c.mu.RLock()
	databases, ok := c.catalogs[id.Catalog]
	_, has := databases[id.Database]
	c.mu.RUnlock()
	switch {
	case !ok:
		return notFound(at, "catalog", id.Catalog, c.Catalogs())
	case id.Database != "" && !has:
		return notFound(at, "database", id.Database, c.Databases(id.Catalog))
	}
	return nil
}
