package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	gmssql "github.com/dolthub/go-mysql-server/sql"
	_ "github.com/go-sql-driver/mysql"

	"github.com/weirdb/weir/engine"
	"github.com/weirdb/weir/engine/connector"
	"github.com/weirdb/weir/engine/connector/channel"
	"github.com/weirdb/weir/engine/sqltype"
)

// mysqlServer is a MySQL server in this process, with an empty database shop.
func mysqlServer(t *testing.T) (address string, db *sql.DB) {
	t.Helper()
	shop := memory.NewDatabase("shop")
	shop.BaseDatabase.EnablePrimaryKeyIndexes()
	provider := memory.NewDBProvider(shop)
	s, err := server.NewServer(server.Config{Protocol: "tcp", Address: "127.0.0.1:0"}, gms.NewDefault(provider), gmssql.NewContext, memory.NewSessionBuilder(provider), nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Start() }() // until it is closed
	t.Cleanup(func() { _ = s.Close() })
	address = s.Listener.Addr().String()
	if db, err = sql.Open("mysql", "root@tcp("+address+")/shop"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return address, db
}

// asked is an engine with tables in the server and a channel of orders.
type asked struct {
	*engine.Engine
	db     *sql.DB
	orders *channel.Input
}

func openAsked(t *testing.T, options string) *asked {
	t.Helper()
	address, db := mysqlServer(t)
	a := &asked{db: db, orders: channel.NewInput(sqltype.Schema{
		{Name: "id", Type: sqltype.IntType}, {Name: "customer", Type: sqltype.IntType}, {Name: "place", Type: sqltype.StringType},
	}, sqltype.AppendMode)}
	a.exec(t,
		"CREATE TABLE customers (id INT, place VARCHAR(20), name VARCHAR(20), age INT, since DATETIME(6), PRIMARY KEY (id, place))",
		"INSERT INTO customers VALUES (1, 'Oslo', 'Ann', 30, '2020-02-29 10:20:30.5'), (2, 'Rome', 'Bob', 20, NULL), (3, 'Rome', NULL, NULL, NULL)",
	)
	c := channel.New()
	c.AddInput("orders", a.orders)
	var err error
	if a.Engine, err = engine.Open(t.Context(), engine.Config{Connectors: []connector.Connector{c}, FlushInterval: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Engine.Close() })
	for _, statement := range []string{
		"CREATE TABLE orders (id INT, customer INT, place STRING, proc AS PROCTIME()) WITH ('connector' = 'channel')",
		"CREATE TABLE customers (id INT, place STRING, name STRING, age INT, since TIMESTAMP(6), PRIMARY KEY (id, place) NOT ENFORCED) WITH ('connector' = 'mysql', " +
			"'url' = 'jdbc:mysql://" + address + "/shop', 'table-name' = 'customers', 'username' = 'root'" + options + ")",
	} {
		q, err := a.ExecuteSQL(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a *asked) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := a.db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// next are the next n rows of a changelog.
func next(ctx context.Context, t *testing.T, q *engine.Query, n int) string {
	t.Helper()
	var out []string
	for len(out) < n {
		b, err := q.Changelog().Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			r := b.Row(i)
			parts := []string{b.Kind(r).String()}
			for c, col := range q.Schema() {
				if b.Col(c).IsNull(r) {
					parts = append(parts, "NULL")
					continue
				}
				parts = append(parts, string(sqltype.AppendText(nil, col.Type, b.Col(c), r)))
			}
			out = append(out, strings.Join(parts, " "))
		}
		b.Release()
	}
	return strings.Join(out, "|")
}

func TestMySQLScan(t *testing.T) {
	a := openAsked(t, "")
	q, err := a.ExecuteSQL(t.Context(), "SELECT id, name, age, since FROM customers WHERE age IS NULL OR age > 25")
	if err != nil {
		t.Fatal(err)
	}
	got := next(t.Context(), t, q, 100)
	if want := "+I 1 Ann 30 2020-02-29 10:20:30.5|+I 3 NULL NULL NULL"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestMySQLLookup changes rows while the stream runs.
func TestMySQLLookup(t *testing.T) {
	const query = `SELECT o.id, c.name, c.age FROM orders AS o LEFT JOIN customers FOR SYSTEM_TIME AS OF o.proc AS c
		ON o.customer = c.id AND o.place = c.place AND c.age < 50`
	for cache, want := range map[string]string{
		"":                             "+I 1 Ann 30|+I 2 NULL NULL|+I 3 Anna 31|+I 4 Cid 9|+I 5 NULL NULL|+I 6 NULL NULL",
		", 'lookup.cache' = 'PARTIAL'": "+I 1 Ann 30|+I 2 NULL NULL|+I 3 Ann 30|+I 4 NULL NULL|+I 5 Ann 30|+I 6 NULL NULL",
	} {
		t.Run(cache, func(t *testing.T) {
			a := openAsked(t, cache)
			plan, err := a.Explain(t.Context(), query, engine.ExplainText)
			if err != nil || !strings.Contains(plan, "asks where: age < 50") || !strings.Contains(plan, "on: customer = id, place = place") {
				t.Errorf("%v\n%s", err, plan)
			}
			q, err := a.ExecuteSQL(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			send := func(id, customer int, place string) {
				t.Helper()
				if err := a.orders.Send(t.Context(), channel.Insert(id, customer, place)); err != nil {
					t.Fatal(err)
				}
				got = append(got, next(t.Context(), t, q, 1))
			}
			send(1, 1, "Oslo")
			send(2, 9, "Rome")
			a.exec(t, "UPDATE customers SET name = 'Anna', age = 31 WHERE id = 1", "INSERT INTO customers VALUES (9, 'Rome', 'Cid', 9, NULL)")
			send(3, 1, "Oslo")
			send(4, 9, "Rome")
			a.exec(t, "DELETE FROM customers WHERE id = 1")
			send(5, 1, "Oslo")
			send(6, 2, "oslo")
			if text := strings.Join(got, "|"); text != want {
				t.Errorf("got %s, want %s", text, want)
			}
			a.orders.Close()
			if err := q.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			for _, o := range q.Metrics().Operators {
				if strings.HasPrefix(o.Name, "LookupJoin") && cache != "" && o.RowsIn > 0 && len(o.Figures) == 0 {
					t.Error("there are no figures of the cache")
				}
			}
		})
	}
}

// TestMySQLFullCache reads the whole table, once.
func TestMySQLFullCache(t *testing.T) {
	a := openAsked(t, ", 'lookup.cache' = 'FULL'")
	q, err := a.ExecuteSQL(t.Context(), "SELECT o.id, c.name FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.proc AS c ON o.customer + 1 = c.id")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.orders.Send(t.Context(), channel.Insert(1, 0, ""), channel.Insert(2, 5, ""), channel.Insert(3, 1, "")); err != nil {
		t.Fatal(err)
	}
	if got := next(t.Context(), t, q, 2); got != "+I 1 Ann|+I 3 Bob" {
		t.Errorf("got %s", got)
	}
	a.orders.Close()
}

// TestMySQLGoesAway ends a query whose server is gone, with what was tried.
func TestMySQLGoesAway(t *testing.T) {
	a := openAsked(t, ", 'lookup.max-retries' = '1', 'lookup.retry-delay' = '1 ms'")
	q, err := a.ExecuteSQL(t.Context(), "SELECT o.id, c.name FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.proc AS c ON o.customer = c.id")
	if err != nil {
		t.Fatal(err)
	}
	a.exec(t, "DROP TABLE customers")
	if err := a.orders.Send(t.Context(), channel.Insert(1, 1, "")); err != nil {
		t.Fatal(err)
	}
	if err := q.Wait(t.Context()); err == nil || !strings.Contains(fmt.Sprint(err), "customers") {
		t.Errorf("got %v", err)
	}
}
