package crash

import (
	"fmt"
	"regexp"
	"strings"
)

// query is a kind of state that has to survive. A new operator is one more line in
// queries; columns of the result need names that differ.
type query struct {
	name, sql string
	key       string // of a sink that replaces rows by it; "": the sink takes any change
	waits     bool   // until the end it shows a part of its result, or nothing
}

var queries = []query{
	{name: "calc", sql: "SELECT id, v * 2 AS twice, s FROM orders WHERE v > 0"},
	{name: "group by", sql: "SELECT k, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS low, MAX(v) AS high, MAX(s) AS text FROM orders GROUP BY k"},
	{name: "group by over updates", sql: "SELECT k, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS low, MAX(v) AS high FROM accounts GROUP BY k"},
	{name: "global aggregate", sql: "SELECT COUNT(*) AS n, SUM(v) AS total, MAX(k) AS high FROM accounts"},
	{name: "distinct aggregates", sql: "SELECT k, COUNT(DISTINCT v) AS n, SUM(DISTINCT v) AS total FROM orders GROUP BY k"},
	{name: "grouping sets", sql: "SELECT k, s, COUNT(*) AS n FROM orders GROUP BY GROUPING SETS ((k), (s), ())"},
	{name: "group by of a group by", sql: "SELECT n, COUNT(*) AS of_n FROM (SELECT k, COUNT(*) AS n FROM orders GROUP BY k) GROUP BY n"},
	{name: "distinct", sql: "SELECT DISTINCT k, v FROM orders"},
	{name: "distinct over updates", sql: "SELECT DISTINCT k, v FROM accounts"},
	{name: "join", sql: "SELECT o.id, o.v, i.w FROM orders AS o JOIN items AS i ON o.k = i.k"},
	{name: "join of updates", sql: "SELECT a.id, a.v, p.p FROM accounts AS a JOIN prices AS p ON a.k = p.k"},
	{name: "left join", sql: "SELECT a.id, a.v, i.w FROM accounts AS a LEFT JOIN items AS i ON a.k = i.k AND a.v > i.w"},
	{name: "right join", sql: "SELECT i.id, i.w, a.v FROM accounts AS a RIGHT JOIN items AS i ON a.k = i.k"},
	{name: "full join", sql: "SELECT a.id, a.v, p.k, p.p FROM accounts AS a FULL JOIN prices AS p ON a.v = p.k"},
	{name: "semi join", sql: "SELECT id, k FROM orders WHERE k IN (SELECT k FROM accounts WHERE v > 20)"},
	{name: "anti join", sql: "SELECT o.id, o.k FROM orders AS o WHERE NOT EXISTS (SELECT 1 FROM accounts AS a WHERE a.k = o.k AND a.v > o.v)"},
	{name: "union", sql: "SELECT k, v FROM orders UNION SELECT k, v FROM accounts"},
	{name: "intersect", sql: "SELECT k FROM orders INTERSECT SELECT k FROM accounts"},
	{name: "intersect all", sql: "SELECT k FROM orders INTERSECT ALL SELECT k FROM accounts"},
	{name: "except", sql: "SELECT v FROM orders EXCEPT SELECT v FROM accounts"},
	{name: "except all", sql: "SELECT v FROM orders EXCEPT ALL SELECT v FROM accounts"},
	{name: "normalize", sql: "SELECT k, p FROM prices"},
	{name: "normalize below a group by", sql: "SELECT p, COUNT(*) AS n FROM prices GROUP BY p"},
	{name: "upserts", sql: "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM accounts GROUP BY k", key: "k"},
	{name: "materialize", sql: "SELECT MAX(id) AS top, k, COUNT(*) AS n FROM accounts GROUP BY k", key: "top"},
	{name: "sort and limit", sql: "SELECT id, v FROM orders ORDER BY v DESC, id LIMIT 10", waits: true},
	{name: "limit over updates", sql: "SELECT id, v FROM accounts ORDER BY v, id LIMIT 5 OFFSET 2", waits: true},
}

// columns are those of the tables, as CREATE TABLE has them.
var columns = map[string]string{
	"orders":   "id BIGINT, k BIGINT, v BIGINT, s STRING",
	"items":    "id BIGINT, k BIGINT, w BIGINT",
	"accounts": "id BIGINT, k BIGINT, v BIGINT",
	"prices":   "k BIGINT, p BIGINT, PRIMARY KEY (k) NOT ENFORCED",
}

// updating tables have changes, in one file.
func updating(table string) bool { return table == "accounts" || table == "prices" }

var word = regexp.MustCompile(`\w+`)

// tables lists those that the query reads.
func (q query) tables() []string {
	var out []string
	for _, t := range []string{"orders", "items", "accounts", "prices"} {
		for _, w := range word.FindAllString(q.sql, -1) {
			if w == t {
				out = append(out, t)
				break
			}
		}
	}
	return out
}

// job is the query's name as a job and as a folder.
func (q query) job() string { return strings.ReplaceAll(q.name, " ", "-") }

// witness is the name of the sink that takes the rows of a table.
func (q query) witness(table string) string {
	return strings.ReplaceAll(q.job(), "-", "_") + "_" + table
}

// result is the name of the sink of the query's own rows.
func (q query) result() string { return strings.ReplaceAll(q.job(), "-", "_") + "_result" }

// statement is the query with its witnesses.
func (q query) statement() string {
	var b strings.Builder
	b.WriteString("EXECUTE STATEMENT SET BEGIN\n")
	for _, t := range q.tables() {
		fmt.Fprintf(&b, "INSERT INTO %s SELECT * FROM %s;\n", q.witness(t), t)
	}
	fmt.Fprintf(&b, "INSERT INTO %s %s;\nEND", q.result(), q.sql)
	return b.String()
}
