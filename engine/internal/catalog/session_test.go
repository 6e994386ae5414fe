package catalog

import (
	"strings"
	"testing"

	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/errs"
	"github.com/weirdb/weir/engine/internal/parse"
)

// name is the dotted name, its parts at columns of line 1.
func name(dotted string) parse.Name {
	var out parse.Name
	column := 1
	for _, p := range strings.Split(dotted, ".") {
		out = append(out, parse.Ident{Place: parse.Place{At: errs.Position{Line: 1, Column: column}}, Value: p})
		column += len(p) + 1
	}
	return out
}

func newSession() *Session { return New(connector.NewRegistry()).NewSession() }

func table(t *testing.T, s *Session, dotted string, temporary bool, comment string) *Table {
	t.Helper()
	id, err := s.Qualify(name(dotted))
	if err != nil {
		t.Fatal(err)
	}
	tab := &Table{ID: id, Temporary: temporary, Comment: comment}
	if err := s.Create(tab, name(dotted), Fail); err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestLookup(t *testing.T) {
	s := newSession()
	if err := s.CreateDatabase(&parse.CreateDatabase{Name: name("sales")}); err != nil {
		t.Fatal(err)
	}
	table(t, s, "bid", false, "permanent")
	table(t, s, "sales.orders", false, "orders")
	table(t, s, "sales.orders", true, "temporary orders")
	for _, c := range []struct{ name, want string }{
		{"bid", "permanent"},
		{"default_database.bid", "permanent"},
		{"default_catalog.default_database.bid", "permanent"},
		{"sales.orders", "temporary orders"},
		{"Bid", `line 1:1: table "Bid" not found; did you mean "bid"? Names are case-sensitive`},
		{"bids", `line 1:1: table "bids" not found; did you mean "bid"?`},
		{"orders", `line 1:1: table "orders" not found; there is only bid`},
		{"sale.orders", `line 1:1: database "sale" not found; did you mean "sales"?`},
		{"default_katalog.sales.orders", `line 1:1: catalog "default_katalog" not found; did you mean "default_catalog"?`},
		{"sales.ordrs", `line 1:7: table "ordrs" not found; did you mean "orders"?`},
		{"a.b.c.d", `line 1:1: a.b.c.d has 4 parts; a table's name is catalog.database.table at most`},
	} {
		got := ""
		if o, err := s.Lookup(name(c.name)); err != nil {
			got = err.Error()
		} else {
			got = o.(*Table).Comment
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestUseAndIn(t *testing.T) {
	s := newSession()
	if err := s.CreateDatabase(&parse.CreateDatabase{Name: name("sales")}); err != nil {
		t.Fatal(err)
	}
	table(t, s, "sales.orders", false, "orders")
	if _, err := s.In("default_catalog", "sales").Lookup(name("orders")); err != nil {
		t.Error(err)
	}
	if _, err := s.Lookup(name("orders")); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("In changed the session: %v", err)
	}
	if err := s.Use(&parse.Use{Name: name("sales")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lookup(name("orders")); err != nil {
		t.Error(err)
	}
	if err := s.Use(&parse.Use{Name: name("sale")}); err == nil || err.Error() != `line 1:1: database "sale" not found; did you mean "sales"?` {
		t.Errorf("USE sale: %v", err)
	}
	if err := s.Use(&parse.Use{Catalog: true, Name: name("nowhere")}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("USE CATALOG nowhere: %v", err)
	}
	if s.CurrentDatabase() != "sales" {
		t.Errorf("a failed USE changed the database to %s", s.CurrentDatabase())
	}
}

func TestCreateAndDrop(t *testing.T) {
	s := newSession()
	first := table(t, s, "t", false, "first")
	second := &Table{ID: first.ID, Comment: "second"}
	if err := s.Create(second, name("t"), Fail); errs.CodeOf(err) != errs.Exists {
		t.Errorf("created twice: %v", err)
	}
	if err := s.Create(second, name("t"), Keep); err != nil {
		t.Error(err)
	}
	if o, _ := s.Lookup(name("t")); o != Object(first) {
		t.Error("IF NOT EXISTS replaced the table")
	}
	if err := s.Create(second, name("t"), Replace); err != nil {
		t.Error(err)
	}
	if o, _ := s.Lookup(name("t")); o != Object(second) {
		t.Error("OR REPLACE kept the table")
	}
	drop := func(d parse.Drop) error {
		d.Name = name("t")
		return s.Drop(&d)
	}
	if err := drop(parse.Drop{Kind: parse.ViewObject}); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("DROP VIEW of a table: %v", err)
	}
	if err := drop(parse.Drop{Kind: parse.TableObject, Temporary: true}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("DROP TEMPORARY TABLE of a permanent one: %v", err)
	}
	hiding := table(t, s, "t", true, "hiding")
	if err := drop(parse.Drop{Kind: parse.TableObject}); errs.CodeOf(err) != errs.Ambiguous {
		t.Errorf("DROP TABLE of two: %v", err)
	}
	if err := drop(parse.Drop{Kind: parse.TableObject, Temporary: true}); err != nil {
		t.Error(err)
	}
	if o, _ := s.Lookup(name("t")); o == Object(hiding) {
		t.Error("the temporary table was not dropped")
	}
	if err := drop(parse.Drop{Kind: parse.TableObject}); err != nil {
		t.Error(err)
	}
	if err := drop(parse.Drop{Kind: parse.TableObject}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("dropped twice: %v", err)
	}
	if err := drop(parse.Drop{Kind: parse.TableObject, IfExists: true}); err != nil {
		t.Error(err)
	}
}

func TestObjectsHidePermanentOnes(t *testing.T) {
	s := newSession()
	table(t, s, "a", false, "permanent")
	table(t, s, "b", false, "permanent")
	table(t, s, "a", true, "temporary")
	var got []string
	for _, o := range s.Objects(DefaultCatalog, DefaultDatabase) {
		got = append(got, o.Identifier().Object+" "+o.(*Table).Comment)
	}
	if want := "a temporary,b permanent"; strings.Join(got, ",") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if other := s.Catalog().NewSession().Objects(DefaultCatalog, DefaultDatabase); len(other) != 2 || other[0].(*Table).Comment != "permanent" {
		t.Error("a temporary table is seen by another session")
	}
}

func TestIdentifier(t *testing.T) {
	id := Identifier{DefaultCatalog, DefaultDatabase, "my table"}
	if got, want := id.String(), "default_catalog.default_database.`my table`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
