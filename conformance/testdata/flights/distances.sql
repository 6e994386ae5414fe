-- Mean departure delay by the distance flown: a stream of flights joined with the airports at both ends. The distance
-- is computed by a function in WebAssembly, from plugins/geo.
-- File names are relative to the current directory, here the top of the repository.

CREATE TABLE flights (
  `date`      TIMESTAMP(3),
  delay       INT,     -- minutes; negative: early
  distance    INT,     -- miles
  origin      STRING,  -- IATA code of the airport
  destination STRING
) WITH (
  'connector' = 'filesystem',
  'path'      = 'conformance/testdata/flights/flights-2k.jsonl',
  'format'    = 'json'
);

CREATE TABLE airports (
  iata      STRING,
  name      STRING,
  city      STRING,
  state     STRING,
  country   STRING,
  latitude  DOUBLE,
  longitude DOUBLE
) WITH (
  'connector'        = 'filesystem',
  'path'             = 'conformance/testdata/flights/airports.csv',
  'format'           = 'csv',
  'csv.null-literal' = 'NA'
);

CREATE FUNCTION haversine AS 'haversine' LANGUAGE WASM USING FILE 'plugins/geo/geo.wasm';

SELECT band * 500 AS from_km,
       COUNT(*) AS flights,
       CAST(AVG(CAST(delay AS DOUBLE)) AS DECIMAL(6, 1)) AS mean_delay
FROM (
  SELECT f.delay, CAST(haversine(a.latitude, a.longitude, b.latitude, b.longitude) / 500000 AS INT) AS band
  FROM flights AS f
  JOIN airports AS a ON f.origin = a.iata
  JOIN airports AS b ON f.destination = b.iata
)
GROUP BY band
ORDER BY band;
