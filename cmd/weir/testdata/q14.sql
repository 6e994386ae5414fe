-- The shape of Nexmark's query 14: a filter on an expression, a CASE on the hour, and count_char, a function of the
-- user, once in WebAssembly and once as an expression.
CREATE FUNCTION count_char AS 'count_char' LANGUAGE WASM USING FILE 'plugins/textstats/textstats.wasm';

CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, `dateTime` TIMESTAMP(3), extra STRING
) WITH (
  'connector' = 'datagen', 'number-of-rows' = '20000', 'seed' = '14',
  'fields.price.min' = '1', 'fields.price.max' = '60000000', 'fields.extra.length' = '60'
);

SELECT COUNT(*) AS bids, SUM(c_counts) AS in_wasm, SUM(c_expr) AS by_expression,
       COUNT(*) FILTER (WHERE c_counts <> c_expr) AS different, COUNT(DISTINCT bidTimeType) AS times
FROM (
  SELECT auction, bidder, 0.908 * price AS price,
         CASE
           WHEN HOUR(`dateTime`) >= 8 AND HOUR(`dateTime`) <= 18 THEN 'dayTime'
           WHEN HOUR(`dateTime`) <= 6 OR HOUR(`dateTime`) >= 20 THEN 'nightTime'
           ELSE 'otherTime'
         END AS bidTimeType,
         `dateTime`, extra,
         count_char(extra, 'c') AS c_counts,
         CHAR_LENGTH(extra) - CHAR_LENGTH(REPLACE(extra, 'c', '')) AS c_expr
  FROM bid
  WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
);
