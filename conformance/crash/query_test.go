package crash

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// query is a kind of state that has to survive. A new operator is one more line in
// queries; columns of the result need names that differ.
type query struct {
	name, sql string
	key       string // of a sink that replaces rows by it; "": the sink takes any change
	waits     bool   // until the end it shows a part of its result, or nothing
	view      string // that it reads, behind CREATE TEMPORARY VIEW; ""
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
	{name: "tumbling windows", sql: "SELECT window_start, k, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS high FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, k", waits: true},
	{name: "hopping windows", sql: "SELECT window_end, COUNT(*) AS n, MIN(v) AS low FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '3' SECOND)) GROUP BY window_start, window_end", waits: true},
	{name: "long hopping windows", sql: "SELECT window_end, k, COUNT(*) AS n, SUM(v) AS total FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '0.2' SECOND, INTERVAL '6' SECOND)) GROUP BY window_start, window_end, k", waits: true},
	{name: "cumulating windows", sql: "SELECT window_end, k, COUNT(DISTINCT v) AS n FROM TABLE(CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '4' SECOND)) GROUP BY window_start, window_end, k", waits: true},
	{name: "sessions", sql: "SELECT window_start, window_end, k, COUNT(*) AS n, SUM(v) AS total FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY window_start, window_end, k", waits: true},
	{name: "windows of windows", sql: "SELECT window_start, MAX(n) AS high FROM (SELECT window_start, window_end, window_time AS wt, k, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY window_start, window_end, window_time, k) GROUP BY window_start, window_end", waits: true},
	{name: "best of a window", sql: "SELECT id, v, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, id) AS place FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND))) WHERE place <= 3", waits: true},
	{name: "window join", sql: "SELECT e.id, e.v, c.w FROM (SELECT * FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND))) AS e FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '2' SECOND))) AS c ON e.window_start = c.window_start AND e.window_end = c.window_end AND e.k = c.k", waits: true},
	{name: "best", sql: "SELECT k, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS place FROM orders) WHERE place <= 3"},
	{name: "best of updates", sql: "SELECT k, id, v, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, id) AS place FROM accounts) WHERE place <= 2"},
	{name: "ranks", sql: "SELECT k, id, v, place FROM (SELECT *, RANK() OVER (PARTITION BY k ORDER BY v) AS place FROM accounts) WHERE place <= 2"},
	{name: "first of each", sql: "SELECT k, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS place FROM events) WHERE place = 1", waits: true},
	{name: "last of each", sql: "SELECT k, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS place FROM events) WHERE place = 1"},
	{name: "sort in time", sql: "SELECT id, ts FROM events ORDER BY ts, id", waits: true},
	{name: "over", sql: "SELECT id, k, COUNT(*) OVER w AS n, SUM(v) OVER w AS total, LAG(v) OVER (PARTITION BY k ORDER BY ts) AS before FROM events WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW)", waits: true},
	{name: "over rows", sql: "SELECT id, k, SUM(v) OVER w AS total, MIN(v) OVER w AS low FROM events WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 4 PRECEDING AND CURRENT ROW)", waits: true},
	{name: "over updates", sql: "SELECT id, k, SUM(v) OVER (PARTITION BY k ORDER BY id) AS total FROM accounts"},
	{name: "interval join", sql: "SELECT e.id, c.id AS click, e.v, c.w FROM events AS e JOIN clicks AS c ON e.k = c.k AND c.ts BETWEEN e.ts - INTERVAL '1' SECOND AND e.ts + INTERVAL '2' SECOND", waits: true},
	{name: "outer interval join", sql: "SELECT e.id, c.id AS click, e.v, c.w FROM events AS e FULL JOIN clicks AS c ON e.k = c.k AND c.ts BETWEEN e.ts AND e.ts + INTERVAL '1' SECOND", waits: true},
	{
		name: "temporal join", sql: "SELECT e.id, e.v, c.w FROM events AS e LEFT JOIN versions FOR SYSTEM_TIME AS OF e.ts AS c ON e.k = c.k", waits: true,
		view: "versions AS SELECT k, w, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS place FROM clicks) WHERE place = 1",
	},
}

// columns are those of the tables, as CREATE TABLE has them.
var columns = map[string]string{
	"orders":   "id BIGINT, k BIGINT, v BIGINT, s STRING",
	"items":    "id BIGINT, k BIGINT, w BIGINT",
	"accounts": "id BIGINT, k BIGINT, v BIGINT",
	"prices":   "k BIGINT, p BIGINT, PRIMARY KEY (k) NOT ENFORCED",
	"events":   "id BIGINT, k BIGINT, v BIGINT, ts TIMESTAMP(3)",
	"clicks":   "id BIGINT, k BIGINT, w BIGINT, ts TIMESTAMP(3)",
}

// names are those of the tables.
var names = slices.Sorted(maps.Keys(columns))

// timed tables have event time, in which their rows are out of order by less than the
// watermark waits: none is late.
func timed(table string) bool { return strings.Contains(columns[table], " ts ") }

// updating tables have changes, in one file.
func updating(table string) bool { return table == "accounts" || table == "prices" }

var word = regexp.MustCompile(`\w+`)

// tables lists those that the query reads.
func (q query) tables() []string {
	var out []string
	for _, t := range names {
		for _, w := range word.FindAllString(q.sql+" "+q.view, -1) {
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

// definition is the statement that makes the query's view, if it has one.
func (q query) definition() string {
	if q.view == "" {
		return ""
	}
	return "CREATE TEMPORARY VIEW " + q.view + ";\n"
}

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
