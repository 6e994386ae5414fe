-- A shop gets orders in eight currencies and keeps its books in yen: each order is converted at the rate of its own
-- time. The functions that round come from plugins/money.
-- File names are relative to the current directory, here the top of the repository.

-- All rates there ever were. Those of a day come together, so a day is complete when a later time is seen.
CREATE TABLE rates_history (
  `date`   TIMESTAMP(3),
  currency STRING,
  rate     DECIMAL(12, 6),  -- yen per unit
  WATERMARK FOR `date` AS `date` - INTERVAL '0.001' SECOND
) WITH (
  'connector' = 'filesystem',
  'path'      = 'conformance/testdata/rates/rates.csv'
);

-- The last rate of each currency: a table with versions, its key the currency.
CREATE VIEW rates AS
SELECT `date`, currency, rate FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY `date` DESC) AS n FROM rates_history)
WHERE n = 1;

-- The same at any time.
CREATE TEMPORAL TABLE FUNCTION Rates AS TABLE rates_history TIME `date` KEY (currency);

CREATE TABLE orders (
  id         INT,
  order_time TIMESTAMP(3),
  amount     DECIMAL(12, 2),
  currency   STRING,
  WATERMARK FOR order_time AS order_time - INTERVAL '6' HOUR  -- orders may come six hours late
) WITH (
  'connector' = 'filesystem',
  'path'      = 'conformance/testdata/rates/orders.csv'
);

CREATE FUNCTION round_money   AS 'round_money'   LANGUAGE WASM USING FILE 'plugins/money/money.wasm';
CREATE FUNCTION convert_money AS 'convert_money' LANGUAGE WASM USING FILE 'plugins/money/money.wasm';

-- Yen have no digits after the point; the fee of 2.9 % has those of the order's currency.
CREATE VIEW booked AS
SELECT o.id, o.order_time, o.amount, o.currency, r.rate,
       CAST(convert_money(o.amount, r.rate, 'JPY') AS DECIMAL(12, 0)) AS yen,
       CAST(round_money(o.amount * 0.029, o.currency) AS DECIMAL(12, 2)) AS fee
FROM orders AS o
JOIN rates FOR SYSTEM_TIME AS OF o.order_time AS r ON o.currency = r.currency;

-- The orders of the first days.
SELECT * FROM booked WHERE order_time < TIMESTAMP '2026-09-05 00:00:00' ORDER BY order_time;

-- Weeks, from Monday: each comes once, when it is over.
SELECT CAST(window_start AS DATE) AS week, COUNT(*) AS orders, SUM(yen) AS yen
FROM TABLE(TUMBLE(TABLE booked, DESCRIPTOR(order_time), INTERVAL '7' DAY, INTERVAL '4' DAY))
GROUP BY window_start, window_end
ORDER BY week;

-- What the rates were at one moment.
SELECT * FROM Rates(TIMESTAMP '2026-09-15 12:00:00') WHERE currency IN ('CHF', 'EUR', 'USD') ORDER BY currency;
