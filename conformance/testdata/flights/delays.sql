-- Mean departure delay by state: a stream of flights joined with a table of airports.
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

SELECT a.state,
       COUNT(*) AS flights,
       CAST(AVG(CAST(f.delay AS DOUBLE)) AS DECIMAL(6, 1)) AS mean_delay
FROM flights AS f
JOIN airports AS a ON f.origin = a.iata
GROUP BY a.state;
