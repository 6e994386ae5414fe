package parse

import "testing"

const tenLines = `SELECT P.name, P.city, P.state, A.id
FROM auction AS A
JOIN person AS P ON A.seller = P.id
WHERE A.category = 10
  AND (P.state = 'OR' OR P.state = 'ID' OR P.state = 'CA')
  AND A.reserve > 100
GROUP BY P.name, P.city,
         P.state, A.id
HAVING COUNT(*) > 1
ORDER BY P.name DESC LIMIT 10`

// denseLines is ten long lines with something special in each.
const denseLines = `SELECT auction, bidder, price, COUNT(*) FILTER (WHERE price < 10000) AS cheap,
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
	for name, sql := range map[string]string{"ten lines": tenLines, "ten dense lines": denseLines} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(sql)))
			for b.Loop() {
				if _, err := Parse(sql); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSkeleton is the part of parsing the dense lines before vitess.
func BenchmarkSkeleton(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := newScript(denseLines)
		if err != nil {
			b.Fatal(err)
		}
		f := newFragment(s, 0, len(s.toks)-1, true)
		if err := f.rewrite(); err != nil {
			b.Fatal(err)
		}
		f.render(f.skeleton(true))
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
