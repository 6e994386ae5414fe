// Package catalog knows the tables, views and functions that SQL names refer to,
// and the options of a session.
package catalog

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
	"github.com/weirdb/weir/udf"
)

// The names that a session starts in.
const (
	DefaultCatalog  = "default_catalog"
	DefaultDatabase = "default_database"
)

// Identifier is the full name of an object.
type Identifier struct {
	Catalog, Database, Object string
}

// String is the name as SQL, with all its parts.
func (id Identifier) String() string {
	return parse.QuoteIdent(id.Catalog) + "." + parse.QuoteIdent(id.Database) + "." + parse.QuoteIdent(id.Object)
}

// Object is what has a name in a database: *Table, *View or *Function.
type Object interface {
	// Identifier is the object's full name.
	Identifier() Identifier
	// IsTemporary reports whether the object belongs to one session.
	IsTemporary() bool
	// What is "table", "view" or "function", for messages.
	What() string
}

// Catalog holds the permanent objects of an engine, by catalog and database. It
// is safe for concurrent use; objects are immutable once they are in it.
type Catalog struct {
	registry *connector.Registry
	modules  *Modules

	mu        sync.RWMutex
	catalogs  map[string]map[string]map[string]Object
	functions map[Identifier]*Function // by Identifier.key
	defaults  map[string]string        // by catalog: the database that USE CATALOG chooses

	log  *Log                // nil: what is in the catalog ends with the engine
	text func(Object) string // a statement that makes an object
	// restored are the permanent things that the log had, those that this run has not
	// created again; see again.
	restored map[string]bool
}

// New returns a catalog with the default database, whose tables may use the
// connectors of the registry.
func New(registry *connector.Registry) *Catalog {
	return &Catalog{
		registry:  registry,
		catalogs:  map[string]map[string]map[string]Object{DefaultCatalog: {DefaultDatabase: {}}},
		defaults:  map[string]string{DefaultCatalog: DefaultDatabase},
		functions: map[Identifier]*Function{},
		modules:   NewModules(udf.Config{}, udf.Limits{}),
	}
}

// NewSession returns a session in the default database, with default options and
// without temporary objects.
func (c *Catalog) NewSession() *Session {
	return &Session{
		Options:   DefaultOptions(),
		catalog:   c,
		current:   Identifier{Catalog: DefaultCatalog, Database: DefaultDatabase},
		temporary: make(map[Identifier]Object),
		functions: make(map[Identifier]*Function),
	}
}

func (c *Catalog) get(id Identifier) (Object, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, ok := c.catalogs[id.Catalog][id.Database][id.Object]
	return o, ok
}

// put adds an object unless its name is taken, or in the place of the one that
// has the name. It returns the object that was there.
func (c *Catalog) put(o Object, replace bool) (Object, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := o.Identifier()
	objects := c.catalogs[id.Catalog][id.Database]
	old, taken := objects[id.Object]
	if !taken || replace {
		if err := c.record(o, taken); err != nil {
			return old, taken, err
		}
		objects[id.Object] = o
	} else if c.alike(old, o) && c.again(old) {
		return nil, false, nil
	}
	return old, taken, nil
}

func (c *Catalog) remove(o Object) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := o.Identifier()
	if err := c.append("DROP " + strings.ToUpper(o.What()) + " " + id.String()); err != nil {
		return err
	}
	delete(c.catalogs[id.Catalog][id.Database], id.Object)
	return nil
}

// rename puts an object in the place of one with another name, unless its name is
// taken.
func (c *Catalog) rename(old, o Object) (taken Object, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from, to := old.Identifier(), o.Identifier()
	objects := c.catalogs[from.Catalog][from.Database]
	if taken, ok := objects[to.Object]; ok {
		return taken, nil
	}
	err = c.append("ALTER " + strings.ToUpper(old.What()) + " " + from.String() + " RENAME TO " + parse.QuoteIdent(to.Object))
	if err != nil {
		return nil, err
	}
	delete(objects, from.Object)
	objects[to.Object] = o
	return nil, nil
}

func (c *Catalog) names(catalog, database string) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.catalogs[catalog][database]))
}

// Catalogs lists the catalogs' names.
func (c *Catalog) Catalogs() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.catalogs))
}

// Databases lists the names of a catalog's databases.
func (c *Catalog) Databases(catalog string) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.catalogs[catalog]))
}

// check fails when the catalog or the database does not exist. Positions are
// those of the name's parts, the last of which is the object.
func (c *Catalog) check(id Identifier, name parse.Name) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	databases, ok := c.catalogs[id.Catalog]
	if !ok {
		return notFound(partPos(name, 3), "catalog", id.Catalog, slices.Sorted(maps.Keys(c.catalogs)))
	}
	if _, ok := databases[id.Database]; !ok {
		return notFound(partPos(name, 2), "database", id.Database, slices.Sorted(maps.Keys(databases)))
	}
	return nil
}

// partPos is the position of the part that is n-th from the end of the name, or
// of the name when it is not written.
func partPos(name parse.Name, n int) errs.Position {
	if len(name) >= n {
		return name[len(name)-n].At
	}
	return name.Pos()
}

// notFound is the error for a name that nothing has; the hint is the nearest of
// those that exist, or all of them when they are few.
func notFound(pos errs.Position, what, name string, have []string) *errs.Error {
	e := errs.New(errs.NotFound, pos, "%s %q not found", what, name)
	for _, h := range have {
		if h != name && strings.EqualFold(h, name) {
			return e.WithHint("did you mean %q? Names are case-sensitive", h)
		}
	}
	if hint := errs.DidYouMean(name, have); hint != "" {
		return e.WithHint("%s", hint)
	}
	switch n := len(have); {
	case n == 0:
		return e.WithHint("there is no %s yet", what)
	case n == 1:
		return e.WithHint("there is only %s", have[0])
	case n <= 12:
		return e.WithHint("there are %s", strings.Join(have, ", "))
	}
	return e
}
