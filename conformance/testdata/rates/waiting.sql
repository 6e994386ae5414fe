-- The same while the files grow: an order waits until the rates have come to its time. With
--   go run ./cmd/weir explain --analyze --for 3s conformance/testdata/rates/waiting.sql
-- the query says what it waits for.

-- A table with a key and event time has versions by itself.
CREATE TABLE rates (
  `date`   TIMESTAMP(3),
  currency STRING,
  rate     DECIMAL(12, 6),
  PRIMARY KEY (currency) NOT ENFORCED,
  WATERMARK FOR `date` AS `date` - INTERVAL '0.001' SECOND
) WITH (
  'connector'               = 'filesystem',
  'path'                    = 'conformance/testdata/rates/rates.csv',
  'source.monitor-interval' = '1 s',
  'watermark.idle-timeout'  = '0 s'  -- never: no order gets the rate of yesterday because that of today is slow
);

CREATE TABLE orders (
  id         INT,
  order_time TIMESTAMP(3),
  amount     DECIMAL(12, 2),
  currency   STRING,
  WATERMARK FOR order_time AS order_time - INTERVAL '6' HOUR
) WITH (
  'connector'               = 'filesystem',
  'path'                    = 'conformance/testdata/rates/orders.csv',
  'source.monitor-interval' = '1 s'
);

-- The orders of the last day.
SELECT o.id, o.amount * r.rate AS yen
FROM orders AS o
JOIN rates FOR SYSTEM_TIME AS OF o.order_time AS r ON o.currency = r.currency
WHERE o.order_time >= TIMESTAMP '2026-09-29 00:00:00';
