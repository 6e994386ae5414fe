package parse

import "testing"

const tenLines = `SELECT auction, bidder, price, COUNT(*) FILTER (WHERE price < 10000) AS cheap,
       SUM(price) OVER (PARTITION BY bidder ORDER BY ts ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS s,
       CASE WHEN price > 100 THEN 'high' ELSE 'low' END AS class, CAST(ts AS DATE) AS d
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) AS w
JOIN auction FOR SYSTEM_TIME AS OF w.ts AS a ON w.auction = a.id AND a.category IN (1, 2, 3)
LEFT JOIN LATERAL TABLE(split(a.name, ',')) AS t (word) ON TRUE
WHERE w.channel LIKE '%x%' AND a.reserve IS NOT NULL AND (price + 1) * 2 >= a.initial
GROUP BY auction, bidder, price, window_start, window_end
HAVING COUNT(*) > 1 AND MAX(price) <> 0
ORDER BY price DESC NULLS LAST LIMIT 10`

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(tenLines)))
	for b.Loop() {
		if _, err := Parse(tenLines); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSkeleton is the part of BenchmarkParse before vitess.
func BenchmarkSkeleton(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := newScript(tenLines)
		if err != nil {
			b.Fatal(err)
		}
		f := newFragment(s, 0, len(s.toks)-1, true)
		if err := f.rewrite(); err != nil {
			b.Fatal(err)
		}
		f.render()
	}
}

func BenchmarkCreateTable(b *testing.B) {
	const sql = `CREATE TABLE orders (
  id BIGINT NOT NULL, customer STRING, price DECIMAL(10, 2), quantity INT,
  cost AS price * quantity, ts TIMESTAMP(3), p AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json')`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(sql); err != nil {
			b.Fatal(err)
		}
	}
}
